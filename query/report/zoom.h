/* zoom.h: the samples whose stack goes through one node of a flame graph, as options.root names it: by the id that the node has in
 * query/profile/packed/packed_tree.h, or by the names on its path as folded stacks have them ("main;parse"). */
#ifndef CLEAR_QUERY_REPORT_ZOOM_H
#define CLEAR_QUERY_REPORT_ZOOM_H

#include "query/report/report.h"

/* Drops the other samples of the report's profile, which is filtered and not aggregated yet. The tree is that of `asked`: its granularity,
 * noinlines, inverted, pivot and fold. Nothing without a root. A usage error where no stack goes through the node, but of
 * a difference without sides, where that may be one that has not changed. */
int zoom_apply(struct report *report, const struct report_options *asked, struct error *err);

#endif
