#include "query/sql/ask.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grid.h"
#include "query/runs/select.h"
#include "query/sql/suggest.h"

/* Virtual machine steps between checks of the clock: about 0.1 ms; a check costs 25 ns. */
enum { STEPS_BETWEEN_CHECKS = 10000 };
/* The clock is not checked inside one function: replace(hex(zeroblob(2e8)), ...) took 8.7 s and 2 GB under a limit of 1 s. */
enum { VALUE_BYTES_MAX = 64 << 20, PATTERN_BYTES_MAX = 1000 };
/* How long one function may take beyond the limit. Nothing in SQLite can stop it, so the process ends. */
enum { GRACE_S = 1 };

static struct ask *current; /* ask_step is a table_step, which has no context argument */
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t is_running, was_late; /* inside SQLite; it was so when the time was over */
static struct sigaction old_action, old_alarm;
static bool handles_signal;

/* ---- what may run ---- */

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcasecmp(name, *names) == 0) return true;
    return false;
}

/* PRAGMAs whose argument is a name, and those that only read when they have no argument. */
static bool pragma_only_reads(const char *name, const char *argument) {
    static const char *const describing[] = {
        "table_info",       "table_xinfo",     "table_list",        "index_list",  "index_info", "index_xinfo",
        "foreign_key_list", "integrity_check", "foreign_key_check", "quick_check", NULL};
    static const char *const reading[] = {
        "application_id", "collation_list", "compile_options", "database_list", "encoding",
        "freelist_count", "function_list",  "journal_mode",    "module_list",   "page_count",
        "page_size",      "pragma_list",    "schema_version",  "user_version",  NULL};
    return is_one_of(name, describing) || (!argument && is_one_of(name, reading));
}

/* The name, for a message, of an action of sqlite3_set_authorizer that was refused. */
static const char *verb(int action) {
    switch (action) {
    case SQLITE_INSERT: return "INSERT into";
    case SQLITE_UPDATE: return "UPDATE of";
    case SQLITE_DELETE: return "DELETE from";
    case SQLITE_ATTACH: return "ATTACH";
    case SQLITE_DETACH: return "DETACH";
    case SQLITE_PRAGMA: return "PRAGMA";
    case SQLITE_FUNCTION: return "the function";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT: return "transaction control:";
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_TEMP_TABLE: return "CREATE TABLE";
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_TEMP_VIEW: return "CREATE VIEW";
    case SQLITE_CREATE_VTABLE: return "CREATE VIRTUAL TABLE";
    case SQLITE_DROP_TABLE:
    case SQLITE_DROP_VIEW:
    case SQLITE_DROP_INDEX:
    case SQLITE_DROP_TRIGGER: return "DROP of";
    default: return "a change of";
    }
}

static int on_progress(void *context) {
    const struct ask *ask = context;
    return interrupted || (ask->deadline_ns && clock_monotonic_ns() >= ask->deadline_ns);
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
    struct ask *ask = context;
    (void)database;
    (void)trigger;
    /* Asked for each name while a statement is prepared, where views that name each other can double the work many times. */
    if (on_progress(ask)) {
        ask->is_stopped = true;
        return SQLITE_DENY;
    }
    /* SQLite also asks for this when it opens an eponymous table such as pragma_table_info, and writes nothing. A statement that
     * would write is refused by its own action after this one, and again by sqlite3_stmt_readonly. */
    bool own_table = (action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE) && first &&
                     (strcmp(first, "sqlite_master") == 0 || strcmp(first, "sqlite_temp_master") == 0);
    bool allowed = own_table || action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
                   (action == SQLITE_FUNCTION && (!second || db_allows_function(second))) ||
                   (action == SQLITE_PRAGMA && pragma_only_reads(first, second));
    if (allowed) return SQLITE_OK;
    const char *name = action == SQLITE_FUNCTION ? second : first;
    if (!*ask->refused)
        snprintf(ask->refused, sizeof ask->refused, "%s %s", verb(action), name && *name ? name : "the database");
    return SQLITE_DENY;
}

/* ---- how long ---- */

