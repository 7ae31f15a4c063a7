#include "query/profile/load/load_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hex.h"
#include "base/integers.h"
#include "base/limit.h"
#include "schema/schema.h"

struct profile_mapped {
    uint32_t index;
    int64_t shift;
};

void profile_names_open(struct profile_names *names, struct db *db, struct profile_builder *builder) {
    *names = (struct profile_names){.db = db, .builder = builder};
}

void profile_names_pause(struct profile_names *names) {
    walk_end(&names->trace_walk);
    walk_end(&names->location_walk);
    walk_end(&names->line_walk);
    walk_end(&names->function_walk);
}

void profile_names_free(struct profile_names *names) {
    profile_names_pause(names);
    id_table_free(&names->traces);
    id_table_free(&names->locations);
    id_table_free(&names->functions);
    id_table_free(&names->label_sets);
    id_table_free(&names->addressed);
    id_table_free(&names->places);
    map_free(&names->mappings);
    map_free(&names->addresses);
    arena_free(&names->arena);
    free(names->frames);
    *names = (struct profile_names){0};
}

/* The one row of a statement about an id; a missing one means that the file is damaged. */
static sqlite3_stmt *row_of(struct db *db, const char *sql, const char *what, int64_t id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return NULL;
    db_bind_int(statement, ":id", id);
    int code = db_step(db, statement, err);
    if (code == 0) error_fail(err, "%s %lld is not in the warehouse", what, (long long)id);
    return code == 1 ? statement : NULL;
}

/* ---- locations ---- */

int profile_names_mapping(struct profile_names *names, int64_t mapping_id, uint32_t *mapping, int64_t *shift,
                          struct error *err) {
    *mapping = PROFILE_NONE;
    *shift = 0;
    if (mapping_id == 0) return 0;
    const struct map_entry *known = map_find(&names->mappings, &mapping_id, sizeof mapping_id);
    struct profile_mapped *mapped = known ? (struct profile_mapped *)(intptr_t)known->value : NULL;
    if (!mapped) {
        sqlite3_stmt *row = row_of(names->db,
                                   "SELECT memory_start, memory_limit, file_offset, filename, build_id, has_functions,"
                                   " has_filenames, has_line_numbers, has_inline_frames FROM mappings WHERE id = :id",
                                   "mapping", mapping_id, err);
        if (!row) return -1;
        const struct profile_mapping made = {(uint64_t)sqlite3_column_int64(row, 0),
                                             (uint64_t)sqlite3_column_int64(row, 1),
                                             (uint64_t)sqlite3_column_int64(row, 2),
                                             db_text(row, 3),
                                             db_text(row, 4),
                                             sqlite3_column_int(row, 5),
                                             sqlite3_column_int(row, 6),
                                             sqlite3_column_int(row, 7),
                                             sqlite3_column_int(row, 8)};
        mapped = arena_alloc(&names->arena, sizeof *mapped);
        mapped->index = profile_build_mapping(names->builder, &made, &mapped->shift);
        sqlite3_reset(row);
        map_put(&names->mappings, &mapping_id, sizeof mapping_id, NULL)->value = (int64_t)(intptr_t)mapped;
    }
    *mapping = mapped->index;
    *shift = mapped->shift;
    return 0;
}

/* Of an exact profile ids are enough to tell what is the same: no field need be compared. */
static uint32_t put_function(struct profile_names *names, const struct profile_function *function) {
    struct profile *profile = names->builder->profile;
    if (names->stream) return names->stream->function(names->stream->context, function);
    if (!names->builder->is_exact) return profile_build_function(names->builder, function);
    const struct profile_function kept = {profile_text(profile, function->name),
                                          profile_text(profile, function->system_name),
                                          profile_text(profile, function->file), function->start_line};
    return profile_add_function(profile, &kept);
}

