/* replay.h: what an entry point and the program that replays files through it tell each other. */
#ifndef CLEAR_FUZZ_REPLAY_H
#define CLEAR_FUZZ_REPLAY_H

#include <stdbool.h>

extern unsigned replay_taken; /* inputs that the reader recognised and stored, not refused */
extern bool
    replay_is_whole; /* set by that program: an entry point that does a part of its work for each input does all of it */

#endif
