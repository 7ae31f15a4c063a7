#include "cli/answer.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/remote.h"
#include "query/sql/saved.h"

/* `saved`: where the statement comes from, or NULL. */
static int bind(struct ask *ask, sqlite3_stmt *statement, const struct saved_query *saved, char *const *arguments,
                size_t count, struct error *err) {
    return saved ? saved_bind(ask, statement, saved, arguments, count, err)
                 : ask_bind(ask, statement, arguments, count, err);
}

static int bind_with_run(struct ask *ask, const struct answer_options *options, sqlite3_stmt *statement,
                         const struct saved_query *saved, char *const *arguments, size_t count, struct error *err) {
    bool wants_run = options->run && sqlite3_bind_parameter_index(statement, ":run");
    if (!wants_run || ask_argument(arguments, count, "run")) return bind(ask, statement, saved, arguments, count, err);
    char **all = xcalloc(count + 1, sizeof *all), *run = xstrdup(options->run);
    if (count) memcpy(all, arguments, count * sizeof *all);
    all[count] = run;
    int code = bind(ask, statement, saved, all, count + 1, err);
    free(run);
    free(all);
    return code;
}

static int answer(struct db *db, const struct answer_options *options, const char *sql, const struct saved_query *saved,
                  char *const *arguments, size_t count, struct error *err) {
    struct ask ask;
    int code = -1;
    ask_open(&ask, db, options->timeout_ns, true);
    sqlite3_stmt *statement = ask_prepare(&ask, sql, err);
    if (statement)
        code = bind_with_run(&ask, options, statement, saved, arguments, count, err);
    else
        ask_print_place(&ask, sql, stderr);
    if (code == 0 && !options->is_of_no_run) code = cli_need_runs(db, err);
    if (code == 0) code = table_print(stdout, db, statement, ask_step, &options->table, err);
    sqlite3_finalize(statement);
    ask_close(&ask);
    return code;
}

int answer_sql(struct db *db, const struct answer_options *options, const char *sql, char *const *arguments,
               size_t count, struct error *err) {
    return answer(db, options, sql, NULL, arguments, count, err);
}

int answer_saved(struct db *db, const struct answer_options *options, const char *name, char *const *arguments,
                 size_t count, struct error *err) {
    struct saved_query saved;
    if (saved_find(db, name, &saved, err)) return -1;
    int code = answer(db, options, saved.sql, &saved, arguments, count, err);
    queries_free(&saved);
    return code;
}

int answer_remote(const char *address, const char *project, const struct answer_options *options, const char *sql,
                  char *const *arguments, size_t count, struct error *err) {
    struct remote remote;
    sqlite3_stmt *statement = NULL;
    if (remote_open(&remote, address, project, options->timeout_ns, err) == 0)
        statement = remote_prepare(&remote, sql, arguments, count, err);
    int code = statement ? table_print(stdout, &remote.db, statement, remote_step, &options->table, err) : -1;
    sqlite3_finalize(statement);
    remote_close(&remote);
    return code;
}
