#include "ingest/team/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/team/push_otlp.h"
#include "cli/team/team_options.h"
#include "ingest/read/fetch.h"
#include "ingest/team/spool_send.h"
#include "query/runs/run_set.h"

struct push_options {
    struct team_options team;
    const char *db, *otlp, *otlp_token;
    bool quiet, json;
};

#define AT(member) offsetof(struct push_options, member)
static const struct option_row push_rows[] = {
    {"to", .type = OPTION_TEXT, .offset = AT(team.address), .argument = "URL",
     .help = "Where the store is: `postgresql://[USER@]HOST[:PORT]/DATABASE[?OPTIONS]`. Default: `$CLEAR_STORE`, "
             "then `push` of clear.yaml."},
    {"project", .type = OPTION_TEXT, .offset = AT(team.project), .argument = "NAME",
     .help = "The project that the runs belong to. Default: that of clear.yaml, `$CLEAR_PROJECT`, then `default`."},
    {0},
};
static const struct option_row push_otlp_rows[] = {
    {"otlp", .type = OPTION_TEXT, .offset = AT(otlp), .argument = "URL",
     .help =
         "Send the runs as OpenTelemetry's profiles to a Collector, to Pyroscope, or to `clear serve --receive`. The "
         "path is `/v1development/profiles` where the URL has none."},
    {"otlp-token", .type = OPTION_TEXT, .offset = AT(otlp_token), .argument = "FILE", .words = "<file>",
     .help = "Send the first line of FILE as `Authorization: Bearer`. Other headers are those of "
             "`$OTEL_EXPORTER_OTLP_HEADERS` (`KEY=VALUE,...`)."},
    {0},
};
static const struct option_row push_output_rows[] = {
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet), .help = "Print only errors."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON object with the numbers of runs that were `pushed`, were `known`, are being `recorded`, "
             "are `lost` until `clear recover` stores them, and the `bytes` of their rows, as sent."},
    {0},
};
#undef AT
const struct option_group push_options[] = {{"Store", push_rows, 0},
                                            {"OpenTelemetry", push_otlp_rows, 0},
                                            {"Output", push_output_rows, 0},
                                            CLI_WAREHOUSE(push_options, db),
                                            CLI_OPTIONS_END};

