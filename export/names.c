#include "export/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hex.h"

void names_open(struct names *names, struct db *db, struct pprof_writer *writer) {
    *names = (struct names){.db = db, .writer = writer};
}

void names_free(struct names *names) {
    walk_end(&names->trace_walk);
    walk_end(&names->location_walk);
    walk_end(&names->line_walk);
    walk_end(&names->function_walk);
    map_free(&names->addresses);
    free(names->near);
    map_free(&names->mappings);
    map_free(&names->functions);
    map_free(&names->locations);
    map_free(&names->frames);
    map_free(&names->label_sets);
    arena_free(&names->labels);
    free(names->scratch);
    *names = (struct names){0};
}

/* The one row of a statement about an id; a missing one means that the file is damaged, or that a user's query made the id up. */
static sqlite3_stmt *row_of(struct db *db, const char *sql, const char *what, int64_t id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return NULL;
    db_bind_int(statement, ":id", id);
    int code = db_step(db, statement, err);
    if (code == 0) error_fail(err, "%s %lld is not in the warehouse", what, (long long)id);
    return code == 1 ? statement : NULL;
}

static bool known(const struct map *map, int64_t id, uint64_t *value) {
    const struct map_entry *entry = map_find(map, &id, sizeof id);
    if (entry) *value = (uint64_t)entry->value;
    return entry;
}

static void remember(struct map *map, int64_t id, uint64_t value) {
    map_put(map, &id, sizeof id, NULL)->value = (int64_t)value;
}

int names_mapping(struct names *names, int64_t mapping_id, uint64_t *id, struct error *err) {
    *id = 0;
    if (mapping_id == 0 || known(&names->mappings, mapping_id, id)) return 0;
    sqlite3_stmt *row = row_of(names->db,
                               "SELECT memory_start, memory_limit, file_offset, filename, build_id, has_functions,"
                               " has_filenames, has_line_numbers, has_inline_frames FROM mappings WHERE id = :id",
                               "mapping", mapping_id, err);
    if (!row) return -1;
    *id = pprof_mapping(names->writer, (uint64_t)sqlite3_column_int64(row, 0), (uint64_t)sqlite3_column_int64(row, 1),
                        (uint64_t)sqlite3_column_int64(row, 2), db_text(row, 3), db_text(row, 4),
                        sqlite3_column_int(row, 5), sqlite3_column_int(row, 6), sqlite3_column_int(row, 7),
                        sqlite3_column_int(row, 8));
    sqlite3_reset(row);
    remember(&names->mappings, mapping_id, *id);
    return 0;
}

static int find_function(struct names *names, int64_t function_id, uint64_t *id, struct error *err) {
    struct walk *walk = &names->function_walk;
    if (known(&names->functions, function_id, id)) return 0;
    if (walk_to_row(names->db, walk,
                    "SELECT id, name, system_name, filename, start_line FROM functions WHERE id >= :first ORDER BY id",
                    "function", function_id, err) < 0)
        return -1;
    *id = pprof_function(names->writer, db_text(walk->at, 1), db_text(walk->at, 2), db_text(walk->at, 3),
                         sqlite3_column_int64(walk->at, 4));
    remember(&names->functions, function_id, *id);
    return 0;
}

static int read_lines(struct names *names, int64_t location_id, struct buffer *lines, struct error *err) {
    struct walk *walk = &names->line_walk;
    int found = walk_to(names->db, walk,
                        "SELECT location_id, function_id, line, \"column\" FROM location_lines"
                        " WHERE location_id >= :first ORDER BY location_id, position",
                        location_id, err);
    if (found < 0) return -1;
    while (walk->id == location_id) {
        struct pprof_line line = {.line = sqlite3_column_int64(walk->at, 2),
                                  .column = sqlite3_column_int64(walk->at, 3)};
        if (find_function(names, sqlite3_column_int64(walk->at, 1), &line.function, err) < 0) return -1;
        buffer_add(lines, &line, sizeof line);
        if (walk_on(names->db, walk, err) < 0) return -1;
    }
    return 0;
}

/* Ids in a warehouse are dense from 1, so a table is enough for all but made-up ones, and takes a tenth of the time of a
 * map; 64 MiB are its most. */
enum { NEAR_MAX = 1 << 24 };

