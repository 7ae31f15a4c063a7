#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/terminal.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/history/bisect_report.h"
#include "cli/history/bisect_state.h"
#include "cli/history/take_options.h"
#include "ingest/store/run_uuid.h"
#include "query/history/run_values.h"
#include "schema/schema.h"

struct bisect_options {
    const char *db, *good, *bad, *figure, *of, *build;
    int64_t most;
    bool json, takes_new_only, continues, aborts;
    struct take_options take;
};

enum { MOST_DEFAULT = 40, MOST_MIN = 2, MOST_MAX = 10000, SAME_RUNS = 3, ID_SIZE = 13 };

/* What became of an attempt to get a value. */
enum attempt { ATTEMPT_DONE, ATTEMPT_UNTESTABLE, ATTEMPT_STOPPED, ATTEMPT_FAILED };

struct bisect {
    struct bisect_options options;
    char *const *command;
    char **words; /* of --continue: the options are in here */
    struct bisect_git git;
    struct bisect_store store;
    struct bisect_state state;
    struct stop stop;
    struct bisect_runs runs;
    struct bisect_commits range;
    struct bisect_report report;
    char *built[TREES]; /* the commit that each tree is built of; NULL: none */
    char *why;          /* the latest commit that could not be tested */
    size_t end_turns;   /* how often an end was run again */
    double error;
};

#define AT(member) offsetof(struct bisect_options, member)
static const struct option_row search_rows[] = {
    {"good", .type = OPTION_TEXT, .offset = AT(good), .argument = "COMMIT", .help = "A commit before the change."},
    {"bad", .type = OPTION_TEXT, .offset = AT(bad), .argument = "COMMIT",
     .help = "A commit after it. Default: `HEAD`."},
    {"figure", .type = OPTION_TEXT, .offset = AT(figure), .argument = "FIGURE",
     .words = "alloc_count alloc_bytes inuse_bytes peak_bytes cpu_ns duration_ns lock_wait_ns lock_contended",
     .help =
         "The figure that changed, as in the view `series`: `alloc_count`, `cpu_ns`. More or less of it can be bad: "
         "the two commits say which."},
    {"of", .type = OPTION_TEXT, .offset = AT(of), .argument = "SUBJECT",
     .help = "Its value for the subjects that this GLOB matches (`function parse_*`), and not for the whole run."},
    {"build", .type = OPTION_TEXT, .offset = AT(build), .argument = "COMMAND",
     .help = "Builds a commit, by the shell. A commit where it fails is skipped."},
    {"max-runs", .type = OPTION_COUNT, .offset = AT(most), .min = MOST_MIN, .max = MOST_MAX, .argument = "N",
     .help = "Runs of a commit, after which it is skipped if they do not tell its side. Default: 40."},
    {"new-only", .type = OPTION_SWITCH, .offset = AT(takes_new_only),
     .help = "Do not use runs that the warehouse has already."},
    {0},
};
static const struct option_row stopped_rows[] = {
    {"continue", .type = OPTION_SWITCH, .offset = AT(continues), .help = "Go on with a search that was stopped."},
    {"abort", .type = OPTION_SWITCH, .offset = AT(aborts), .help = "Drop it. Its runs stay in the warehouse."},
    {0},
};
static const struct option_row bisect_output_rows[] = {
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON object: the commit, the figure before and after, and the runs of every commit."},
    {0},
};
const struct option_group bisect_options[] = {{"Search", search_rows, 0},
                                              {"A stopped search", stopped_rows, 0},
                                              {"The command", take_option_rows, AT(take)},
                                              {"Output", bisect_output_rows, 0},
                                              CLI_WAREHOUSE(bisect_options, db),
                                              CLI_OPTIONS_END};
#undef AT

static bool is_stopped(struct bisect *bisect) {
    return stop_is_asked(&bisect->stop);
}

