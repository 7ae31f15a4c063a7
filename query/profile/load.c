#include "query/profile/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "query/profile/load_header.h"
#include "query/profile/load_names.h"
#include "schema/schema.h"

enum { TYPES_MAX = 64, COLUMNS_MAX = 32, SAMPLE_COLUMNS = 8 };

/* What a column of a kind's query is for, by its name. */
struct column {
    enum {
        COLUMN_OTHER,
        COLUMN_TRACE,
        COLUMN_LABELS,
        COLUMN_FUNCTION,
        COLUMN_LINE,
        COLUMN_LABEL,
        COLUMN_VALUE,
        COLUMN_MORE
    } role;
    const char *key; /* of a label */
    int value;       /* of COLUMN_VALUE: which; -1: none */
};

struct loading {
    struct db *db;
    struct profile_builder builder;
    struct profile_names names;
    const struct kind *kind;
    const char *kind_name;
    const char *only; /* the type that is wanted; NULL: all */
    struct profile_type types[TYPES_MAX];
    size_t type_count;
    bool is_stored;       /* all of it came in with sample types of its own */
    bool is_plain_stored; /* the same, of the run that is being read */
    struct column columns[COLUMNS_MAX];
    int column_count;
    const char *sql; /* of a plain kind */
    struct arena texts;
    int64_t values[TYPES_MAX];
};

static const char *keep(struct loading *load, const char *text, size_t size) {
    return arena_text(&load->texts, text, size);
}

/* ---- which values ---- */

/* What the profiles of the runs say about their sample types. */
struct stored_types {
    char *first;       /* JSON, of the first profile; NULL: none yet. free() it */
    char *unlike;      /* the first that is not so; NULL: all are alike. free() it */
    int64_t unlike_id; /* its run */
    bool is_stored;    /* every profile came in with sample types of its own */
};

