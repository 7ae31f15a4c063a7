/* What is said where no function of the sample type that is shown matches: a site that frees all it allocates is in alloc_space, not
 * in inuse_space, and who looks for it should be told. */
#include <stdio.h>
#include <string.h>

#include "query/profile/pattern.h"
#include "query/report/report.h"

/* Does a function match that has values of this type? Of a report whose paths and labels are prepared already. */
static bool type_matches(struct report *report, size_t type, struct pattern *pattern) {
    struct graph graph;
    struct graph_options options;
    bool matches = false;
    report_graph_options(report, &options);
    options.type = type;
    options.edges = options.tags = false;
    graph_build(&graph, report->profile, &options);
    for (size_t i = 0; i < graph.node_count && !matches; i++)
        matches = pattern_matches(pattern, graph.nodes[i]->info.name);
    graph_free(&graph);
    return matches;
}

/* Bytes are looked for where bytes are shown. */
static size_t matching_type(struct report *report, struct pattern *pattern) {
    const struct profile *profile = report->profile;
    const char *unit = profile->types[report->type].unit;
    size_t found = PROFILE_NONE;
    if (type_matches(report, report->type, pattern)) return PROFILE_NONE;
    for (size_t type = 0; type < profile->type_count; type++) {
        bool has_unit = strcmp(profile->types[type].unit, unit) == 0;
        if (type == report->type || (found != PROFILE_NONE && !has_unit)) continue;
        if (!type_matches(report, type, pattern)) continue;
        found = type;
        if (has_unit) break;
    }
    return found;
}

struct report_hint report_elsewhere(struct report *report) {
    struct report_hint hint = {""};
    struct error ignored = {0};
    struct pattern *pattern = pattern_compile(report->format->name, report->options.symbol, &ignored);
    size_t type = pattern ? matching_type(report, pattern) : PROFILE_NONE;
    pattern_free(pattern);
    if (type != PROFILE_NONE)
        snprintf(hint.text, sizeof hint.text, " in %s; --sample_index=%s has it", report->type_name,
                 report->profile->types[type].type);
    return hint;
}
