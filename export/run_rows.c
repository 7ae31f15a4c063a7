#include "export/run_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_table.h"
#include "base/integers.h"
#include "export/file.h"
#include "export/gzip_file.h"
#include "ingest/read/run_text.h"
#include "ingest/read/warehouse/copy_rows.h"
#include "ingest/read/warehouse/run_order.h"
#include "schema/schema.h"
#include "schema/walk.h"

enum { LEVEL = 1 }; /* of the rows of 25,000 sites level 3 takes 1.4 times the time and 6 % fewer bytes */
#define TEXT_MAX (UINT64_C(256) << 20) /* half of what a reader inflates by default */

/* ---- the file ---------------------------------------------------------------------------------------------------- */

struct row_file {
    struct gzip_file *gzip;
    struct buffer *pending; /* of gzip: text that is not deflated yet */
    uint64_t size;          /* of all text */
};

static int row_file_open(struct row_file *out, const char *path, struct error *err) {
    struct file file;
    *out = (struct row_file){0};
    if (file_open(&file, path, true, err)) return -1;
    out->gzip = gzip_file_open(&file, LEVEL);
    out->pending = gzip_file_bytes(out->gzip);
    return 0;
}

static int row_file_line(struct row_file *out, const char *line, size_t size, struct error *err) {
    buffer_add(out->pending, line, size);
    buffer_add_char(out->pending, '\n');
    out->size += size + 1;
    gzip_file_pass(out->gzip);
    return gzip_file_check(out->gzip, err);
}

static int row_file_close(struct row_file *out, bool is_wanted, struct error *err) {
    if (is_wanted) return gzip_file_close(out->gzip, err);
    gzip_file_abandon(out->gzip);
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Lines of one table and owner whose order in the warehouse is that of its ids. */
struct row_batch {
    struct buffer text;  /* NUL-terminated lines */
    struct buffer lines; /* size_t: where each begins */
    int64_t owner;
    bool is_sorted;
};

/* The numbers in the file of what has an id here, from 1 on in the order in which they were asked for. */
struct run_numbers {
    struct id_table ids;
    uint32_t count;
};

struct run_rows {
    struct db *db;
    int64_t run_id;
    struct row_file out;
    struct copy_plan plan;
    struct run_uses uses;
    struct run_numbers numbers[SOURCE_NAMES];
    struct walk walks[SOURCE_NAMES];     /* of put_name */
    struct id_table processes, profiles; /* id here -> number in the file */
    struct map told;                     /* tables whose columns stand in the file */
    struct row_batch batch;
    uint64_t count; /* of rows */
};

static void run_rows_free(struct run_rows *rows) {
    for (int i = 0; i < SOURCE_NAMES; i++) {
        id_table_free(&rows->numbers[i].ids);
        walk_end(&rows->walks[i]);
    }
    id_table_free(&rows->processes);
    id_table_free(&rows->profiles);
    map_free(&rows->told);
    run_uses_free(&rows->uses);
    copy_plan_free(&rows->plan);
    buffer_free(&rows->batch.text);
    buffer_free(&rows->batch.lines);
}

static int put_line(struct run_rows *rows, const char *line, size_t size, struct error *err) {
    rows->count++;
    return row_file_line(&rows->out, line, size, err);
}

static int tell_columns(struct run_rows *rows, const char *table, sqlite3_stmt *row, struct error *err) {
    bool is_new;
    map_put(&rows->told, table, strlen(table), &is_new);
    if (!is_new) return 0;
    struct buffer line = {0};
    buffer_printf(&line, "%s%s", RUN_TEXT_TABLE, table);
    for (int i = 0; i < sqlite3_column_count(row); i++)
        buffer_printf(&line, "\t%s", sqlite3_column_name(row, i));
    int code = row_file_line(&rows->out, buffer_text(&line), line.size, err);
    buffer_free(&line);
    return code;
}

static void add_int(struct buffer *line, int64_t value) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--at = '-';
    buffer_add(line, at, (size_t)(digits + sizeof digits - at));
}

static void add_text(struct buffer *line, const char *text) {
    for (;;) {
        size_t plain = strcspn(text, "\\\t\n\r");
        buffer_add(line, text, plain);
        text += plain;
        if (!*text) return;
        buffer_add_char(line, '\\');
        buffer_add_char(line, *text == '\t' ? 't' : *text == '\n' ? 'n' : *text == '\r' ? 'r' : '\\');
        text++;
    }
}

