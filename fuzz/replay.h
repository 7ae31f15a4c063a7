/* replay.h: what an entry point tells the program that replays files through it. */
#ifndef CLEAR_FUZZ_REPLAY_H
#define CLEAR_FUZZ_REPLAY_H

extern unsigned replay_taken; /* inputs that the reader recognised and stored, not refused */

#endif