static void say(const struct spool_sent *sent, const struct push_options *options) {
    const int64_t *counts = sent->counts;
    if (options->json)
        printf("{\"pushed\":%" PRId64 ",\"known\":%" PRId64 ",\"recording\":%" PRId64 ",\"lost\":%" PRId64
               ",\"bytes\":%" PRId64 "}\n",
               counts[PUSH_STORED], counts[PUSH_KNOWN], counts[PUSH_RECORDING], counts[PUSH_LOST], sent->bytes);
    if (options->json || options->quiet) return;
    printf("%s pushed, %s", units_things(counts[PUSH_STORED], "run").text, units_bytes(sent->bytes).text);
    if (counts[PUSH_KNOWN]) printf(", %s already there", units_count(counts[PUSH_KNOWN]).text);
    if (counts[PUSH_RECORDING])
        printf(", %s still being recorded: push again when it is over", units_count(counts[PUSH_RECORDING]).text);
    if (counts[PUSH_LOST])
        printf(", %s of a clear that was killed: clear recover, then push again", units_count(counts[PUSH_LOST]).text);
    putchar('\n');
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

static int put_into_spool(struct db *db, int64_t run_id, const char *address, const char *project, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT uuid FROM main.runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    const struct spool_entry entry = {
        .uuid = xstrdup(code == 1 ? db_text(row, 0) : ""), .project = (char *)project, .address = (char *)address};
    sqlite3_reset(row);
    if (code == 1) code = spool_add_once(db->path, &entry, err);
    free(entry.uuid);
    return code;
}

/* The store let us wait in vain: these runs, as those of a recording, are sent by the next push. */
static void keep_waiting(struct push *push, const int64_t *ids, size_t count, const char *address) {
    struct error failure = {0};
    for (size_t i = 0; i < count; i++)
        if (put_into_spool(push->db, ids[i], address, push->team->project_name, &failure)) {
            error_print("%s", failure.message);
            return;
        }
    error_print("%s %s for the store, to be sent after the next recording or by clear push:",
                units_things((int64_t)count, "run").text, count == 1 ? "waits" : "wait");
}

static int push_set(struct push *push, const struct run_set *set, const char *address, struct spool_sent *sent,
                    struct error *err) {
    for (size_t i = 0; i < set->count; i++) {
        enum push_outcome outcome;
        if (push_run(push, set->ids[i], &outcome, err)) {
            if (push_gave_up(push)) keep_waiting(push, set->ids + i, set->count - i, address);
            return -1;
        }
        sent->counts[outcome]++;
    }
    return 0;
}

static int push_runs(struct db *db, const char *runs, const char *address, const char *project, struct spool_sent *sent,
                     struct error *err) {
    struct run_set set = {0};
    struct team team = {0};
    struct push push;
    int code = run_set_add(&set, db, runs, err) || team_open(&team, address, project, err);
    push_begin(&push, &team, db);
    if (code == 0) code = push_set(&push, &set, address, sent, err);
    sent->bytes += push.bytes + push.names.bytes;
    push_end(&push);
    team_close(&team);
    run_set_free(&set);
    return code ? -1 : 0;
}

/* Without a store on the command line, or in the environment: what waits goes to where it was meant to go, then all to the store of clear.yaml. */
static int push_all(struct db *db, const char *runs, const struct push_options *options, struct spool_sent *sent,
                    struct error *err) {
    bool is_given = team_is_given(&options->team);
    const char *address = is_given ? team_address(&options->team, "--to", err) : cli_config()->push.to;
    struct team_options team = options->team;
    if (is_given && !address) return -1;
    if (!is_given && !team.project) team.project = cli_config()->push.project;
    if (spool_send(db, is_given ? address : NULL, is_given ? team_project(&team) : NULL, sent, err)) return -1;
    return address ? push_runs(db, runs, address, team_project(&team), sent, err) : 0;
}

static int check_place(struct db *db, const struct push_options *options, struct error *err) {
    struct spool spool = {0};
    bool is_known = team_is_given(&options->team) || cli_config()->push.to;
    int code = is_known ? 0 : spool_read(&spool, db->path, err);
    if (code == 0 && !is_known && !spool.count) code = team_address(&options->team, "--to", err) ? 0 : -1;
    spool_free(&spool);
    return code;
}

static int push_from(struct db *db, const char *runs, const struct push_options *options, struct error *err) {
    struct spool_sent sent = {0};
    if (check_place(db, options, err)) return -1;
    int code = push_all(db, runs, options, &sent, err);
    if (code && sent.counts[PUSH_STORED] && !options->quiet) /* those are stored for good */
        error_print("%s pushed before this:", units_things(sent.counts[PUSH_STORED], "run").text);
    if (code == 0) say(&sent, options);
    return code;
}

/* ---- to a receiver of OTLP ---- */

static int check_otlp(const struct push_options *options, struct error *err) {
    if (options->otlp_token && !options->otlp) return error_usage(err, "--otlp-token needs --otlp URL");
    if (!options->otlp) return 0;
    if (options->team.address || options->team.project)
        return error_usage(err, "--otlp sends to a receiver of OTLP: leave out --to and --project");
    return fetch_is_url(options->otlp)
               ? 0
               : error_usage(err, "--otlp %s: expected http://HOST:PORT or https://HOST", options->otlp);
}

static int push_as_otlp(struct db *db, const char *runs, const struct push_options *options, struct error *err) {
    struct push_otlp push = {.url = options->otlp, .token_file = options->otlp_token};
    struct run_set set = {0};
    int code = run_set_add(&set, db, runs, err);
    if (code == 0) code = push_otlp(&push, db, &set, err);
    run_set_free(&set);
    if (code == 0 && options->json)
        printf("{\"pushed\":%" PRId64 ",\"profiles\":%" PRId64 ",\"bytes\":%" PRId64 "}\n", push.runs, push.profiles,
               push.bytes);
    else if (code == 0 && !options->quiet)
        printf("%s pushed, %s, %s\n", units_things(push.runs, "run").text, units_things(push.profiles, "profile").text,
               units_bytes(push.bytes).text);
    else if (push.runs && !options->quiet)
        error_print("%s pushed before this:", units_things(push.runs, "run").text);
    return code;
}

int command_push(int argc, char **argv, struct error *err) {
    struct push_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(1, argc, argv, err)) return -1;
    if (check_otlp(&options, err)) return -1;
    if (options.team.address && !team_address(&options.team, "--to", err)) return -1;
    if (cli_open(&db, options.db, DB_READ, err)) return -1;
    const char *runs = argc > 1 ? argv[1] : "all";
    int code = options.otlp ? push_as_otlp(&db, runs, &options, err) : push_from(&db, runs, &options, err);
    return db_close(&db, err) ? -1 : code;
}