static int find_function(struct profile_names *names, int64_t function_id, uint32_t *index, struct error *err) {
    struct walk *walk = &names->function_walk;
    if (id_table_find(&names->functions, function_id, index)) return 0;
    if (walk_to_row(names->db, walk,
                    "SELECT id, name, system_name, filename, start_line FROM functions WHERE id >= :first ORDER BY id",
                    "function", function_id, err) < 0)
        return -1;
    const struct profile_function function = {db_text(walk->at, 1), db_text(walk->at, 2), db_text(walk->at, 3),
                                              sqlite3_column_int64(walk->at, 4)};
    *index = put_function(names, &function);
    id_table_put(&names->functions, function_id, *index);
    return 0;
}

static int read_lines(struct profile_names *names, int64_t location_id, struct buffer *lines, struct error *err) {
    struct walk *walk = &names->line_walk;
    int found = walk_to(names->db, walk,
                        "SELECT location_id, function_id, line, \"column\" FROM location_lines"
                        " WHERE location_id >= :first ORDER BY location_id, position",
                        location_id, err);
    if (found < 0) return -1;
    while (walk->id == location_id) {
        struct profile_line line = {.line = sqlite3_column_int64(walk->at, 2),
                                    .column = sqlite3_column_int64(walk->at, 3)};
        if (find_function(names, sqlite3_column_int64(walk->at, 1), &line.function, err) < 0) return -1;
        buffer_add(lines, &line, sizeof line);
        if (walk_next(names->db, walk, err) < 0) return -1;
    }
    return 0;
}

static uint32_t put_location(struct profile_names *names, struct profile_location *location,
                             const struct buffer *lines) {
    const struct profile_line *items = (const struct profile_line *)(const void *)lines->data;
    location->line_count = (uint32_t)(lines->size / sizeof *items);
    if (names->stream) return names->stream->location(names->stream->context, location, items);
    if (names->builder->is_exact)
        return profile_add_location(names->builder->profile, location, items, location->line_count);
    return profile_build_location(names->builder, location, items, location->line_count);
}

static int find_location(struct profile_names *names, int64_t location_id, uint32_t *index, struct error *err) {
    if (id_table_find(&names->locations, location_id, index)) return 0;
    struct walk *walk = &names->location_walk;
    if (walk_to_row(names->db, walk,
                    "SELECT id, mapping_id, address, is_folded FROM locations WHERE id >= :first ORDER BY id",
                    "location", location_id, err) < 0)
        return -1;
    int64_t mapping_id = sqlite3_column_int64(walk->at, 1), shift;
    struct profile_location location = {.address = (uint64_t)sqlite3_column_int64(walk->at, 2),
                                        .is_folded = sqlite3_column_int(walk->at, 3)};
    struct buffer lines = {0};
    int code = profile_names_mapping(names, mapping_id, &location.mapping, &shift, err) ||
                       read_lines(names, location_id, &lines, err)
                   ? -1
                   : 0;
    if (code == 0) {
        location.address += (uint64_t)shift;
        *index = put_location(names, &location, &lines);
        id_table_put(&names->locations, location_id, *index);
    }
    buffer_free(&lines);
    return code;
}

/* ---- traces ---- */

enum { TRACE_ID, TRACE_STACK, TRACE_LOCATION };

static int find_trace(struct profile_names *names, int64_t trace_id, struct error *err) {
    return walk_to_row(names->db, &names->trace_walk,
                       "SELECT id, stack, location_id FROM traces WHERE id >= :first ORDER BY id", "trace", trace_id,
                       err);
}

static void add_frame(struct profile_names *names, size_t depth, uint32_t frame) {
    if (depth == names->frame_room) {
        names->frame_room = names->frame_room ? names->frame_room * 2 : 64;
        names->frames = xrealloc(names->frames, names->frame_room * sizeof *names->frames);
    }
    names->frames[depth] = frame;
}

