/* accepted.h: changes that were accepted (table accepted_changes): a gate does not fail for them.
 *
 * An accepted run says which value of a figure is known. If it is a run of the base, the base starts anew with it: older runs do not
 * count for the rows that it is about. If it is not, but is newer than the oldest run of the base, a row that would fail is accepted as
 * long as it is not over its limit compared with the accepted run. So a base that has rolled on forgets what was accepted, and what
 * gets worse than what was accepted fails. A run that was deleted accepts nothing. */
#ifndef CLEAR_QUERY_GATE_ACCEPTED_H
#define CLEAR_QUERY_GATE_ACCEPTED_H

#include "query/gate/rows.h"
#include "query/history/known_changes.h"

/* Removes values of the base that are older than an accepted run of the base. Before the rows are judged. */
void accepted_restart_base(const struct known_changes *known, const struct gate_row_list *list);

/* The change that covers a row which would fail; NULL: none. `is_over` says whether a row is over its limit. */
int accepted_covers(const struct known_changes *known, const struct gate_row_list *list, const struct gate *gate,
                    const struct gate_row *row, bool (*is_over)(const struct gate_row *row),
                    const struct known_change **change, struct error *err);

#endif
