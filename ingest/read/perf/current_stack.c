#include <stdlib.h>

#include "ingest/read/perf/recording.h"

static struct perf_frame place(struct perf_recording *recording, const struct perf_space *space, enum perf_mode mode,
                               uint64_t address, bool is_call) {
    struct perf_spaces *spaces = &recording->spaces;
    if (mode == PERF_MODE_KERNEL) space = perf_spaces_kernel(spaces);
    if (mode >= PERF_MODE_HYPERVISOR) return (struct perf_frame){.image = IMAGE_GUEST, .address = address};
    /* A return address may be beyond the end of its function, and even of its file. */
    uint64_t lookup = is_call && address ? address - 1 : address;
    const struct perf_area *area = perf_space_find(space, lookup);
    /* A wrong frame pointer may find a word in user memory that looks like the kernel's marker. Then the next address
     * is not in the kernel's half of the addresses, and is unknown, as in perf. */
    bool is_in_half = lookup >> 63 >= spaces->kernel_start >> 63;
    if (!area && mode == PERF_MODE_KERNEL && is_in_half)
        return (struct perf_frame){.image = IMAGE_KERNEL, .address = lookup - spaces->kernel_start};
    if (!area) return (struct perf_frame){.image = IMAGE_NONE, .address = address};
    return (struct perf_frame){.image = area->image, .address = lookup - area->start + area->file_offset};
}

static uint32_t frame_number(struct perf_recording *recording, const struct perf_space *space, enum perf_mode mode,
                             uint64_t address, bool is_call) {
    struct perf_recent *recent = &recording->recent[address % PERF_RECENT_FRAMES];
    const struct perf_recent wanted = {.address = address,
                                       .version = space->version,
                                       .kernel_version = perf_spaces_kernel(&recording->spaces)->version,
                                       .mode = (uint8_t)mode,
                                       .is_call = is_call};
    if (recent->is_set && recent->address == address && recent->version == wanted.version &&
        recent->kernel_version == wanted.kernel_version && recent->mode == wanted.mode && recent->is_call == is_call)
        return recent->number;
    const struct perf_frame frame = place(recording, space, mode, address, is_call);
    const struct map_entry *entry = map_put(&recording->frames, &frame, sizeof frame, NULL);
    *recent = wanted;
    recent->number = (uint32_t)(entry - recording->frames.entries);
    recent->is_set = true;
    return recent->number;
}

void perf_recording_push(struct perf_recording *recording, const struct perf_space *space, enum perf_mode mode,
                         uint64_t address, bool is_call) {
    if (recording->depth == recording->capacity) {
        recording->capacity = recording->capacity ? recording->capacity * 2 : 128;
        recording->stack = xrealloc(recording->stack, recording->capacity * sizeof *recording->stack);
    }
    recording->stack[recording->depth++] = frame_number(recording, space, mode, address, is_call);
}