/* Gives how many profiles of the kind the run has. */
static int find_stored(struct loading *load, int64_t run_id, struct stored_types *types, struct error *err) {
    sqlite3_stmt *rows = db_prepare(load->db,
                                    "SELECT sample_types, process_id IS NULL AND sample_types <> '[]' FROM profiles"
                                    " WHERE run_id = :run AND kind = :kind ORDER BY id",
                                    err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", run_id);
    db_bind_text(rows, ":kind", load->kind_name);
    int code, count = 0;
    while ((code = db_step(load->db, rows, err)) == 1) {
        const char *text = db_text(rows, 0);
        if (!sqlite3_column_int(rows, 1)) types->is_stored = false;
        if (!types->first) types->first = xstrdup(text);
        if (!types->unlike && strcmp(types->first, text) != 0) {
            types->unlike = xstrdup(text);
            types->unlike_id = run_id;
        }
        count++;
    }
    return code < 0 ? -1 : count;
}

static void free_stored(struct stored_types *types) {
    free(types->first);
    free(types->unlike);
}

static int no_such_kind(struct loading *load, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(
        load->db, "SELECT group_concat(kind, ', ') FROM (SELECT DISTINCT kind FROM profiles WHERE run_id = :run)", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(load->db, row, err) < 0) return -1;
    error_fail(err, "%s: run %lld has no %s profile; it has: %s", load->db->path, (long long)run_id, load->kind_name,
               *db_text(row, 0) ? db_text(row, 0) : "none");
    sqlite3_reset(row);
    return -1;
}

static int read_types(struct loading *load, const char *json, struct error *err) {
    sqlite3_stmt *rows =
        db_prepare(load->db, "SELECT value ->> 0, value ->> 1 FROM json_each(:types) ORDER BY key", err);
    if (!rows) return -1;
    db_bind_text(rows, ":types", json);
    int code;
    while ((code = db_step(load->db, rows, err)) == 1) {
        if (load->type_count == TYPES_MAX) {
            sqlite3_reset(rows);
            return error_fail(err, "%s: a profile of more than %d sample types", load->kind_name, TYPES_MAX);
        }
        const char *type = db_text(rows, 0), *unit = db_text(rows, 1);
        load->types[load->type_count++] =
            (struct profile_type){keep(load, type, strlen(type)), keep(load, unit, strlen(unit))};
    }
    return code;
}

static int choose_types(struct loading *load, const struct run_set *runs, struct error *err) {
    struct stored_types types = {.is_stored = true};
    int code = 0;
    for (size_t i = 0; code >= 0 && i < runs->count; i++) {
        code = find_stored(load, runs->ids[i], &types, err);
        if (code == 0) code = no_such_kind(load, runs->ids[i], err);
    }
    load->is_stored = types.is_stored;
    /* A kind of the table that was recorded has the types of its query; any other has its profiles'. */
    bool has_own = load->is_stored || !load->kind->name;
    if (code >= 0 && has_own && types.unlike)
        code = error_usage(err, "run %lld has %s profiles of other sample types (%s) than those before it (%s)",
                           (long long)types.unlike_id, load->kind_name, types.unlike, types.first);
    if (code >= 0 && has_own) code = read_types(load, types.first, err);
    free_stored(&types);
    return code < 0 ? -1 : 0;
}

/* ---- columns ---- */

/* gperftools calls what is in use plain objects and space; both are in one column. */
static bool same_type(const char *type, const char *column, size_t size) {
    if (strlen(type) == size && strncmp(type, column, size) == 0) return true;
    return size > 6 && strncmp(column, "inuse_", 6) == 0 && strlen(type) == size - 6 &&
           strncmp(type, column + 6, size - 6) == 0;
}

/* "TYPE/UNIT": which of the profile's types; a recorded kind has all, in the order of the columns. */
static int value_of(struct loading *load, const char *name) {
    const char *slash = strchr(name, '/');
    size_t size = slash ? (size_t)(slash - name) : strlen(name);
    if (!load->is_stored) {
        load->types[load->type_count] =
            (struct profile_type){keep(load, name, size), slash ? keep(load, slash + 1, strlen(slash + 1)) : "count"};
        return (int)load->type_count++;
    }
    for (size_t i = 0; i < load->type_count; i++)
        if (same_type(load->types[i].type, name, size)) return (int)i;
    return -1;
}

static struct column column_of(struct loading *load, const char *name) {
    if (strcmp(name, "trace_id") == 0) return (struct column){.role = COLUMN_TRACE};
    if (strcmp(name, "label_set_id") == 0) return (struct column){.role = COLUMN_LABELS};
    if (strcmp(name, "function") == 0) return (struct column){.role = COLUMN_FUNCTION};
    if (strcmp(name, "line") == 0) return (struct column){.role = COLUMN_LINE};
    if (strcmp(name, "more") == 0) return (struct column){.role = COLUMN_MORE};
    if (strncmp(name, "label:", 6) == 0)
        return (struct column){.role = COLUMN_LABEL, .key = keep(load, name + 6, strlen(name + 6))};
    if (!load->kind->name) /* v0 to v7 */
        return (struct column){.role = COLUMN_VALUE,
                               .value = name[1] - '0' < (int)load->type_count ? name[1] - '0' : -1};
    return (struct column){.role = COLUMN_VALUE, .value = value_of(load, name)};
}

static int open_columns(struct loading *load, struct error *err) {
    load->sql = embedded_text(load->kind->query);
    sqlite3_stmt *rows = db_prepare(load->db, load->sql, err);
    if (!rows) return -1;
    load->column_count = sqlite3_column_count(rows);
    if (load->column_count > COLUMNS_MAX) bug("%s has more than %d columns", load->kind->query, COLUMNS_MAX);
    for (int i = 0; i < load->column_count; i++)
        load->columns[i] = column_of(load, sqlite3_column_name(rows, i));
    return 0;
}

/* Keeps, of the columns with values, the one of that type: SQLite then works out no other. */
static int narrow_columns(struct loading *load, int type, struct error *err) {
    struct buffer sql = {0};
    sqlite3_stmt *rows = db_prepare(load->db, load->sql, err);
    if (!rows) return -1;
    int kept = 0;
    for (int i = 0; i < load->column_count; i++) {
        if (load->columns[i].role == COLUMN_VALUE && load->columns[i].value != type) continue;
        buffer_add_text(&sql, kept ? ", \"" : "SELECT \"");
        buffer_add_text(&sql, sqlite3_column_name(rows, i)); /* of a query of ours: it needs no escape */
        buffer_add_text(&sql, "\"");
        load->columns[kept++] = load->columns[i];
    }
    load->column_count = kept;
    buffer_add_text(&sql, " FROM (");
    buffer_add(&sql, load->sql, (size_t)(strrchr(load->sql, ';') - load->sql));
    buffer_add_text(&sql, ")");
    load->sql = keep(load, buffer_text(&sql), sql.size);
    buffer_free(&sql);
    return 0;
}

/* ---- rows ---- */

struct row {
    int64_t trace_id, label_set_id, line;
    const char *function;
    struct profile_label labels[COLUMNS_MAX];
    size_t label_count;
};

/* The ninth value and those after it. */
static int read_more(struct loading *load, const char *json, struct error *err) {
    for (size_t i = SAMPLE_COLUMNS; i < load->type_count; i++)
        load->values[i] = 0;
    if (!*json || load->type_count <= SAMPLE_COLUMNS) return 0;
    sqlite3_stmt *values = db_prepare(load->db, "SELECT value FROM json_each(:json) ORDER BY key", err);
    if (!values) return -1;
    db_bind_text(values, ":json", json);
    size_t at = SAMPLE_COLUMNS;
    int code;
    while ((code = db_step(load->db, values, err)) == 1 && at < load->type_count)
        load->values[at++] = sqlite3_column_int64(values, 0);
    sqlite3_reset(values);
    return code < 0 ? -1 : 0;
}

static void read_label(const struct column *column, sqlite3_stmt *statement, int index, struct row *row) {
    struct profile_label label = {.key = column->key, .unit = ""};
    int type = sqlite3_column_type(statement, index);
    if (type == SQLITE_NULL) return;
    if (type == SQLITE_INTEGER)
        label.number = sqlite3_column_int64(statement, index);
    else
        label.text = db_text(statement, index);
    row->labels[row->label_count++] = label;
}

static int read_row(struct loading *load, sqlite3_stmt *statement, struct row *row, struct error *err) {
    row->trace_id = row->label_set_id = row->line = 0;
    row->function = NULL;
    row->label_count = 0;
    for (int i = 0; i < load->column_count; i++) {
        const struct column *column = &load->columns[i];
        switch (column->role) {
        case COLUMN_TRACE: row->trace_id = sqlite3_column_int64(statement, i); break;
        case COLUMN_LABELS: row->label_set_id = sqlite3_column_int64(statement, i); break;
        case COLUMN_LINE: row->line = sqlite3_column_int64(statement, i); break;
        case COLUMN_FUNCTION:
            if (sqlite3_column_type(statement, i) != SQLITE_NULL) row->function = db_text(statement, i);
            break;
        case COLUMN_LABEL: read_label(column, statement, i, row); break;
        case COLUMN_VALUE:
            if (column->value >= 0) load->values[column->value] = sqlite3_column_int64(statement, i);
            break;
        case COLUMN_MORE:
            if (read_more(load, db_text(statement, i), err) < 0) return -1;
            break;
        case COLUMN_OTHER: break;
        }
    }
    return 0;
}

static bool has_value(const struct loading *load) {
    for (size_t i = 0; i < load->type_count; i++)
        if (load->values[i]) return true;
    return false;
}

static int add_sample(struct loading *load, const struct row *row, bool is_stored, struct error *err) {
    uint32_t stack, labels;
    if (row->function && !is_stored)
        stack = profile_names_frame(&load->names, row->function, row->line);
    else if (profile_names_trace(&load->names, row->trace_id, &stack, err) < 0)
        return -1;
    int code = load->kind->addressed && !is_stored
                   ? profile_names_addressed(&load->names, row->trace_id, row->label_set_id, &labels, err)
                   : profile_names_labels(&load->names, row->label_set_id, &labels, err);
    if (code < 0) return -1;
    if (row->label_count && !is_stored) labels = profile_build_labels(&load->builder, row->labels, row->label_count);
    profile_build_sample(&load->builder, stack, labels, load->values);
    return 0;
}

static int add_row(struct loading *load, sqlite3_stmt *statement, bool is_stored, struct error *err) {
    struct row row;
    if (read_row(load, statement, &row, err) < 0) return -1;
    return has_value(load) ? add_sample(load, &row, is_stored, err) : 0;
}

static int add_rows(struct loading *load, sqlite3_stmt *rows, bool is_stored, struct error *err) {
    int code;
    while ((code = db_step(load->db, rows, err)) == 1)
        if (add_row(load, rows, is_stored, err) < 0) {
            sqlite3_reset(rows);
            return -1;
        }
    return code;
}

/* ---- plain kinds: a statement a profile; sorted here, which takes SQLite twice as long ---- */

struct plain_row {
    int64_t trace_id, label_set_id;
    size_t index; /* of its values, and of the row among all */
};

/* The profiles of one run, its windows among them: rows of one stack are summed in the order of stacks. */
struct plain_rows {
    struct plain_row *rows;
    int64_t *values;
    size_t count, room;
};

static void keep_row(const struct loading *load, struct plain_rows *all, const struct row *row) {
    if (all->count == all->room) {
        all->room = all->room ? all->room * 2 : 1024;
        all->rows = xrealloc(all->rows, all->room * sizeof *all->rows);
        all->values = xrealloc(all->values, all->room * load->type_count * sizeof *all->values);
    }
    all->rows[all->count] = (struct plain_row){row->trace_id, row->label_set_id, all->count};
    memcpy(all->values + all->count++ * load->type_count, load->values, load->type_count * sizeof *all->values);
}

static int compare_rows(const void *left, const void *right) {
    const struct plain_row *a = left, *b = right;
    if (a->trace_id != b->trace_id) return a->trace_id < b->trace_id ? -1 : 1;
    if (a->label_set_id != b->label_set_id) return a->label_set_id < b->label_set_id ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int keep_rows(struct loading *load, sqlite3_stmt *rows, struct plain_rows *all, struct error *err) {
    struct row row;
    int code;
    while ((code = db_step(load->db, rows, err)) == 1) {
        if (read_row(load, rows, &row, err) < 0) {
            sqlite3_reset(rows);
            return -1;
        }
        if (has_value(load)) keep_row(load, all, &row);
    }
    return code;
}

static int add_kept(struct loading *load, const struct plain_rows *all, size_t at, bool is_stored, struct error *err) {
    const struct plain_row *kept = &all->rows[at];
    const struct row row = {.trace_id = kept->trace_id, .label_set_id = kept->label_set_id};
    memcpy(load->values, all->values + kept->index * load->type_count, load->type_count * sizeof *load->values);
    return add_sample(load, &row, is_stored, err);
}

/* The last rows of a table come in order as a rule: those before them are sorted, then both are merged. Sorting all of them was a
 * sixteenth of a report, and took memory for as many again. */
static int add_sorted(struct loading *load, struct plain_rows *all, bool is_stored, struct error *err) {
    size_t tail = all->count ? all->count - 1 : 0;
    while (tail && compare_rows(&all->rows[tail - 1], &all->rows[tail]) < 0)
        tail--;
    if (tail > 1) qsort(all->rows, tail, sizeof *all->rows, compare_rows);
    for (size_t head = 0, next = tail; head < tail || next < all->count;) {
        bool is_head = head < tail && (next == all->count || compare_rows(&all->rows[head], &all->rows[next]) < 0);
        if (add_kept(load, all, is_head ? head++ : next++, is_stored, err) < 0) return -1;
    }
    return 0;
}

/* Of windows before the span only what they left in use counts. */
static int load_profile(struct loading *load, sqlite3_stmt *profile, struct plain_rows *all, struct error *err) {
    bool is_stored = sqlite3_column_int(profile, 1), is_counted = sqlite3_column_int(profile, 2);
    if (!is_counted && !kind_has_state(load->kind)) return 0;
    sqlite3_stmt *rows = db_prepare(load->db, load->sql, err);
    if (!rows) return -1;
    db_bind_int(rows, ":profile", sqlite3_column_int64(profile, 0));
    if (kind_has_state(load->kind)) db_bind_int(rows, ":counted", is_counted);
    load->is_plain_stored = is_stored;
    return keep_rows(load, rows, all, err);
}

static int load_plain(struct loading *load, int64_t run_id, const struct timespan *span, struct error *err) {
    struct plain_rows all = {0};
    sqlite3_stmt *profiles =
        db_prepare(load->db,
                   "SELECT id, process_id IS NULL AND sample_types <> '[]', time_ns > :from"
                   " FROM profiles WHERE run_id = :run AND kind = :kind AND time_ns <= :to ORDER BY id",
                   err);
    if (!profiles) return -1;
    db_bind_int(profiles, ":run", run_id);
    db_bind_text(profiles, ":kind", load->kind_name);
    timespan_bind(profiles, span);
    int code;
    while ((code = db_step(load->db, profiles, err)) == 1)
        if (load_profile(load, profiles, &all, err) < 0) {
            sqlite3_reset(profiles);
            code = -1;
            break;
        }
    if (code == 0) code = add_sorted(load, &all, load->is_plain_stored, err);
    free(all.rows);
    free(all.values);
    return code;
}

/* ---- other kinds: their query sums over windows ---- */

static int load_grouped(struct loading *load, int64_t run_id, const struct timespan *span, struct error *err) {
    struct stored_types types = {.is_stored = true};
    int code = find_stored(load, run_id, &types, err);
    free_stored(&types);
    if (code < 0) return -1;
    sqlite3_stmt *rows = db_prepare(load->db, embedded_text(load->kind->query), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", run_id);
    db_bind_text(rows, ":kind", load->kind_name);
    timespan_bind(rows, span);
    return add_rows(load, rows, types.is_stored, err);
}

/* ---- the profile ---- */

static int narrow(struct loading *load, const struct profile *profile, struct error *err) {
    struct error ignored = {0}; /* who asks for a type that is not there is told so where it is used */
    size_t type;
    if (!load->only || !load->kind->plain || profile_find_type(profile, load->only, &type, &ignored) < 0) return 0;
    return narrow_columns(load, (int)type, err);
}

static int load_all(struct loading *load, struct profile *profile, const struct run_set *runs,
                    const struct timespan *spans, struct error *err) {
    if (choose_types(load, runs, err) < 0 || open_columns(load, err) < 0) return -1;
    profile_build(&load->builder, profile, load->types, load->type_count);
    profile_names_open(&load->names, load->db, &load->builder);
    int code = profile_head_read(&load->names, runs, spans, load->kind_name, load->is_stored, err);
    if (code == 0) code = narrow(load, profile, err);
    for (size_t i = 0; code == 0 && i < runs->count; i++) {
        const struct timespan *span = spans ? &spans[i] : &timespan_all;
        code =
            load->kind->plain ? load_plain(load, runs->ids[i], span, err) : load_grouped(load, runs->ids[i], span, err);
    }
    profile_names_free(&load->names);
    profile_built(&load->builder);
    if (code < 0) profile_free(profile);
    return code;
}

/* One snapshot for all statements, so that a recording that goes on does not show through. (db_begin would take the write
 * lock.) */
static int load_at_once(struct profile *profile, struct loading *load, const struct run_set *runs,
                        const struct timespan *spans, struct error *err) {
    struct error ignored = {0};
    *profile = (struct profile){0};
    load->kind = kind_find(load->kind_name);
    int code = db_exec(load->db, "SAVEPOINT profile", err);
    if (code == 0) {
        code = load_all(load, profile, runs, spans, err);
        (void)db_exec(load->db, "RELEASE profile", &ignored);
    }
    arena_free(&load->texts);
    return code;
}

int profile_load_spans(struct profile *profile, struct db *db, const struct run_set *runs, const struct timespan *spans,
                       const char *kind, struct error *err) {
    struct loading load = {.db = db, .kind_name = kind};
    return load_at_once(profile, &load, runs, spans, err);
}

int profile_load(struct profile *profile, struct db *db, const struct run_set *runs, const char *kind,
                 struct error *err) {
    return profile_load_spans(profile, db, runs, NULL, kind, err);
}

int profile_load_type(struct profile *profile, struct db *db, const struct run_set *runs, const char *kind,
                      const char *type, struct error *err) {
    struct loading load = {.db = db, .kind_name = kind, .only = type};
    return load_at_once(profile, &load, runs, NULL, err);
}

int profile_common_kinds(struct db *db, const struct run_set *runs, char **lines, struct error *err) {
    struct buffer ids = {0}, order = {0}, found = {0};
    for (size_t i = 0; i < runs->count; i++)
        buffer_printf(&ids, "%s%lld", i ? "," : "[", (long long)runs->ids[i]);
    buffer_add_text(&ids, runs->count ? "]" : "[]");
    sqlite3_stmt *rows = db_prepare(db, embedded_text("export/common_kind.sql"), err);
    for (const struct kind *kind = kinds; kind->name; kind++)
        buffer_printf(&order, "%s\"%s\"", kind == kinds ? "[" : ",", kind->name);
    buffer_add_char(&order, ']');
    if (rows) db_bind_text(rows, ":runs", buffer_text(&ids));
    if (rows) db_bind_text(rows, ":order", buffer_text(&order));
    buffer_free(&ids);
    buffer_free(&order);
    if (!rows) return -1;
    int code;
    while ((code = db_step(db, rows, err)) == 1)
        buffer_printf(&found, "%s\n", db_text(rows, 0));
    *lines = buffer_take(&found);
    return code;
}
