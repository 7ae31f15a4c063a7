/* trace_filter.h: --focus and --ignore over stacks that stay in the warehouse: diagnoses and comparisons, whose rows are
 * no samples of one profile. A stack is met by an expression where a function's name, its file or the file of its binary
 * is, as in query/profile/filter.h; --ignore wins. */
#ifndef CLEAR_QUERY_PROFILE_TRACE_FILTER_H
#define CLEAR_QUERY_PROFILE_TRACE_FILTER_H

#include <stdbool.h>

#include "base/map.h"
#include "query/profile/pattern.h"
#include "schema/db.h"

struct trace_filter {
    struct pattern *focus, *ignore; /* NULL for none */
    struct map texts;               /* each text that was met -> 1 + whether focus (1) and ignore (2) meet it */
};

/* NULL for an expression that was not given. A bad one is a usage error that shows the place; one that takes too many steps on
 * a name is a usage error of the functions that ask. */
int trace_filter_open(struct trace_filter *filter, const char *focus, const char *ignore, struct error *err);
void trace_filter_close(struct trace_filter *filter);

static inline bool trace_filter_is_open(const struct trace_filter *filter) {
    return filter->focus || filter->ignore;
}

/* Trace 0, no stack, has no text that could be met. */
int trace_filter_keeps(struct trace_filter *filter, struct db *db, int64_t trace_id, bool *keeps, struct error *err);
/* The same, where the name of what the stack belongs to (a lock) may be met as well. */
int trace_filter_keeps_named(struct trace_filter *filter, struct db *db, int64_t trace_id, const char *name,
                             bool *keeps, struct error *err);

#endif