/* The time is over, for the first time and then once a second. SQLite looks at the interrupt at each turn of a loop, which is more
 * often than at the clock. */
static void on_alarm(int signal) {
    static const char message[] = "clear: stopped: one function of the SQL takes longer than --timeout\n";
    (void)signal;
    if (!is_running) return;
    if (was_late) {
        (void)!write(STDERR_FILENO, message, sizeof message - 1);
        _exit(1);
    }
    was_late = 1;
    sqlite3_interrupt(current->db->handle);
}

static void set_alarm(int64_t timeout_ns) {
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {timeout_ns / 1000000000, timeout_ns % 1000000000 / 1000 + 1},
                              .it_interval = {GRACE_S, 0}};
    was_late = 0;
    sigaction(SIGALRM, &action, &old_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void end_alarm(void) {
    const struct itimerval none = {0};
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &old_alarm, NULL);
}

static void on_interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

void ask_open(struct ask *ask, struct db *db, int64_t timeout_ns, bool interruptible) {
    *ask = (struct ask){.db = db, .timeout_ns = timeout_ns, .offset = -1};
    if (timeout_ns) ask->deadline_ns = clock_monotonic_ns() + timeout_ns;
    current = ask;
    interrupted = 0;
    handles_signal = interruptible;
    if (interruptible) {
        /* No SA_RESTART: a write to a pipe without a reader must end too. */
        struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
        sigaction(SIGINT, &action, &old_action);
    }
    ask->has_alarm = interruptible && timeout_ns > 0 && timeout_ns / 1000000000 < INT32_MAX;
    if (ask->has_alarm) set_alarm(timeout_ns);
    db_cache_more(db);
    ask->value_bytes = sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    ask->pattern_bytes = sqlite3_limit(db->handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES_MAX);
    sqlite3_set_authorizer(db->handle, authorize, ask);
    sqlite3_progress_handler(db->handle, STEPS_BETWEEN_CHECKS, on_progress, ask);
}

void ask_close(struct ask *ask) {
    if (ask->has_alarm) end_alarm();
    db_guard(ask->db);
    sqlite3_limit(ask->db->handle, SQLITE_LIMIT_LENGTH, ask->value_bytes);
    sqlite3_limit(ask->db->handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, ask->pattern_bytes);
    sqlite3_progress_handler(ask->db->handle, 0, NULL, NULL);
    if (handles_signal) sigaction(SIGINT, &old_action, NULL);
    handles_signal = false;
    current = NULL;
}

/* ---- prepare ---- */

/* True if only blanks, comments and semicolons are left: they are no statement. */
static bool is_blank_sql(struct ask *ask, const char *sql) {
    while (*sql) {
        sqlite3_stmt *statement = NULL;
        const char *tail = sql;
        bool failed = sqlite3_prepare_v3(ask->db->handle, sql, -1, 0, &statement, &tail) != SQLITE_OK;
        sqlite3_finalize(statement);
        if (failed || statement) return false;
        if (tail == sql) break;
        sql = tail;
    }
    return true;
}

static int line_of(const char *sql, int offset, const char **start) {
    int line = 1;
    *start = sql;
    for (int i = 0; i < offset && sql[i]; i++) {
        if (sql[i] != '\n') continue;
        line++;
        *start = sql + i + 1;
    }
    return line;
}

/* SQLite's offset may be one into the text of a view that the SQL reads: it counts where it is inside `sql` and the name that the
 * message is about stands there. */
static int place_of_error(const char *sql, const char *message, int offset) {
    const char *name = strstr(message, ": ");
    if (offset < 0 || (size_t)offset > strlen(sql)) return -1;
    if (strncmp(message, "no such ", strlen("no such ")) != 0 || !name) return offset;
    const char *last = strrchr(name + 2, '.'); /* "no such column: t.x" points at t or at x */
    const char *here = sql + offset + strspn(sql + offset, "\"[`'");
    size_t size = strlen(name + 2);
    if (strncasecmp(here, name + 2, size) == 0 || (last && strncasecmp(here, last + 1, strlen(last + 1)) == 0))
        return offset;
    return last && strncasecmp(here, name + 2, (size_t)(last - name - 2)) == 0 ? offset : -1;
}

