#include "cli/remote.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/team/copy_text.h"
#include "ingest/team/team_runs.h"
#include "ingest/team/team_views.h"
#include "query/sql/suggest.h"
#include "schema/schema.h"

static struct remote *current; /* remote_step is a table_step, which has no context argument */

/* ---- rows of the server as rows of SQLite, so that they are printed like those of a file -------------------------- */

static void bind_number(sqlite3_stmt *row, int at, const char *text) {
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*end)
        sqlite3_bind_double(row, at, strtod(text, NULL));
    else
        sqlite3_bind_int64(row, at, number);
}

static void bind_value(sqlite3_stmt *row, int at, const char *text, enum team_kind kind) {
    switch (kind) {
    case TEAM_BOOLEAN: sqlite3_bind_int(row, at, *text == 't'); break;
    case TEAM_REAL: sqlite3_bind_double(row, at, strtod(text, NULL)); break;
    case TEAM_INT:
    case TEAM_NUMBER: bind_number(row, at, text); break;
    case TEAM_TEXT: file_text_bind(row, at, text); break;
    }
}

/* Gives back the values that it is bound: SELECT ?1 AS "run_id", ... */
static sqlite3_stmt *make_row(struct remote *remote, struct error *err) {
    struct buffer sql = {0};
    for (int i = 0; i < remote->rows.columns; i++) {
        buffer_printf(&sql, "%s ?%d AS \"", i ? "," : "SELECT", i + 1); /* layers-ok: no table is named */
        for (const char *at = team_rows_name(&remote->rows, i); *at; at++) {
            if (*at == '"') buffer_add_char(&sql, '"');
            buffer_add_char(&sql, *at);
        }
        buffer_add_char(&sql, '"');
    }
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(remote->db.handle, buffer_text(&sql), -1, &row, NULL) != SQLITE_OK)
        db_error(&remote->db, "reading the rows of the store", err);
    buffer_free(&sql);
    return row;
}

/* What stopped the rows, in the words for a file. */
static int stopped(struct error *err) {
    if (strcmp(current->team.server.sqlstate, "57014") != 0 || !current->timeout_ns) return -1;
    *err = (struct error){0};
    return error_fail(err, "stopped after %g s; raise the limit with --timeout", (double)current->timeout_ns / 1e9);
}

int remote_step(struct db *db, sqlite3_stmt *row, struct error *err) {
    struct team_rows *rows = &current->rows;
    int code = team_rows_next(rows, err);
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
    if (code != 1) return code ? stopped(err) : 0;
    for (int i = 0; i < rows->columns; i++) {
        const char *text = team_rows_text(rows, i);
        if (text) bind_value(row, i + 1, text, team_rows_kind(rows, i));
    }
    return sqlite3_step(row) == SQLITE_ROW ? 1 : db_error(db, "reading the rows of the store", err);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

enum { PARAMETERS_MAX = 100, OPEN_TRIES = 3 };

struct remote_parameters {
    struct buffer sql; /* with $1 instead of :NAME, and as long */
    char *names[PARAMETERS_MAX];
    int count;
};

static void parameters_free(struct remote_parameters *parameters) {
    buffer_free(&parameters->sql);
    for (int i = 0; i < parameters->count; i++)
        free(parameters->names[i]);
}

/* The length of what is no SQL to look into: a text, a name in quotes, a comment, the two colons of a cast; 0: something else. */
static size_t skipped(const char *at) {
    if (at[0] == ':' && at[1] == ':') return 2;
    if (at[0] == '-' && at[1] == '-') return strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? (size_t)(end + 2 - at) : strlen(at);
    }
    if (*at != '\'' && *at != '"') return 0;
    size_t size = 1 + strcspn(at + 1, *at == '\'' ? "'" : "\"");
    return size + (at[size] != '\0');
}

static size_t name_size(const char *at) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    bool is_name = *at == ':' && at[1] && strchr(letters, at[1]) && !strchr("0123456789", at[1]);
    return is_name ? strspn(at + 1, letters) : 0;
}

