#include "ingest/read/warehouse/copy_rows.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/writer/site_rows.h"
#include "schema/empty_file.h"
#include "schema/facts.h"
#include "schema/schema.h"

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* Hang on runs, processes or profiles, and are not copied row by row: sites by their one writer; places by
 * ingest/read/warehouse/run_order.c. */
static const char *const apart[] = {"site_rows", "run_places", NULL};

static bool is_apart(const char *table) {
    for (const char *const *other = apart; *other; other++)
        if (strcmp(*other, table) == 0) return true;
    return false;
}

static struct copy_column column_of(const char *table, const char *name, const char *target) {
    struct copy_column column = {.role = COPY_VALUE, .target = source_name_of(target)};
    if (strcmp(name, "id") == 0) column.role = COPY_ID;
    if (strcmp(table, "profiles") == 0 && strcmp(name, "mappings") == 0) column.role = COPY_MAPPINGS;
    if (strcmp(target, "runs") == 0) column.role = COPY_RUN;
    if (strcmp(target, "processes") == 0) column.role = COPY_PROCESS;
    if (strcmp(target, "profiles") == 0) column.role = COPY_PROFILE;
    if (column.target != SOURCE_NONE) column.role = COPY_NAME;
    return column;
}

/* Names of clear's own schema have no quotation marks. */
static void add_name(struct buffer *sql, const char *separator, const char *name) {
    buffer_add_text(sql, separator);
    buffer_add_char(sql, '"');
    buffer_add_text(sql, name);
    buffer_add_char(sql, '"');
}

/* What of the source is the run's: by its own column run_id or id, by its processes or by its profiles. */
static const char *condition_of(const char *table, const bool *has_role) {
    if (strcmp(table, "runs") == 0) return " WHERE id = :run";
    if (has_role[COPY_RUN]) return " WHERE run_id = :run ORDER BY 1";
    if (has_role[COPY_PROFILE]) return " WHERE profile_id IN (SELECT id FROM main.profiles WHERE run_id = :run)";
    if (!has_role[COPY_PROCESS]) bug("table %s hangs on no run", table);
    return " WHERE process_id IN (SELECT id FROM main.processes WHERE run_id = :run) ORDER BY 1";
}

static void add_column(struct copy_table *table, const struct own_column *own) {
    table->columns = xrealloc(table->columns, ((size_t)table->column_count + 1) * sizeof *table->columns);
    table->columns[table->column_count++] = column_of(own->table, own->name, own->target);
}

static void add_columns(struct copy_table *table, struct own_column own) {
    struct buffer select = {0}, insert = {0}, values = {0};
    bool has_role[COPY_MAPPINGS + 1] = {false};
    do {
        add_name(&select, table->column_count ? ", " : "SELECT ", own.name);
        add_name(&insert, table->column_count ? ", " : "(", own.name);
        buffer_add_text(&values, table->column_count ? ", ?" : ") VALUES (?");
        add_column(table, &own);
        has_role[table->columns[table->column_count - 1].role] = true;
    } while (own_columns_next(&own) && strcmp(own.table, table->name) == 0);
    /* layers-ok: names of clear's own schema, no value */
    table->select =
        xasprintf("%s FROM main.\"%s\"%s", buffer_text(&select), table->name, condition_of(table->name, has_role));
    /* layers-ok: as above */
    table->insert = xasprintf("INSERT INTO main.\"%s\"%s%s)", table->name, buffer_text(&insert), buffer_text(&values));
    buffer_free(&select);
    buffer_free(&insert);
    buffer_free(&values);
}

static bool is_derived(const char *table) {
    return facts_is_derived(table) || strcmp(table, "run_totals") == 0;
}

/* `first`: the first of its columns. */
static void add_table(struct copy_plan *plan, const struct own_column *first) {
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->tables[i].name, first->table) == 0) return;
    plan->tables = xrealloc(plan->tables, (plan->count + 1) * sizeof *plan->tables);
    plan->tables[plan->count] =
        (struct copy_table){.name = xstrdup(first->table), .is_derived = is_derived(first->table)};
    add_columns(&plan->tables[plan->count++], *first);
}

