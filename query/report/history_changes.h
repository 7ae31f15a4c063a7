/* history_changes.h: where the level of a function's value changed from run to run, by the test of clear trend. Private to query/report. */
#ifndef CLEAR_QUERY_REPORT_HISTORY_CHANGES_H
#define CLEAR_QUERY_REPORT_HISTORY_CHANGES_H

#include "query/history/change_points.h"
#include "schema/db.h"

/* Prepares a search in `series_count` series of values of that kind, sample type and unit: whether they have no noise of their own, and the
 * least difference by the rules of the warehouse. `is_estimated`: a run was sampled, or lost events. */
struct history_search {
    const char *kind, *type, *unit;
    bool is_estimated;
    size_t series_count;
};
int history_search_prepare(const struct history_search *of, struct db *db, struct change_search *search,
                           struct error *err);

#endif
