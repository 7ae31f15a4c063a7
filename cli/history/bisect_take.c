#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/history/bisect_search.h"
#include "schema/schema.h"

static bool is_stopped(struct bisect *bisect) {
    return stop_is_asked(&bisect->stop);
}

enum attempt bisect_untestable(struct bisect *bisect, char *why) {
    free(bisect->why);
    bisect->why = why;
    return ATTEMPT_UNTESTABLE;
}

/* ---- building ---- */

/* Runs --build in a tree. What it says is shown only where the commit must be built. */
static enum attempt run_build(struct bisect *bisect, enum bisect_tree tree, struct error *err) {
    char shell[] = "/bin/sh", option[] = "-c",
         *words[] = {shell, option, (char *)(uintptr_t)bisect->options.build, NULL};
    struct taken_run said = {0};
    char *directory = bisect_git_directory(&bisect->git, tree);
    enum attempt attempt = ATTEMPT_FAILED;
    if (take_command(words, directory, &bisect->stop, &said, err) == 0) {
        char *how = taken_run_failure(&said);
        attempt = bisect->stop.signal ? ATTEMPT_STOPPED : how ? ATTEMPT_UNTESTABLE : ATTEMPT_DONE;
        if (attempt == ATTEMPT_UNTESTABLE) {
            bisect_untestable(bisect, xasprintf("does not build (%s)", how));
            if (tree != TREE_COMMIT) taken_run_print_said(&said, "  ", stderr);
        }
        free(how);
    }
    taken_run_free(&said);
    free(directory);
    return attempt;
}

/* The tree of an end is made when it is needed, and stays built. */
static enum attempt build(struct bisect *bisect, enum bisect_tree tree, const char *hash, struct error *err) {
    if (bisect->built[tree] && strcmp(bisect->built[tree], hash) == 0) return ATTEMPT_DONE;
    if (tree != TREE_COMMIT && bisect_git_add_tree(&bisect->git, tree, hash, err)) return ATTEMPT_FAILED;
    char *directory = bisect_git_directory(&bisect->git, tree);
    bool is_there = access(directory, X_OK) == 0;
    free(directory);
    if (!is_there) return bisect_untestable(bisect, xasprintf("has no directory %s", bisect->git.prefix));
    enum attempt attempt = bisect->options.build ? run_build(bisect, tree, err) : ATTEMPT_DONE;
    free(bisect->built[tree]);
    bisect->built[tree] = attempt == ATTEMPT_DONE ? xstrdup(hash) : NULL;
    return attempt;
}

/* ---- runs ---- */

static struct run_tags tags_of(const struct bisect *bisect, const char *hash) {
    const struct run_tags *given = &bisect->options.take.tags;
    struct run_tags tags = {0};
    for (size_t i = 0; i < given->count; i++)
        run_tags_add(&tags, given->items[i].key, given->items[i].value);
    run_tags_add(&tags, "git_commit", hash);
    run_tags_add(&tags, "bisect", bisect->state.id);
    return tags;
}

/* A run that was stopped says nothing about the commit. */
static void disown(const struct bisect *bisect, int64_t run_id) {
    struct error ignored = {0};
    struct db db;
    if (!run_id || cli_open(&db, bisect->options.db, DB_WRITE, &ignored)) return;
    sqlite3_stmt *row = db_prepare(&db, embedded_text("history/drop_commit.sql"), &ignored);
    if (row) db_bind_int(row, ":run", run_id);
    if (row) (void)db_run(&db, row, &ignored);
    db_close(&db, &ignored);
}

static enum attempt read_value(struct bisect *bisect, const char *hash, int64_t run_id, struct error *err) {
    struct error ignored = {0};
    struct db db;
    if (cli_open(&db, bisect->options.db, DB_READ, err)) return ATTEMPT_FAILED;
    int code = bisect_runs_add(&bisect->runs, &db, hash, run_id, err);
    db_close(&db, &ignored);
    if (code < 0) return ATTEMPT_FAILED;
    if (code == 1) return ATTEMPT_DONE;
    return bisect_untestable(bisect, xasprintf("run %lld has no figure %s", (long long)run_id, bisect->options.figure));
}

/* A run of the program in a tree that is built. */
static enum attempt record(struct bisect *bisect, enum bisect_tree tree, const char *hash, struct error *err) {
    struct take_run wanted = take_options_run(&bisect->options.take, bisect->options.db, bisect->command);
    struct run_tags tags = tags_of(bisect, hash);
    char *directory = bisect_git_directory(&bisect->git, tree);
    struct taken_run taken;
    struct error failure = {0};
    wanted.tags = &tags;
    wanted.directory = directory;
    int code = take_run(&wanted, &bisect->stop, &taken, &failure);
    char *how = code == 0 ? taken_run_failure(&taken) : xstrdup(failure.message);
    enum attempt attempt;
    if (bisect->stop.signal) {
        disown(bisect, taken.run_id);
        attempt = ATTEMPT_STOPPED;
    } else if (code || (how && !bisect->options.take.ignores_failure)) {
        attempt =
            bisect_untestable(bisect, code ? xstrdup(how) : xasprintf("%s ended with %s", bisect->command[0], how));
        if (tree != TREE_COMMIT) taken_run_print_said(&taken, "  ", stderr);
    } else {
        attempt = read_value(bisect, hash, taken.run_id, err);
    }
    free(how);
    free(directory);
    run_tags_free(&tags);
    taken_run_free(&taken);
    return attempt;
}

enum attempt bisect_take(struct bisect *bisect, enum bisect_tree tree, const char *hash, struct error *err) {
    if (is_stopped(bisect)) return ATTEMPT_STOPPED;
    enum attempt attempt = build(bisect, tree, hash, err);
    return attempt == ATTEMPT_DONE ? record(bisect, tree, hash, err) : attempt;
}