static void add_value(struct buffer *line, sqlite3_stmt *row, int at) {
    switch (sqlite3_column_type(row, at)) {
    case SQLITE_NULL: buffer_add_text(line, "\\N"); break;
    case SQLITE_INTEGER: add_int(line, sqlite3_column_int64(row, at)); break;
    case SQLITE_FLOAT: buffer_printf(line, "%.17g", sqlite3_column_double(row, at)); break;
    default: add_text(line, db_text(row, at));
    }
}

static int64_t number_of(struct run_rows *rows, enum source_name name, int64_t id, struct error *err);

/* A JSON array of ids, with the numbers in the file. */
static int add_list(struct run_rows *rows, enum source_name name, const char *json, struct buffer *line,
                    struct error *err) {
    const char *at = integers_first(json), *separator = "";
    int64_t id;
    buffer_add_char(line, '[');
    while (at && *at != ']') {
        at = integers_next(at, &id);
        if (!at) break;
        int64_t number = number_of(rows, name, id, err);
        if (number < 0) return -1;
        buffer_add_text(line, separator);
        add_int(line, number);
        separator = ",";
    }
    buffer_add_char(line, ']');
    return integers_ended(at) ? 0 : error_fail(err, "%s: is damaged: no list of ids: %.100s", rows->db->path, json);
}

static int add_owner(struct run_rows *rows, const struct id_table *owners, int64_t id, struct buffer *line,
                     struct error *err) {
    uint32_t number;
    if (!id_table_find(owners, id, &number))
        return error_fail(err, "%s: is damaged: an id that is not in the file", rows->db->path);
    add_int(line, number);
    return 0;
}

/* `own`: the number of the row, of a column COPY_ID. */
static int add_cell(struct run_rows *rows, const struct copy_column *column, sqlite3_stmt *row, int at, int64_t own,
                    struct buffer *line, struct error *err) {
    int64_t id = sqlite3_column_int64(row, at), number;
    if (column->role == COPY_VALUE || sqlite3_column_type(row, at) == SQLITE_NULL) {
        add_value(line, row, at);
        return 0;
    }
    switch (column->role) {
    case COPY_ID: number = own; break;
    case COPY_RUN: number = 1; break;
    case COPY_PROCESS: return add_owner(rows, &rows->processes, id, line, err);
    case COPY_PROFILE: return add_owner(rows, &rows->profiles, id, line, err);
    case COPY_MAPPINGS: return add_list(rows, column->target, db_text(row, at), line, err);
    default: number = number_of(rows, column->target, id, err);
    }
    if (number >= 0) add_int(line, number);
    return number < 0 ? -1 : 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const struct named_table {
    const char *table, *sql;
} named[SOURCE_NAMES] = {
    [SOURCE_MAPPING] = {"mappings", "export/run_rows/mapping"},
    [SOURCE_FUNCTION] = {"functions", "export/run_rows/function"},
    [SOURCE_LOCATION] = {"locations", "export/run_rows/location"},
    [SOURCE_TRACE] = {"traces", "export/run_rows/trace"},
    [SOURCE_LABEL_SET] = {"label_sets", "export/run_rows/label_set"},
    [SOURCE_OBJECT] = {"objects", "export/run_rows/object"},
    [SOURCE_TEXT] = {"source_texts", "export/run_rows/source_text"},
};

/* Of the columns of run_rows.sql. */
static struct copy_column role_of(const char *column) {
    static const struct {
        const char *name;
        struct copy_column column;
    } roles[] = {{"id", {.role = COPY_ID}},
                 {"mapping_id", {COPY_NAME, SOURCE_MAPPING}},
                 {"function_id", {COPY_NAME, SOURCE_FUNCTION}},
                 {"location_id", {COPY_NAME, SOURCE_LOCATION}},
                 {"trace_id", {COPY_NAME, SOURCE_TRACE}},
                 {"stack", {COPY_MAPPINGS, SOURCE_LOCATION}}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, column) == 0) return roles[i].column;
    return (struct copy_column){.role = COPY_VALUE};
}

