/* otlp_write.h: profiles as OpenTelemetry's (base/otlp_proto.h has their fields): the parts of otlp_write.c.
 *
 * What came in as OTLP goes out with the resource, scope, attributes, links and times that it had; what clear recorded or read of a
 * profile.proto goes out so that it can become the same profile.proto again. */
#ifndef CLEAR_EXPORT_OTLP_OTLP_WRITE_H
#define CLEAR_EXPORT_OTLP_OTLP_WRITE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/otlp_proto.h"
#include "base/wire.h"
#include "query/profile/model.h"

/* ---- dictionary.c ---- */

/* All profiles of a file share the dictionary: each element is the key of its index. */
struct otlp_dictionary {
    struct map tables[OTLP_TABLES_END];
};
void otlp_dictionary_init(struct otlp_dictionary *dictionary);
void otlp_dictionary_free(struct otlp_dictionary *dictionary);
int64_t otlp_intern(struct otlp_dictionary *dictionary, enum otlp_table table, const void *bytes, size_t size);
int64_t otlp_intern_text(struct otlp_dictionary *dictionary, const char *text);
/* The index of an attribute; the value is an AnyValue. */
int64_t otlp_intern_attribute(struct otlp_dictionary *dictionary, const char *key, const struct buffer *value,
                              const char *unit);
/* The index of an attribute KeyValueAndUnit whose texts stand in it, or -1. */
int64_t otlp_intern_whole(struct otlp_dictionary *dictionary, struct wire attribute);

/* ---- context.c: what the reader kept beside a profile ---- */

struct otlp_context {
    int64_t part;        /* its number in the file that was read, from 1; 0: nothing was kept */
    struct buffer bytes; /* the message, which the rest points into */
    struct wire resource, resource_schema, scope, scope_schema, period_type, default_type;
    bool is_pprof, is_whole;
    struct buffer attributes;       /* of the profile: indices in the dictionary, as varints */
    struct map locations, mappings; /* hash -> index in `tags` */
    struct buffer *tags;            /* indices of attributes, as varints */
    size_t tag_count;
    struct wire *heads, *types;
    size_t head_count, type_count;
};
/* Whether the comment is one of clear's own about OTLP. */
bool otlp_is_context(const char *comment);
/* Reads one; false where it is none, or damaged. otlp_context_free it in any case. */
bool otlp_context_read(struct otlp_context *context, const char *comment, struct otlp_dictionary *dictionary);
void otlp_context_free(struct otlp_context *context);
/* Attributes of what has that hash, as varints; NULL: none. */
const struct buffer *otlp_tags_of(const struct otlp_context *context, const struct map *map, uint64_t hash);

/* ---- labels.c: labels as attributes ---- */

struct otlp_labels {
    struct buffer attributes; /* indices, as varints */
    int64_t link;
    bool has_time;
    int64_t time;
};
/* Sets `out`, whose buffer is used again. `is_pprof`: endings of keys mean nothing, and there are no times. */
void otlp_labels_of(struct otlp_dictionary *dictionary, const struct profile *profile, uint32_t set, bool is_pprof,
                    struct otlp_labels *out);
/* The part that the label set names; 0: none. */
int64_t otlp_part_of(const struct profile *profile, uint32_t set);

#endif
