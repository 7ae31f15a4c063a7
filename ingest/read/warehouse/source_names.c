#include "ingest/read/warehouse/source_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "ingest/symbols/source_rows.h"
#include "schema/schema.h"

static const char *const tables[SOURCE_NAMES] = {[SOURCE_NONE] = "",
                                                 [SOURCE_MAPPING] = "mappings",
                                                 [SOURCE_FUNCTION] = "functions",
                                                 [SOURCE_LOCATION] = "locations",
                                                 [SOURCE_TRACE] = "traces",
                                                 [SOURCE_LABEL_SET] = "label_sets",
                                                 [SOURCE_OBJECT] = "objects",
                                                 [SOURCE_TEXT] = "source_texts",
                                                 [SOURCE_SUBJECT] = "subjects"};

enum source_name source_name_of(const char *table) {
    for (int name = SOURCE_MAPPING; name < SOURCE_NAMES; name++)
        if (strcmp(tables[name], table) == 0) return (enum source_name)name;
    return SOURCE_NONE;
}

void run_uses_free(struct run_uses *uses) {
    for (int i = 0; i < USED_THINGS; i++)
        references_free(&uses->things[i]);
    for (int i = 0; i < USE_HANGINGS; i++)
        references_free(&uses->hangings[i]);
    uses->is_known = false;
}

void source_names_open(struct source_names *names, struct db *source, struct row_writer *writer) {
    *names = (struct source_names){.source = source, .writer = writer};
}

void source_names_free(struct source_names *names) {
    for (int i = 0; i < SOURCE_NAMES; i++)
        map_free(&names->ids[i]);
    run_uses_free(&names->uses);
    *names = (struct source_names){0};
}