static int read_stack(struct profile_names *names, const char *json, size_t *depth, struct error *err) {
    const char *at = integers_first(json);
    int64_t id = 0;
    uint32_t frame;
    *depth = 0;
    while (at && *at != ']') {
        at = integers_next(at, &id);
        if (!at) break;
        if (find_location(names, id, &frame, err) < 0) return -1;
        add_frame(names, (*depth)++, frame);
    }
    return integers_ended(at) ? 0 : error_fail(err, "not a list of locations: %.100s", json);
}

int profile_names_frames(struct profile_names *names, int64_t trace_id, size_t *depth, struct error *err) {
    *depth = 0;
    if (trace_id == 0) return 0;
    if (find_trace(names, trace_id, err) < 0) return -1;
    if (read_stack(names, db_text(names->trace_walk.at, TRACE_STACK), depth, err) == 0) return 0;
    return error_prefix(err, "trace %lld: ", (long long)trace_id);
}

int profile_names_trace(struct profile_names *names, int64_t trace_id, uint32_t *stack, struct error *err) {
    size_t depth;
    if (id_table_find(&names->traces, trace_id, stack)) return 0;
    if (profile_names_frames(names, trace_id, &depth, err) < 0) return -1;
    *stack = profile_build_new_stack(names->builder, names->frames, depth);
    id_table_put(&names->traces, trace_id, *stack);
    return limit_check("the stacks of the profile",
                       names->builder->profile->frame_count * sizeof *names->builder->profile->frames, err);
}

uint32_t profile_names_location(struct profile_names *names, const char *function, const char *file, int64_t line) {
    struct profile_line only = {.line = line};
    only.function = profile_build_function(names->builder, &(struct profile_function){function, function, file, 0});
    return profile_build_location(names->builder, &(struct profile_location){.mapping = PROFILE_NONE}, &only, 1);
}

/* ---- labels ---- */

static int read_labels(struct profile_names *names, int64_t label_set_id, struct buffer *items, struct error *err) {
    sqlite3_stmt *rows = db_prepare(names->db,
                                    "SELECT value ->> 0, value ->> 1, json_type(value, '$[1]') = 'text', value ->> 2"
                                    " FROM label_sets, json_each(labels) WHERE label_sets.id = :id ORDER BY key",
                                    err);
    if (!rows) return -1;
    db_bind_int(rows, ":id", label_set_id);
    int code;
    while ((code = db_step(names->db, rows, err)) == 1) {
        struct profile *profile = names->builder->profile;
        struct profile_label label = {.key = profile_text(profile, db_text(rows, 0)), .unit = ""};
        if (sqlite3_column_int(rows, 2)) {
            label.text = profile_text(profile, db_text(rows, 1));
        } else {
            label.number = sqlite3_column_int64(rows, 1);
            label.unit = profile_text(profile, db_text(rows, 3));
        }
        buffer_add(items, &label, sizeof label);
    }
    return code;
}

int profile_names_labels(struct profile_names *names, int64_t label_set_id, uint32_t *labels, struct error *err) {
    *labels = 0;
    if (label_set_id == 0 || id_table_find(&names->label_sets, label_set_id, labels)) return 0;
    struct buffer items = {0};
    int code = read_labels(names, label_set_id, &items, err);
    if (code == 0) {
        *labels = profile_build_labels(names->builder, (const struct profile_label *)(const void *)items.data,
                                       items.size / sizeof(struct profile_label));
        id_table_put(&names->label_sets, label_set_id, *labels);
    }
    buffer_free(&items);
    return code;
}