static void add_owner(struct copy_plan *plan, const char *table) {
    struct own_column own = {0};
    while (own_columns_next(&own)) {
        if (strcmp(own.table, table) != 0) continue;
        add_table(plan, &own);
        return;
    }
    bug("no table %s", table);
}

static void add_hanging(struct copy_plan *plan, const char *target, enum copy_tables tables) {
    struct own_column first = {0};
    for (struct own_column own = {0}; own_columns_next(&own);) {
        if (!first.table || strcmp(first.table, own.table) != 0) first = own;
        if (strcmp(own.target, target) == 0 && !is_apart(own.table) &&
            (tables == COPY_WITH_DERIVED || !is_derived(own.table)))
            add_table(plan, &first);
    }
}

void copy_plan_make(struct copy_plan *plan, enum copy_tables tables) {
    static const char *const owners[] = {"runs", "processes", "profiles"};
    enum { OWNERS = sizeof owners / sizeof *owners };
    *plan = (struct copy_plan){0};
    for (int i = 0; i < OWNERS; i++)
        add_owner(plan, owners[i]);
    for (int i = 0; i < OWNERS; i++)
        add_hanging(plan, owners[i], tables);
}

void copy_plan_free(struct copy_plan *plan) {
    for (size_t i = 0; i < plan->count; i++) {
        free(plan->tables[i].name);
        free(plan->tables[i].select);
        free(plan->tables[i].insert);
        free(plan->tables[i].columns);
    }
    free(plan->tables);
    *plan = (struct copy_plan){0};
}

/* ---- a row ------------------------------------------------------------------------------------------------------- */

static int find_id(struct copying *copying, const struct map *ids, int64_t there, int64_t *here, struct error *err) {
    const struct map_entry *entry = map_find(ids, &there, sizeof there);
    if (entry) *here = entry->value;
    return entry ? 0 : error_fail(err, "%s: is damaged: an id that is not in the file", copying->source->path);
}

/* The id here of a column that is one. */
static int translate(struct copying *copying, const struct copy_column *column, int64_t there, int64_t *here,
                     struct error *err) {
    switch (column->role) {
    case COPY_RUN: *here = copying->run_id; return 0;
    case COPY_PROCESS: return find_id(copying, &copying->processes, there, here, err);
    case COPY_PROFILE: return find_id(copying, &copying->profiles, there, here, err);
    default: *here = source_names_id(copying->names, column->target, there, err); return *here < 0 ? -1 : 0;
    }
}

static int bind_mappings(struct copying *copying, sqlite3_stmt *insert, int at, const char *json, struct error *err) {
    struct buffer text = {0};
    int code = source_names_mappings(copying->names, json, &text, err);
    sqlite3_bind_text(insert, at, buffer_text(&text), -1, SQLITE_TRANSIENT);
    buffer_free(&text);
    return code;
}

static int bind_column(struct copying *copying, const struct copy_column *column, sqlite3_stmt *row,
                       sqlite3_stmt *insert, int at, struct error *err) {
    int64_t here = 0;
    if (column->role == COPY_ID) return 0; /* a new one */
    if (column->role == COPY_MAPPINGS) return bind_mappings(copying, insert, at + 1, db_text(row, at), err);
    if (column->role == COPY_VALUE || sqlite3_column_type(row, at) == SQLITE_NULL) {
        sqlite3_bind_value(insert, at + 1, sqlite3_column_value(row, at));
        return 0;
    }
    if (translate(copying, column, sqlite3_column_int64(row, at), &here, err)) return -1;
    sqlite3_bind_int64(insert, at + 1, here);
    return 0;
}

