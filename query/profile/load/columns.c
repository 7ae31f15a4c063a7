#include "query/profile/load/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *pattern; /* GLOB; the first that matches counts */
    enum role role;
} roles[] = {
    {"trace_id", ROLE_TRACE}, {"stack", ROLE_STACK},        {"label_set_id", ROLE_LABEL_SET},
    {"label:?*", ROLE_LABEL}, {"?*/[a-zA-Z]*", ROLE_VALUE}, {"function", ROLE_FUNCTION},
    {"file", ROLE_FILE},      {"line", ROLE_LINE},          {"*", ROLE_OPEN},
};

/* With and without the parenthesis of sum(alloc_bytes). */
static const struct {
    const char *pattern, *unit;
} units[] = {
    {"*_bytes", "bytes"},
    {"*_bytes)", "bytes"},
    {"*_space", "bytes"},
    {"*_space)", "bytes"},
    {"*_ns", "nanoseconds"},
    {"*_ns)", "nanoseconds"},
    {"*delay", "nanoseconds"},
    {"*delay)", "nanoseconds"},
    {"*hold", "nanoseconds"},
    {"*hold)", "nanoseconds"},
    {"*", "count"},
};

static enum role role_of(const char *name) {
    size_t i = 0;
    while (sqlite3_strglob(roles[i].pattern, name) != 0)
        i++;
    return roles[i].role;
}

static const char *unit_of(const char *name) {
    size_t i = 0;
    while (sqlite3_strglob(units[i].pattern, name) != 0)
        i++;
    return units[i].unit;
}

/* "alloc_space/bytes" is type and unit; a bare name is a type with a unit that its end tells. The unit is what stands
 * after the last slash, because keys may be paths. */
static void split_name(struct query_column *column) {
    const char *name = column->name + (column->role == ROLE_LABEL ? strlen("label:") : 0);
    const char *slash = strrchr(name, '/');
    bool has_unit = slash && slash > name && slash[1];
    column->type = strndup(name, has_unit ? (size_t)(slash - name) : strlen(name));
    if (!column->type) out_of_memory(0);
    column->unit = xstrdup(has_unit ? slash + 1 : column->role == ROLE_LABEL ? "" : unit_of(name));
}

/* Two columns of a role that can only be one. */
static int find_only(struct query_columns *columns, enum role role, int *index, struct error *err) {
    *index = -1;
    for (int i = 0; i < columns->count; i++) {
        if (columns->items[i].role != role) continue;
        if (*index >= 0)
            return error_usage(err, "two columns are named %s: give one of them another name", columns->items[i].name);
        *index = i;
    }
    return 0;
}

/* Which column is the stack, and what file and line belong to. */
static int find_related_columns(struct query_columns *columns, struct error *err) {
    int stack;
    if (find_only(columns, ROLE_TRACE, &columns->trace, err) || find_only(columns, ROLE_STACK, &stack, err) ||
        find_only(columns, ROLE_LABEL_SET, &columns->label_set, err) ||
        find_only(columns, ROLE_FUNCTION, &columns->function, err) ||
        find_only(columns, ROLE_FILE, &columns->file, err) || find_only(columns, ROLE_LINE, &columns->line, err))
        return -1;
    /* As in the view `stacks`: the text says the same with less. */
    if (columns->trace >= 0 && stack >= 0) columns->items[stack].role = ROLE_NONE;
    if (columns->function >= 0) return 0;
    if (columns->file >= 0) columns->items[columns->file].role = ROLE_OPEN;
    if (columns->line >= 0) columns->items[columns->line].role = ROLE_OPEN;
    columns->file = columns->line = -1;
    return 0;
}

int columns_open(struct query_columns *columns, sqlite3_stmt *statement, struct error *err) {
    *columns = (struct query_columns){.count = sqlite3_column_count(statement)};
    columns->items = xcalloc((size_t)columns->count + 1, sizeof *columns->items);
    for (int i = 0; i < columns->count; i++) {
        const char *name = sqlite3_column_name(statement, i);
        if (!name) out_of_memory(0);
        columns->items[i].name = xstrdup(name);
        columns->items[i].role = role_of(columns->items[i].name);
    }
    if (find_related_columns(columns, err) < 0) {
        columns_free(columns);
        return -1;
    }
    for (int i = 0; i < columns->count; i++) {
        struct query_column *column = &columns->items[i];
        split_name(column);
        if (column->role == ROLE_VALUE || column->role == ROLE_OPEN) column->slot = columns->slots++;
    }
    return 0;
}

void columns_free(struct query_columns *columns) {
    for (int i = 0; i < columns->count; i++) {
        free(columns->items[i].name);
        free(columns->items[i].type);
        free(columns->items[i].unit);
    }
    free(columns->items);
    *columns = (struct query_columns){0};
}

void columns_decide(struct query_columns *columns, sqlite3_stmt *statement) {
    for (int i = 0; i < columns->count; i++) {
        if (columns->items[i].role != ROLE_OPEN) continue;
        int type = sqlite3_column_type(statement, i);
        if (type != SQLITE_NULL)
            columns->items[i].role = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? ROLE_VALUE : ROLE_FRAME;
    }
}

int columns_number(const struct query_columns *columns, sqlite3_stmt *statement, int column, int64_t row,
                   int64_t *value, struct error *err) {
    const char *name = columns->items[column].name;
    double real;
    /* The cell itself, once: each sqlite3_column_* looks it up again, which was a sixth of exporting plain rows. SQLite allows it where
     * it was configured for one thread, as db.c does. */
    sqlite3_value *cell = sqlite3_column_value(statement, column);
    switch (sqlite3_value_type(cell)) {
    case SQLITE_NULL: *value = 0; return 0;
    case SQLITE_INTEGER: *value = sqlite3_value_int64(cell); return 0;
    case SQLITE_FLOAT:
        real = round(sqlite3_value_double(cell));
        if (!(real >= -0x1p63 && real < 0x1p63)) /* what an int64 holds; infinities do not fit either */
            return error_fail(err, "row %lld, column %s: %g is too large", (long long)row, name, real);
        *value = (int64_t)real;
        return 0;
    default:
        return error_fail(err, "row %lld, column %s: expected a number, not the text \"%.60s\"", (long long)row, name,
                          (const char *)sqlite3_value_text(cell));
    }
}