/* A row of names as it stands; what it names is written before it. */
static int put_named(struct run_rows *rows, const char *table, sqlite3_stmt *row, int64_t own, struct error *err) {
    struct buffer line = {0};
    int code = tell_columns(rows, table, row, err);
    buffer_add_text(&line, table);
    for (int i = 0; i < sqlite3_column_count(row) && code == 0; i++) {
        const struct copy_column column = role_of(sqlite3_column_name(row, i));
        buffer_add_char(&line, '\t');
        code = add_cell(rows, &column, row, i, own, &line, err);
    }
    if (code == 0) code = put_line(rows, buffer_text(&line), line.size, err);
    buffer_free(&line);
    return code;
}

static int put_lines(struct run_rows *rows, int64_t location_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(rows->db, embedded_text("export/run_rows/lines"), err);
    if (!row) return -1;
    db_bind_int(row, ":id", location_id);
    int code;
    while ((code = db_step(rows->db, row, err)) == 1)
        if (put_named(rows, "location_lines", row, 0, err)) {
            sqlite3_reset(row);
            return -1;
        }
    return code;
}

static int put_name(struct run_rows *rows, enum source_name name, int64_t id, int64_t number, struct error *err) {
    struct walk *walk = &rows->walks[name];
    int found = walk_to(rows->db, walk, embedded_text(named[name].sql), id, err);
    if (found == 0)
        return error_fail(err, "%s: is damaged: there is no row %lld in %s", rows->db->path, (long long)id,
                          named[name].table);
    if (found < 0 || put_named(rows, named[name].table, walk->at, number, err)) return -1;
    return name == SOURCE_LOCATION ? put_lines(rows, id, err) : 0;
}

/* The number in the file of what has that id; its row is written when it is first asked for. -1 with the error set. */
static int64_t number_of(struct run_rows *rows, enum source_name name, int64_t id, struct error *err) {
    struct run_numbers *numbers = &rows->numbers[name];
    uint32_t number;
    if (id == 0) return 0; /* none */
    if (id_table_find(&numbers->ids, id, &number)) return number;
    number = ++numbers->count;
    id_table_put(&numbers->ids, id, number);
    return put_name(rows, name, id, number, err) ? -1 : (int64_t)number;
}

/* Stacks, label sets and objects in the order in which exports list them, so that their numbers do not depend on the warehouse. */
static int put_used(struct run_rows *rows, struct error *err) {
    static const enum source_name used[] = {SOURCE_OBJECT, SOURCE_TRACE, SOURCE_LABEL_SET};
    enum { USED = sizeof used / sizeof *used };
    struct buffer ids[USED] = {{0}};
    int code = run_order_want(rows->db, rows->run_id, err);
    for (int i = 0; i < USED && code == 0; i++)
        code = run_order_read(rows->db, &rows->uses, used[i], rows->run_id, &ids[i], err);
    for (int i = USED; i-- > 0;) {
        const int64_t *each = (const int64_t *)(void *)ids[i].data;
        for (size_t j = 0; code == 0 && j < ids[i].size / sizeof *each; j++)
            if (number_of(rows, used[i], each[j], err) < 0) code = -1;
        buffer_free(&ids[i]);
    }
    return code;
}

/* ---- what hangs on the run --------------------------------------------------------------------------------------- */

static int compare_lines(const void *one, const void *other) {
    return strverscmp(*(const char *const *)one, *(const char *const *)other);
}

static int put_sorted(struct run_rows *rows, const char **lines, size_t count, struct error *err) {
    if (!rows->batch.is_sorted) qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++)
        if (put_line(rows, lines[i], strlen(lines[i]), err)) return -1;
    return 0;
}

static int end_batch(struct run_rows *rows, struct error *err) {
    struct row_batch *batch = &rows->batch;
    size_t count = batch->lines.size / sizeof(size_t);
    const size_t *places = (const size_t *)(void *)batch->lines.data;
    if (!count) return 0;
    const char **lines = xcalloc(count, sizeof *lines);
    for (size_t i = 0; i < count; i++)
        lines[i] = batch->text.data + places[i];
    int code = put_sorted(rows, lines, count, err);
    free(lines);
    buffer_clear(&batch->text);
    buffer_clear(&batch->lines);
    return code;
}

/* The order of rows without an id is that of the ids in them, which is another one in each warehouse: they are put in that of the numbers in
 * the file, owner by owner (a window, a process), in which most of them stand already. */