/* What other rows refer to keeps its id in memory. */
static void remember(struct copying *copying, const struct copy_table *table, int64_t there) {
    int64_t here = sqlite3_last_insert_rowid(copying->db->handle);
    if (strcmp(table->name, "runs") == 0) copying->run_id = here;
    if (strcmp(table->name, "processes") == 0) map_put(&copying->processes, &there, sizeof there, NULL)->value = here;
    if (strcmp(table->name, "profiles") == 0) map_put(&copying->profiles, &there, sizeof there, NULL)->value = here;
}

static int copy_row(struct copying *copying, const struct copy_table *table, sqlite3_stmt *row, struct error *err) {
    sqlite3_stmt *insert = db_prepare(copying->db, table->insert, err);
    if (!insert) return -1;
    for (int i = 0; i < table->column_count; i++)
        if (bind_column(copying, &table->columns[i], row, insert, i, err)) return -1;
    if (db_run(copying->db, insert, err)) return -1;
    if (table->columns[0].role == COPY_ID) remember(copying, table, sqlite3_column_int64(row, 0));
    copying->rows++;
    return 0;
}

static int copy_table(struct copying *copying, const struct copy_table *table, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(copying->source, table->select, err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code;
    while ((code = db_step(copying->source, row, err)) == 1)
        if (copy_row(copying, table, row, err)) {
            sqlite3_reset(row);
            return -1;
        }
    return code;
}

/* ---- allocation sites -------------------------------------------------------------------------------------------- */

struct site_batch {
    int64_t profile_id; /* there; 0: none */
    struct buffer rows; /* struct site_row */
};

static int put_batch(struct copying *copying, struct site_batch *batch, struct error *err) {
    int64_t here = 0;
    size_t count = batch->rows.size / sizeof(struct site_row);
    if (!count) return 0;
    if (find_id(copying, &copying->profiles, batch->profile_id, &here, err)) return -1;
    copying->rows += (int64_t)count;
    int code =
        site_rows_put(copying->names->writer, here, (const struct site_row *)(void *)batch->rows.data, count, err);
    buffer_clear(&batch->rows);
    return code;
}

static int add_site(struct copying *copying, struct site_batch *batch, sqlite3_stmt *row, struct error *err) {
    int64_t profile_id = sqlite3_column_int64(row, 0);
    const struct site_row site = {
        .trace_id = source_names_id(copying->names, SOURCE_TRACE, sqlite3_column_int64(row, 1), err),
        .label_set_id = source_names_id(copying->names, SOURCE_LABEL_SET, sqlite3_column_int64(row, 2), err),
        .alloc_count = sqlite3_column_int64(row, 3),
        .alloc_bytes = sqlite3_column_int64(row, 4),
        .free_count = sqlite3_column_int64(row, 5),
        .free_bytes = sqlite3_column_int64(row, 6)};
    if (site.trace_id < 0 || site.label_set_id < 0) return -1;
    if (profile_id != batch->profile_id && put_batch(copying, batch, err)) return -1;
    batch->profile_id = profile_id;
    buffer_add(&batch->rows, &site, sizeof site);
    return 0;
}

static int copy_sites(struct copying *copying, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(copying->source, embedded_text("merge/sites.sql"), err);
    struct site_batch batch = {0};
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code;
    while ((code = db_step(copying->source, row, err)) == 1)
        if ((code = add_site(copying, &batch, row, err))) break;
    sqlite3_reset(row);
    if (code == 0) code = put_batch(copying, &batch, err);
    buffer_free(&batch.rows);
    return code;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Whoever copies a run seals it. */
int copy_run(struct copying *copying, int64_t run_id, struct error *err) {
    for (size_t i = 0; i < copying->plan->count; i++) {
        if (copy_table(copying, &copying->plan->tables[i], run_id, err)) return -1;
        if (i == 0 && !copying->run_id)
            return error_fail(err, "%s: run %lld is gone", copying->source->path, (long long)run_id);
    }
    return copy_sites(copying, run_id, err);
}

void copying_free(struct copying *copying) {
    map_free(&copying->processes);
    map_free(&copying->profiles);
    copying->run_id = 0;
}
