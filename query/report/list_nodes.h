/* list_nodes.h: the functions that a listing is about, with their nodes at the granularity of lines: what list and source share. */
#ifndef CLEAR_QUERY_REPORT_LIST_NODES_H
#define CLEAR_QUERY_REPORT_LIST_NODES_H

#include "query/profile/pattern.h"
#include "query/report/report.h"

/* A function in one file: its nodes by line, at least one. is_only: no other file has a function of that name. */
typedef int list_visit(void *context, struct graph_node **nodes, size_t count, bool is_only, struct error *err);

/* Visits each function whose name matches the report's symbol, by name and file, until a visit fails. Returns how many nodes they
 * have, 0 where none matches, or -1: the pattern is wrong, or a visit failed. The nodes last as long as the call. */
int64_t list_each_function(struct report *report, list_visit *visit, void *context, struct error *err);
/* The lines to show of a function: from its first one, where it is known, to a margin after the last sample. */
void list_lines(struct graph_node **nodes, size_t count, int64_t *first, int64_t *last);
/* The sums of the nodes at `line`; 0: of all. */
void list_sum(struct report *report, struct graph_node **nodes, size_t count, int64_t line, int64_t *flat,
              int64_t *cum);

#endif
