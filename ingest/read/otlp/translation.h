/* translation.h: the parts of otlp_profile.c, which writes the profiles of a group as one profile.proto.
 *
 * Mappings, functions and locations keep their numbers in the dictionary as ids; those that samples use are written behind the samples. */
#ifndef CLEAR_INGEST_READ_OTLP_TRANSLATION_H
#define CLEAR_INGEST_READ_OTLP_TRANSLATION_H

#include <string.h>

#include "base/pprof_proto.h"
#include "base/protobuf.h"
#include "ingest/read/otlp/otlp.h"

enum { OTLP_DEPTH_MAX = 1 << 16 }; /* frames of a stack, lines of a location, as in profile_proto.c */

struct otlp_sample {
    int64_t stack, link;
    struct otlp_numbers attributes, values, times;
};

struct otlp_tags {         /* attributes of locations or mappings that profile.proto has no place for */
    struct map groups;     /* TAGGED_ATTRIBUTE fields -> index in `hashes` */
    struct buffer *hashes; /* 8 bytes each, little endian */
};

struct translation {
    struct otlp_reader *reader;
    const struct otlp_group *group;
    struct buffer *out;
    struct map strings;                        /* text -> index in the string table */
    struct map locations, functions, mappings; /* indices in the dictionary that are used */
    struct map labels;                         /* attribute or ~link -> where its labels begin in label_bytes, */
    struct buffer label_bytes;                 /* ... which end where those of the next begin */
    struct otlp_tags location_tags, mapping_tags;
    struct buffer context, sample;
    struct otlp_attribute attribute;
    struct otlp_numbers numbers;
    struct otlp_sample *samples; /* of each profile of the group, the one that is read */
};

/* ---- translation.c ---- */

/* Numbers of texts in the string table. */
int64_t translation_intern(struct translation *made, const void *text, size_t size);
int64_t translation_intern_text(struct translation *made, const char *text);
int64_t translation_intern_wire(struct translation *made, struct wire text);
/* Notes that an element of the dictionary is used. */
void translation_use(struct map *map, int64_t index);
/* A field of made->out, unless it is empty. */
void translation_put_text(struct translation *made, unsigned field, struct wire text);

static inline struct wire wire_of(const char *text) {
    return (struct wire){(const uint8_t *)text, (const uint8_t *)text + strlen(text)};
}

/* ---- otlp_samples.c: samples as they stand in the file ---- */

int otlp_sample_read(struct otlp_reader *reader, struct wire message, struct otlp_sample *sample);
void otlp_sample_free(struct otlp_sample *sample);
/* The next sample of each profile: 1; 0 where all have ended, -1 with the error set; 2 where one has ended before another. */
int otlp_samples_next(struct otlp_reader *reader, struct wire *profiles, size_t count, struct wire *samples);

/* ---- otlp_labels.c ---- */

/* Adds a Label: the text, or where it is empty the number with its unit. */
void translation_put_label(struct translation *made, struct buffer *out, const char *key, struct wire text,
                           int64_t number, struct wire unit);
/* Adds the labels of an attribute, or of a link whose index is ~index, to the sample. */
int translation_put_labels(struct translation *made, int64_t index, const uint8_t *at);

/* ---- otlp_names.c: what stacks are made of, by their indices in the dictionary ---- */

int translation_put_mapping(struct translation *made, int64_t index);
int translation_put_location(struct translation *made, int64_t index);
int translation_put_function(struct translation *made, int64_t index);

/* ---- otlp_head.c: what a profile says of itself, and what is kept beside it ---- */

int translation_put_types(struct translation *made);
int translation_put_heads(struct translation *made);
void translation_put_default_type(struct translation *made);
/* A comment, where there is anything that the profile.proto does not have. */
void translation_put_context(struct translation *made);

#endif
