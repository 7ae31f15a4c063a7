/* flame_data.h: the call trees of every sample type of a report, as JSON for the script of a flame graph (export/flamegraph.js).
 *
 *   {"shown": TYPE, "before": TEXT, "after": TEXT, "types": [{"name", "unit", "differs", "nodes"}, ...], "frames": ["NAME\nPLACE", ...]}
 *
 * `nodes` is a tree in the order of its boxes, from the top and from the left, as numbers: depth, frame (an index, -1 for siblings
 * too narrow to be drawn, together), the value with all below it; if the type differs between two sides also the value before, and
 * the width that the box has (struct tree_node). The root is the first, its frame -1. "shown" is the index of the type in the
 * picture, "before" and "after" name the sides. */
#ifndef CLEAR_EXPORT_FLAME_DATA_H
#define CLEAR_EXPORT_FLAME_DATA_H

#include "query/report/report.h"

/* Part of the whole below which a box is not drawn: 0.1 px of a window 1,000 px wide. It bounds the file: no more than
 * 10,000 boxes a level. */
#define FLAME_NARROWEST 1e-4

/* Appends the JSON. Of a mean, or where the sums of other types are too large, it has the shown type alone. */
int flame_data_write(struct report *report, struct buffer *out, struct error *err);

#endif
