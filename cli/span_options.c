#include "cli/span_options.h"

#include <stdio.h>

#include "cli/cli.h"

static char *option_name(const struct option_row *row, char name[32]) {
    snprintf(name, 32, "--%s", row->name);
    return name;
}

static int take_from(void *into, const struct option_row *row, const char *text, struct error *err) {
    char name[32];
    return timespan_read_edge(&((struct timespan_request *)into)->from, option_name(row, name), text, err);
}

static int take_to(void *into, const struct option_row *row, const char *text, struct error *err) {
    char name[32];
    return timespan_read_edge(&((struct timespan_request *)into)->to, option_name(row, name), text, err);
}

static int take_window(void *into, const struct option_row *row, const char *text, struct error *err) {
    char name[32];
    return timespan_read_window(&((struct timespan_request *)into)->window, option_name(row, name), text, err);
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