/* The row there, or NULL with the error set. Reset it. */
static sqlite3_stmt *row_of(struct source_names *names, enum source_name name, const char *sql, int64_t id,
                            struct error *err) {
    sqlite3_stmt *row = db_prepare(names->source, sql, err);
    if (!row) return NULL;
    db_bind_int(row, ":id", id);
    int code = db_step(names->source, row, err);
    if (code == 0)
        error_fail(err, "%s: is damaged: there is no row %lld in %s", names->source->path, (long long)id, tables[name]);
    return code == 1 ? row : NULL;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static int64_t put_mapping(struct source_names *names, int64_t id, struct error *err) {
    sqlite3_stmt *row = row_of(names, SOURCE_MAPPING, embedded_text("merge/mapping.sql"), id, err);
    if (!row) return -1;
    const struct writer_mapping mapping = {.filename = db_text(row, 0),
                                           .build_id = db_text(row, 1),
                                           .memory_start = (uint64_t)sqlite3_column_int64(row, 2),
                                           .memory_limit = (uint64_t)sqlite3_column_int64(row, 3),
                                           .file_offset = (uint64_t)sqlite3_column_int64(row, 4),
                                           .has_functions = sqlite3_column_int(row, 5) != 0,
                                           .has_filenames = sqlite3_column_int(row, 6) != 0,
                                           .has_line_numbers = sqlite3_column_int(row, 7) != 0,
                                           .has_inline_frames = sqlite3_column_int(row, 8) != 0};
    int64_t put = writer_mapping(names->writer, &mapping, err);
    sqlite3_reset(row);
    return put;
}

static int64_t put_function(struct source_names *names, int64_t id, struct error *err) {
    static const char sql[] = "SELECT name, system_name, filename, start_line FROM main.functions WHERE id = :id";
    sqlite3_stmt *row = row_of(names, SOURCE_FUNCTION, sql, id, err);
    if (!row) return -1;
    int64_t put = writer_function(names->writer, db_text(row, 0), db_text(row, 1), db_text(row, 2),
                                  sqlite3_column_int64(row, 3), err);
    sqlite3_reset(row);
    return put;
}

static int read_lines(struct source_names *names, int64_t location_id, struct buffer *lines, struct error *err) {
    sqlite3_stmt *row = db_prepare(names->source, embedded_text("merge/source_names/lines"), err);
    if (!row) return -1;
    db_bind_int(row, ":location", location_id);
    int code;
    while ((code = db_step(names->source, row, err)) == 1) {
        struct writer_line line = {.function_id =
                                       source_names_id(names, SOURCE_FUNCTION, sqlite3_column_int64(row, 0), err),
                                   .line = sqlite3_column_int64(row, 1),
                                   .column = sqlite3_column_int64(row, 2)};
        if (line.function_id < 0) {
            sqlite3_reset(row);
            return -1;
        }
        buffer_add(lines, &line, sizeof line);
    }
    return code;
}

static int64_t put_location(struct source_names *names, int64_t id, struct error *err) {
    static const char sql[] = "SELECT mapping_id, address, is_folded FROM main.locations WHERE id = :id";
    sqlite3_stmt *row = row_of(names, SOURCE_LOCATION, sql, id, err);
    if (!row) return -1;
    int64_t there = sqlite3_column_int64(row, 0);
    uint64_t address = (uint64_t)sqlite3_column_int64(row, 1);
    int is_folded = sqlite3_column_int(row, 2) != 0;
    sqlite3_reset(row);
    struct buffer lines = {0};
    int64_t put = -1, mapping = source_names_id(names, SOURCE_MAPPING, there, err);
    if (mapping >= 0 && read_lines(names, id, &lines, err) == 0)
        put =
            writer_location(names->writer, mapping, address, is_folded, (const struct writer_line *)(void *)lines.data,
                            lines.size / sizeof(struct writer_line), err);
    buffer_free(&lines);
    return put;
}

/* ---- stacks and what else there is ------------------------------------------------------------------------------- */

/* Calls for each integer of a JSON array; what is none is an error. */
static int read_integers(struct source_names *names, enum source_name name, const char *json, struct buffer *ids,
                         struct error *err) {
    const char *at = integers_first(json);
    int64_t there;
    while (at && *at != ']') {
        at = integers_next(at, &there);
        if (!at) break;
        int64_t here = source_names_id(names, name, there, err);
        if (here < 0) return -1;
        buffer_add(ids, &here, sizeof here);
    }
    if (integers_ended(at)) return 0;
    return error_fail(err, "%s: is damaged: no list of ids: %.100s", names->source->path, json);
}

static int64_t put_trace(struct source_names *names, int64_t id, struct error *err) {
    sqlite3_stmt *row = row_of(names, SOURCE_TRACE, "SELECT stack FROM main.traces WHERE id = :id", id, err);
    struct buffer ids = {0};
    int64_t put = -1;
    if (!row) return -1;
    if (read_integers(names, SOURCE_LOCATION, db_text(row, 0), &ids, err) == 0)
        put = writer_stack(names->writer, (const int64_t *)(void *)ids.data, ids.size / sizeof(int64_t), err);
    sqlite3_reset(row);
    buffer_free(&ids);
    return put;
}

static int64_t put_label_set(struct source_names *names, int64_t id, struct error *err) {
    sqlite3_stmt *row = row_of(names, SOURCE_LABEL_SET, embedded_text("merge/source_names/label_set"), id, err);
    if (!row) return -1;
    int64_t put = sqlite3_column_int(row, 1)
                      ? writer_label_set_text(names->writer, db_text(row, 0), err)
                      : error_fail(err, "%s: is damaged: label set %lld", names->source->path, (long long)id);
    sqlite3_reset(row);
    return put;
}

static int64_t put_object(struct source_names *names, int64_t id, struct error *err) {
    static const char sql[] = "SELECT kind, identity, name, trace_id, offset FROM main.objects WHERE id = :id";
    sqlite3_stmt *row = row_of(names, SOURCE_OBJECT, sql, id, err);
    if (!row) return -1;
    int64_t trace = source_names_id(names, SOURCE_TRACE, sqlite3_column_int64(row, 3), err);
    int64_t put = trace < 0 ? -1
                            : writer_object(names->writer, db_text(row, 0), db_text(row, 1), db_text(row, 2), trace,
                                            (uint64_t)sqlite3_column_int64(row, 4), err);
    sqlite3_reset(row);
    return put;
}

/* The hash there is not believed: it would give the text to every run here whose text has that hash. */
static int64_t put_text(struct source_names *names, int64_t id, struct error *err) {
    sqlite3_stmt *row = row_of(names, SOURCE_TEXT, "SELECT text FROM main.source_texts WHERE id = :id", id, err);
    if (!row) return -1;
    int64_t put = sources_put_text(names->writer->db, db_text(row, 0), err);
    sqlite3_reset(row);
    return put;
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

static bool has_none(enum source_name name) {
    return name == SOURCE_MAPPING || name == SOURCE_TRACE || name == SOURCE_LABEL_SET;
}

int64_t source_names_id(struct source_names *names, enum source_name name, int64_t id, struct error *err) {
    static int64_t (*const put[SOURCE_NAMES])(struct source_names *, int64_t, struct error *) = {
        [SOURCE_MAPPING] = put_mapping, [SOURCE_FUNCTION] = put_function,   [SOURCE_LOCATION] = put_location,
        [SOURCE_TRACE] = put_trace,     [SOURCE_LABEL_SET] = put_label_set, [SOURCE_OBJECT] = put_object,
        [SOURCE_TEXT] = put_text};
    if (id == 0 && has_none(name)) return 0;
    const struct map_entry *known = map_find(&names->ids[name], &id, sizeof id);
    if (known) return known->value;
    int64_t here = put[name](names, id, err);
    if (here >= 0) map_put(&names->ids[name], &id, sizeof id, NULL)->value = here;
    return here;
}

int source_names_mappings(struct source_names *names, const char *json, struct buffer *text, struct error *err) {
    struct buffer ids = {0};
    int code = read_integers(names, SOURCE_MAPPING, json, &ids, err);
    if (code == 0) buffer_add_json_integers(text, (const int64_t *)(void *)ids.data, ids.size / sizeof(int64_t));
    buffer_free(&ids);
    return code;
}
