/* span_options.h: the options --from, --to and --window, for commands that can be about a part of a run. */
#ifndef CLEAR_CLI_SPAN_OPTIONS_H
#define CLEAR_CLI_SPAN_OPTIONS_H

#include "base/option.h"
#include "query/runs/timespan.h"

extern const struct option_row span_options[]; /* for a struct timespan_request, zeroed at first */
/* --window and --from or --to exclude each other: a usage error. */
/* --base_from, --base_to and --base_window: the same of what is subtracted. */
extern const struct option_row base_span_options[];

int span_options_check(const struct timespan_request *span, struct error *err);
int base_span_options_check(const struct timespan_request *span, bool has_base, struct error *err);

#endif