static int add_to_batch(struct run_rows *rows, int64_t owner, const struct buffer *line, struct error *err) {
    struct row_batch *batch = &rows->batch;
    if (batch->owner != owner && end_batch(rows, err)) return -1;
    size_t count = batch->lines.size / sizeof(size_t), place = batch->text.size;
    const size_t *places = (const size_t *)(void *)batch->lines.data;
    batch->owner = owner;
    if (count == 0)
        batch->is_sorted = true;
    else if (batch->is_sorted)
        batch->is_sorted = strverscmp(batch->text.data + places[count - 1], buffer_text(line)) <= 0;
    buffer_add(&batch->text, buffer_text(line), line->size + 1);
    buffer_add(&batch->lines, &place, sizeof place);
    return 0;
}

/* Rows that others name get numbers in the order of their ids. */
static int64_t own_number(struct run_rows *rows, const struct copy_table *table, int64_t id, int64_t before) {
    struct id_table *owners = strcmp(table->name, "processes") == 0  ? &rows->processes
                              : strcmp(table->name, "profiles") == 0 ? &rows->profiles
                                                                     : NULL;
    if (owners) id_table_put(owners, id, (uint32_t)before + 1);
    return before + 1;
}

static int put_row(struct run_rows *rows, const struct copy_table *table, sqlite3_stmt *row, int64_t own,
                   struct buffer *line, struct error *err) {
    buffer_clear(line);
    buffer_add_text(line, table->name);
    for (int i = 0; i < table->column_count; i++) {
        struct copy_column column = table->columns[i];
        if (column.role == COPY_MAPPINGS) column.target = SOURCE_MAPPING;
        buffer_add_char(line, '\t');
        if (add_cell(rows, &column, row, i, own, line, err)) return -1;
    }
    if (table->columns[0].role == COPY_ID) return put_line(rows, buffer_text(line), line->size, err);
    return add_to_batch(rows, sqlite3_column_int64(row, 0), line, err);
}

static int put_table(struct run_rows *rows, const struct copy_table *table, struct error *err) {
    sqlite3_stmt *row = db_prepare(rows->db, table->select, err);
    struct buffer line = {0};
    int64_t own = 0;
    if (!row) return -1;
    db_bind_int(row, ":run", rows->run_id);
    int code;
    while ((code = db_step(rows->db, row, err)) == 1) {
        if (table->columns[0].role == COPY_ID) own = own_number(rows, table, sqlite3_column_int64(row, 0), own);
        if (tell_columns(rows, table->name, row, err) || put_row(rows, table, row, own, &line, err)) break;
        if (rows->out.size > TEXT_MAX) break;
    }
    if (code == 1) {
        sqlite3_reset(row);
        code = rows->out.size > TEXT_MAX ? 0 : -1;
    }
    if (code == 0) code = end_batch(rows, err);
    buffer_free(&line);
    return code;
}

/* ---- allocation sites -------------------------------------------------------------------------------------------- */

struct site_line {
    int64_t trace, labels; /* numbers in the file */
    int64_t values[4];
};

static int compare_sites(const void *one, const void *other) {
    const struct site_line *a = one, *b = other;
    if (a->trace != b->trace) return a->trace < b->trace ? -1 : 1;
    return a->labels < b->labels ? -1 : a->labels > b->labels;
}

static int tell_text(struct run_rows *rows, const char *line, struct error *err) {
    return row_file_line(&rows->out, line, strlen(line), err);
}

static void add_cells(struct buffer *line, const char *table, const int64_t *cells, size_t count) {
    buffer_add_text(line, table);
    for (size_t i = 0; i < count; i++) {
        buffer_add_char(line, '\t');
        add_int(line, cells[i]);
    }
}

/* The number of the site: its row is written before the first that names it. */
static int64_t site_key(struct run_rows *rows, struct map *keys, const struct site_line *site, struct error *err) {
    const int64_t key[] = {site->trace, site->labels};
    bool is_new;
    struct map_entry *entry = map_put(keys, key, sizeof key, &is_new);
    if (!is_new) return entry->value;
    entry->value = (int64_t)keys->count;
    struct buffer line = {0};
    const int64_t cells[] = {entry->value, site->trace, site->labels};
    add_cells(&line, "site_keys", cells, sizeof cells / sizeof *cells);
    int code = put_line(rows, buffer_text(&line), line.size, err);
    buffer_free(&line);
    return code ? -1 : (int64_t)keys->count;
}

