/* status_line.h: shows the progress of a recording in the last row of the terminal while the program runs.
 *
 * * The terminal is the program's. So the row is taken out of the scrolling region (as apt does while packages
 * print), and the program's own output is never written over. Nothing is drawn where standard error is no terminal,
 * where the terminal has fewer than STATUS_ROWS_MIN rows or is dumb, while we are in the background, and while the
 * program has it in a mode of its own (no line editing: an editor, a pager, a game). */
#ifndef CLEAR_CLI_STATUS_LINE_H
#define CLEAR_CLI_STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/record/collector.h"

enum { STATUS_ROWS_MIN = 5 };

struct status_line {
    bool is_wanted; /* by the caller: zero is off */
    int rows;       /* of the terminal as it was when the region was set; 0: not set */
    uint64_t started_ns, last_ns, last_allocs, last_flush_ns; /* CLOCK_MONOTONIC; of the line drawn last */
};

void status_line_start(struct status_line *line, bool is_wanted);
/* Is it time to draw? Ask before adding up the totals, which takes time. */
bool status_line_is_due(const struct status_line *line);
void status_line_draw(struct status_line *line, const struct collector_totals *totals, bool is_paused);
/* Restores the terminal. */
void status_line_end(struct status_line *line);
/* The same in place of a process that cannot any more. `was_wanted` is what status_line_start got there. */
void status_line_repair(bool was_wanted);

#endif
