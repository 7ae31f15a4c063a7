#include "ingest/team/pull.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/team/team_options.h"
#include "ingest/team/team_reader.h"
#include "ingest/team/team_runs.h"
#include "query/runs/run_set.h"

struct pull_options {
    struct team_options team;
    const char *db;
    bool quiet, json, cached;
};

#define AT(member) offsetof(struct pull_options, member)
static const struct option_row pull_rows[] = {
    {"from", .type = OPTION_TEXT, .offset = AT(team.address), .argument = "URL",
     .help = "Where the store is: `postgresql://[USER@]HOST[:PORT]/DATABASE[?OPTIONS]`. Default: `$CLEAR_STORE`."},
    {"project", .type = OPTION_TEXT, .offset = AT(team.project), .argument = "NAME",
     .help = "The project that the runs belong to. Default: `$CLEAR_PROJECT`, then `default`."},
    {"cached", .type = OPTION_SWITCH, .offset = AT(cached),
     .help = "Take runs from the cache of this machine where it has them, and keep the others there."},
    {0},
};
static const struct option_row pull_output_rows[] = {
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet), .help = "Print only errors."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON object: the numbers of runs that were `pulled` and `known`, and the ids here of the "
             "`first_run` and `last_run` pulled, 0 for none."},
    {0},
};
#undef AT
const struct option_group pull_options[] = {
    {"Store", pull_rows, 0}, {"Output", pull_output_rows, 0}, CLI_WAREHOUSE(pull_options, db), CLI_OPTIONS_END};

struct pulled {
    int64_t runs, known, first, last;
};

static void say(const struct pulled *pulled, const struct pull_options *options) {
    if (options->json)
        printf("{\"pulled\":%" PRId64 ",\"known\":%" PRId64 ",\"first_run\":%" PRId64 ",\"last_run\":%" PRId64 "}\n",
               pulled->runs, pulled->known, pulled->first, pulled->last);
    if (options->json || options->quiet) return;
    printf("%s pulled", units_things(pulled->runs, "run").text);
    if (pulled->runs == 1) printf(" (%" PRId64 ")", pulled->first);
    if (pulled->runs > 1) printf(" (%" PRId64 "..%" PRId64 ")", pulled->first, pulled->last);
    if (pulled->known) printf(", %s already here", units_count(pulled->known).text);
    putchar('\n');
}

static int pull_set(struct pull *pull, const struct team_runs *runs, struct pulled *pulled, struct error *err) {
    for (size_t i = 0; i < runs->count; i++) {
        int64_t run_id = 0;
        bool is_known;
        if (pull_run(pull, &runs->items[i].name, &run_id, &is_known, err)) return -1;
        pulled->known += is_known;
        pulled->runs += !is_known;
        if (!is_known && !pulled->first) pulled->first = run_id;
        if (!is_known) pulled->last = run_id;
    }
    return 0;
}

static int pull_into(struct db *db, const char *set, const char *address, const struct pull_options *options,
                     struct error *err) {
    struct team_runs runs = {0};
    struct team team = {0};
    struct pull pull = {0};
    struct pulled pulled = {0};
    int code = team_open(&team, address, team_project(&options->team), err) || team_runs_find(&runs, &team, set, err) ||
               pull_begin(&pull, &team, db, err) || pull_set(&pull, &runs, &pulled, err);
    if (code && pulled.runs && !options->quiet) /* those are stored for good */
        error_print("%s pulled before this:", units_things(pulled.runs, "run").text);
    if (pull.db) pull_end(&pull);
    if (!code) say(&pulled, options);
    team_runs_free(&runs);
    team_close(&team);
    return code ? -1 : 0;
}

/* How many of the runs of `set` are new, as clear pull says it: `before` is the highest id that there was. */
static int count_pulled(struct db *db, const char *set, int64_t before, struct pulled *pulled, struct error *err) {
    struct run_set runs = {0};
    int code = run_set_add(&runs, db, set, err);
    for (size_t i = 0; code == 0 && i < runs.count; i++) {
        int64_t id = runs.ids[i];
        if (id <= before) {
            pulled->known++;
            continue;
        }
        pulled->runs++;
        if (!pulled->first || id < pulled->first) pulled->first = id;
        if (id > pulled->last) pulled->last = id;
    }
    run_set_free(&runs);
    return code;
}

static int pull_cached(struct db *db, const char *set, const char *address, const struct pull_options *options,
                       struct error *err) {
    struct pulled pulled = {0};
    int64_t before;
    if (team_reader_attach(db, address, team_project(&options->team), err) ||
        db_int(db, "SELECT coalesce(max(id), 0) FROM runs", 0, &before, err) || db_want(db, set, err) ||
        count_pulled(db, set, before, &pulled, err))
        return -1;
    say(&pulled, options);
    return 0;
}

int command_pull(int argc, char **argv, struct error *err) {
    struct pull_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(1, argc, argv, err)) return -1;
    if (argc < 2) return error_usage(err, "give the runs: clear pull latest, last=20, tag:branch=main, all, ...");
    const char *address = team_address(&options.team, "--from", err);
    if (!address || cli_open(&db, options.db, DB_WRITE, err)) return -1;
    int code = options.cached ? pull_cached(&db, argv[1], address, &options, err)
                              : pull_into(&db, argv[1], address, &options, err);
    if (code) db_take_back(&db);
    return db_close(&db, err) ? -1 : code;
}
