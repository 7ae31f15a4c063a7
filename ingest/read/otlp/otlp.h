/* otlp.h: the parts of the reader of OpenTelemetry's profiles (base/otlp_proto.h has their fields).
 *
 * It writes each profile of a file as a profile.proto in memory, and that is read as every other: so kinds, labels and tables are the same
 * wherever a profile came from. All that an index points at is checked here, so that errors name the place in the file. */
#ifndef CLEAR_INGEST_READ_OTLP_OTLP_H
#define CLEAR_INGEST_READ_OTLP_OTLP_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/otlp_proto.h"
#include "base/wire.h"
#include "ingest/read/ingest.h"
#include "ingest/read/input.h"

struct otlp_slices { /* messages or texts, where they stand in the file */
    struct wire *list;
    size_t count, capacity;
};

struct otlp_numbers {
    int64_t *list;
    size_t count, capacity;
};

struct otlp_reader {
    struct ingest *ingest;
    const struct input *input;
    struct error *err;
    struct otlp_slices tables[OTLP_TABLES_END], resources;
    size_t profile, sample; /* which one is read, from 1, for messages; 0: none */
};

/* ---- otlp_dictionary.c: the file and its dictionary ---- */

/* "FILE: byte 120: profile 1, sample 3: ..."; -1. */
int otlp_fail(struct otlp_reader *reader, const uint8_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The next field of a message: 1; 0 at its end, -1 with the error set. */
int otlp_next(struct otlp_reader *reader, struct wire *wire, struct wire_field *field);
int otlp_need(struct otlp_reader *reader, const struct wire *wire, const struct wire_field *field, enum wire_type type);
/* Reads fields 1 to `count` - 1, all numbers, into values[1 ...]; others are passed over. */
int otlp_read_numbers(struct otlp_reader *reader, struct wire message, uint64_t *values, size_t count);
/* Adds a repeated number, packed or not; of fixed ones `type` is WIRE_FIXED64. */
int otlp_add_numbers(struct otlp_reader *reader, struct otlp_numbers *numbers, const struct wire *wire,
                     const struct wire_field *field, enum wire_type type);
void otlp_add_slice(struct otlp_slices *slices, struct wire slice);

/* Notes where the elements of all tables and the ResourceProfiles stand, and checks the texts. */
int otlp_read_file(struct otlp_reader *reader);
/* The element of a table; `what` names the field with the index, which stands at `at`. */
int otlp_item(struct otlp_reader *reader, enum otlp_table table, int64_t index, const char *what, const uint8_t *at,
              struct wire *item);
bool otlp_is_text(struct wire text, const char *wanted);
char *otlp_copy_text(struct wire text); /* for free() */

/* ---- otlp_attributes.c ---- */

struct otlp_attribute {
    struct wire key, unit;
    enum otlp_value type;
    int64_t number;      /* of an int or a bool */
    struct wire text;    /* of a text; of an array its AnyValues, as a message ArrayValue */
    struct buffer value; /* the whole AnyValue, without indices */
};
/* attribute_table[index]. `attribute` is zeroed before its first use, is used again, and is freed with otlp_attribute_free. */
int otlp_attribute_read(struct otlp_reader *reader, int64_t index, const uint8_t *at, struct otlp_attribute *attribute);
void otlp_attribute_free(struct otlp_attribute *attribute);
/* Adds the KeyValueAndUnit with its texts in place of indices. */
void otlp_attribute_add(struct buffer *out, unsigned field, const struct otlp_attribute *attribute);

/* A Resource or InstrumentationScope, whose attributes are in `field`, with texts in place of indices. Attributes of `attributes` that a key
 * of `apart` (ends with NULL) names are left out, and go to apart_values[i], as AnyValues. */
int otlp_resolve_part(struct otlp_reader *reader, struct wire message, unsigned field, const char *const *apart,
                      struct buffer *apart_values, struct buffer *out);

/* Of an array of texts or of ints alone, with two elements or more: their type; else OTLP_VALUE_NONE. */
enum otlp_value otlp_array_type(struct wire array);

/* ---- otlp_profile.c and translation.h: one profile.proto ---- */

struct otlp_head { /* what the profiles of one group share */
    struct wire resource_schema, scope_schema;
    struct buffer resource, scope;     /* resolved */
    struct buffer order, default_type; /* AnyValues of the scope of a profile.proto; empty: it is of none */
};

struct otlp_group {
    const struct otlp_head *head;
    struct wire *profiles; /* messages Profile, in the order of their sample types */
    size_t count;          /* at most INGEST_TYPES_MAX */
    size_t first_number;   /* of the first profile in the file, from 1 */
    size_t part;           /* its number in the file, from 1 */
    char *kind; /* the one it must have, because its types are not those of others of its kind; NULL: by its types */
    ptrdiff_t counted;   /* its kind among all */
    bool is_pprof;       /* they are one profile.proto */
    bool has_part_label; /* samples say which part they are of */
    bool has_all;        /* the file has no other: all mappings are of it */
    bool is_bare;        /* nothing is kept beside the profile.proto: it is one of many of a run */
};

/* Whether the samples of all profiles of the group are the same but for their values: 1; 0, or -1 with the error set. */
int otlp_is_one(struct otlp_reader *reader, const struct otlp_group *group);
/* Texts of the profile's ValueType. */
int otlp_read_type(struct otlp_reader *reader, struct wire profile, unsigned field, struct wire *name,
                   struct wire *unit);
struct otlp_parts { /* of a file */
    struct otlp_head **heads;
    struct otlp_group *groups;
    size_t head_count, group_count, head_room, group_room;
    size_t profiles;
};

/* ---- otlp.c ---- */

/* Finds the kinds of all groups; whether each must say by a label which part its samples are of. */
int otlp_choose_kinds(struct otlp_reader *reader, struct otlp_parts *parts);
int otlp_begin_run(struct otlp_reader *reader, const struct otlp_parts *parts);
int otlp_store_group(struct otlp_reader *reader, const struct otlp_group *group);

/* ---- otlp_received.c ---- */

/* Stores parts that were sent (ingest->received): those of each resource and span of time in a run of theirs. A group that is refused is counted and
 * left out. */
int otlp_store_received(struct otlp_reader *reader, struct otlp_parts *parts);

/* ---- otlp_profile.c ---- */

/* Adds the group as a profile.proto. */
int otlp_write_pprof(struct otlp_reader *reader, const struct otlp_group *group, struct buffer *out);

#endif
