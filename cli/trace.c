/* trace.c: clear trace, the single events of a run in the order of time, or the longest ones. */
#include <inttypes.h>

#include "base/units.h"
#include "base/wrap.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "query/runs/select.h"
#include "query/sql/ask.h"
#include "query/sql/result_table.h"
#include "schema/schema.h"

#define RUN_MAX_NS (INT64_C(366) * 24 * 3600 * 1000000000)
#define TIMEOUT_NS (INT64_C(1000000000) * ASK_TIMEOUT_S)

struct trace_options {
    const char *db, *thread, *lock;
    int64_t from_ns, to_ns, slowest;
    bool json;
};

static int take_from(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct trace_options *options = into;
    (void)row;
    return cli_duration("--from", text, 0, RUN_MAX_NS, &options->from_ns, err);
}

static int take_to(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct trace_options *options = into;
    (void)row;
    return cli_duration("--to", text, 0, RUN_MAX_NS, &options->to_ns, err);
}

#define AT(member) offsetof(struct trace_options, member)
static const struct option_row shown_rows[] = {
    {"slowest", .letter = 'n', .type = OPTION_COUNT, .offset = AT(slowest), .max = INT64_MAX, .argument = "N",
     .words = "20", .help = "Only the N longest events, longest first. Default: all, in the order of time."},
    {"thread", .type = OPTION_TEXT, .offset = AT(thread), .argument = "GLOB",
     .help = "Only events of threads with this name or id (`worker*`, 4711)."},
    {"lock", .type = OPTION_TEXT, .offset = AT(lock), .argument = "GLOB",
     .help = "Only events about what has this name or kind (`*:g_table`, `cond`, `region`)."},
    {"from", .type = OPTION_TAKE, .take = take_from, .argument = "TIME",
     .help = "Only events that end at TIME or later, counted from the start of the run (`1.5s`, `200ms`)."},
    {"to", .type = OPTION_TAKE, .take = take_to, .argument = "TIME",
     .help = "Only events that begin at TIME or before."},
    {0},
};
static const struct option_row output_rows[] = {
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON array: one object for each event, with the columns of the view `timeline`."},
    {0},
};
#undef AT
const struct option_group trace_options[] = {{"Which events", shown_rows, 0},
                                             {"Output", output_rows, 0},
                                             CLI_WAREHOUSE_OR_STORE(trace_options, db),
                                             CLI_OPTIONS_END};

struct kept_events {
    int64_t count, lost;
};

static int count_events(struct db *db, int64_t run_id, struct kept_events *events, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("trace/kept.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) < 0) return -1;
    *events = (struct kept_events){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    sqlite3_reset(row);
    return 0;
}

static void say_what_is_missing(const struct kept_events *events, int64_t run_id) {
    fflush(stdout);
    if (!events->count)
        fprintf(stderr,
                "clear: run %" PRId64
                " has no events: nobody waited, or it was recorded without clear profile --trace\n",
                run_id);
    if (events->lost)
        fprintf(stderr,
                "clear: %s of run %" PRId64 " are lost, mostly older ones; clear profile --trace-buffer keeps more\n",
                units_things(events->lost, "event").text, run_id);
}

static int print_events(struct ask *ask, const struct trace_options *options, int64_t run_id, struct error *err) {
    struct table_options table = {.format = options->json ? TABLE_JSON : TABLE_TEXT,
                                  .human = true,
                                  .width = report_width(stdout),
                                  .has_notes = !options->json};
    sqlite3_stmt *statement =
        ask_prepare(ask, embedded_text(options->json ? "trace/trace/waits" : "trace/trace/table"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_text(statement, ":thread", options->thread);
    db_bind_text(statement, ":lock", options->lock);
    db_bind_int(statement, ":from", options->from_ns);
    db_bind_int(statement, ":to", options->to_ns);
    db_bind_int(statement, ":slowest", options->slowest);
    int code = table_print(stdout, ask->db, statement, ask_step, &table, err);
    sqlite3_finalize(statement);
    return code;
}

static int trace_run(struct db *db, const struct trace_options *options, int64_t run_id, struct error *err) {
    struct ask ask;
    struct kept_events events;
    if (count_events(db, run_id, &events, err)) return -1;
    ask_open(&ask, db, TIMEOUT_NS, true);
    int code = events.count || options->json ? print_events(&ask, options, run_id, err) : 0;
    ask_close(&ask);
    if (code == 0) say_what_is_missing(&events, run_id);
    return code;
}

int command_trace(int argc, char **argv, struct error *err) {
    struct trace_options options = {.to_ns = INT64_MAX};
    struct db db;
    int64_t run_id;
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(1, argc, argv, err)) return -1;
    if (cli_open(&db, options.db, DB_READ, err)) return -1;
    int code = select_run(&db, argc > 1 ? argv[1] : NULL, &run_id, err);
    if (code == 0) pager_start();
    if (code == 0) code = trace_run(&db, &options, run_id, err);
    return db_close(&db, err) || code ? -1 : 0;
}