static enum attempt untestable(struct bisect *bisect, char *why) {
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
            untestable(bisect, xasprintf("does not build (%s)", how));
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
    if (!is_there) return untestable(bisect, xasprintf("has no directory %s", bisect->git.prefix));
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
    return untestable(bisect, xasprintf("run %lld has no figure %s", (long long)run_id, bisect->options.figure));
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
        attempt = untestable(bisect, code ? xstrdup(how) : xasprintf("%s ended with %s", bisect->command[0], how));
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

/* One value more of a commit. */
static enum attempt take_value(struct bisect *bisect, enum bisect_tree tree, const char *hash, struct error *err) {
    if (is_stopped(bisect)) return ATTEMPT_STOPPED;
    enum attempt attempt = build(bisect, tree, hash, err);
    return attempt == ATTEMPT_DONE ? record(bisect, tree, hash, err) : attempt;
}

/* ---- the ends ---- */

static const char *end_hash(const struct bisect *bisect, enum bisect_tree end) {
    return end == TREE_GOOD ? bisect->state.good : bisect->state.bad;
}

static const struct side_values *end_values(struct bisect *bisect, enum bisect_tree end) {
    return &bisect_runs_commit(&bisect->runs, end_hash(bisect, end))->values;
}

static bool ends_are_exact(struct bisect *bisect) {
    return side_is_exact(end_values(bisect, TREE_GOOD), end_values(bisect, TREE_BAD));
}

static bool ends_differ(struct bisect *bisect) {
    return side_ends_differ(end_values(bisect, TREE_GOOD), end_values(bisect, TREE_BAD));
}

/* An end that cannot be tested is no skipped commit: nothing can be searched without it. */
static enum attempt take_end(struct bisect *bisect, enum bisect_tree end, struct error *err) {
    enum attempt attempt = take_value(bisect, end, end_hash(bisect, end), err);
    if (attempt != ATTEMPT_UNTESTABLE) return attempt;
    error_fail(err, "the %s commit %.10s cannot be tested: %s", end == TREE_GOOD ? "good" : "bad",
               end_hash(bisect, end), bisect->why);
    return ATTEMPT_FAILED;
}

static bool are_same(struct bisect *bisect) {
    const struct side_values *good = end_values(bisect, TREE_GOOD), *bad = end_values(bisect, TREE_BAD);
    return good->count >= SAME_RUNS && bad->count >= SAME_RUNS && ends_are_exact(bisect) &&
           good->values[0] == bad->values[0];
}

/* The end that has fewer runs, of equal ones the good one. */
static enum bisect_tree end_to_run(struct bisect *bisect) {
    return end_values(bisect, TREE_BAD)->count < end_values(bisect, TREE_GOOD)->count ? TREE_BAD : TREE_GOOD;
}

static void print_end(struct bisect *bisect, enum bisect_tree end) {
    const char *hash = end_hash(bisect, end);
    bisect_print_commit(&bisect->report, hash, bisect_runs_find(&bisect->runs, hash), end == TREE_GOOD ? "good" : "bad",
                        NULL);
}

/* Runs the ends by turns until they differ. */
static enum attempt settle_ends(struct bisect *bisect, struct error *err) {
    enum attempt attempt = ATTEMPT_DONE;
    while (attempt == ATTEMPT_DONE && !ends_differ(bisect)) {
        enum bisect_tree end = end_to_run(bisect);
        bool is_over = (int64_t)end_values(bisect, end)->count >= bisect->options.most;
        if (are_same(bisect) || is_over) {
            print_end(bisect, TREE_GOOD);
            print_end(bisect, TREE_BAD);
            error_fail(err, "%s is the same at both commits%s: there is nothing to search", bisect->options.figure,
                       is_over ? ", but for noise" : "");
            return ATTEMPT_FAILED;
        }
        attempt = take_end(bisect, end, err);
    }
    if (attempt != ATTEMPT_DONE) return attempt;
    print_end(bisect, TREE_GOOD);
    print_end(bisect, TREE_BAD);
    return ATTEMPT_DONE;
}

/* ---- the commits in between ---- */

static enum side side_of_commit(struct bisect *bisect, const char *hash) {
    const struct bisect_commit *commit = bisect_runs_find(&bisect->runs, hash);
    if (!commit) return SIDE_UNSURE;
    return side_of(end_values(bisect, TREE_GOOD), end_values(bisect, TREE_BAD), &commit->values, bisect->error);
}

/* Keeps a copy of git's log, from which the search can be taken up without its work trees. */
static int keep_log(struct bisect *bisect, struct error *err) {
    struct buffer log = {0};
    int code = bisect_git_log(&bisect->git, &log, err);
    if (code == 0) code = bisect_store_write_log(&bisect->store, &log, err);
    buffer_free(&log);
    return code;
}

static int mark(struct bisect *bisect, const char *hash, enum side side, struct error *err) {
    static const enum bisect_word words[] = {
        [SIDE_UNSURE] = BISECT_SKIP, [SIDE_GOOD] = BISECT_GOOD, [SIDE_BAD] = BISECT_BAD};
    static const char *const names[] = {[SIDE_UNSURE] = "skip", [SIDE_GOOD] = "good", [SIDE_BAD] = "bad"};
    bisect_print_commit(&bisect->report, hash, bisect_runs_find(&bisect->runs, hash), names[side],
                        side == SIDE_UNSURE ? bisect->why : NULL);
    if (bisect_git_mark(&bisect->git, words[side], hash, err)) return -1;
    return keep_log(bisect, err);
}

/* Marks commits whose stored runs tell their side, the one in the middle first, until no further one helps. */
static int narrow(struct bisect *bisect, struct error *err) {
    for (;;) {
        struct bisect_commits left;
        int code = bisect_git_left(&bisect->git, &left, err);
        enum side *sides = xcalloc(left.count + 1, sizeof *sides);
        for (size_t i = 0; i < left.count && code == 0; i++)
            sides[i] = side_of_commit(bisect, left.hashes[i]);
        size_t next = code == 0 ? side_next_known(sides, left.count) : SIZE_MAX;
        if (next != SIZE_MAX) code = mark(bisect, left.hashes[next], sides[next], err);
        free(sides);
        bisect_commits_free(&left);
        if (code || next == SIZE_MAX) return code;
    }
}

/* Where nothing varies, further runs of the ends would say nothing new. */
static bool has_noise(struct bisect *bisect, const char *hash) {
    const struct bisect_commit *commit = bisect_runs_find(&bisect->runs, hash);
    return !ends_are_exact(bisect) || (commit && side_varies(&commit->values));
}

/* Takes runs of the commit until its side is sure, and runs of the ends by turns with them. */
static enum attempt decide(struct bisect *bisect, const char *hash, enum side *side, struct error *err) {
    enum attempt attempt = ATTEMPT_DONE;
    *side = side_of_commit(bisect, hash);
    while (attempt == ATTEMPT_DONE && *side == SIDE_UNSURE) {
        const struct bisect_commit *commit = bisect_runs_find(&bisect->runs, hash);
        if (commit && (int64_t)commit->values.count >= bisect->options.most)
            return untestable(bisect,
                              xasprintf("not sure after %s", units_things((int64_t)commit->values.count, "run").text));
        attempt = take_value(bisect, TREE_COMMIT, hash, err);
        if (attempt == ATTEMPT_DONE) *side = side_of_commit(bisect, hash);
        if (attempt == ATTEMPT_DONE && *side == SIDE_UNSURE && has_noise(bisect, hash)) {
            attempt = take_end(bisect, bisect->end_turns++ % 2 ? TREE_BAD : TREE_GOOD, err);
            *side = side_of_commit(bisect, hash);
        }
    }
    return attempt;
}

/* ATTEMPT_DONE when git knows the first bad commit, or cannot know it. */
static enum attempt search(struct bisect *bisect, struct bisect_conclusion *conclusion, struct error *err) {
    for (;;) {
        if (narrow(bisect, err) || bisect_git_conclusion(&bisect->git, conclusion, err)) return ATTEMPT_FAILED;
        if (conclusion->first_bad || conclusion->possible.count) return ATTEMPT_DONE;
        bisect_conclusion_free(conclusion);
        enum side side = SIDE_UNSURE;
        char *hash = bisect_git_head(&bisect->git, err);
        enum attempt attempt = hash ? decide(bisect, hash, &side, err) : ATTEMPT_FAILED;
        if (attempt == ATTEMPT_DONE || attempt == ATTEMPT_UNTESTABLE) {
            if (mark(bisect, hash, side, err)) attempt = ATTEMPT_FAILED;
        }
        free(hash);
        if (attempt == ATTEMPT_STOPPED || attempt == ATTEMPT_FAILED) return attempt;
    }
}

/* ---- what was found ---- */

/* Runs that show how it was before: of a parent, or of the good end. */
static const struct bisect_commit *before_of(const struct bisect *bisect, const char *first_bad) {
    struct bisect_commits parents = {0};
    struct error ignored = {0};
    const struct bisect_commit *found = NULL;
    (void)bisect_git_parents(&bisect->git, first_bad, &parents, &ignored);
    for (size_t i = 0; i < parents.count && !found; i++)
        found = bisect_runs_find(&bisect->runs, parents.hashes[i]);
    bisect_commits_free(&parents);
    return found && found->values.count ? found : bisect_runs_find(&bisect->runs, bisect->state.good);
}

static int print_found(struct bisect *bisect, const struct bisect_conclusion *conclusion, struct error *err) {
    struct bisect_found found = {.first_bad = conclusion->first_bad,
                                 .possible = &conclusion->possible,
                                 .before = bisect_runs_find(&bisect->runs, bisect->state.good),
                                 .after = bisect_runs_find(&bisect->runs, bisect->state.bad)};
    if (found.first_bad) {
        const struct bisect_commit *after = bisect_runs_find(&bisect->runs, found.first_bad);
        found.before = before_of(bisect, found.first_bad);
        if (after && after->values.count) found.after = after;
    }
    if (bisect->options.json) return bisect_print_json(&bisect->report, &found, stdout, err);
    if (bisect_print_found(&bisect->report, &found, stdout, err)) return -1;
    struct db db;
    struct error ignored = {0};
    if (cli_open(&db, bisect->options.db, DB_READ, err)) return -1;
    int code = bisect_print_moved(&bisect->report, &found, &db, bisect->options.db, err);
    db_close(&db, &ignored);
    return code;
}

/* ---- begin and end ---- */

/* Times are compared on one machine alone. */
static bool is_time(const char *figure) {
    size_t size = strlen(figure);
    return size > 3 && strcmp(figure + size - 3, "_ns") == 0;
}

static int load_stored(struct bisect *bisect, struct db *db, struct error *err) {
    const struct bisect_options *options = &bisect->options;
    struct buffer command = {0};
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    escape_shell_words(&command, bisect->command);
    const struct bisect_stored stored = {.command = buffer_text(&command),
                                         .host = is_time(options->figure) ? host : NULL,
                                         .search = options->takes_new_only ? bisect->state.id : NULL,
                                         .takes_failed = options->take.ignores_failure};
    int code = bisect_runs_load(&bisect->runs, db, &stored, &bisect->range, err);
    buffer_free(&command);
    return code;
}

/* The commits, with the good end last, and the runs that they have. */
static int read_range(struct bisect *bisect, struct error *err) {
    struct bisect_commits *range = &bisect->range;
    struct error ignored = {0};
    struct db db;
    bisect->runs.figure = bisect->options.figure;
    bisect->runs.of = bisect->options.of;
    if (bisect_git_range(&bisect->git, bisect->state.good, bisect->state.bad, range, err)) return -1;
    bisect->error = side_error(range->count);
    range->hashes = xrealloc(range->hashes, (range->count + 1) * sizeof *range->hashes);
    range->hashes[range->count++] = bisect->state.good;
    if (access(cli_database(bisect->options.db), F_OK)) return 0; /* the first run makes it */
    if (cli_open(&db, bisect->options.db, DB_READ, err)) return -1;
    int code = load_stored(bisect, &db, err);
    db_close(&db, &ignored);
    return code;
}

static int check_options(const struct bisect_options *options, int argc, struct error *err) {
    if (!options->good) return error_usage(err, "--good is missing: a commit before the change");
    if (!options->figure)
        return error_usage(err, "--figure is missing: what changed, such as alloc_count, cpu_ns or duration_ns");
    if (argc < 2)
        return error_usage(err, "no command: clear bisect --good COMMIT --figure FIGURE [--build CMD] -- COMMAND");
    if (run_tags_has(&options->take.tags, "bisect") || run_tags_has(&options->take.tags, "git_commit"))
        return error_usage(err, "the tags bisect and git_commit are set by clear bisect: choose another key");
    return 0;
}

static int resolve(struct bisect *bisect, struct error *err) {
    struct bisect_state *state = &bisect->state;
    char uuid[RUN_UUID_SIZE];
    state->good = bisect_git_commit(&bisect->git, bisect->options.good, err);
    if (state->good)
        state->bad = bisect_git_commit(&bisect->git, bisect->options.bad ? bisect->options.bad : "HEAD", err);
    if (!state->bad || run_uuid(uuid, err)) return -1;
    if (strcmp(state->good, state->bad) == 0)
        return error_usage(err, "--good and --bad are the same commit %.10s", state->good);
    state->id = xasprintf("%.8s%.4s", uuid, uuid + 9);
    state->here = getcwd(NULL, 0);
    return state->here ? 0 : error_fail(err, "the working directory does not exist any more");
}

static int begin(struct bisect *bisect, struct error *err) {
    if (bisect_store_has(&bisect->store))
        return error_usage(err,
                           "a search was stopped in this repository: clear bisect --continue goes on with it, clear "
                           "bisect --abort drops it");
    if (resolve(bisect, err) || bisect_git_make_place(&bisect->git, err)) return -1;
    bisect->state.place = xstrdup(bisect->git.place);
    if (bisect_store_write(&bisect->store, &bisect->state, err)) return -1;
    if (bisect_git_start(&bisect->git, bisect->state.good, bisect->state.bad, err)) return -1;
    return keep_log(bisect, err);
}

/* Before the first mark there may be no log. */
static int take_up(struct bisect *bisect, struct error *err) {
    bisect->git.place = xstrdup(bisect->state.place);
    if (bisect_git_is_there(&bisect->git)) return 0;
    char *log = bisect_store_log(&bisect->store);
    int code = access(log, F_OK) == 0 ? bisect_git_replay(&bisect->git, log, err)
                                      : bisect_git_start(&bisect->git, bisect->state.good, bisect->state.bad, err);
    free(log);
    return code ? -1 : keep_log(bisect, err);
}

static void conclude(struct bisect *bisect) {
    bisect_git_remove(&bisect->git);
    bisect_store_remove(&bisect->store);
}

static void say_stopped(void) {
    fflush(stdout);
    error_print("stopped: clear bisect --continue goes on, clear bisect --abort drops the search");
}

static enum attempt go(struct bisect *bisect, bool is_new, struct error *err) {
    struct bisect_conclusion conclusion = {0};
    if ((is_new ? begin(bisect, err) : take_up(bisect, err)) || read_range(bisect, err)) return ATTEMPT_FAILED;
    if (bisect->report.live)
        fprintf(bisect->report.live, "searching %s: %s, tag:bisect=%s\n", bisect->options.figure,
                units_things((int64_t)bisect->range.count - 1, "commit").text, bisect->state.id);
    enum attempt attempt = settle_ends(bisect, err);
    if (attempt == ATTEMPT_DONE) attempt = search(bisect, &conclusion, err);
    if (attempt == ATTEMPT_DONE && print_found(bisect, &conclusion, err)) attempt = ATTEMPT_FAILED;
    bisect_conclusion_free(&conclusion);
    return attempt;
}

static int run(struct bisect *bisect, bool is_new, struct error *err) {
    if (stop_watch(&bisect->stop, err)) return -1;
    bisect->report = (struct bisect_report){.git = &bisect->git,
                                            .runs = &bisect->runs,
                                            .live = !bisect->options.json       ? stdout
                                                    : terminal_is_shown(stderr) ? stderr
                                                                                : NULL};
    bool has_state = bisect_store_has(&bisect->store);
    enum attempt attempt = go(bisect, is_new, err);
    if (attempt == ATTEMPT_STOPPED)
        say_stopped();
    else if (is_new ? !has_state : attempt == ATTEMPT_DONE)
        conclude(bisect);
    stop_end(&bisect->stop);
    return attempt == ATTEMPT_FAILED ? -1 : 0;
}

static void release(struct bisect *bisect) {
    for (enum bisect_tree tree = 0; tree < TREES; tree++)
        free(bisect->built[tree]);
    free(bisect->why);
    bisect_runs_free(&bisect->runs);
    bisect_commits_free(&bisect->range);
    bisect_state_free(&bisect->state);
    bisect_git_close(&bisect->git);
    take_options_free(&bisect->options.take);
    free(bisect->words);
}

/* ---- the command ---- */

static struct bisect_options no_options(void) {
    return (struct bisect_options){.most = MOST_DEFAULT};
}

static char **copy_words(int count, char **words) {
    char **copy = xcalloc((size_t)count + 1, sizeof *copy);
    for (int i = 0; i < count; i++)
        copy[i] = xstrdup(words[i]);
    return copy;
}

static int read_words(struct bisect *bisect, int argc, char **argv, struct error *err) {
    take_options_free(&bisect->options.take);
    bisect->options = no_options();
    if (cli_options(&argc, argv, &bisect->options, err) < 0) return -1;
    bisect->command = argv + 1;
    return bisect->options.continues || bisect->options.aborts ? cli_at_most(0, argc, argv, err)
                                                               : check_options(&bisect->options, argc, err);
}

/* The words that the search was begun with count from the directory that it was begun in. */
static int read_stopped(struct bisect *bisect, struct error *err) {
    struct bisect_state *state = &bisect->state;
    bisect_state_free(state);
    if (bisect_store_read(&bisect->store, state, err)) return -1;
    if (chdir(state->here)) return error_fail(err, "%s: the search was begun there, and it is gone", state->here);
    bisect->words = xcalloc((size_t)state->count + 1, sizeof *bisect->words);
    memcpy(bisect->words, state->words, (size_t)state->count * sizeof *bisect->words);
    if (read_words(bisect, state->count, bisect->words, err)) return -1;
    bisect_git_close(&bisect->git);
    return bisect_git_open(&bisect->git, err);
}

static int abort_search(struct bisect *bisect) {
    struct error damaged = {0};
    bisect_state_free(&bisect->state);
    if (bisect_store_read(&bisect->store, &bisect->state, &damaged) == 0)
        bisect->git.place = xstrdup(bisect->state.place);
    conclude(bisect);
    return 0;
}

static int choose(struct bisect *bisect, struct error *err) {
    bool is_new = !bisect->options.aborts && !bisect->options.continues;
    if (!is_new && !bisect_store_has(&bisect->store))
        return error_usage(err, "no search was stopped in this repository");
    if (bisect->options.aborts) return abort_search(bisect);
    if (!is_new && read_stopped(bisect, err)) return -1;
    return run(bisect, is_new, err);
}

int command_bisect(int argc, char **argv, struct error *err) {
    struct bisect bisect = {.options = no_options(), .store = {.lock = -1}};
    bisect.state.count = argc;
    bisect.state.words = copy_words(argc, argv); /* before the options are taken out */
    int code = read_words(&bisect, argc, argv, err);
    if (code == 0) code = bisect_git_open(&bisect.git, err);
    if (code == 0) code = bisect_store_open(&bisect.store, bisect.git.common, err);
    if (code == 0) code = choose(&bisect, err);
    bisect_store_close(&bisect.store);
    release(&bisect);
    if (code) return -1;
    return bisect.stop.signal ? stop_exit(&bisect.stop) : 0;
}
