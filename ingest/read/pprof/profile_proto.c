/* profile_proto.c: the reader of profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto).
 *
 * Two passes over the bytes. The first notes where strings, mappings, locations and functions stand, because their ids
 * may be used before they are defined (Go writes the strings last) and the fields of a profile may come in any order.
 * The second decodes one sample at a time, and looks up what it needs; a location that no sample uses is never
 * stored. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/pprof_proto.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "ingest/read/pprof/sample_kind.h"
#include "ingest/read/readers.h"
#include "ingest/read/received.h"

enum {
    ITEMS_MAX = 1 << 24,  /* a limit each for strings, locations, functions and mappings, against hostile files */
    DEPTH_MAX = 1 << 16,  /* frames of a stack, lines of a location, labels of a sample */
    PROGRESS_STEP = 4096, /* samples */
};

/* A mapping, location or function: the bytes of its message, and its row once it was looked up. */
struct item {
    uint64_t id;
    uint32_t offset, size;
    int64_t row; /* 0: not yet */
};
struct items {
    struct item *list; /* sorted by id after the first pass */
    size_t count, capacity;
    const char *what; /* for messages */
};

struct text {
    uint32_t offset, size;
};

struct integers {
    int64_t *list;
    size_t count, capacity;
};

struct proto_reader {
    struct ingest *ingest;
    const struct input *input;
    struct error *err;
    struct text *strings;
    size_t string_count, string_capacity;
    struct items mappings, locations, functions;
    struct ingest_type types[INGEST_TYPES_MAX];
    uint64_t type_names[INGEST_TYPES_MAX][2]; /* string indices; texts once all strings are there */
    size_t type_count;
    struct integers comments;                                                           /* string indices */
    uint64_t drop_frames, keep_frames, period_type, period_unit, default_type, doc_url; /* string indices */
    int64_t time_ns, duration_ns, period;
    size_t sample_count;
    struct arena texts;            /* NUL-terminated copies: for as long as the profile is read … */
    struct arena scratch;          /* … and for as long as one message is */
    struct pprof_kind kind;        /* which table takes the samples */
    struct integers stack, values; /* of one sample: location ids, then their rows; values */
    int64_t *location_rows;    /* of locations 1, 2, 3 …, 0 not yet: a third of the memory of the items, and all that
                                      a sample needs where ids are so, as they nearly always are */
    size_t location_row_count; /* 0: they are not */
    struct wire *labels;       /* of one sample, where they stand in the file */
    size_t label_count, label_capacity;
    struct buffer label_key; /* their sizes and bytes */
    struct map label_sets;   /* the same -> label set id */
    struct map lock_objects; /* trace id -> object id */
};

/* ---- small things ------------------------------------------------------------------------------------------------ */

static uint64_t offset_of(const struct proto_reader *reader, const uint8_t *at) {
    return (uint64_t)(at - reader->input->data);
}

static int fail_at(struct proto_reader *reader, const uint8_t *at, const char *what) {
    return input_fail_byte(reader->err, reader->input, offset_of(reader, at), "%s", what);
}

static int fail_wire(struct proto_reader *reader, const struct wire *wire, enum wire_state state) {
    return fail_at(reader, wire->at, wire_problem(state));
}

/* Reads the next field of a message: 1; 0 at its end, -1 with the error set. */
static int next_field(struct proto_reader *reader, struct wire *wire, struct wire_field *field) {
    enum wire_state state = wire_next(wire, field);
    return state >= 0 ? (int)state : fail_wire(reader, wire, state);
}

static int need_varint(struct proto_reader *reader, const struct wire *wire, const struct wire_field *field) {
    if (field->type == WIRE_VARINT) return 0;
    return input_fail_byte(reader->err, reader->input, offset_of(reader, wire->at),
                           "field %" PRIu64 " must be a number", field->number);
}

static int need_bytes(struct proto_reader *reader, const struct wire *wire, const struct wire_field *field) {
    if (field->type == WIRE_BYTES) return 0;
    return input_fail_byte(reader->err, reader->input, offset_of(reader, wire->at),
                           "field %" PRIu64 " must be a message or text", field->number);
}

static int add_integer(struct proto_reader *reader, struct integers *integers, size_t max, const uint8_t *at,
                       int64_t value) {
    if (integers->count == max) return fail_at(reader, at, "too many entries: no profile has stacks of 65536 frames");
    if (integers->count == integers->capacity) {
        integers->capacity = integers->capacity ? integers->capacity * 2 : 64;
        integers->list = xrealloc(integers->list, integers->capacity * sizeof *integers->list);
    }
    integers->list[integers->count++] = value;
    return 0;
}

