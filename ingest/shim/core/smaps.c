#include "ingest/shim/core/smaps.h"

#include <string.h>

#include "ingest/shim/core/proc_lines.h"

struct smaps_reading {
    void (*visit)(void *context, const struct mapping *mapping);
    void *context;
    struct mapping mapping; /* whose lines are being read */
    bool has_failed;
};

/* "55799ca66000-55799ca68000 rw-p 00000000 fe:00 247498     /path" */
static bool read_bounds(const char *line, struct mapping *mapping) {
    const char *at = line;
    uintptr_t low = proc_hex(&at);
    if (at == line || *at != '-') return false;
    at++;
    uintptr_t high = proc_hex(&at);
    if (*at != ' ') return false;
    *mapping =
        (struct mapping){.low = low,
                         .high = high,
                         .is_writable = at[1] == 'r' && at[2] == 'w',
                         .is_heap = strstr(at, "[heap]"),
                         .is_libc = strstr(at, "/libc.so") || strstr(at, "/libc-"),
                         .is_device = strstr(at, " /dev/") && !strstr(at, " /dev/shm/") && !strstr(at, " /dev/zero")};
    return true;
}

/* Memory of the runtime is the only one that is neither dumped nor inherited (runtime.c). */
static void read_flags(const char *line, struct mapping *mapping) {
    mapping->has_flags = true;
    mapping->is_ours = strstr(line, " dd") && (strstr(line, " dc") || strstr(line, " wf"));
    mapping->is_device |= strstr(line, " io") || strstr(line, " pf");
}

static bool is_zero_size(const char *line) {
    const char *digits = line + strcspn(line, "0123456789");
    return digits[0] == '0' && digits[1] == ' ';
}

static void mapping_was_read(struct smaps_reading *reading) {
    if (reading->mapping.high && !reading->mapping.has_flags) reading->has_failed = true;
    if (reading->mapping.high && !reading->has_failed) reading->visit(reading->context, &reading->mapping);
}

static void take_line(void *context, const char *line) {
    struct smaps_reading *reading = context;
    struct mapping next;
    if (strncmp(line, "Rss:", 4) == 0 || strncmp(line, "Swap:", 5) == 0) {
        reading->mapping.has_memory |= !is_zero_size(line);
    } else if (strncmp(line, "VmFlags:", 8) == 0) {
        read_flags(line, &reading->mapping);
    } else if (read_bounds(line, &next)) {
        mapping_was_read(reading);
        reading->mapping = next;
    }
}

bool smaps_each(char *text, void (*visit)(void *context, const struct mapping *mapping), void *context) {
    struct smaps_reading reading = {.visit = visit, .context = context};
    if (!proc_lines_each("/proc/self/smaps", text, take_line, &reading)) return false;
    mapping_was_read(&reading);
    return reading.mapping.high && !reading.has_failed;
}
