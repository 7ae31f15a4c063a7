#include "ingest/shim/core/smaps.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct smaps_reading {
    void (*visit)(void *context, const struct mapping *mapping);
    void *context;
    struct mapping mapping; /* whose lines are being read */
    bool has_failed;
};

static uintptr_t read_hex(const char **at) {
    uintptr_t value = 0;
    for (;; ++*at) {
        unsigned digit = (unsigned char)**at;
        digit = digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : digit - '0';
        if (digit > 15) return value;
        value = value * 16 + digit;
    }
}

/* "55799ca66000-55799ca68000 rw-p 00000000 fe:00 247498     /path" */
static bool read_bounds(const char *line, struct mapping *mapping) {
    const char *at = line;
    uintptr_t low = read_hex(&at);
    if (at == line || *at != '-') return false;
    at++;
    uintptr_t high = read_hex(&at);
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

static void take_line(struct smaps_reading *reading, const char *line) {
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

/* All lines; of one that is longer than the buffer the beginning. */
static void read_lines(struct smaps_reading *reading, char *text, int file) {
    size_t used = 0;
    bool is_rest = false;
    for (ssize_t got; (got = read(file, text + used, SMAPS_LINE - 1 - used)) > 0;) {
        used += (size_t)got;
        text[used] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            if (!is_rest) take_line(reading, line);
            is_rest = false;
        }
        used = (size_t)(text + used - line);
        memmove(text, line, used + 1);
        if (used < SMAPS_LINE - 1) continue;
        if (!is_rest) take_line(reading, text);
        is_rest = true;
        used = 0;
    }
    mapping_was_read(reading);
}

bool smaps_each(char *text, void (*visit)(void *context, const struct mapping *mapping), void *context) {
    struct smaps_reading reading = {.visit = visit, .context = context};
    int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    read_lines(&reading, text, file);
    close(file);
    return reading.mapping.high && !reading.has_failed;
}