void ask_wrong_sql(const struct ask *ask, const char *sql, const char *message, const char *more, struct error *err) {
    const char *start;
    if (ask->offset < 0) {
        error_usage(err, "SQL: %s%s", message, more);
        return;
    }
    int line = line_of(sql, ask->offset, &start);
    int column = grid_width(start, (size_t)(sql + ask->offset - start)) + 1;
    error_usage(err, "SQL line %d, column %d: %s%s", line, column, message, more);
}

static void stopped(const struct ask *ask, struct error *err) {
    if (interrupted)
        error_fail(err, "interrupted");
    else
        error_fail(err, "stopped after %g s; raise the limit with --timeout", (double)ask->timeout_ns / 1e9);
}

static void prepare_error(struct ask *ask, const char *sql, struct error *err) {
    if (ask->is_stopped) {
        stopped(ask, err);
        return;
    }
    char *message = xstrdup(sqlite3_errmsg(ask->db->handle)); /* of this error, whatever is asked meanwhile */
    struct buffer more = {0};
    int code = sqlite3_errcode(ask->db->handle) & 0xff;
    ask->offset = place_of_error(sql, message, sqlite3_error_offset(ask->db->handle));
    if (code == SQLITE_ERROR) suggest_names(ask->db, sql, message, &more);
    if (strncmp(message, "cannot modify ", strlen("cannot modify ")) ==
        0) { /* a view: no trigger runs here that could */
        ask->offset = -1;
        error_usage(err, "only reading is allowed: this statement writes");
    } else if (code == SQLITE_AUTH) {
        ask->offset = -1;
        error_usage(err, "only reading is allowed: %s is refused", *ask->refused ? ask->refused : "this statement");
    } else if (code != SQLITE_ERROR) {
        db_error(ask->db, "reading the SQL", err); /* a damaged or locked file: the SQL is not the cause */
    } else {
        ask_wrong_sql(ask, sql, message, buffer_text(&more), err);
    }
    buffer_free(&more);
    free(message);
}

sqlite3_stmt *ask_prepare(struct ask *ask, const char *sql, struct error *err) {
    sqlite3_stmt *statement = NULL;
    const char *tail = NULL;
    ask->offset = -1;
    ask->is_stopped = false;
    *ask->refused = '\0';
    if (sqlite3_prepare_v3(ask->db->handle, sql, -1, 0, &statement, &tail) != SQLITE_OK) {
        prepare_error(ask, sql, err);
        return NULL;
    }
    if (!statement && is_blank_sql(ask, tail)) {
        error_usage(err, "there is no SQL to run");
    } else if (!is_blank_sql(ask, tail)) {
        error_usage(err, "only one statement can run: there is more SQL after the first semicolon");
    } else if (!sqlite3_stmt_readonly(statement) || sqlite3_column_count(statement) == 0) {
        error_usage(err, "only reading is allowed: this statement writes, or returns no rows");
    } else {
        return statement;
    }
    sqlite3_finalize(statement);
    return NULL;
}

void ask_print_place(const struct ask *ask, const char *sql, FILE *out) {
    const char *start;
    if (ask->offset < 0) return;
    line_of(sql, ask->offset, &start);
    size_t before = (size_t)(sql + ask->offset - start);
    struct grid grid = {.columns = 1, .indent = "  "};
    grid_add(&grid, start, strcspn(start, "\n"), false);
    grid_print(&grid, out, false);
    grid_free(&grid);
    fprintf(out, "  %*s^\n", grid_width(start, before), "");
}

/* ---- parameters ---- */

static void bind_value(sqlite3_stmt *statement, int index, const char *text) {
    char *end;
    errno = 0;
    long long integer = strtoll(text, &end, 10);
    bool numeric = strchr("+-.0123456789", *text) && *text;
    if (numeric && end != text && !*end && !errno) {
        sqlite3_bind_int64(statement, index, integer);
        return;
    }
    double real = strtod(text, &end);
    if (numeric && end != text && !*end && !strpbrk(text, "xXpPnN"))
        sqlite3_bind_double(statement, index, real);
    else
        sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}

