#include "ingest/team/team_server.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/team/libpq.h"
#include "schema/schema.h"

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static const char *behind_scheme(const char *text) {
    static const char *const schemes[] = {"postgresql://", "postgres://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(text, schemes[i], strlen(schemes[i])) == 0) return text + strlen(schemes[i]);
    return NULL;
}

bool team_is_address(const char *text) {
    return behind_scheme(text) != NULL;
}

/* A password may hold any character, so what stands before the last '@' is the user and it. */
static const char *end_of_user(const char *at) {
    const char *end = strrchr(at, '@');
    return end ? end : at;
}

char *team_shown_address(const char *uri) {
    struct buffer shown = {0};
    const char *at = behind_scheme(uri), *user = at ? end_of_user(at) : NULL;
    if (!at) return xstrdup("the store");
    buffer_add_text(&shown, "postgresql://");
    if (user != at) buffer_add(&shown, at, strcspn(at, ":@"));
    buffer_add(&shown, user, strcspn(user, "?#"));
    return buffer_take(&shown);
}

static bool has_password(const char *uri) {
    const char *at = behind_scheme(uri);
    const char *end = end_of_user(at);
    return memchr(at, ':', (size_t)(end - at)) != NULL;
}

/* ---- the options of a connection --------------------------------------------------------------------------------- */

enum { OPTIONS_MAX = 64 };

struct option_list {
    const char *names[OPTIONS_MAX], *values[OPTIONS_MAX];
    int count;
};

static void add_option(struct option_list *list, const char *name, const char *value) {
    if (list->count >= OPTIONS_MAX - 1) bug("more options of a connection than libpq has");
    list->names[list->count] = name;
    list->values[list->count++] = value;
}

static const char *option_of(const PQconninfoOption *options, const char *name) {
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, name) == 0) return options->val && *options->val ? options->val : NULL;
    return NULL;
}

static int refuse_password(const struct team_server *server, struct error *err) {
    return error_usage(err,
                       "%s: a password in an address is shown to everybody by ps: put it in ~/.pgpass, a service file "
                       "or PGPASSWORD",
                       server->name);
}

static PQconninfoOption *parse(struct team_server *server, const char *uri, struct error *err) {
    char *message = NULL;
    PQconninfoOption *options = pq.parse(uri, &message);
    if (!options) /* libpq's message may quote a password */
        error_usage(err, "%s: is no address of a store: postgresql://[USER@]HOST[:PORT]/DATABASE[?OPTIONS]",
                    server->name);
    if (message) pq.free_memory(message);
    return options;
}

/* A socket of this machine, or its own address? One foreign host of several makes the address foreign. */
static bool is_local_host(const char *hosts) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1"};
    for (const char *at = hosts; at && *at;) {
        size_t size = strcspn(at, ",");
        bool is_local = size == 0 || *at == '/' || *at == '@';
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            is_local |= strlen(names[i]) == size && strncmp(at, names[i], size) == 0;
        if (!is_local) return false;
        at += size + (at[size] == ',');
    }
    return true;
}

/* Service files are known only to a connection that is being made. libpq's own default is prefer. */
static bool needs_certificate(const struct option_list *list, const PQconninfoOption *given) {
    PGconn *trial = pq.start(list->names, list->values, 0);
    PQconninfoOption *all = trial ? pq.options(trial) : NULL;
    const char *mode = option_of(all, "sslmode"), *address = option_of(all, "hostaddr");
    const char *host = address ? address : option_of(all, "host");
    bool is_told = option_of(given, "sslmode") || getenv("PGSSLMODE") || (mode && strcmp(mode, "prefer") != 0);
    bool needs = !is_told && !is_local_host(host);
    if (all) pq.free_options(all);
    if (trial) pq.finish(trial);
    return needs;
}

static void list_options(struct option_list *list, const PQconninfoOption *given) {
    for (const PQconninfoOption *option = given; option->keyword; option++)
        if (option->val && *option->val) add_option(list, option->keyword, option->val);
    if (!option_of(given, "connect_timeout") && !getenv("PGCONNECT_TIMEOUT")) add_option(list, "connect_timeout", "10");
    if (!option_of(given, "application_name")) add_option(list, "application_name", "clear");
    add_option(list, "client_encoding", "UTF8");
}

