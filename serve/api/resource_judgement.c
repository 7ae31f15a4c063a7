/* resource_judgement.c: /api/overview, /api/findings and /api/compare: what the doctor says. */
#include "serve/api/resource.h"

/* The two filters that a doctor has. */
static void add_filters(struct exchange *exchange) {
    const char *focus = api_value(exchange, "f"), *ignore = api_value(exchange, "i");
    job_words_add(&exchange->job->words, "--json");
    if (focus) job_words_add(&exchange->job->words, "--focus=%s", focus);
    if (ignore) job_words_add(&exchange->job->words, "--ignore=%s", ignore);
}

/* The part of the run's time that is judged. */
static void add_part(struct exchange *exchange) {
    static const char *const names[] = {"from", "to", "window"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = api_value(exchange, names[i]);
        if (value) job_words_add(&exchange->job->words, "--%s=%s", names[i], value);
    }
}

static int make_findings(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "doctor", err)) return -1;
    add_filters(exchange);
    add_part(exchange);
    return api_add_runs(exchange, NULL, err);
}

const struct resource resource_findings = {{api_runs, api_selection, api_filters}, make_findings, NULL};

static const struct api_parameter part_parameters[] = {
    {"from", API_OPTION, "from"}, {"to", API_OPTION, "to"}, {"window", API_OPTION, "window"}, {0}};

/* A set is judged as one run. */
static int make_overview(struct exchange *exchange, struct error *err) {
    const struct run_set *runs = api_run_set(exchange, err);
    if (!runs || api_command(exchange, "doctor", err) || api_options(exchange, err)) return -1;
    job_words_add(&exchange->job->words, "--overview");
    if (runs->count > 1) job_words_add(&exchange->job->words, "--together");
    return api_add_runs(exchange, NULL, err);
}

const struct resource resource_overview = {{api_runs, part_parameters}, make_overview, .is_kept = true};

static int make_compare(struct exchange *exchange, struct error *err) {
    if (!api_value(exchange, "base")) return error_usage(err, "compare needs base=RUNS");
    if (api_command(exchange, "doctor", err)) return -1;
    add_filters(exchange);
    return api_add_runs(exchange, "diff", err) || api_add_base(exchange, NULL, err) ? -1 : 0;
}

const struct resource resource_compare = {{api_runs, api_selection, api_filters}, make_compare, .is_kept = true};
