#include "ingest/team/layout.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/team/names.h"
#include "schema/empty_file.h"
#include "schema/schema.h"

/* ---- the tables of a file ---------------------------------------------------------------------------------------- */

/* Tables with a row a stack, event or function: as arrays they take a fifth of the space. */
static bool is_list(const char *table) {
    static const char *const lists[] = {"sites", "cpu", "samples", "events", "function_facts"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i], table) == 0) return true;
    return false;
}

/* With lists, tables with a row an allocation site: nine tenths of the bytes. With a partition of each of the 73 tables, 36 months were 2,600
 * tables, and a query of the view doctor took 6.0 s instead of 0.8. */
static bool is_monthly(const struct layout_table *table) {
    static const char *const large[] = {"heap_peaks", "site_details", "site_facts"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (strcmp(large[i], table->name) == 0) return true;
    return table->is_list && table->owner != LAYOUT_OF_RUN;
}

static int owner_of(const struct layout_table *table) {
    for (int i = 0; i < table->column_count; i++) {
        enum copy_role role = table->columns[i].role.role;
        if (role == COPY_PROCESS || role == COPY_PROFILE) return i;
    }
    return LAYOUT_OF_RUN;
}

static enum layout_type type_of(const char *type) {
    return strcmp(type, "INTEGER") == 0 ? LAYOUT_INT : strcmp(type, "REAL") == 0 ? LAYOUT_REAL : LAYOUT_TEXT;
}

static bool is_left_out(const struct layout_table *table, const char *name, const struct copy_column *role) {
    if (role->role == COPY_RUN) return true;
    if (role->role == COPY_ID) return table->is_run || table->is_list;
    return table->is_run && strcmp(name, "uuid") == 0;
}

static void add_column(struct layout_table *table, const char *name, enum layout_type type, struct copy_column role) {
    table->columns = xrealloc(table->columns, ((size_t)table->column_count + 1) * sizeof *table->columns);
    table->columns[table->column_count++] = (struct layout_column){
        .name = xstrdup(name), .type = type, .role = role, .is_left_out = is_left_out(table, name, &role)};
}

/* Those of the plan by which its rows are copied. */
static void add_columns(struct layout_table *table) {
    for (struct own_column own = {0}; own_columns_next(&own);)
        if (strcmp(own.table, table->name) == 0)
            add_column(table, own.name, type_of(own.type), table->table->columns[table->column_count]);
}

/* Of sites a file has two tables, which share a block size across runs; the store has what they mean. */
static void add_sites(struct layout_table *table) {
    static const struct {
        const char *name;
        struct copy_column role;
    } columns[] = {{"profile_id", {.role = COPY_PROFILE}},
                   {"trace_id", {COPY_NAME, SOURCE_TRACE}},
                   {"label_set_id", {COPY_NAME, SOURCE_LABEL_SET}},
                   {"alloc_count", {.role = COPY_VALUE}},
                   {"alloc_bytes", {.role = COPY_VALUE}},
                   {"free_count", {.role = COPY_VALUE}},
                   {"free_bytes", {.role = COPY_VALUE}}};
    *table = (struct layout_table){.name = "sites", .select = embedded_text("merge/sites.sql"), .is_list = true};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        add_column(table, columns[i].name, LAYOUT_INT, columns[i].role);
}

void layout_make(struct layout *layout) {
    *layout = (struct layout){0};
    copy_plan_make(&layout->plan, COPY_WITH_DERIVED);
    layout->tables = xcalloc(layout->plan.count + 1, sizeof *layout->tables);
    for (size_t i = 0; i < layout->plan.count; i++) {
        const struct copy_table *from = &layout->plan.tables[i];
        struct layout_table *table = &layout->tables[layout->count++];
        *table = (struct layout_table){.name = from->name,
                                       .select = from->select,
                                       .table = from,
                                       .is_list = is_list(from->name),
                                       .is_run = strcmp(from->name, "runs") == 0};
        if (strcmp(from->name, "run_totals") == 0) table->select = embedded_text("team/push/totals");
        add_columns(table);
    }
    add_sites(&layout->tables[layout->count++]);
    for (size_t i = 0; i < layout->count; i++) {
        layout->tables[i].owner = owner_of(&layout->tables[i]);
        layout->tables[i].is_monthly = is_monthly(&layout->tables[i]);
    }
}

void layout_free(struct layout *layout) {
    for (size_t i = 0; i < layout->count; i++) {
        for (int j = 0; j < layout->tables[i].column_count; j++)
            free(layout->tables[i].columns[j].name);
        free(layout->tables[i].columns);
    }
    free(layout->tables);
    copy_plan_free(&layout->plan);
    *layout = (struct layout){0};
}

/* ---- SQL: names of clear's own schema, which have no quotation marks --------------------------------------------- */

bool layout_has_places(const struct layout_table *table, const struct layout_column *column) {
    if (!table->is_list || column->role.role != COPY_NAME) return false;
    enum source_name target = column->role.target;
    return target == SOURCE_TRACE || target == SOURCE_LABEL_SET || target == SOURCE_OBJECT;
}

static const char *sql_type(const struct layout_table *table, int column) {
    static const char *const types[] = {"bigint", "double precision", "text"};
    static const char *const lists[] = {"bigint[]", "double precision[]", "text[]"};
    const struct layout_column *at = &table->columns[column];
    if (at->role.role == COPY_MAPPINGS) return "bigint[]";
    if (!table->is_list || column == table->owner) return types[at->type];
    return layout_has_places(table, at) ? "integer[]" : lists[at->type];
}

static void add_names_tables(struct buffer *sql) {
    static const char *const types[] = {"text", "bigint", "bigint", "bigint[]", "bigint[]"};
    for (int i = SOURCE_NONE + 1; i < SOURCE_NAMES; i++) {
        const struct name_kind *kind = &name_kinds[i];
        /* layers-ok: names of clear's own */
        buffer_printf(sql, "CREATE TABLE IF NOT EXISTS clear.\"%s\" (project bigint NOT NULL, key bigint NOT NULL,",
                      kind->table);
        buffer_add_text(sql, " \"check\" bigint NOT NULL, ");
        for (const struct name_column *column = kind->columns; column->name; column++)
            if (!column->is_derived) buffer_printf(sql, "\"%s\" %s NOT NULL, ", column->name, types[column->type]);
        buffer_add_text(sql, "PRIMARY KEY (project, key));\n");
        for (const struct name_column *column = kind->columns; column->name; column++)
            if (column->is_derived) /* layers-ok: as above */
                buffer_printf(sql, "ALTER TABLE clear.\"%s\" ADD COLUMN IF NOT EXISTS \"%s\" %s NOT NULL DEFAULT 0;\n",
                              kind->table, column->name, types[column->type]);
    }
}

static void add_table(struct buffer *sql, const struct layout_table *table) {
    /* layers-ok: as above */
    buffer_printf(sql, "CREATE TABLE IF NOT EXISTS clear.\"%s\" (project bigint NOT NULL, month date NOT NULL,",
                  table->name);
    buffer_add_text(sql, " run uuid NOT NULL, place bigint NOT NULL, PRIMARY KEY (project, month, run, place))");
    buffer_add_text(sql, table->is_monthly ? " PARTITION BY RANGE (month);\n" : ";\n");
    for (int i = 0; i < table->column_count; i++)
        if (!table->columns[i].is_left_out) /* layers-ok: as above */
            buffer_printf(sql, "ALTER TABLE clear.\"%s\" ADD COLUMN IF NOT EXISTS \"%s\" %s;\n", table->name,
                          table->columns[i].name, sql_type(table, i));
}

static void add_names_of(struct buffer *array, const struct layout *layout,
                         bool (*is_wanted)(const struct layout_table *)) {
    const char *mark = "";
    buffer_add_text(array, "{");
    for (size_t i = 0; i < layout->count; i++) {
        if (!is_wanted(&layout->tables[i])) continue;
        buffer_printf(array, "%s\"%s\"", mark, layout->tables[i].name);
        mark = ",";
    }
    buffer_add_text(array, "}");
}

static bool has_months(const struct layout_table *table) {
    return table->is_monthly;
}

static bool is_of_run(const struct layout_table *table) {
    return table->is_list && table->owner == LAYOUT_OF_RUN;
}

void layout_add_monthly(struct buffer *array, const struct layout *layout) {
    add_names_of(array, layout, has_months);
}

void layout_add_of_run(struct buffer *array, const struct layout *layout) {
    add_names_of(array, layout, is_of_run);
}

void layout_add_tables(struct buffer *sql, const struct layout *layout) {
    add_names_tables(sql);
    for (size_t i = 0; i < layout->count; i++)
        add_table(sql, &layout->tables[i]);
}

void layout_add_copy(struct buffer *sql, const struct layout_table *table) {
    buffer_printf(sql, "COPY clear.\"%s\"(project, month, run, place", table->name);
    for (int i = 0; i < table->column_count; i++)
        if (!table->columns[i].is_left_out) buffer_printf(sql, ", \"%s\"", table->columns[i].name);
    buffer_add_text(sql, ") FROM STDIN");
}

/* The columns in order, of a list those of the row that unnest makes. */
static void add_selected(struct buffer *sql, const struct layout_table *table) {
    for (int i = 0; i < table->column_count; i++) {
        buffer_add_text(sql, i ? ", " : "SELECT ");
        if (table->columns[i].is_left_out)
            buffer_add_text(sql, "NULL");
        else
            buffer_printf(sql, "%s.\"%s\"", table->is_list && i != table->owner ? "item" : "row",
                          table->columns[i].name);
    }
    buffer_printf(sql, " FROM clear.\"%s\" AS row", table->name); /* layers-ok: as above */
}

bool layout_may_be_counted(const struct layout_column *column) {
    return column->role.role == COPY_NAME && strcmp(column->name, "trace_id") == 0;
}

/* Of a list that is left out, the numbers of the elements of another. */
static void add_list(struct buffer *sql, const struct layout_table *table, int column) {
    const char *name = table->columns[column].name;
    int other = table->column_count - 1;
    if (layout_may_be_counted(&table->columns[column])) /* layers-ok: as above */
        buffer_printf(sql, "coalesce(row.\"%s\", ARRAY(SELECT generate_series(1, cardinality(row.\"%s\"))))", name,
                      table->columns[other].name);
    else
        buffer_printf(sql, "row.\"%s\"", name);
}

void layout_add_unnest(struct buffer *sql, const struct layout_table *table) {
    struct buffer arrays = {0}, names = {0};
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_left_out || i == table->owner) continue;
        if (arrays.size) buffer_add_text(&arrays, ", ");
        add_list(&arrays, table, i);
        buffer_printf(&names, "\"%s\", ", table->columns[i].name);
    }
    /* layers-ok: as above */
    buffer_printf(sql, ", unnest(%s) WITH ORDINALITY AS item(%sitem_place)", buffer_text(&arrays), buffer_text(&names));
    buffer_free(&arrays);
    buffer_free(&names);
}

void layout_add_select(struct buffer *sql, const struct layout_table *table) {
    add_selected(sql, table);
    if (table->is_list) layout_add_unnest(sql, table);
    buffer_add_text(sql, " WHERE row.project = $1 AND row.month = $2 AND row.run = $3 ORDER BY row.place");
    if (table->is_list) buffer_add_text(sql, ", item_place");
}

void layout_add_select_many(struct buffer *sql, const struct layout_table *table) {
    buffer_add_text(sql, "SELECT wanted.number");
    for (int i = 0; i < table->column_count; i++)
        if (table->columns[i].is_left_out)
            buffer_add_text(sql, ", NULL");
        else
            buffer_printf(sql, ", row.\"%s\"", table->columns[i].name);
    buffer_add_text(sql, " FROM unnest($2::date[], $3::uuid[]) WITH ORDINALITY AS wanted(month, run, number)");
    buffer_printf(sql, " JOIN clear.\"%s\" AS row", table->name); /* layers-ok: as above */
    buffer_add_text(sql, " ON row.project = $1 AND row.month = wanted.month AND row.run = wanted.run");
    buffer_add_text(sql, " ORDER BY wanted.number, row.place");
}
