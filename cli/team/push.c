#include "ingest/team/push.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/team/team_options.h"
#include "query/runs/run_set.h"

struct push_options {
    struct team_options team;
    const char *db;
    bool quiet, json;
};

#define AT(member) offsetof(struct push_options, member)
static const struct option_row push_rows[] = {
    {"to", .type = OPTION_TEXT, .offset = AT(team.address), .argument = "URL",
     .help = "Where the store is: `postgresql://[USER@]HOST[:PORT]/DATABASE[?OPTIONS]`. Default: `$CLEAR_STORE`."},
    {"project", .type = OPTION_TEXT, .offset = AT(team.project), .argument = "NAME",
     .help = "The project that the runs belong to. Default: `$CLEAR_PROJECT`, then `default`."},
    {0},
};
static const struct option_row push_output_rows[] = {
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet), .help = "Print only errors."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON object with the numbers of runs that were `pushed`, were `known`, and are being `recorded`, "
             "and the `bytes` of their rows, as sent."},
    {0},
};
#undef AT
const struct option_group push_options[] = {
    {"Store", push_rows, 0}, {"Output", push_output_rows, 0}, CLI_WAREHOUSE(push_options, db), CLI_OPTIONS_END};

static void say(const struct push *push, const struct push_options *options, const int64_t counts[3]) {
    if (options->json)
        printf("{\"pushed\":%" PRId64 ",\"known\":%" PRId64 ",\"recording\":%" PRId64 ",\"bytes\":%" PRId64 "}\n",
               counts[PUSH_STORED], counts[PUSH_KNOWN], counts[PUSH_RECORDING], push->bytes + push->names.bytes);
    if (options->json || options->quiet) return;
    printf("%s pushed, %s", units_things(counts[PUSH_STORED], "run").text,
           units_bytes(push->bytes + push->names.bytes).text);
    if (counts[PUSH_KNOWN]) printf(", %s already there", units_count(counts[PUSH_KNOWN]).text);
    if (counts[PUSH_RECORDING])
        printf(", %s still being recorded: push again when it is over", units_count(counts[PUSH_RECORDING]).text);
    putchar('\n');
}

static int push_set(struct push *push, const struct run_set *set, const struct push_options *options,
                    struct error *err) {
    int64_t counts[3] = {0};
    int code = 0;
    for (size_t i = 0; code == 0 && i < set->count; i++) {
        enum push_outcome outcome;
        code = push_run(push, set->ids[i], &outcome, err);
        if (code == 0) counts[outcome]++;
    }
    if (code && counts[PUSH_STORED] && !options->quiet) /* those are stored for good */
        error_print("%s pushed before this:", units_things(counts[PUSH_STORED], "run").text);
    if (code == 0) say(push, options, counts);
    return code;
}

static int push_from(struct db *db, const char *runs, const char *address, const struct push_options *options,
                     struct error *err) {
    struct run_set set = {0};
    struct team team = {0};
    struct push push;
    int code = run_set_add(&set, db, runs, err) || team_open(&team, address, team_project(&options->team), db, err);
    push_begin(&push, &team, db);
    if (code == 0) code = push_set(&push, &set, options, err);
    push_end(&push);
    team_close(&team);
    run_set_free(&set);
    return code ? -1 : 0;
}

int command_push(int argc, char **argv, struct error *err) {
    struct push_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(1, argc, argv, err)) return -1;
    const char *address = team_address(&options.team, "--to", err);
    if (!address || cli_open(&db, options.db, DB_READ, err)) return -1;
    int code = push_from(&db, argc > 1 ? argv[1] : "all", address, &options, err);
    return db_close(&db, err) ? -1 : code;
}
