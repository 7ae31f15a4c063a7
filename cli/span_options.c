#include "cli/span_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define RUN_MAX_NS (INT64_C(366) * 24 * 3600 * 1000000000)

/* A duration since the start of the run, or a date and time, which contains "-". */
static int take_edge(const struct option_row *row, struct timespan_edge *edge, const char *text, struct error *err) {
    char name[32];
    snprintf(name, sizeof name, "--%s", row->name);
    edge->text = text;
    edge->is_moment = strchr(text, '-') != NULL;
    return edge->is_moment ? 0 : cli_duration(name, text, 0, RUN_MAX_NS, &edge->offset_ns, err);
}

static int take_from(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct timespan_request *span = into;
    return take_edge(row, &span->from, text, err);
}

static int take_to(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct timespan_request *span = into;
    return take_edge(row, &span->to, text, err);
}

/* Negative from the end. */
static int take_window(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct timespan_request *span = into;
    char name[32];
    bool from_end = *text == '-';
    snprintf(name, sizeof name, "--%s", row->name);
    if (cli_count(name, text + from_end, 1, INT32_MAX, &span->window, err)) return -1;
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

const struct option_row base_span_options[] = {
    {"base_from", .type = OPTION_TAKE, .take = take_from, .argument = "TIME",
     .help = "As `--from`, of the base. The base may be the same run: two parts of it are compared."},
    {"base_to", .type = OPTION_TAKE, .take = take_to, .argument = "TIME", .help = "As `--to`, of the base."},
    {"base_window", .type = OPTION_TAKE, .take = take_window, .argument = "N",
     .help = "As `--window`, of the base. Default of these three: the same part as of the run."},
    {0},
};

static int check(const struct timespan_request *span, const char *prefix, struct error *err) {
    if (!span->window || (!span->from.text && !span->to.text)) return 0;
    return error_usage(err, "--%swindow and --%sfrom or --%sto exclude each other", prefix, prefix, prefix);
}

int span_options_check(const struct timespan_request *span, struct error *err) {
    return check(span, "", err);
}

int base_span_options_check(const struct timespan_request *span, bool has_base, struct error *err) {
    if (timespan_is_wanted(span) && !has_base)
        return error_usage(err, "--base_from, --base_to and --base_window need a base: --diff_base RUN");
    return check(span, "base_", err);
}
