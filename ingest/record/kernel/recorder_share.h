/* recorder_share.h: the recorder's share of processors that the program fills.
 *
 * Among the threads of a program that keeps all processors busy the recorder gets as much as one of them: with 128 threads and
 * two processors its looks, due every 20 ms, came up to 1.2 s late (nine of ten within 80 to 320 ms), so that the run did not
 * know that its threads had no processor. Both of these need no rights. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_RECORDER_SHARE_H
#define CLEAR_INGEST_RECORD_KERNEL_RECORDER_SHARE_H

#include <stdbool.h>

/* Gives the calling process, which is the recorder and has just started the program, a session of its own: where Linux has
 * CONFIG_SCHED_AUTOGROUP it shares processors among sessions first. And it asks for turns of 0.1 ms, which come sooner (Linux 6.12).
 * Nine of ten looks are then less than 2 ms late. Where the kernel has neither, nothing changes. A session of less weight is none the
 * better: at a nice value of 5 recorders got no turn for 0.7 s in half of the runs beside two other programs (Linux 6.18). */
void recorder_share_take(void);

/* Whether one more thread of the recorder would have a processor that nobody else wants: no more threads of the machine can run now, the caller
 * among them, than it has processors, and the caller may run on more than one. False where the kernel does not say. */
bool recorder_share_has_room(void);

#endif
