#include "query/report/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/path.h"

/* Lines stay in the profile at the granularity of functions (report_format.keeps_places), but are no part of names. */
static const char *find_name(struct report *report, const struct profile_location *location,
                             const struct graph_info *info, struct buffer *scratch) {
    struct profile *profile = report->profile;
    const struct profile_mapping *mapping =
        location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];
    if (report->options.granularity != GRANULARITY_FUNCTIONS)
        return profile_text(profile, graph_info_name(info, scratch));
    if (*info->name) return info->name;
    buffer_clear(scratch);
    if (mapping && *mapping->file)
        buffer_printf(scratch, "%s+%s", path_base(mapping->file),
                      hex_address(location->address - mapping->start + mapping->offset).text);
    else
        buffer_add_text(scratch, hex_address(location->address).text);
    return profile_text(profile, buffer_text(scratch));
}

static void add_frame(struct stack_frames *frames, struct report *report, const struct profile_location *location,
                      const struct profile_line *line, struct buffer *scratch) {
    struct profile *profile = report->profile;
    struct graph_info info;
    graph_info_of(profile, location, line, false, &info);
    struct stack_frame frame = {
        .name = find_name(report, location, &info, scratch),
        .file = info.file,
        .module = location->mapping == PROFILE_NONE ? "" : profile->mappings[location->mapping].file,
        .line = info.line,
        .address = location->address,
        .is_inlined = line && line + 1 < &profile->lines[location->first_line] + location->line_count,
    };
    bool added;
    struct map_entry *entry = map_put(&frames->names, frame.name, strlen(frame.name), &added);
    if (added) entry->value = (int64_t)frames->names.count - 1;
    frame.name_id = (uint32_t)entry->value;
    frames->items[frames->count++] = frame;
}

/* A location has a frame for each of its lines, and one where it has none. */
static size_t count_frames(const struct profile *profile) {
    size_t count = 0;
    for (size_t i = 0; i < profile->location_count; i++)
        count += profile->locations[i].line_count ? profile->locations[i].line_count : 1;
    return count;
}

void frames_make(struct stack_frames *frames, struct report *report) {
    struct profile *profile = report->profile;
    struct buffer scratch = {0};
    report_trim_paths(report);
    *frames = (struct stack_frames){.items = xcalloc(count_frames(profile) + 1, sizeof *frames->items),
                                    .firsts = xcalloc(profile->location_count + 1, sizeof *frames->firsts)};
    for (size_t i = 0; i < profile->location_count; i++) {
        const struct profile_location *location = &profile->locations[i];
        frames->firsts[i] = frames->count;
        if (location->line_count == 0) add_frame(frames, report, location, NULL, &scratch);
        for (uint32_t at = 0; at < location->line_count; at++)
            add_frame(frames, report, location, &profile->lines[location->first_line + at], &scratch);
    }
    frames->firsts[profile->location_count] = frames->count;
    for (size_t i = 0; i < profile->location_count; i++) {
        size_t count = frames->firsts[i + 1] - frames->firsts[i];
        if (count > frames->most) frames->most = count;
    }
    buffer_free(&scratch);
}

void frames_free(struct stack_frames *frames) {
    free(frames->items);
    free(frames->firsts);
    map_free(&frames->names);
}

size_t frames_of_stack(const struct stack_frames *frames, const struct profile *profile, uint32_t index,
                       struct buffer *stack) {
    const struct profile_stack *locations = &profile->stacks[index];
    size_t count = 0;
    buffer_clear(stack);
    buffer_reserve(stack, locations->depth * frames->most * sizeof(uint32_t));
    uint32_t *items = (uint32_t *)(void *)stack->data;
    for (uint32_t i = 0; i < locations->depth; i++) {
        size_t location = profile->frames[locations->first + i], end = frames->firsts[location + 1];
        for (size_t at = frames->firsts[location]; at < end; at++)
            items[count++] = (uint32_t)at;
    }
    stack->size = count * sizeof *items;
    return count;
}

void frames_add_name(struct buffer *out, const char *name) {
    for (; *name; name++)
        buffer_add_char(out, *name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name);
}