static void remember_near(struct names *names, size_t id, uint64_t value) {
    if (id >= names->near_count) {
        size_t count = names->near_count ? names->near_count : 1024;
        while (count <= id)
            count *= 2;
        names->near = xrealloc(names->near, count * sizeof *names->near);
        memset(names->near + names->near_count, 0, (count - names->near_count) * sizeof *names->near);
        names->near_count = count;
    }
    names->near[id] = (uint32_t)value;
}

static int add_location(struct names *names, int64_t location_id, uint64_t *id, struct error *err) {
    struct walk *walk = &names->location_walk;
    if (walk_to_row(names->db, walk,
                    "SELECT id, mapping_id, address, is_folded FROM locations WHERE id >= :first ORDER BY id",
                    "location", location_id, err) < 0)
        return -1;
    int64_t mapping_id = sqlite3_column_int64(walk->at, 1);
    uint64_t address = (uint64_t)sqlite3_column_int64(walk->at, 2), mapping;
    bool is_folded = sqlite3_column_int(walk->at, 3);
    struct buffer lines = {0};
    int code = names_mapping(names, mapping_id, &mapping, err) || read_lines(names, location_id, &lines, err) ? -1 : 0;
    if (code == 0)
        *id = pprof_location(names->writer, mapping, address, is_folded, (const struct pprof_line *)(void *)lines.data,
                             lines.size / sizeof(struct pprof_line));
    buffer_free(&lines);
    return code;
}

static int find_location(struct names *names, int64_t location_id, uint64_t *id, struct error *err) {
    bool is_near = location_id > 0 && location_id < NEAR_MAX;
    if (is_near && (size_t)location_id < names->near_count && names->near[location_id]) {
        *id = names->near[location_id];
        return 0;
    }
    if (!is_near && known(&names->locations, location_id, id)) return 0;
    if (add_location(names, location_id, id, err) < 0) return -1;
    if (is_near && *id < UINT32_MAX)
        remember_near(names, (size_t)location_id, *id);
    else
        remember(&names->locations, location_id, *id);
    return 0;
}

/* By hand: strtoll is a third of the time of a whole export. */
static const char *parse_integer(const char *at, uint64_t *value) {
    bool negative = *at == '-';
    const char *digits = at + negative;
    *value = 0;
    for (at = digits; *at >= '0' && *at <= '9' && at - digits < 19; at++)
        *value = *value * 10 + (uint64_t)(*at - '0');
    if (*value > INT64_MAX) return NULL;
    if (negative) *value = -*value;
    return at == digits ? NULL : at;
}

int names_parse_stack(const char *json, uint64_t **ids, size_t *capacity, size_t *count, struct error *err) {
    const char *at = json;
    *count = 0;
    if (*at == '[') at++;
    while (at && *at && *at != ']') {
        if (*count == *capacity) {
            *capacity = *capacity ? *capacity * 2 : 64;
            *ids = xrealloc(*ids, *capacity * sizeof **ids);
        }
        at = parse_integer(at, &(*ids)[*count]);
        if (!at || (*at != ',' && *at != ']')) break;
        ++*count;
        if (*at == ',') at++;
    }
    if (*json != '[' || !at || strcmp(at, "]") != 0) return error_fail(err, "not a stack: %.100s", json);
    return 0;
}

enum { TRACE_ID, TRACE_STACK, TRACE_LOCATION };

static int find_trace(struct names *names, int64_t trace_id, struct error *err) {
    return walk_to_row(names->db, &names->trace_walk,
                       "SELECT id, stack, location_id FROM traces WHERE id >= :first ORDER BY id", "trace", trace_id,
                       err);
}

int names_trace(struct names *names, int64_t trace_id, struct stack *stack, struct error *err) {
    *stack = (struct stack){0};
    if (trace_id == 0) return 0;
    if (find_trace(names, trace_id, err) < 0) return -1;
    int code = names_parse_stack(db_text(names->trace_walk.at, TRACE_STACK), &names->scratch, &names->scratch_capacity,
                                 &stack->count, err);
    for (size_t i = 0; code == 0 && i < stack->count; i++)
        code = find_location(names, (int64_t)names->scratch[i], &names->scratch[i], err);
    stack->locations = names->scratch;
    return code < 0 ? error_prefix(err, "trace %lld: ", (long long)trace_id) : 0;
}

