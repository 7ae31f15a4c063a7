#include "query/sql/saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/nearest.h"
#include "query/runs/select.h"
#include "schema/schema.h"

const char *saved_list_sql(void) {
    return embedded_text("saved/list.sql");
}

/* ---- by name ---- */

static int unknown(struct db *db, const char *name, struct error *err) {
    struct nearest nearest = {.word = name};
    sqlite3_stmt *row = db_prepare(db, "SELECT name FROM queries ORDER BY name", err);
    if (!row) return -1;
    int code;
    while ((code = db_step(db, row, err)) == 1)
        nearest_offer(&nearest, db_text(row, 0));
    if (code < 0) return -1;
    if (*nearest.found) return error_usage(err, "no saved query '%s'; did you mean @%s?", name, nearest.found);
    return error_usage(err, "no saved query '%s'; `clear query --list` lists them", name);
}

int saved_find(struct db *db, const char *name, struct saved_query *query, struct error *err) {
    sqlite3_stmt *row =
        db_prepare(db, "SELECT name, description, params, sql, export FROM queries WHERE name = :name", err);
    if (!row) return -1;
    db_bind_text(row, ":name", name);
    int code = db_step(db, row, err);
    if (code < 0) return -1;
    if (code == 0) return unknown(db, name, err);
    *query = (struct saved_query){xstrdup(db_text(row, 0)), xstrdup(db_text(row, 1)), xstrdup(db_text(row, 2)),
                                  xstrdup(db_text(row, 3)), xstrdup(db_text(row, 4))};
    sqlite3_reset(row);
    return 0;
}

/* ---- parameters ---- */

struct declared {
    char *type, *otherwise; /* otherwise: the default, NULL for none */
};

static void free_declared(struct declared *declared) {
    free(declared->type);
    free(declared->otherwise);
}

/* 1: the query declares it, 0: not, -1: the error is set. */
static int declaration(struct db *db, const struct saved_query *query, const char *name, struct declared *declared,
                       struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("saved/parameter.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":params", query->params);
    db_bind_text(row, ":name", name);
    int code = db_step(db, row, err);
    if (code != 1) return code;
    bool has_default = sqlite3_column_type(row, 1) != SQLITE_NULL;
    *declared = (struct declared){xstrdup(db_text(row, 0)), has_default ? xstrdup(db_text(row, 1)) : NULL};
    sqlite3_reset(row);
    return 1;
}

static bool is_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *text != ' ';
}

static bool is_real(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && !strpbrk(text, "xXpPnN ");
}

static int bind_typed(struct ask *ask, sqlite3_stmt *statement, int index, const char *type, const char *value,
                      struct error *err) {
    const char *name = sqlite3_bind_parameter_name(statement, index) + 1;
    int64_t integer;
    double real;
    if (strcmp(type, "run") == 0) {
        if (ask_select_run(ask, value, &integer, err) < 0) return -1;
        sqlite3_bind_int64(statement, index, integer);
    } else if (strcmp(type, "integer") == 0) {
        if (!is_integer(value, &integer)) return error_usage(err, "%s=%s: must be a whole number", name, value);
        sqlite3_bind_int64(statement, index, integer);
    } else if (strcmp(type, "real") == 0) {
        if (!is_real(value, &real)) return error_usage(err, "%s=%s: must be a number", name, value);
        sqlite3_bind_double(statement, index, real);
    } else {
        sqlite3_bind_text(statement, index, value, -1, SQLITE_TRANSIENT);
    }
    return 0;
}

static int bind_one(struct ask *ask, sqlite3_stmt *statement, const struct saved_query *query, int index,
                    const char *given, struct error *err) {
    const char *name = sqlite3_bind_parameter_name(statement, index) + 1;
    struct declared declared = {0};
    int found = declaration(ask->db, query, name, &declared, err);
    if (found < 0) return -1;
    if (found == 0) return ask_bind_value(ask, statement, index, given, err);
    const char *value = given ? given : declared.otherwise;
    int code = value ? bind_typed(ask, statement, index, declared.type, value, err)
                     : error_usage(err, "@%s needs %s=VALUE (%s)", query->name, name, declared.type);
    free_declared(&declared);
    return code;
}

