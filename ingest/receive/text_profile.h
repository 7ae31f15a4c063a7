/* text_profile.h: Pyroscope's texts of stacks as a profile.proto. */
#ifndef CLEAR_INGEST_RECEIVE_TEXT_PROFILE_H
#define CLEAR_INGEST_RECEIVE_TEXT_PROFILE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "ingest/read/input.h"

struct text_profile {
    bool counts_lines;       /* "lines": each line is a stack that counts 1; else "root;...;leaf COUNT" */
    int64_t period_ns;       /* > 0: a count is a sample of CPU time, which stands for so much; else: */
    const char *type, *unit; /* of the counts */
};

/* Adds the profile.proto. Errors name the line. */
int text_profile_add(const struct text_profile *how, const struct input *text, struct buffer *out, struct error *err);

#endif
