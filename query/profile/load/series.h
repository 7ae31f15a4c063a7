/* series.h: what has come in a run since it was last looked at, time after time. Windows alone could not tell: old ones are folded
 * together, also across the moment that counts. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_SERIES_H
#define CLEAR_QUERY_PROFILE_LOAD_SERIES_H

#include "query/profile/model.h"
#include "schema/db.h"

struct profile_series;

/* Of nothing yet: the first profile has all. */
struct profile_series *profile_series_new(void);
void profile_series_free(struct profile_series *series); /* safe on NULL */

/* Moves the mark to the newest window: what a kind of that run had up to there does not come any more. */
int profile_series_mark(struct profile_series *series, struct db *db, int64_t run_id, const char *kind,
                        struct error *err);

/* What came after the mark, exact (query/profile/build.h), and moves the mark to the newest window: the differences of all values;
 * but a type that begins with inuse_ is a state, and is as it is, and one that begins with max_ is as it is where it rose, else
 * 0. A series is of one kind of one run. On failure there is nothing to free, and the mark stays. */
int profile_series_next(struct profile_series *series, struct profile *profile, struct db *db, int64_t run_id,
                        const char *kind, struct error *err);

#endif
