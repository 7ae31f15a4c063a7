/* resource_judgement.c: /api/findings and /api/compare: what the doctor says. */
#include "serve/resource.h"

/* The two filters that a doctor has. */
static void add_filters(struct exchange *exchange) {
    const char *focus = api_value(exchange, "f"), *ignore = api_value(exchange, "i");
    job_words_add(&exchange->job->words, "--json");
    if (focus) job_words_add(&exchange->job->words, "--focus=%s", focus);
    if (ignore) job_words_add(&exchange->job->words, "--ignore=%s", ignore);
}

static int make_findings(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "doctor", err)) return -1;
    add_filters(exchange);
    return api_add_runs(exchange, NULL, err);
}

const struct resource resource_findings = {{api_runs, api_selection, api_filters}, make_findings, NULL};

static int make_compare(struct exchange *exchange, struct error *err) {
    if (!api_value(exchange, "base")) return error_usage(err, "compare needs base=RUNS");
    if (api_command(exchange, "doctor", err)) return -1;
    add_filters(exchange);
    return api_add_runs(exchange, "diff", err) || api_add_base(exchange, NULL, err) ? -1 : 0;
}

const struct resource resource_compare = {{api_runs, api_selection, api_filters}, make_compare, NULL};
