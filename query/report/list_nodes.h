/* list_nodes.h: which nodes of a graph at the granularity of lines a listing is about: what list and source share. */
#ifndef CLEAR_QUERY_REPORT_LIST_NODES_H
#define CLEAR_QUERY_REPORT_LIST_NODES_H

#include "query/profile/pattern.h"
#include "query/report/report.h"

/* The nodes whose function matches, those of a function in one file together, by line. free() the array. */
struct graph_node **list_matching(const struct graph *graph, struct pattern *pattern, size_t *count);
/* Are they of one function in one file? */
bool list_is_same(const struct graph_node *a, const struct graph_node *b);
/* The lines to show of a function: from its first one, where it is known, to a margin after the last sample. */
void list_lines(struct graph_node **nodes, size_t count, int64_t *first, int64_t *last);
/* The sums of the nodes at `line`; 0: of all. */
void list_sum(struct report *report, struct graph_node **nodes, size_t count, int64_t line, int64_t *flat,
              int64_t *cum);

#endif
