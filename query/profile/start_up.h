/* start_up.h: the frames of the C library below main and below the first function of a thread. They are in every stack and say
 * nothing about the program, so short listings of a stack leave them out. */
#ifndef CLEAR_QUERY_PROFILE_START_UP_H
#define CLEAR_QUERY_PROFILE_START_UP_H

#include <stdbool.h>

bool start_up_is_frame(const char *function);

#endif
