/* trend_output.h: how `clear trend` prints. */
#ifndef CLEAR_CLI_HISTORY_TREND_OUTPUT_H
#define CLEAR_CLI_HISTORY_TREND_OUTPUT_H

#include "query/history/trend.h"

/* For people: a line a series with its course, then the changes. `top`: so many series without a change; 0: all. */
void trend_print(const struct trend *trend, const char *of, int64_t top);
/* One JSON object: runs, series with values and changes. */
void trend_print_json(const struct trend *trend);
/* A row per run and series, as CSV. */
int trend_print_csv(const struct trend *trend, struct db *db, struct error *err);

#endif
