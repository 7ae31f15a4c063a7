/* frames.h: what a person sees of a profile's stacks: each frame's name and place. For the formats that show samples. */
#ifndef CLEAR_QUERY_REPORT_FRAMES_H
#define CLEAR_QUERY_REPORT_FRAMES_H

#include "base/buffer.h"
#include "base/map.h"
#include "query/report/report.h"

/* A function at a line, and where it is. Texts are the profile's. */
struct stack_frame {
    const char *name;   /* at the report's granularity; of a function that is not known module+0xOFFSET or 0xADDRESS */
    uint32_t name_id;   /* equal names have equal ids, from 0 */
    const char *file;   /* source file, trimmed as the report asks for; "" unknown */
    const char *module; /* "" unknown */
    int64_t line;       /* 0 unknown */
    uint64_t address;   /* 0 unknown */
    bool is_inlined;    /* into the frame after it */
};

struct stack_frames {
    struct stack_frame *items; /* those of a location stand together, the innermost first */
    size_t count;
    size_t *firsts; /* [location]: its first item; one more than there are locations */
    size_t most;    /* items that a location has at most */
    struct map names;
};

/* Of the report's profile, which must not change as long as they are used. */
void frames_make(struct stack_frames *frames, struct report *report);
void frames_free(struct stack_frames *frames);
/* Fills `stack` with indices (uint32_t) of items, leaf first, and gives their count. */
size_t frames_of_stack(const struct stack_frames *frames, const struct profile *profile, uint32_t index,
                       struct buffer *stack);
/* Appends a name for a line in which semicolons stand between frames: one in it becomes a colon, a line end a blank. */
void frames_add_name(struct buffer *out, const char *name);

#endif