/* The last argument of that name wins. */
const char *ask_argument(char *const *arguments, size_t count, const char *name) {
    size_t size = strlen(name);
    while (count--)
        if (strncmp(arguments[count], name, size) == 0 && arguments[count][size] == '=')
            return arguments[count] + size + 1;
    return NULL;
}

/* What writes a run of a store here is no SQL of the user. */
int ask_select_run(struct ask *ask, const char *name, int64_t *run_id, struct error *err) {
    if (!ask->db->source) return select_run(ask->db, name, run_id, err);
    db_guard(ask->db);
    int code = select_run(ask->db, name, run_id, err);
    sqlite3_set_authorizer(ask->db->handle, authorize, ask);
    return code;
}

int ask_bind_value(struct ask *ask, sqlite3_stmt *statement, int index, const char *value, struct error *err) {
    const char *name = sqlite3_bind_parameter_name(statement, index) + 1;
    int64_t run_id;
    if (strcmp(name, "run") != 0) {
        if (!value) return error_usage(err, "the SQL has a parameter :%s: add %s=VALUE", name, name);
        bind_value(statement, index, value);
        return 0;
    }
    if (ask_select_run(ask, value, &run_id, err) < 0) return -1;
    sqlite3_bind_int64(statement, index, run_id);
    return 0;
}

int ask_check_arguments(sqlite3_stmt *statement, char *const *arguments, size_t count, struct error *err) {
    for (size_t i = 0; i < count; i++) {
        bool used = false;
        size_t size = strcspn(arguments[i], "=");
        if (!arguments[i][size])
            return error_usage(err, "'%s' is not NAME=VALUE; the SQL must be one argument", arguments[i]);
        for (int index = 1; index <= sqlite3_bind_parameter_count(statement) && !used; index++) {
            const char *name = sqlite3_bind_parameter_name(statement, index);
            used = name && strncmp(name + 1, arguments[i], size) == 0 && !name[size + 1];
        }
        if (!used) return error_usage(err, "the SQL has no parameter :%.*s", (int)size, arguments[i]);
    }
    for (int index = 1; index <= sqlite3_bind_parameter_count(statement); index++) {
        const char *name = sqlite3_bind_parameter_name(statement, index);
        if (!name || *name == '?') return error_usage(err, "parameters need names: :run instead of ?");
    }
    return 0;
}

int ask_bind(struct ask *ask, sqlite3_stmt *statement, char *const *arguments, size_t count, struct error *err) {
    if (ask_check_arguments(statement, arguments, count, err) < 0) return -1;
    for (int index = 1; index <= sqlite3_bind_parameter_count(statement); index++) {
        const char *name = sqlite3_bind_parameter_name(statement, index) + 1;
        if (ask_bind_value(ask, statement, index, ask_argument(arguments, count, name), err) < 0) return -1;
    }
    return 0;
}

/* ---- step ---- */

int ask_step(struct db *db, sqlite3_stmt *statement, struct error *err) {
    is_running = 1;
    int code = sqlite3_step(statement);
    is_running = 0;
    bool is_late = current->deadline_ns && clock_monotonic_ns() >= current->deadline_ns;
    if (code == SQLITE_ROW && is_late) code = SQLITE_INTERRUPT; /* rows that take long to print */
    if (code == SQLITE_ROW && !interrupted) return 1;
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement);
        return 0;
    }
    if (interrupted || (code & 0xff) == SQLITE_INTERRUPT)
        stopped(current, err);
    else if ((code & 0xff) == SQLITE_TOOBIG)
        error_fail(err, "%s: SQL: a value is larger than %d MiB", db->path, VALUE_BYTES_MAX >> 20);
    else if ((code & 0xff) == SQLITE_ERROR)
        error_fail(err, "%s: SQL: %s", db->path, sqlite3_errmsg(db->handle));
    else
        db_error(db, "running the SQL", err);
    sqlite3_reset(statement);
    return -1;
}