static int number_of(struct remote_parameters *parameters, const char *name, size_t size) {
    for (int i = 0; i < parameters->count; i++)
        if (strlen(parameters->names[i]) == size && strncmp(parameters->names[i], name, size) == 0) return i + 1;
    if (parameters->count == PARAMETERS_MAX) return 0;
    char *copy = xasprintf("%.*s", (int)size, name);
    parameters->names[parameters->count++] = copy;
    return parameters->count;
}

static int read_parameters(struct remote_parameters *parameters, const char *sql, struct error *err) {
    for (const char *at = sql; *at;) {
        size_t size = skipped(at), name = size ? 0 : name_size(at);
        if (!name) {
            buffer_add(&parameters->sql, at, size ? size : 1);
            at += size ? size : 1;
            continue;
        }
        int number = number_of(parameters, at + 1, name);
        if (!number) return error_usage(err, "SQL may have %d parameters", PARAMETERS_MAX);
        buffer_printf(&parameters->sql, "$%-*d", (int)name, number);
        at += 1 + name;
    }
    return 0;
}

static int check_arguments(const struct remote_parameters *parameters, char *const *arguments, size_t count,
                           struct error *err) {
    for (size_t i = 0; i < count; i++) {
        size_t size = strcspn(arguments[i], "=");
        bool is_used = false;
        if (!arguments[i][size])
            return error_usage(err, "'%s' is not NAME=VALUE; the SQL must be one argument", arguments[i]);
        for (int j = 0; j < parameters->count; j++)
            is_used |= strlen(parameters->names[j]) == size && strncmp(parameters->names[j], arguments[i], size) == 0;
        if (!is_used) return error_usage(err, "the SQL has no parameter :%.*s", (int)size, arguments[i]);
    }
    return 0;
}

static int find_run(struct remote *remote, const char *set, char **number, struct error *err) {
    struct team_runs runs = {0};
    struct team_answer answer = {0};
    int code = team_runs_find(&runs, &remote->team, set, err);
    if (code == 0 && runs.count != 1) code = error_usage(err, "run=%s names %zu runs: name one", set, runs.count);
    if (code == 0) {
        const char *values[] = {remote->team.project_number, runs.items[0].name.month.text, runs.items[0].name.uuid};
        code = team_ask(&remote->team.server, embedded_text("team/runs/number"), values, 3, &answer, err);
    }
    if (code == 0) *number = xstrdup(team_word(&answer, 0, 0));
    team_answer_free(&answer);
    team_runs_free(&runs);
    return code;
}

static int bind(struct remote *remote, const struct remote_parameters *parameters, char *const *arguments, size_t count,
                char **values, struct error *err) {
    for (int i = 0; i < parameters->count; i++) {
        const char *name = parameters->names[i], *value = ask_argument(arguments, count, name);
        struct buffer text = {0};
        if (strcmp(name, "run") == 0) {
            if (find_run(remote, value ? value : "latest", &values[i], err)) return -1;
            continue;
        }
        if (!value) return error_usage(err, "the SQL has a parameter :%s: add %s=VALUE", name, name);
        store_text_add(&text, value);
        values[i] = buffer_take(&text);
    }
    return 0;
}

/* ---- a statement ------------------------------------------------------------------------------------------------- */

/* The byte of the character, which the server counts from 1. */
static int byte_of(const char *sql, int position) {
    const char *at = sql;
    for (; position > 1 && *at; position--)
        for (at++; ((unsigned char)*at & 0xc0) == 0x80;)
            at++;
    return position ? (int)(at - sql) : -1;
}

/* The name in quotation marks of the server's message. */
static void suggest(struct remote *remote, const char *sql, const char *message, struct buffer *more) {
    bool is_column = strcmp(remote->team.server.sqlstate, "42703") == 0;
    bool is_table = strcmp(remote->team.server.sqlstate, "42P01") == 0;
    size_t skip = strcspn(message, "\"");
    const char *name = message[skip] ? message + skip + 1 : strncmp(message, "column ", 7) == 0 ? message + 7 : NULL;
    if (!name || (!is_column && !is_table)) return;
    char *wanted = xasprintf("no such %s: %.*s", is_column ? "column" : "table",
                             (int)strcspn(name, message[skip] ? "\"" : " "), name);
    struct db names; /* what may be asked for is what a file has */
    struct error ignored = {0};
    if (db_open_private(&names, remote->db.path, &ignored) == 0) {
        suggest_names(&names, sql, wanted, more);
        (void)db_close(&names, &ignored);
    }
    free(wanted);
}

