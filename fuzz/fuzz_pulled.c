/* What `clear pull` and a command with a store's address do with the answers of a server, which may say anything: the run is stored as a whole, or there is
 * a message and nothing is. The input is answers, in the order in which they are asked for (fixtures/record_answers.py): before each the byte 0x1d, before
 * each row 0x1e, behind each value 0x1f; NULL is the byte 0x1a. In the place of libpq stand functions that read it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "ingest/team/libpq.h"
#include "ingest/team/team_runs.h"

enum {
    RESULT = 0x1d,
    ROW = 0x1e,
    END = 0x1f,
    NONE = 0x1a,
    LIST = 4,
    RUN = 6,
    INPUTS = 500,
    CHECKED = 64 /* of inputs that were refused */
};

/* ---- in the place of libpq --------------------------------------------------------------------------------------- */

struct result {
    char **values; /* of rows of `columns`; NULL is NULL */
    int rows, columns;
};

static struct {
    char *text; /* of the input, cut in pieces */
    char **results;
    size_t count, at;
} tape;

static int count_of(const char *text, char mark) {
    int count = 0;
    for (; *text; text++)
        count += *text == mark;
    return count;
}

/* As many columns as the first row has; libpq refuses rows that have others. */
static PGresult *next_result(void) {
    struct result *result = xcalloc(1, sizeof *result);
    char *rest = tape.at < tape.count ? tape.results[tape.at] : NULL, *row;
    tape.at++;
    if (!rest || !(rest = strchr(rest, ROW))) return (PGresult *)(void *)result;
    rest++;
    while ((row = strsep(&rest, (char[]){ROW, '\0'}))) {
        if (!result->columns) result->columns = count_of(row, END);
        if (!result->columns || count_of(row, END) != result->columns) break;
        size_t before = (size_t)result->rows++ * (size_t)result->columns;
        result->values = xrealloc(result->values, (before + (size_t)result->columns) * sizeof *result->values);
        for (int i = 0; i < result->columns; i++) {
            char *value = strsep(&row, (char[]){END, '\0'});
            result->values[before + (size_t)i] = value[0] == NONE && !value[1] ? NULL : value;
        }
    }
    return (PGresult *)(void *)result;
}

static const struct result *of(const PGresult *result) {
    return (const struct result *)(const void *)result;
}

static char *value_at(const PGresult *result, int row, int column) {
    const struct result *from = of(result);
    if (row < 0 || row >= from->rows || column < 0 || column >= from->columns) return NULL;
    return from->values[row * from->columns + column];
}

static PGresult *execute(PGconn *connection, const char *sql, int count, const Oid *types, const char *const *values,
                         const int *sizes, const int *forms, int form) {
    (void)connection, (void)sql, (void)count, (void)types, (void)values, (void)sizes, (void)forms, (void)form;
    return next_result();
}

static PGresult *execute_many(PGconn *connection, const char *sql) {
    (void)connection;
    if (strcmp(sql, "ROLLBACK") == 0) return xcalloc(1, sizeof(struct result)); /* of a pull that failed */
    return next_result();
}

static ExecStatusType result_status(const PGresult *result) {
    (void)result;
    return PGRES_TUPLES_OK;
}

static void clear_result(PGresult *result) {
    if (result) free(((struct result *)(void *)result)->values);
    free(result);
}

static int rows_of(const PGresult *result) {
    return of(result)->rows;
}

static int is_null(const PGresult *result, int row, int column) {
    return value_at(result, row, column) == NULL;
}

static ConnStatusType status(const PGconn *connection) {
    (void)connection;
    return CONNECTION_OK;
}

static void stand_in(void) {
    pq.execute = execute;
    pq.execute_many = execute_many;
    pq.result_status = result_status;
    pq.clear_result = clear_result;
    pq.rows = rows_of;
    pq.is_null = is_null;
    pq.value = value_at;
    pq.status = status;
}

/* ---- an input ---------------------------------------------------------------------------------------------------- */

static struct db db;
static struct team team;
static size_t listed; /* runs in the answer to the list */
static int inputs;    /* since the file was made: names of earlier ones stay */

static void end(void) {
    struct error ignored = {0};
    if (db.handle) db_close(&db, &ignored);
    layout_free(&team.layout);
    free(team.server.name);
    db = (struct db){0};
    team = (struct team){0};
}

static void start(void) {
    static bool is_known;
    struct error err = {0};
    if (db.handle && ++inputs < INPUTS) return;
    end();
    inputs = 0;
    stand_in();
    team = (struct team){
        .server = {.connection = &team, .name = xstrdup("the server")}, /* a connection that nobody asks */
        .project_name = "p",
        .project_number = "1",
        .is_shard = true};
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
    layout_make(&team.layout);
    if (!is_known) atexit(end);
    is_known = true;
}

static void cut(const uint8_t *data, size_t size) {
    tape.text = xmalloc(size + 1);
    memcpy(tape.text, data, size);
    tape.text[size] = '\0';
    for (size_t i = 0; i < size; i++)
        if (tape.text[i] == '\0') tape.text[i] = ' '; /* a text of PostgreSQL has none */
    for (char *rest = strchr(tape.text, RESULT), *piece; rest;) {
        rest += rest == strchr(tape.text, RESULT);
        piece = strsep(&rest, (char[]){RESULT, '\0'});
        tape.results = xrealloc(tape.results, (tape.count + 1) * sizeof *tape.results);
        tape.results[tape.count++] = piece;
    }
}

static void forget(void) {
    free(tape.text);
    free(tape.results);
    memset(&tape, 0, sizeof tape);
}

static int64_t count_rows(const char *sql) {
    struct error err = {0};
    int64_t count = 0;
    if (db_int(&db, sql, 0, &count, &err) != 0) bug("%s", err.message);
    return count;
}

/* The runs are those that the answer to the list names. */
static int pull_runs(struct error *err) {
    struct team_runs runs;
    struct pull pull = {0};
    int64_t run_id;
    bool is_known;
    tape.at = LIST;
    int code = team_runs_find(&runs, &team, "latest", err);
    if (code == 0) code = pull_begin(&pull, &team, &db, err);
    tape.at = RUN;
    listed = runs.count;
    for (size_t i = 0; code == 0 && i < runs.count; i++)
        code = pull_run(&pull, &runs.items[i].name, &run_id, &is_known, err);
    if (pull.db) pull_end(&pull);
    team_runs_free(&runs);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0};
    start();
    cut(data, size);
    int code = pull_runs(&err);
    forget();
    if (code != 0 && (err.status == ERROR_NONE || !*err.message)) bug("a pull failed without an error");
    if (code == 0) replay_taken++;
    int64_t runs = count_rows("SELECT count(*) FROM runs"), sealed = count_rows("SELECT count(*) FROM seals");
    if (sealed != runs) bug("%d runs, and %d are sealed", (int)runs, (int)sealed);
    if (code != 0 && listed <= 1 && runs) bug("a run that was refused is there");
    bool is_changed = runs || inputs % CHECKED == 0 || replay_is_whole;
    if (is_changed && count_rows("SELECT count(*) FROM pragma_foreign_key_check"))
        bug("a row refers to one that is not there");
    err = (struct error){0};
    if (runs && db_exec(&db, "DELETE FROM runs", &err) != 0) bug("%s", err.message);
    return 0;
}