int names_address(struct names *names, int64_t trace_id, const char **text, struct error *err) {
    *text = NULL;
    if (trace_id == 0) return 0;
    if (find_trace(names, trace_id, err) < 0) return -1;
    int64_t location_id = sqlite3_column_int64(names->trace_walk.at, TRACE_LOCATION);
    if (location_id == 0) return 0;
    bool added;
    struct map_entry *entry = map_put(&names->addresses, &location_id, sizeof location_id, &added);
    if (added) {
        sqlite3_stmt *row =
            row_of(names->db, "SELECT address FROM locations WHERE id = :id", "location", location_id, err);
        if (!row) return -1;
        struct hex_text hex = hex_address((uint64_t)sqlite3_column_int64(row, 0));
        sqlite3_reset(row);
        entry->value = (int64_t)(intptr_t)arena_text(&names->labels, hex.text, strlen(hex.text));
    }
    *text = (const char *)(intptr_t)entry->value;
    return 0;
}

uint64_t names_frame(struct names *names, const char *function, const char *file, int64_t line) {
    struct buffer key = {0};
    buffer_add(&key, &line, sizeof line);
    buffer_add(&key, function, strlen(function) + 1);
    buffer_add_text(&key, file ? file : "");
    bool added;
    struct map_entry *entry = map_put(&names->frames, key.data, key.size, &added);
    buffer_free(&key);
    if (added) {
        struct pprof_line only = {.function = pprof_function(names->writer, function, function, file, 0), .line = line};
        entry->value = (int64_t)pprof_location(names->writer, 0, 0, false, &only, 1);
    }
    return (uint64_t)entry->value;
}

static int read_labels(struct names *names, int64_t label_set_id, struct buffer *items, struct error *err) {
    sqlite3_stmt *rows = db_prepare(names->db,
                                    "SELECT value ->> 0, value ->> 1, json_type(value, '$[1]') = 'text', value ->> 2"
                                    " FROM label_sets, json_each(labels) WHERE label_sets.id = :id ORDER BY key",
                                    err);
    if (!rows) return -1;
    db_bind_int(rows, ":id", label_set_id);
    int code;
    while ((code = db_step(names->db, rows, err)) == 1) {
        struct pprof_label label = {.key = arena_text(&names->labels, db_text(rows, 0), strlen(db_text(rows, 0)))};
        if (sqlite3_column_int(rows, 2)) {
            label.text = arena_text(&names->labels, db_text(rows, 1), strlen(db_text(rows, 1)));
        } else {
            label.number = sqlite3_column_int64(rows, 1);
            label.unit = arena_text(&names->labels, db_text(rows, 3), strlen(db_text(rows, 3)));
        }
        buffer_add(items, &label, sizeof label);
    }
    return code;
}

int names_labels(struct names *names, int64_t label_set_id, struct labels *labels, struct error *err) {
    uint64_t found;
    *labels = (struct labels){0};
    if (label_set_id == 0) return 0;
    if (!known(&names->label_sets, label_set_id, &found)) {
        struct buffer items = {0};
        int code = read_labels(names, label_set_id, &items, err);
        struct labels fresh = {.items = arena_copy(&names->labels, items.data, items.size),
                               .count = items.size / sizeof(struct pprof_label)};
        found = (uint64_t)(uintptr_t)arena_copy(&names->labels, &fresh, sizeof fresh);
        buffer_free(&items);
        if (code < 0) return -1;
        remember(&names->label_sets, label_set_id, found);
    }
    *labels = *(const struct labels *)(uintptr_t)found;
    return 0;
}

int names_find_main_mapping(struct names *names, struct error *err) {
    for (size_t i = 0; i < names->mappings.count; i++) {
        const struct map_entry *entry = &names->mappings.entries[i];
        /* A window has only those mappings that the ones before it lack, so its first one may be a library. */
        sqlite3_stmt *rows = db_prepare(names->db,
                                        "SELECT 1 FROM profiles LEFT JOIN processes ON processes.id = process_id"
                                        " WHERE mappings ->> 0 = :id AND (process_id IS NULL OR executable ="
                                        " (SELECT filename FROM mappings AS main WHERE main.id = :id)) LIMIT 1",
                                        err);
        if (!rows) return -1;
        db_bind_int(rows, ":id", *(const int64_t *)entry->key);
        int code = db_step(names->db, rows, err);
        if (code < 0) return -1;
        sqlite3_reset(rows);
        if (code == 0) continue;
        pprof_main_mapping(names->writer, (uint64_t)entry->value);
        return 0;
    }
    return 0;
}