static int put_sites(struct run_rows *rows, struct map *keys, int64_t profile, struct buffer *sites,
                     struct error *err) {
    struct site_line *each = (struct site_line *)(void *)sites->data;
    size_t count = sites->size / sizeof *each;
    struct buffer line = {0};
    int code = 0;
    if (count) qsort(each, count, sizeof *each, compare_sites);
    for (size_t i = 0; i < count && code == 0; i++) {
        const int64_t key = site_key(rows, keys, &each[i], err);
        const int64_t cells[] = {profile,          key, each[i].values[0], each[i].values[1], each[i].values[2],
                                 each[i].values[3]};
        buffer_clear(&line);
        add_cells(&line, "site_rows", cells, sizeof cells / sizeof *cells);
        code = key < 0 ? -1 : put_line(rows, buffer_text(&line), line.size, err);
    }
    buffer_free(&line);
    buffer_clear(sites);
    return code;
}

static int read_site(struct run_rows *rows, sqlite3_stmt *row, struct site_line *site, struct error *err) {
    site->trace = number_of(rows, SOURCE_TRACE, sqlite3_column_int64(row, 1), err);
    site->labels = number_of(rows, SOURCE_LABEL_SET, sqlite3_column_int64(row, 2), err);
    for (int i = 0; i < 4; i++)
        site->values[i] = sqlite3_column_int64(row, 3 + i);
    return site->trace < 0 || site->labels < 0 ? -1 : 0;
}

static int put_all_sites(struct run_rows *rows, struct map *keys, struct buffer *sites, struct error *err) {
    sqlite3_stmt *row = db_prepare(rows->db, embedded_text("merge/sites.sql"), err);
    int64_t owner = 0;
    int code;
    if (!row) return -1;
    db_bind_int(row, ":run", rows->run_id);
    while ((code = db_step(rows->db, row, err)) == 1 && rows->out.size <= TEXT_MAX) {
        const int64_t before = owner;
        struct site_line site;
        uint32_t profile;
        if (!id_table_find(&rows->profiles, sqlite3_column_int64(row, 0), &profile) || read_site(rows, row, &site, err))
            break;
        owner = profile;
        if (owner != before && put_sites(rows, keys, before, sites, err)) break;
        buffer_add(sites, &site, sizeof site);
    }
    if (code == 1) {
        sqlite3_reset(row);
        code = rows->out.size > TEXT_MAX ? 0 : -1;
    }
    return code == 0 ? put_sites(rows, keys, owner, sites, err) : -1;
}

static int put_heap(struct run_rows *rows, struct error *err) {
    struct map keys = {0};
    struct buffer sites = {0};
    int code = tell_text(rows, RUN_TEXT_TABLE "site_keys\tid\ttrace_id\tlabel_set_id", err);
    if (code == 0)
        code = tell_text(rows,
                         RUN_TEXT_TABLE "site_rows\tprofile_id\tsite_key_id\talloc_count\talloc_bytes\tfree_count\t"
                                        "free_bytes",
                         err);
    if (code == 0) code = put_all_sites(rows, &keys, &sites, err);
    map_free(&keys);
    buffer_free(&sites);
    return code;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* A pin is about the file that it is in. */
static bool is_left_out(const struct copy_table *table) {
    return strcmp(table->name, "pins") == 0;
}

static int put_run(struct run_rows *rows, struct error *err) {
    if (tell_text(rows, RUN_TEXT_TITLE, err)) return -1;
    char schema[40], end[40];
    snprintf(schema, sizeof schema, "%s%d", RUN_TEXT_SCHEMA, SCHEMA_VERSION);
    if (tell_text(rows, schema, err) || put_used(rows, err)) return -1;
    for (size_t i = 0; i < rows->plan.count && rows->out.size <= TEXT_MAX; i++)
        if (!is_left_out(&rows->plan.tables[i]) && put_table(rows, &rows->plan.tables[i], err)) return -1;
    if (put_heap(rows, err)) return -1;
    snprintf(end, sizeof end, "%s%" PRIu64, RUN_TEXT_END, rows->count);
    return tell_text(rows, end, err);
}

int run_rows_write(struct db *db, int64_t run_id, const char *path, struct error *err) {
    struct run_rows rows = {.db = db, .run_id = run_id};
    if (row_file_open(&rows.out, path, err)) return -1;
    copy_plan_make(&rows.plan, COPY_RECORDED);
    int code = put_run(&rows, err);
    bool is_wanted = code == 0 && rows.out.size <= TEXT_MAX;
    if (row_file_close(&rows.out, is_wanted, err)) code = -1;
    run_rows_free(&rows);
    return code;
}
