#include "cli/span_options.h"

#include <string.h>

#include "cli/cli.h"

#define RUN_MAX_NS (INT64_C(366) * 24 * 3600 * 1000000000)

/* A duration since the start of the run, or a date and time, which contains "-". */
static int take_edge(const char *name, struct timespan_edge *edge, const char *text, struct error *err) {
    edge->text = text;
    edge->is_moment = strchr(text, '-') != NULL;
    return edge->is_moment ? 0 : cli_duration(name, text, 0, RUN_MAX_NS, &edge->offset_ns, err);
}

static int take_from(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct timespan_request *span = into;
    (void)row;
    return take_edge("--from", &span->from, text, err);
}

static int take_to(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct timespan_request *span = into;
    (void)row;
    return take_edge("--to", &span->to, text, err);
}

/* Negative from the end. */
static int take_window(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct timespan_request *span = into;
    bool from_end = *text == '-';
    (void)row;
    if (cli_count("--window", text + from_end, 1, INT32_MAX, &span->window, err)) return -1;
    if (from_end) span->window = -span->window;
    return 0;
}

const struct option_row span_options[] = {
    {"from", .type = OPTION_TAKE, .take = take_from, .argument = "TIME",
     .help =
         "Only windows that end after TIME: since the start of the run (`10s`), or a date (`2026-11-21T12:00:00Z`)."},
    {"to", .type = OPTION_TAKE, .take = take_to, .argument = "TIME",
     .help = "Only windows that end at TIME or before. In-use values are those at TIME."},
    {"window", .type = OPTION_TAKE, .take = take_window, .argument = "N",
     .help = "Only this window; -1 is the last one. `clear query @run-windows` lists them."},
    {0},
};

int span_options_check(const struct timespan_request *span, struct error *err) {
    return span->window && (span->from.text || span->to.text)
               ? error_usage(err, "--window and --from or --to exclude each other")
               : 0;
}
