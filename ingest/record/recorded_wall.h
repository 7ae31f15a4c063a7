/* recorded_wall.h: the measures MEASURE_WALL and MEASURE_OFF_CPU of a recorded process, from its CPU time and from the looks at its
 * threads (wall.h). Their rows are stacks with the name of what the thread waited in above them, as a frame: "[poll]", "[mutex]",
 * "[blocked]" where no hook saw in what, "[ready]" for a processor, "[unsampled]" what no look met. Their labels are the thread and
 * `state`: running, waiting, ready, unsampled. */
#ifndef CLEAR_INGEST_RECORD_RECORDED_WALL_H
#define CLEAR_INGEST_RECORD_RECORDED_WALL_H

#include "ingest/record/recorded.h"
#include "ingest/record/wall.h"

/* CPU time of a stack is wall time too. */
void recorded_add_running(struct recorded *recorded, const struct segment_cpu *entry);
/* Needs the objects of the segment. */
void recorded_add_looks(struct recorded *recorded, const struct wall_row *rows, size_t count);
/* Of a process that has ended, what is missing of the lives of its threads: it is in no stack. Once after each recorded_read. */
void recorded_add_unsampled(struct recorded *recorded, const struct recording_terms *terms);
/* The row of a pair: 1, or -1 with the error set. */
int recorded_look_row(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                      struct pair_key pair, struct recorded_row *row, struct error *err);

#endif