/* A repeated number, packed or not. */
static int add_repeated(struct proto_reader *reader, struct integers *integers, size_t max, const struct wire *wire,
                        const struct wire_field *field) {
    if (field->type == WIRE_VARINT) return add_integer(reader, integers, max, wire->at, (int64_t)field->value);
    if (need_bytes(reader, wire, field) != 0) return -1;
    struct wire packed = field->bytes;
    while (packed.at < packed.end) {
        uint64_t value;
        enum wire_state state = wire_varint(&packed, &value);
        if (state != WIRE_OK) return fail_wire(reader, &packed, state);
        if (add_integer(reader, integers, max, packed.at, (int64_t)value) != 0) return -1;
    }
    return 0;
}

/* ---- the first pass ---------------------------------------------------------------------------------------------- */

static void *room_for(void *list, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return list;
    *capacity = *capacity ? *capacity * 2 : 64;
    return xrealloc(list, *capacity * size);
}

static int note_string(struct proto_reader *reader, const struct wire *text) {
    size_t size = (size_t)(text->end - text->at);
    if (reader->string_count == ITEMS_MAX) return fail_at(reader, text->at, "too many strings");
    size_t bad = utf8_bad_byte((const char *)text->at, size);
    if (bad < size)
        return input_fail_byte(reader->err, reader->input, offset_of(reader, text->at) + bad,
                               "string %zu is no valid UTF-8 text", reader->string_count);
    reader->strings = room_for(reader->strings, reader->string_count, &reader->string_capacity, sizeof(struct text));
    reader->strings[reader->string_count++] = (struct text){(uint32_t)offset_of(reader, text->at), (uint32_t)size};
    return 0;
}

/* The id of a mapping, location or function is its field 1. */
static int note_item(struct proto_reader *reader, struct items *items, const struct wire *message) {
    struct wire wire = *message;
    struct wire_field field = {0};
    uint64_t id = 0;
    int state;
    while ((state = next_field(reader, &wire, &field)) == 1)
        if (field.number == 1 && field.type == WIRE_VARINT) id = field.value;
    if (state < 0) return -1;
    if (id == 0 || items->count == ITEMS_MAX)
        return input_fail_byte(reader->err, reader->input, offset_of(reader, message->at), "%s %s", items->what,
                               id ? "number 16777217: too many" : "without an id");
    items->list = room_for(items->list, items->count, &items->capacity, sizeof *items->list);
    items->list[items->count++] = (struct item){
        .id = id,
        .offset = (uint32_t)offset_of(reader, message->at),
        .size = (uint32_t)(message->end - message->at),
    };
    return 0;
}

/* A ValueType: two string indices. */
static int read_value_type(struct proto_reader *reader, struct wire message, uint64_t *type, uint64_t *unit) {
    struct wire_field field = {0};
    int state;
    while ((state = next_field(reader, &message, &field)) == 1) {
        if (field.number > 2) continue;
        if (need_varint(reader, &message, &field) != 0) return -1;
        *(field.number == 1 ? type : unit) = field.value;
    }
    return state;
}

static int note_sample_type(struct proto_reader *reader, const struct wire *message) {
    if (reader->type_count == INGEST_TYPES_MAX) return fail_at(reader, message->at, "more than 256 sample types");
    uint64_t *names = reader->type_names[reader->type_count++];
    return read_value_type(reader, *message, &names[0], &names[1]);
}

static int note_message(struct proto_reader *reader, const struct wire *wire, const struct wire_field *field) {
    if (need_bytes(reader, wire, field) != 0) return -1;
    switch ((enum profile_field)field->number) {
    case PROFILE_SAMPLE_TYPE: return note_sample_type(reader, &field->bytes);
    case PROFILE_SAMPLE: reader->sample_count++; return 0;
    case PROFILE_MAPPING: return note_item(reader, &reader->mappings, &field->bytes);
    case PROFILE_LOCATION: return note_item(reader, &reader->locations, &field->bytes);
    case PROFILE_FUNCTION: return note_item(reader, &reader->functions, &field->bytes);
    case PROFILE_PERIOD_TYPE: return read_value_type(reader, field->bytes, &reader->period_type, &reader->period_unit);
    default: return note_string(reader, &field->bytes);
    }
}

static int note_number(struct proto_reader *reader, const struct wire *wire, const struct wire_field *field) {
    if (need_varint(reader, wire, field) != 0) return -1;
    switch ((enum profile_field)field->number) {
    case PROFILE_DROP_FRAMES: reader->drop_frames = field->value; return 0;
    case PROFILE_KEEP_FRAMES: reader->keep_frames = field->value; return 0;
    case PROFILE_TIME: reader->time_ns = (int64_t)field->value; return 0;
    case PROFILE_DURATION: reader->duration_ns = (int64_t)field->value; return 0;
    case PROFILE_PERIOD: reader->period = (int64_t)field->value; return 0;
    case PROFILE_DEFAULT_TYPE: reader->default_type = field->value; return 0;
    default: reader->doc_url = field->value; return 0;
    }
}

