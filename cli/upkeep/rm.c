#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/runs.h"
#include "cli/team/edit_store.h"
#include "cli/upkeep/edit.h"
#include "ingest/upkeep/delete_runs.h"
#include "ingest/upkeep/give_back.h"

struct rm_options {
    const char *db;
    bool force, dry_run, json;
};

#define AT(member) offsetof(struct rm_options, member)
static const struct option_row rm_rows[] = {
    {"force", .letter = 'f', .type = OPTION_SWITCH, .offset = AT(force),
     .help = "Do not ask. Delete pinned runs too, and a run whose recorder was killed less than a day ago."},
    {"dry-run", .letter = 'n', .type = OPTION_SWITCH, .offset = AT(dry_run),
     .help = "Print what would be deleted, and change nothing."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON object: the `runs`, the `rows` and `bytes` that they take, and whether they are `deleted`."},
    {0},
};
#undef AT
const struct option_group rm_options[] = {{"What is done", rm_rows, 0}, CLI_EDITABLE(rm_options, db), CLI_OPTIONS_END};

/* ---- what must not be deleted ---- */

static int refuse_recorded(struct db *db, int64_t run_id, bool is_forced, struct error *err) {
    enum recorder_state state;
    if (recorder_state(db, run_id, &state, err)) return -1;
    if (state == RECORDER_RUNS)
        return error_fail(err, "run %" PRId64 " is being recorded, and is not deleted: end the recording first",
                          run_id);
    if (state == RECORDER_UNKNOWN && !is_forced)
        return error_fail(err,
                          "run %" PRId64 " has no end: it is being recorded, or its recorder was killed (clear recover "
                          "--list); --force deletes it",
                          run_id);
    return 0;
}

static int refuse_pinned(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT why FROM pins WHERE run_id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1)
        error_fail(err, "run %" PRId64 " is pinned%s%.200s: --force deletes it, clear pin --unpin %" PRId64 " frees it",
                   run_id, *db_text(row, 0) ? ": " : "", db_text(row, 0), run_id);
    sqlite3_reset(row);
    return code ? -1 : 0;
}

static int check(struct db *db, const struct run_set *set, bool is_forced, struct error *err) {
    for (size_t i = 0; i < set->count; i++)
        if (refuse_recorded(db, set->ids[i], is_forced, err) || (!is_forced && refuse_pinned(db, set->ids[i], err)))
            return -1;
    return 0;
}

/* ---- asking and telling ---- */

static void print_json(const struct run_set *set, const struct deleted *deleted, bool is_done) {
    struct buffer ids = {0};
    buffer_add_json_integers(&ids, set->ids, set->count);
    printf("{\"runs\":%s,\"rows\":%" PRId64 ",\"bytes\":%" PRId64 ",\"deleted\":%s}\n", buffer_text(&ids),
           deleted->rows, deleted->bytes, is_done ? "true" : "false");
    buffer_free(&ids);
}

static void print_sum(const struct deleted *deleted, const char *verb) {
    printf("%s %s: %s, %s\n", verb, units_things(deleted->runs, "run").text, units_things(deleted->rows, "row").text,
           units_bytes(deleted->bytes).text);
}

static bool is_yes(void) {
    char line[16] = "";
    return fgets(line, sizeof line, stdin) && (*line == 'y' || *line == 'Y');
}

/* 1: it may be done, 0: not; -1. A single run needs no question: its name was one. */
static int ask(const struct run_set *set, const struct deleted *deleted, const char *path, struct error *err) {
    if (set->count == 1) return 1;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return error_usage(err, "%s would be deleted, %s: --force deletes them, --dry-run lists them",
                           units_things(deleted->runs, "run").text, units_bytes(deleted->bytes).text);
    fflush(stdout);
    fprintf(stderr, "delete %s of %s, %s? [y/N] ", units_things(deleted->runs, "run").text, path,
            units_bytes(deleted->bytes).text);
    return is_yes();
}

/* ---- the command ---- */

static int show(struct db *db, const struct run_set *set, const struct rm_options *options, struct error *err) {
    return options->json ? 0 : runs_print(db, &(struct runs_shown){.only = set}, err);
}

static int delete_now(struct db *db, const struct run_set *set, bool is_trial, struct deleted *deleted,
                      struct error *err) {
    if (upkeep_begin(db, err)) return -1;
    int code = runs_delete(db, set->ids, set->count, is_trial, deleted, err);
    upkeep_end(db);
    return code == 0 && !is_trial ? give_back(db, INT64_MAX, err) : code;
}

/* What would be freed is found by doing it in a transaction that is rolled back. So a single run, which needs no question, is not measured
 * first. */
static int remove_runs(struct db *db, const struct run_set *set, const struct rm_options *options, struct error *err) {
    struct deleted trial = {0}, done = {0};
    bool is_asked = !options->force && set->count > 1;
    if (show(db, set, options, err)) return -1;
    if ((options->dry_run || is_asked) && delete_now(db, set, true, &trial, err)) return -1;
    int answer = options->dry_run ? 0 : is_asked ? ask(set, &trial, db->path, err) : 1;
    if (answer < 0) return -1;
    if (answer && (runs_delete(db, set->ids, set->count, false, &done, err) || give_back(db, INT64_MAX, err)))
        return -1;
    if (options->json)
        print_json(set, answer ? &done : &trial, answer);
    else
        print_sum(answer ? &done : &trial, answer ? "deleted" : options->dry_run ? "would delete" : "kept");
    return 0;
}

int command_rm(int argc, char **argv, struct error *err) {
    struct rm_options options = {0};
    struct run_set set;
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (argc < 2) return error_usage(err, "nothing to delete: name the runs (clear runs lists them)");
    const struct edit_store_rm how = {options.force, options.dry_run, options.json};
    if (cli_is_store(options.db)) return edit_store_rm(options.db, argv + 1, &how, err);
    int code = edit_open(&db, options.db, argv[1], &set, err);
    for (char **word = argv + 2; code == 0 && word < argv + argc; word++)
        code = run_set_add(&set, &db, *word, err);
    if (code == 0) code = check(&db, &set, options.force, err);
    if (code == 0) code = remove_runs(&db, &set, &options, err);
    if (db_close(&db, err)) code = -1;
    run_set_free(&set);
    return code;
}