static void ignore_notice(void *context, const char *message) {
    (void)context, (void)message; /* "relation exists, skipping" */
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static int fail_message(struct team_server *server, const char *message, struct error *err) {
    while (*message == '\n' || *message == ' ')
        message++;
    const char *text = strncmp(message, "ERROR:  ", 8) == 0 ? message + 8 : message;
    return error_fail(err, "%s: %.*s", server->name, (int)strcspn(text, "\n"), text);
}

int team_fail(struct team_server *server, const void *result, struct error *err) {
    const char *state = result ? pq.result_field(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = state ? pq.result_field(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *position = state ? pq.result_field(result, PG_DIAG_STATEMENT_POSITION) : NULL;
    server->sqlstate[0] = '\0';
    server->position = position ? atoi(position) : 0;
    if (state) memcpy(server->sqlstate, state, sizeof server->sqlstate);
    if (state && strcmp(state, "42501") == 0)
        return error_fail(err, "%s: %s: ask who keeps the store for the role (clear store grant)", server->name, text);
    return fail_message(server, text ? text : pq.message(server->connection), err);
}

/* ---- the connection ---------------------------------------------------------------------------------------------- */

/* What to do about a certificate is said by no message of libpq. */
static int fail_connection(struct team_server *server, bool is_checked, struct error *err) {
    const char *message = pq.message(server->connection);
    bool is_refused = is_checked && (strstr(message, "certificate") || strstr(message, "SSL"));
    if (!is_refused) return fail_message(server, message, err);
    return error_fail(err,
                      "%s: %.*s; the address may name the file of the authority that signed it (sslrootcert=FILE), or "
                      "demand less (sslmode=require)",
                      server->name, (int)strcspn(message, "\n"), message);
}

static int open_connection(struct team_server *server, const PQconninfoOption *given, struct error *err) {
    struct option_list list = {0};
    if (option_of(given, "password") || option_of(given, "sslpassword")) return refuse_password(server, err);
    list_options(&list, given);
    bool is_checked = needs_certificate(&list, given);
    if (is_checked) add_option(&list, "sslmode", "verify-full");
    server->connection = pq.connect(list.names, list.values, 0);
    if (!server->connection) return error_fail(err, "%s: out of memory", server->name);
    if (pq.status(server->connection) != CONNECTION_OK) return fail_connection(server, is_checked, err);
    pq.set_notices(server->connection, ignore_notice, NULL);
    return team_run(server, embedded_text("team/store/session"), err);
}

static int check_address(const struct team_server *server, const char *uri, struct error *err) {
    if (!team_is_address(uri)) return error_usage(err, "an address of a store begins with postgresql://");
    return has_password(uri) || strstr(uri, "password=") ? refuse_password(server, err) : 0;
}

int team_check_address(const char *uri, struct error *err) {
    struct team_server server = {.name = team_shown_address(uri)};
    int code = check_address(&server, uri, err);
    free(server.name);
    return code;
}

int team_connect(struct team_server *server, const char *uri, struct error *err) {
    *server = (struct team_server){.name = team_shown_address(uri)};
    if (check_address(server, uri, err) || pq_load(err)) return -1;
    PQconninfoOption *given = parse(server, uri, err);
    int code = given ? open_connection(server, given, err) : -1;
    if (given) pq.free_options(given);
    return code;
}

void team_disconnect(struct team_server *server) {
    if (server->connection) pq.finish(server->connection);
    free(server->name);
    *server = (struct team_server){0};
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static int check(struct team_server *server, PGresult *result, struct error *err) {
    ExecStatusType status = pq.result_status(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return 0;
    return team_fail(server, result, err);
}

int team_ask(struct team_server *server, const char *sql, const char *const *values, int count,
             struct team_answer *answer, struct error *err) {
    if (answer) *answer = (struct team_answer){0};
    PGresult *result = pq.execute(server->connection, sql, count, NULL, values, NULL, NULL, 0);
    int code = check(server, result, err);
    if (code == 0 && answer) {
        *answer = (struct team_answer){result, pq.rows(result)};
        return 0;
    }
    pq.clear_result(result);
    return code;
}

int team_change(struct team_server *server, const char *sql, const char *const *values, int count, int64_t *affected,
                struct error *err) {
    PGresult *result = pq.execute(server->connection, sql, count, NULL, values, NULL, NULL, 0);
    int code = check(server, result, err);
    if (code == 0) *affected = strtoll(pq.affected(result), NULL, 10);
    pq.clear_result(result);
    return code;
}

int team_run(struct team_server *server, const char *sql, struct error *err) {
    PGresult *result = pq.execute_many(server->connection, sql);
    int code = check(server, result, err);
    pq.clear_result(result);
    return code;
}

bool team_is_lost(const struct team_server *server) {
    return !server->connection || pq.status(server->connection) != CONNECTION_OK;
}

void team_rollback(struct team_server *server) {
    struct error ignored = {0};
    if (server->connection) (void)team_run(server, "ROLLBACK", &ignored);
}

/* ---- COPY -------------------------------------------------------------------------------------------------------- */

enum { COPY_PIECE = 1 << 20 };

static int put_pieces(struct team_server *server, const struct buffer *rows, struct error *err) {
    for (size_t at = 0; at < rows->size; at += COPY_PIECE) {
        size_t size = rows->size - at < COPY_PIECE ? rows->size - at : COPY_PIECE;
        if (pq.put_copy(server->connection, rows->data + at, (int)size) != 1)
            return fail_message(server, pq.message(server->connection), err);
    }
    return pq.end_copy(server->connection, NULL) == 1 ? 0 : fail_message(server, pq.message(server->connection), err);
}

/* What follows the last row: the end of the statement, which may be an error. */
static int end_statement(struct team_server *server, struct error *err) {
    PGresult *result;
    int code = 0;
    while ((result = pq.result(server->connection))) {
        if (check(server, result, err)) code = -1;
        pq.clear_result(result);
    }
    return code;
}

int team_copy(struct team_server *server, const char *sql, const struct buffer *rows, struct error *err) {
    PGresult *result = pq.execute_many(server->connection, sql);
    bool is_open = pq.result_status(result) == PGRES_COPY_IN;
    int code = is_open ? 0 : team_fail(server, result, err);
    pq.clear_result(result);
    return code || put_pieces(server, rows, err) ? -1 : end_statement(server, err);
}

static int start_copy(struct team_server *server, const char *sql, ExecStatusType wanted, struct error *err) {
    PGresult *result = pq.execute_many(server->connection, sql);
    int code = pq.result_status(result) == wanted ? 0 : team_fail(server, result, err);
    pq.clear_result(result);
    return code;
}

static int relay_rows(struct team_server *from, struct team_server *to, int64_t *bytes, struct error *err) {
    char *row = NULL;
    int size;
    while ((size = pq.get_copy(from->connection, &row, 0)) > 0) {
        int put = pq.put_copy(to->connection, row, size);
        pq.free_memory(row);
        if (put != 1) return fail_message(to, pq.message(to->connection), err);
        *bytes += size;
    }
    return size == -1 ? 0 : fail_message(from, pq.message(from->connection), err);
}

int team_relay(struct team_server *from, const char *out, struct team_server *to, const char *in, int64_t *bytes,
               struct error *err) {
    struct error second = {0};
    if (start_copy(from, out, PGRES_COPY_OUT, err) || start_copy(to, in, PGRES_COPY_IN, err)) return -1;
    int code = relay_rows(from, to, bytes, err) || end_statement(from, err) ? -1 : 0;
    if (pq.end_copy(to->connection, code ? "the other server failed" : NULL) != 1 && code == 0)
        code = fail_message(to, pq.message(to->connection), err);
    return end_statement(to, code ? &second : err) || code ? -1 : 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

const char *team_text(const struct team_answer *answer, int row, int column) {
    return pq.is_null(answer->result, row, column) ? NULL : pq.value(answer->result, row, column);
}

const char *team_word(const struct team_answer *answer, int row, int column) {
    const char *text = team_text(answer, row, column);
    return text ? text : "";
}

int64_t team_int(const struct team_answer *answer, int row, int column) {
    return strtoll(team_word(answer, row, column), NULL, 10);
}

void team_answer_free(struct team_answer *answer) {
    if (answer->result) pq.clear_result(answer->result);
    *answer = (struct team_answer){0};
}