static int note_field(struct proto_reader *reader, const struct wire *wire, const struct wire_field *field) {
    if (field->number <= PROFILE_STRING || field->number == PROFILE_PERIOD_TYPE)
        return note_message(reader, wire, field);
    if (field->number == PROFILE_COMMENT) return add_repeated(reader, &reader->comments, ITEMS_MAX, wire, field);
    return field->number <= PROFILE_DOC_URL ? note_number(reader, wire, field)
                                            : 0; /* unknown fields are of newer versions */
}

static int compare_items(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int sort_items(struct proto_reader *reader, struct items *items) {
    for (size_t i = 1; i < items->count; i++) {
        if (items->list[i - 1].id < items->list[i].id) continue;
        qsort(items->list, items->count, sizeof *items->list, compare_items);
        break;
    }
    for (size_t i = 1; i < items->count; i++)
        if (items->list[i - 1].id == items->list[i].id)
            return input_fail_byte(reader->err, reader->input, items->list[i].offset, "two %ss have the id %" PRIu64,
                                   items->what, items->list[i].id);
    return 0;
}

static int first_pass(struct proto_reader *reader) {
    struct wire wire = {reader->input->data, reader->input->data + reader->input->size};
    struct wire_field field = {0};
    int state;
    while ((state = next_field(reader, &wire, &field)) == 1)
        if (note_field(reader, &wire, &field) != 0) return -1;
    if (state < 0) return -1;
    if (reader->string_count == 0 || reader->strings[0].size != 0)
        return fail_at(reader, reader->string_count ? reader->input->data + reader->strings[0].offset : wire.at,
                       reader->string_count ? "the first string must be empty" : "the profile has no strings");
    if (reader->type_count == 0 && reader->sample_count)
        return fail_at(reader, wire.at, "the profile has samples and no sample types");
    return sort_items(reader, &reader->mappings) || sort_items(reader, &reader->functions) ||
                   sort_items(reader, &reader->locations)
               ? -1
               : 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The item of an id. Ids are 1, 2, 3 … in nearly every file. NULL with the error set. */
static struct item *find_item(struct proto_reader *reader, struct items *items, uint64_t id, const uint8_t *at) {
    if (id - 1 < items->count && items->list[id - 1].id == id) return &items->list[id - 1];
    const struct item key = {.id = id};
    struct item *found =
        items->count ? bsearch(&key, items->list, items->count, sizeof *items->list, compare_items) : NULL;
    if (!found)
        input_fail_byte(reader->err, reader->input, offset_of(reader, at), "there is no %s with the id %" PRIu64,
                        items->what, id);
    return found;
}

/* The string of that index as a C string, or NULL with the error set. */
static const char *string_of(struct proto_reader *reader, struct arena *arena, uint64_t index, const uint8_t *at) {
    if (index >= reader->string_count) {
        input_fail_byte(reader->err, reader->input, offset_of(reader, at),
                        "string %" PRIu64 " of %zu: the index is out of range", index, reader->string_count);
        return NULL;
    }
    const struct text *text = &reader->strings[index];
    return text->size ? arena_text(arena, (const char *)reader->input->data + text->offset, text->size) : "";
}

static struct wire message_of(const struct proto_reader *reader, const struct item *item) {
    const uint8_t *start = reader->input->data + item->offset;
    return (struct wire){start, start + item->size};
}

/* Reads fields 1 to `count` - 1 of a message, all numbers, into values[1 ...]. Other fields are skipped. */
static int read_numbers(struct proto_reader *reader, struct wire wire, uint64_t *values, size_t count) {
    struct wire_field field = {0};
    int state;
    while ((state = next_field(reader, &wire, &field)) == 1) {
        if (field.number >= count) continue;
        if (need_varint(reader, &wire, &field) != 0) return -1;
        values[field.number] = field.value;
    }
    return state;
}

static int64_t mapping_row(struct proto_reader *reader, uint64_t id, const uint8_t *at) {
    if (id == 0) return 0;
    struct item *item = find_item(reader, &reader->mappings, id, at);
    if (!item || item->row) return item ? item->row : -1;
    enum { ID = 1, START, LIMIT, OFFSET, FILENAME, BUILD_ID, FUNCTIONS, FILENAMES, LINES, INLINES, FIELDS };
    uint64_t values[FIELDS] = {0};
    struct wire message = message_of(reader, item);
    if (read_numbers(reader, message, values, FIELDS) != 0) return -1;
    arena_reset(&reader->scratch);
    const struct writer_mapping mapping = {
        .filename = string_of(reader, &reader->scratch, values[FILENAME], message.at),
        .build_id = string_of(reader, &reader->scratch, values[BUILD_ID], message.at),
        .memory_start = values[START],
        .memory_limit = values[LIMIT],
        .file_offset = values[OFFSET],
        .has_functions = values[FUNCTIONS] != 0,
        .has_filenames = values[FILENAMES] != 0,
        .has_line_numbers = values[LINES] != 0,
        .has_inline_frames = values[INLINES] != 0,
    };
    if (!mapping.filename || !mapping.build_id) return -1;
    return item->row = writer_mapping(&reader->ingest->writer, &mapping, reader->err);
}

/* Function 0 is an unknown function: it gets the function without a name. */
static int64_t function_row(struct proto_reader *reader, uint64_t id, const uint8_t *at) {
    enum { ID = 1, NAME, SYSTEM_NAME, FILENAME, START_LINE, FIELDS };
    uint64_t values[FIELDS] = {0};
    struct item *item = id ? find_item(reader, &reader->functions, id, at) : NULL;
    if (id && (!item || item->row)) return item ? item->row : -1;
    if (item && read_numbers(reader, message_of(reader, item), values, FIELDS) != 0) return -1;
    arena_reset(&reader->scratch);
    const char *name = string_of(reader, &reader->scratch, values[NAME], at);
    const char *system_name = string_of(reader, &reader->scratch, values[SYSTEM_NAME], at);
    const char *filename = string_of(reader, &reader->scratch, values[FILENAME], at);
    if (!name || !system_name || !filename) return -1;
    int64_t row =
        writer_function(&reader->ingest->writer, name, system_name, filename, (int64_t)values[START_LINE], reader->err);
    if (item) item->row = row;
    return row;
}

static int read_line(struct proto_reader *reader, struct wire message, struct writer_line *line) {
    enum { FUNCTION = 1, LINE, COLUMN, FIELDS };
    uint64_t values[FIELDS] = {0};
    if (read_numbers(reader, message, values, FIELDS) != 0) return -1;
    line->function_id = function_row(reader, values[FUNCTION], message.at);
    line->line = (int64_t)values[LINE];
    line->column = (int64_t)values[COLUMN];
    return line->function_id < 0 ? -1 : 0;
}

struct location {
    uint64_t mapping_id, address;
    int is_folded;
    struct writer_line *lines;
    size_t count, capacity;
};

static int read_location_field(struct proto_reader *reader, const struct wire *wire, const struct wire_field *field,
                               struct location *location) {
    enum { ID = 1, MAPPING, ADDRESS, LINE, IS_FOLDED };
    if (field->number > IS_FOLDED) return 0;
    if (field->number != LINE) {
        if (need_varint(reader, wire, field) != 0) return -1;
        if (field->number == MAPPING) location->mapping_id = field->value;
        if (field->number == ADDRESS) location->address = field->value;
        if (field->number == IS_FOLDED) location->is_folded = field->value != 0;
        return 0;
    }
    if (need_bytes(reader, wire, field) != 0) return -1;
    if (location->count == DEPTH_MAX) return fail_at(reader, wire->at, "a location of more than 65536 lines");
    location->lines = room_for(location->lines, location->count, &location->capacity, sizeof *location->lines);
    return read_line(reader, field->bytes, &location->lines[location->count++]);
}

static int64_t store_read_location(struct proto_reader *reader, struct item *item, struct location *location) {
    struct wire wire = message_of(reader, item);
    struct wire_field field = {0};
    int state;
    while ((state = next_field(reader, &wire, &field)) == 1)
        if (read_location_field(reader, &wire, &field, location) != 0) return -1;
    if (state < 0) return -1;
    int64_t mapping = mapping_row(reader, location->mapping_id, wire.at);
    if (mapping < 0) return -1;
    return writer_location(&reader->ingest->writer, mapping, location->address, location->is_folded, location->lines,
                           location->count, reader->err);
}

static int64_t find_location(struct proto_reader *reader, uint64_t id, const uint8_t *at) {
    struct item *item = find_item(reader, &reader->locations, id, at);
    if (!item || item->row) return item ? item->row : -1;
    struct location location = {0};
    item->row = store_read_location(reader, item, &location);
    free(location.lines);
    return item->row;
}

static void expect_dense_locations(struct proto_reader *reader) {
    size_t count = reader->locations.count;
    if (count == 0 || reader->locations.list[count - 1].id != count) return; /* sorted and without doubles */
    reader->location_rows = xcalloc(count + 1, sizeof *reader->location_rows);
    reader->location_row_count = count;
}

static int64_t location_row(struct proto_reader *reader, uint64_t id, const uint8_t *at) {
    bool is_dense = id && id <= reader->location_row_count;
    if (is_dense && reader->location_rows[id]) return reader->location_rows[id];
    int64_t row = find_location(reader, id, at);
    if (is_dense && row > 0) reader->location_rows[id] = row;
    return row;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* A label is text, or a number with or without a unit. */
static int read_label(struct proto_reader *reader, struct wire message, struct writer_label *label) {
    enum { KEY = 1, TEXT, NUMBER, UNIT, FIELDS };
    uint64_t values[FIELDS] = {0};
    if (read_numbers(reader, message, values, FIELDS) != 0) return -1;
    *label = (struct writer_label){.number = (int64_t)values[NUMBER]};
    label->key = string_of(reader, &reader->scratch, values[KEY], message.at);
    if (values[TEXT])
        label->text = string_of(reader, &reader->scratch, values[TEXT], message.at);
    else
        label->unit = string_of(reader, &reader->scratch, values[UNIT], message.at);
    return label->key && (label->text || label->unit) ? 0 : -1;
}

static int64_t store_labels(struct proto_reader *reader) {
    struct writer_label *labels = xmalloc(reader->label_count * sizeof *labels);
    arena_reset(&reader->scratch);
    int64_t id = 0;
    for (size_t i = 0; i < reader->label_count && id == 0; i++)
        id = read_label(reader, reader->labels[i], &labels[i]);
    if (id == 0) id = writer_label_set(&reader->ingest->writer, labels, reader->label_count, reader->err);
    free(labels);
    return id;
}

/* Most samples of a profile share a few label sets, which are recognised by their bytes. */
static int64_t label_set_row(struct proto_reader *reader) {
    if (reader->label_count == 0) return 0;
    bool added;
    struct map_entry *entry = map_put(&reader->label_sets, reader->label_key.data, reader->label_key.size, &added);
    if (!added) return entry->value;
    return entry->value = store_labels(reader);
}

static int note_label(struct proto_reader *reader, const struct wire *wire, const struct wire_field *field) {
    if (need_bytes(reader, wire, field) != 0) return -1;
    if (reader->label_count == DEPTH_MAX) return fail_at(reader, wire->at, "a sample of more than 65536 labels");
    reader->labels = room_for(reader->labels, reader->label_count, &reader->label_capacity, sizeof *reader->labels);
    reader->labels[reader->label_count++] = field->bytes;
    uint32_t size = (uint32_t)field->value;
    buffer_add(&reader->label_key, &size, sizeof size);
    buffer_add(&reader->label_key, field->bytes.at, size);
    return 0;
}

/* A contention profile does not have its locks. A lock is identified by the stack that waited for it or unlocked it. */
static int64_t lock_object(struct proto_reader *reader, int64_t trace_id) {
    bool added;
    struct map_entry *entry = map_put(&reader->lock_objects, &trace_id, sizeof trace_id, &added);
    if (added) entry->value = pprof_lock_object(&reader->ingest->writer, trace_id, reader->err);
    return entry->value;
}

static int read_own_label(struct proto_reader *reader, struct wire message, struct pprof_own *own) {
    struct writer_label label;
    if (read_label(reader, message, &label) != 0) return -1;
    bool is_number = !label.text && !*label.unit;
    if (label.text && strcmp(label.key, "object") == 0 && !own->object)
        own->object = label.text;
    else if (label.text && strcmp(label.key, "kind") == 0 && !own->kind)
        own->kind = label.text;
    else if (is_number && strcmp(label.key, "capacity") == 0 && !own->capacity)
        own->capacity = label.number;
    else
        own->others++;
    return 0;
}

/* The name of the function of a location without an address; NULL: it is code. */
static int read_bare(struct proto_reader *reader, uint64_t location_id, const uint8_t *at, const char **name) {
    enum { ID = 1, MAPPING, ADDRESS, LINE };
    enum { FUNCTION = 1, NAME = 2, FIELDS };
    uint64_t line[FIELDS] = {0}, function[FIELDS] = {0};
    struct wire_field field = {0};
    struct item *item = find_item(reader, &reader->locations, location_id, at);
    size_t lines = 0;
    if (!item) return -1;
    struct wire wire = message_of(reader, item);
    while (wire_next(&wire, &field) == WIRE_OK) {
        if ((field.number == MAPPING || field.number == ADDRESS) && field.value) return 0;
        if (field.number != LINE || field.type != WIRE_BYTES) continue;
        if (read_numbers(reader, field.bytes, line, FIELDS) != 0) return -1;
        lines++;
    }
    if (lines != 1 || !line[FUNCTION]) return 0;
    if (!(item = find_item(reader, &reader->functions, line[FUNCTION], at))) return -1;
    if (read_numbers(reader, message_of(reader, item), function, FIELDS) != 0) return -1;
    return (*name = string_of(reader, &reader->scratch, function[NAME], at)) ? 0 : -1;
}

/* Its texts live until the next message is read. reader->stack has the ids of locations. */
static int read_own(struct proto_reader *reader, const uint8_t *at, struct pprof_own *own) {
    *own = (struct pprof_own){0};
    arena_reset(&reader->scratch);
    for (size_t i = 0; i < reader->label_count; i++)
        if (read_own_label(reader, reader->labels[i], own) != 0) return -1;
    return reader->stack.count == 1 ? read_bare(reader, (uint64_t)*reader->stack.list, at, &own->bare) : 0;
}

/* What the samples of the kind belong to besides their stack (pprof_kind_add); -1 with the error set. */
static int64_t subject_of(struct proto_reader *reader, int64_t trace_id) {
    struct writer_label label;
    if (reader->kind.id == KIND_LOCK) return lock_object(reader, trace_id);
    bool is_address = reader->kind.id == KIND_HEAP_PEAK || reader->kind.id == KIND_LEAK;
    bool is_told = reader->kind.id == KIND_IO || reader->kind.id == KIND_MMAP || reader->kind.id == KIND_LIFETIMES;
    if (is_address) return 0; /* that of the stack */
    if (!is_told) return label_set_row(reader);
    arena_reset(&reader->scratch);
    if (read_label(reader, reader->labels[0], &label) != 0) return -1;
    if (reader->kind.id == KIND_LIFETIMES) return label.number;
    return reader->kind.id == KIND_IO ? ingest_io_call(label.text) : ingest_use(label.text);
}

/* The numbers of a sample, and where its labels are. */
static int read_sample(struct proto_reader *reader, struct wire message) {
    struct wire_field field = {0};
    const uint8_t *start = message.at;
    int state, code = 0;
    reader->stack.count = reader->values.count = reader->label_count = 0;
    buffer_clear(&reader->label_key);
    while (code == 0 && (state = next_field(reader, &message, &field)) != 0) {
        if (state < 0) return -1;
        if (field.number == SAMPLE_LOCATION) code = add_repeated(reader, &reader->stack, DEPTH_MAX, &message, &field);
        if (field.number == SAMPLE_VALUE) code = add_repeated(reader, &reader->values, DEPTH_MAX, &message, &field);
        if (field.number == SAMPLE_LABEL) code = note_label(reader, &message, &field);
    }
    if (code != 0) return -1;
    if (reader->values.count != reader->type_count)
        return input_fail_byte(reader->err, reader->input, offset_of(reader, start),
                               "a sample of %zu values in a profile of %zu sample types", reader->values.count,
                               reader->type_count);
    return 0;
}

/* Of clear's own export. */
static int read_own_sample(struct proto_reader *reader, const uint8_t *start) {
    struct pprof_own own;
    size_t depth = reader->stack.count;
    if (read_own(reader, start, &own) != 0) return -1;
    struct arena texts = reader->scratch; /* finding the stack reads other messages */
    reader->scratch = (struct arena){0};
    int64_t trace_id = 0;
    for (size_t i = 0; i < depth && !own.bare && trace_id >= 0; i++)
        trace_id = reader->stack.list[i] = location_row(reader, (uint64_t)reader->stack.list[i], start);
    if (trace_id >= 0 && !own.bare)
        trace_id = writer_stack(&reader->ingest->writer, reader->stack.list, depth, reader->err);
    int code = trace_id < 0 ? -1
                            : pprof_kind_add_own(&reader->kind, reader->ingest, trace_id, &own, reader->values.list,
                                                 reader->err);
    arena_free(&texts);
    return code;
}

static int store_sample(struct proto_reader *reader, struct wire message) {
    if (read_sample(reader, message)) return -1;
    if (reader->kind.is_own) return read_own_sample(reader, message.at);
    for (size_t i = 0; i < reader->stack.count; i++)
        if ((reader->stack.list[i] = location_row(reader, (uint64_t)reader->stack.list[i], message.at)) < 0) return -1;
    int64_t trace_id = writer_stack(&reader->ingest->writer, reader->stack.list, reader->stack.count, reader->err);
    int64_t subject = trace_id < 0 ? -1 : subject_of(reader, trace_id);
    if (subject < 0) return -1;
    return pprof_kind_add(&reader->kind, reader->ingest, trace_id, subject, reader->values.list, reader->err);
}

static int second_pass(struct proto_reader *reader) {
    struct wire wire = {reader->input->data, reader->input->data + reader->input->size};
    struct wire_field field = {0};
    size_t count = 0;
    while (next_field(reader, &wire, &field) == 1) {
        if (field.number != PROFILE_SAMPLE) continue;
        if (store_sample(reader, field.bytes) != 0) return -1;
        if (++count % PROGRESS_STEP == 0) ingest_progress(reader->ingest, offset_of(reader, wire.at));
    }
    return 0;
}

/* ---- the profile ------------------------------------------------------------------------------------------------- */

static const char *header_text(struct proto_reader *reader, uint64_t index) {
    return string_of(reader, &reader->texts, index, reader->input->data);
}

/* Whether each sample is as clear writes it: 1; 0, or -1 with the error set. */
static int is_own(struct proto_reader *reader) {
    struct wire wire = {reader->input->data, reader->input->data + reader->input->size};
    struct wire_field field = {0};
    struct pprof_own own;
    while (next_field(reader, &wire, &field) == 1) {
        if (field.number != PROFILE_SAMPLE) continue;
        if (read_sample(reader, field.bytes) != 0 || read_own(reader, field.bytes.at, &own) != 0) return -1;
        if (!pprof_kind_owns(&reader->kind, &own)) return 0;
    }
    return reader->err->status == ERROR_NONE ? 1 : -1;
}

/* Whether the table of the kind has all that the samples say; -1 with the error set. */
static int holds_samples(struct proto_reader *reader) {
    struct wire wire = {reader->input->data, reader->input->data + reader->input->size};
    struct wire_field field = {0};
    int holds = 1;
    while (holds == 1 && wire_next(&wire, &field) == WIRE_OK) {
        struct writer_label label;
        if (field.number != PROFILE_SAMPLE) continue;
        arena_reset(&reader->scratch);
        if (read_sample(reader, field.bytes) ||
            (reader->label_count == 1 && read_label(reader, reader->labels[0], &label)))
            return -1;
        holds = pprof_kind_holds(&reader->kind, reader->values.list, reader->label_count,
                                 reader->label_count == 1 ? &label : NULL);
    }
    return holds;
}

static int find_kind(struct proto_reader *reader) {
    for (size_t i = 0; i < reader->type_count; i++) {
        struct ingest_type *type = &reader->types[i];
        type->type = header_text(reader, reader->type_names[i][0]);
        type->unit = header_text(reader, reader->type_names[i][1]);
        if (!type->type || !type->unit) return -1;
    }
    if (reader->ingest->kind) {
        reader->kind = (struct pprof_kind){.name = reader->ingest->kind, .id = KIND_COUNT};
        return 0;
    }
    const struct pprof_types types = {
        reader->types,
        reader->type_count,
        {header_text(reader, reader->period_type), header_text(reader, reader->period_unit)},
        reader->period};
    if (!types.period_type.type || !types.period_type.unit) return -1;
    pprof_kind_find(&reader->kind, &types, &reader->texts);
    if (reader->kind.is_own) {
        int own = is_own(reader);
        if (!own) pprof_kind_untyped(&reader->kind, reader->types, reader->type_count, &reader->texts);
        return own < 0 ? -1 : 0;
    }
    int holds = pprof_kind_is_open(&reader->kind) ? 1 : holds_samples(reader);
    if (!holds) pprof_kind_untyped(&reader->kind, reader->types, reader->type_count, &reader->texts);
    return holds < 0 ? -1 : 0;
}

/* Profiles of one kind in a run are read as one: of what is received the run may have other types under that name. */
static int read_types(struct proto_reader *reader) {
    struct pprof_kind untyped;
    const struct received *received = reader->ingest->received;
    if (find_kind(reader) != 0) return -1;
    if (!received) return 0;
    if (received->locks && reader->kind.id == KIND_LOCK)
        reader->kind = (struct pprof_kind){.name = received->locks, .id = KIND_COUNT};
    pprof_kind_untyped(&untyped, reader->types, reader->type_count, &reader->texts);
    const char *name = received_kind(reader->ingest, reader->kind.name, untyped.name, reader->types, reader->type_count,
                                     &reader->texts, reader->err);
    if (name && strcmp(name, reader->kind.name) != 0)
        reader->kind = (struct pprof_kind){.name = name, .id = KIND_COUNT};
    return name ? 0 : -1;
}

static const char **read_comments(struct proto_reader *reader) {
    const char **texts = arena_alloc(&reader->texts, reader->comments.count * sizeof *texts + 1);
    for (size_t i = 0; i < reader->comments.count; i++)
        if (!(texts[i] = header_text(reader, (uint64_t)reader->comments.list[i]))) return NULL;
    return texts;
}

/* Stores all mappings, in the order of the file: one that no stack uses still shows what was loaded. */
static int64_t *read_mappings(struct proto_reader *reader) {
    int64_t *rows = arena_alloc(&reader->texts, reader->mappings.count * sizeof *rows + 1);
    for (size_t i = 0; i < reader->mappings.count; i++) {
        struct item *item = &reader->mappings.list[i];
        rows[i] = mapping_row(reader, item->id, reader->input->data + item->offset);
        if (rows[i] < 0) return NULL;
    }
    return rows;
}

static int begin_profile(struct proto_reader *reader) {
    const struct ingest_run run = {.started_ns = reader->time_ns, .duration_ns = reader->duration_ns};
    if (reader->ingest->received && ingest_begin_run(reader->ingest, &run, reader->err) != 0) return -1;
    if (read_types(reader) != 0) return -1;
    const struct ingest_profile profile = {
        .kind = reader->kind.name,
        .time_ns = reader->time_ns,
        .duration_ns = reader->duration_ns,
        .period = reader->period,
        .period_type = header_text(reader, reader->period_type),
        .period_unit = header_text(reader, reader->period_unit),
        .types = reader->types,
        .type_count = reader->type_count,
        .default_type = header_text(reader, reader->default_type),
        .comments = read_comments(reader),
        .comment_count = reader->comments.count,
        .drop_frames = header_text(reader, reader->drop_frames),
        .keep_frames = header_text(reader, reader->keep_frames),
        .doc_url = header_text(reader, reader->doc_url),
        .mapping_ids = read_mappings(reader),
        .mapping_count = reader->mappings.count,
    };
    if (reader->err->status != ERROR_NONE) return -1;
    return ingest_begin_run(reader->ingest, &run, reader->err) ||
                   ingest_begin_profile(reader->ingest, &profile, reader->err)
               ? -1
               : 0;
}

static int read_pprof(struct ingest *ingest, const struct input *input, struct error *err) {
    if (input->size > UINT32_MAX) return error_fail(err, "%s: a profile of more than 4 GiB", input->path);
    struct proto_reader *reader = xcalloc(1, sizeof *reader);
    reader->ingest = ingest;
    reader->input = input;
    reader->err = err;
    reader->mappings.what = "mapping";
    reader->locations.what = "location";
    reader->functions.what = "function";
    int code = first_pass(reader);
    if (code == 0) code = begin_profile(reader);
    if (code == 0) code = writer_expect(&ingest->writer, reader->sample_count, err);
    expect_dense_locations(reader);
    if (code == 0) code = second_pass(reader);
    free(reader->strings);
    free(reader->mappings.list);
    free(reader->locations.list);
    free(reader->location_rows);
    free(reader->functions.list);
    free(reader->comments.list);
    free(reader->stack.list);
    free(reader->values.list);
    free(reader->labels);
    buffer_free(&reader->label_key);
    map_free(&reader->label_sets);
    map_free(&reader->lock_objects);
    arena_free(&reader->texts);
    arena_free(&reader->scratch);
    free(reader);
    return code;
}

/* Whether a profile has such a field, with that wire type. */
static bool is_profile_field(const struct wire_field *field) {
    if (field->number > PROFILE_DOC_URL) return false;
    if (field->number <= PROFILE_STRING || field->number == PROFILE_PERIOD_TYPE) return field->type == WIRE_BYTES;
    return field->type == WIRE_VARINT || (field->number == PROFILE_COMMENT && field->type == WIRE_BYTES);
}

/* There is no magic number, so the first fields must be those of a profile. A field that is cut off is accepted, and
 * after a few good ones a broken one is too, so that a broken profile is read and its error is reported. */
static bool recognise_pprof(const struct input *input) {
    enum { LOOK_AT = 16, ENOUGH = 3 };
    if (input->is_directory || input->size == 0) return false;
    struct wire wire = {input->data, input->data + input->size};
    for (int i = 0; i < LOOK_AT; i++) {
        struct wire_field field = {0};
        enum wire_state state = wire_next(&wire, &field);
        if (state == WIRE_END) return true;
        if (state == WIRE_CUT) return field.number == 0 || is_profile_field(&field);
        if (state != WIRE_OK || !is_profile_field(&field)) return i >= ENOUGH;
    }
    return true;
}

const struct format format_pprof = {
    .name = "pprof",
    .help = "profile.proto, plain or gzip: Go, and whatever else writes pprof profiles",
    .recognise = recognise_pprof,
    .read = read_pprof,
};