int saved_bind(struct ask *ask, sqlite3_stmt *statement, const struct saved_query *query, char *const *arguments,
               size_t count, struct error *err) {
    if (ask_check_arguments(statement, arguments, count, err) < 0) return -1;
    for (int index = 1; index <= sqlite3_bind_parameter_count(statement); index++) {
        const char *name = sqlite3_bind_parameter_name(statement, index) + 1;
        if (bind_one(ask, statement, query, index, ask_argument(arguments, count, name), err) < 0) return -1;
    }
    return 0;
}

/* ---- saving ---- */

static void declare(struct buffer *params, const char *name, const char *value) {
    int64_t integer;
    double real;
    bool is_run = strcmp(name, "run") == 0;
    const char *type = "text";
    if (is_run && !value) value = "latest";
    if (value && is_real(value, &real)) type = "real";
    if (value && is_integer(value, &integer)) type = "integer";
    if (is_run) type = "run";
    buffer_add_text(params, params->size > 1 ? ",{\"name\":" : "{\"name\":");
    buffer_add_json_string(params, name, strlen(name));
    buffer_printf(params, ",\"type\":\"%s\"", type);
    if (value && strcmp(type, "integer") == 0) {
        buffer_printf(params, ",\"default\":%lld", (long long)integer);
    } else if (value && strcmp(type, "real") == 0) {
        buffer_printf(params, ",\"default\":%.17g", real);
    } else if (value) {
        buffer_add_text(params, ",\"default\":");
        buffer_add_json_string(params, value, strlen(value));
    }
    buffer_add_char(params, '}');
}

/* The parameters of the SQL as JSON, or NULL with the error set. free() it. */
static char *parameters_of(struct db *db, const char *sql, char *const *arguments, size_t count, struct error *err) {
    struct ask ask;
    struct buffer params = {0};
    ask_open(&ask, db, 0, false);
    sqlite3_stmt *statement = ask_prepare(&ask, sql, err);
    int code = statement ? ask_check_arguments(statement, arguments, count, err) : -1;
    if (!statement) ask_print_place(&ask, sql, stderr);
    buffer_add_char(&params, '[');
    for (int index = 1; code == 0 && index <= sqlite3_bind_parameter_count(statement); index++) {
        const char *name = sqlite3_bind_parameter_name(statement, index) + 1;
        declare(&params, name, ask_argument(arguments, count, name));
    }
    buffer_add_char(&params, ']');
    sqlite3_finalize(statement);
    ask_close(&ask);
    if (code == 0) return buffer_take(&params);
    buffer_free(&params);
    return NULL;
}

static int check_name(const char *name, struct error *err) {
    if (!queries_is_name(name)) return error_usage(err, "'%s' is not a valid name: use letters, digits, - and _", name);
    if (queries_is_own(name)) return error_usage(err, "@%s is one of clear's own queries: choose another name", name);
    return 0;
}

int saved_save(struct db *db, const char *name, const char *description, const char *sql, char *const *arguments,
               size_t count, struct error *err) {
    if (check_name(name, err)) return -1;
    char *params = parameters_of(db, sql, arguments, count, err);
    if (!params) return -1;
    const struct saved_query query = {(char *)(uintptr_t)name, (char *)(uintptr_t)description, params,
                                      (char *)(uintptr_t)sql, (char[]){"{}"}};
    int code = queries_put(db, &query, err);
    free(params);
    return code;
}

int saved_forget(struct db *db, const char *name, struct error *err) {
    struct saved_query query;
    if (check_name(name, err) || saved_find(db, name, &query, err)) return -1;
    queries_free(&query);
    sqlite3_stmt *statement = db_prepare(db, "DELETE FROM queries WHERE name = :name", err);
    if (!statement) return -1;
    db_bind_text(statement, ":name", name);
    return db_run(db, statement, err);
}