/* Says it as of SQL for a file. What is no error of the SQL stays as it is. */
static void explain(struct remote *remote, const char *sql, struct error *err) {
    const char *state = remote->team.server.sqlstate;
    struct ask ask = {.db = &remote->db, .offset = byte_of(sql, remote->team.server.position)};
    size_t prefix = strlen(remote->team.server.name) + 2;
    if (strncmp(state, "42", 2) != 0 || strcmp(state, "42501") == 0 || strlen(err->message) < prefix) return;
    char *message = xstrdup(err->message + prefix);
    struct buffer more = {0};
    suggest(remote, sql, message, &more);
    *err = (struct error){0};
    ask_wrong_sql(&ask, sql, message, buffer_text(&more), err);
    ask_print_place(&ask, sql, stderr);
    buffer_free(&more);
    free(message);
}

static int run(struct remote *remote, const struct remote_parameters *parameters, char *const *arguments, size_t count,
               struct error *err) {
    char *values[PARAMETERS_MAX] = {0};
    int code = check_arguments(parameters, arguments, count, err) ||
                       bind(remote, parameters, arguments, count, values, err) ||
                       team_rows_start(&remote->rows, (const char *const *)values, parameters->count, err)
                   ? -1
                   : 0;
    for (int i = 0; i < parameters->count; i++)
        free(values[i]);
    return code;
}

sqlite3_stmt *remote_prepare(struct remote *remote, const char *sql, char *const *arguments, size_t count,
                             struct error *err) {
    struct remote_parameters parameters = {0};
    sqlite3_stmt *statement = NULL;
    if (read_parameters(&parameters, sql, err) == 0) {
        if (team_rows_prepare(&remote->rows, &remote->team.server, buffer_text(&parameters.sql), err))
            explain(remote, sql, err);
        else if (run(remote, &parameters, arguments, count, err) == 0)
            statement = make_row(remote, err);
    }
    parameters_free(&parameters);
    return statement;
}

/* ---- the transaction --------------------------------------------------------------------------------------------- */

/* *is_elsewhere: the project was moved since it was looked for, and the transaction would read what is left of it here. That there is no word of it
 * in the snapshot means that all of its runs are: a move takes them away afterwards. */
static int begin(struct remote *remote, bool *is_elsewhere, struct error *err) {
    struct team_server *server = &remote->team.server;
    char *timeout = xasprintf("%" PRId64, (remote->timeout_ns + 999999) / 1000000);
    const char *values[] = {timeout, remote->team.project_number};
    int code = team_run(server, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err) ||
                       team_is_elsewhere(&remote->team, is_elsewhere, err) ||
                       team_ask(server, embedded_text("team/store/begin_reading"), values, 2, NULL, err)
                   ? -1
                   : 0;
    free(timeout);
    return code;
}

static int open_team(struct remote *remote, const char *uri, const char *project, bool *is_elsewhere,
                     struct error *err) {
    bool is_current;
    if (team_open(&remote->team, uri, project, err) || team_views_check(&remote->team.server, &is_current, err))
        return -1;
    if (is_current) return begin(remote, is_elsewhere, err);
    return error_fail(err, "%s: the store has the views of another clear: clear store upgrade",
                      remote->team.server.name);
}

int remote_open(struct remote *remote, const char *uri, const char *project, int64_t timeout_ns, struct error *err) {
    bool is_elsewhere = true;
    *remote = (struct remote){.timeout_ns = timeout_ns};
    current = remote;
    if (db_open_bare(&remote->db, "the rows of the store", err)) return -1;
    remote->is_open = true;
    /* Two stores that name each other would send us round for ever. */
    for (int tries = 0; is_elsewhere && tries < OPEN_TRIES; tries++) {
        if (tries) team_close(&remote->team);
        if (open_team(remote, uri, project, &is_elsewhere, err)) return -1;
    }
    return 0;
}

void remote_close(struct remote *remote) {
    struct error ignored = {0};
    team_rows_end(&remote->rows);
    team_close(&remote->team);
    if (remote->is_open) (void)db_close(&remote->db, &ignored);
    current = NULL;
}
