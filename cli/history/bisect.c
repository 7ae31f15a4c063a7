#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/terminal.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/history/bisect_search.h"
#include "ingest/writer/run_uuid.h"
#include "query/history/run_values.h"
#include "schema/figure_kinds.h"

enum { MOST_DEFAULT = 40, MOST_MIN = 2, MOST_MAX = 10000 };

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
    if (code == 0) bisect_print_end(&found, stdout);
    return code;
}

/* ---- begin and end ---- */

/* Times are compared on one machine alone. */
static bool is_time(const char *figure) {
    const struct figure_kind *kind = figure_kind_find(figure);
    return kind && kind->unit == FIGURE_NS;
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
    if (figure_check(options->figure, options->of, err)) return -1;
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
    return bisect_keep_log(bisect, err);
}

/* Before the first mark there may be no log. */
static int take_up(struct bisect *bisect, struct error *err) {
    bisect->git.place = xstrdup(bisect->state.place);
    if (bisect_git_is_there(&bisect->git)) return 0;
    char *log = bisect_store_log(&bisect->store);
    int code = access(log, F_OK) == 0 ? bisect_git_replay(&bisect->git, log, err)
                                      : bisect_git_start(&bisect->git, bisect->state.good, bisect->state.bad, err);
    free(log);
    return code ? -1 : bisect_keep_log(bisect, err);
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
    enum attempt attempt = bisect_settle_ends(bisect, err);
    if (attempt == ATTEMPT_DONE) attempt = bisect_search(bisect, &conclusion, err);
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
