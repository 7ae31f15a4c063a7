/* figure_text.h: figures of the view series as people read them. The unit is in the name: duration_ns, alloc_bytes; everything else is
 * a count. */
#ifndef CLEAR_QUERY_HISTORY_FIGURE_TEXT_H
#define CLEAR_QUERY_HISTORY_FIGURE_TEXT_H

#include "base/units.h"

/* "3.4 ms", "1.2 MiB", "1,234"; a mean of few things keeps a digit: "2.5". */
struct units_text figure_text(const char *figure, double value);
/* "+3 %", "-0.2 %", "x 31"; "new" where nothing was before. */
struct units_text figure_change_text(double before, double after);

#endif
