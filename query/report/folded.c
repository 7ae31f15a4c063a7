/* One line a stack, root first, and its value: what flame graph tools read. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "query/report/report.h"

/* A semicolon stands between frames and a line feed between stacks, so names hold neither. */
static void add_name(struct buffer *out, const char *name) {
    for (; *name; name++)
        buffer_add_char(out, *name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name);
}

static void add_frames(struct report *report, const struct profile_location *location, struct buffer *stack,
                       struct buffer *scratch) {
    struct graph_info info;
    for (uint32_t i = location->line_count ? location->line_count : 1; i-- > 0;) {
        const struct profile_line *line =
            location->line_count ? &report->profile->lines[location->first_line + i] : NULL;
        graph_info_of(report->profile, location, line, false, &info);
        if (stack->size) buffer_add_char(stack, ';');
        add_name(stack, graph_info_name(&info, scratch));
    }
}

int report_folded(struct report *report, struct buffer *out, struct error *err) {
    struct profile *profile = report->profile;
    struct map stacks = {0};
    struct buffer stack = {0}, scratch = {0};
    (void)err;
    report_prepare_graph(report); /* paths */
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_stack *frames = &profile->stacks[profile->samples[i].stack];
        buffer_clear(&stack);
        for (uint32_t at = frames->depth; at-- > 0;)
            add_frames(report, &profile->locations[profile->frames[frames->first + at]], &stack, &scratch);
        map_put(&stacks, buffer_text(&stack), stack.size, NULL)->value += profile_value(profile, i, report->type);
    }
    for (size_t i = 0; i < stacks.count; i++)
        if (stacks.entries[i].value)
            buffer_printf(out, "%.*s %lld\n", (int)stacks.entries[i].size, (const char *)stacks.entries[i].key,
                          (long long)stacks.entries[i].value);
    map_free(&stacks);
    buffer_free(&stack);
    buffer_free(&scratch);
    return 0;
}