/* The label set with the address of a location alone. 80,000 stacks of a compiler point at 2,720 places. */
static int find_place(struct profile_names *names, int64_t location_id, uint32_t *labels, struct error *err) {
    if (id_table_find(&names->places, location_id, labels)) return 0;
    struct profile *profile = names->builder->profile;
    sqlite3_stmt *row = row_of(names->db, "SELECT address FROM locations WHERE id = :id", "location", location_id, err);
    if (!row) return -1;
    const struct profile_label label = {
        .key = profile_text(profile, "addr"),
        .text = profile_text(profile, hex_address((uint64_t)sqlite3_column_int64(row, 0)).text),
        .unit = profile_text(profile, "")};
    sqlite3_reset(row);
    *labels = profile_build_labels(names->builder, &label, 1);
    id_table_put(&names->places, location_id, *labels);
    return 0;
}

/* Adds the address to the labels. */
static int add_address(struct profile_names *names, int64_t location_id, uint32_t *labels, struct error *err) {
    uint32_t place;
    if (find_place(names, location_id, &place, err) < 0) return -1;
    const struct profile *profile = names->builder->profile;
    const struct profile_labels *set = &profile->label_sets[*labels];
    if (set->count == 0) {
        *labels = place;
        return 0;
    }
    struct buffer items = {0};
    buffer_add(&items, profile->labels + set->first, set->count * sizeof *profile->labels);
    buffer_add(&items, profile->labels + profile->label_sets[place].first, sizeof *profile->labels);
    *labels = profile_build_labels(names->builder, (const struct profile_label *)(const void *)items.data,
                                   items.size / sizeof *profile->labels);
    buffer_free(&items);
    return 0;
}

int profile_names_addressed(struct profile_names *names, int64_t trace_id, int64_t label_set_id, uint32_t *labels,
                            struct error *err) {
    const int64_t key[] = {trace_id, label_set_id};
    if (label_set_id == 0 && id_table_find(&names->addressed, trace_id, labels)) return 0;
    const struct map_entry *known = label_set_id ? map_find(&names->addresses, key, sizeof key) : NULL;
    if (known) {
        *labels = (uint32_t)known->value;
        return 0;
    }
    if (profile_names_labels(names, label_set_id, labels, err) < 0) return -1;
    if (trace_id) {
        if (find_trace(names, trace_id, err) < 0) return -1;
        int64_t location_id = sqlite3_column_int64(names->trace_walk.at, TRACE_LOCATION);
        if (location_id && add_address(names, location_id, labels, err) < 0) return -1;
    }
    if (label_set_id)
        map_put(&names->addresses, key, sizeof key, NULL)->value = *labels;
    else
        id_table_put(&names->addressed, trace_id, *labels);
    return 0;
}

/* ---- the main binary ---- */

static void put_first(struct profile *profile, uint32_t index) {
    const struct profile_mapping first = profile->mappings[index];
    memmove(profile->mappings + 1, profile->mappings, index * sizeof first);
    profile->mappings[0] = first;
    for (size_t i = 0; i < profile->location_count; i++) {
        uint32_t *mapping = &profile->locations[i].mapping;
        if (*mapping == index)
            *mapping = 0;
        else if (*mapping < index)
            ++*mapping;
    }
}

int profile_names_find_main_mapping(struct profile_names *names, struct error *err) {
    struct buffer ids = {0};
    buffer_add_char(&ids, '[');
    for (size_t i = 0; i < names->mappings.count; i++)
        buffer_printf(&ids, i ? ",%lld" : "%lld", (long long)*(const int64_t *)names->mappings.entries[i].key);
    buffer_add_char(&ids, ']');
    sqlite3_stmt *row = db_prepare(names->db, embedded_text("export/main_mapping.sql"), err);
    if (row) db_bind_text(row, ":ids", buffer_text(&ids));
    int code = row ? db_step(names->db, row, err) : -1;
    if (code == 1) {
        int64_t id = sqlite3_column_int64(row, 0);
        const struct map_entry *entry = map_find(&names->mappings, &id, sizeof id);
        put_first(names->builder->profile, ((const struct profile_mapped *)(intptr_t)entry->value)->index);
        sqlite3_reset(row);
    }
    buffer_free(&ids);
    return code < 0 ? -1 : 0;
}
