#include "ingest/record/recording_note.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define NOTE_MAGIC UINT32_C(0x6e6f7465)

enum { SIZE_BEFORE_GROUP = offsetof(struct recording_note, group) };

/* Empty where /proc does not say it: then the clocks count as those of another kernel. */
static void read_boot_id(char *text, size_t size) {
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0) close(file);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

void recording_note_init(struct recording_note *note) {
    note->magic = NOTE_MAGIC;
    note->size = sizeof *note;
    read_boot_id(note->boot_id, sizeof note->boot_id);
}

bool recording_note_is_of_now(const struct recording_note *note) {
    char now[sizeof note->boot_id];
    read_boot_id(now, sizeof now);
    return *now && strcmp(now, note->boot_id) == 0;
}

int recording_note_open(int directory) {
    return openat(directory, "note", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void recording_note_write(const struct recording_note *note, int file) {
    ssize_t ignored = file < 0 ? 0 : pwrite(file, note, sizeof *note, 0);
    (void)ignored;
}

/* Far beyond any clock, so that sums of two fit. */
static bool is_moment(uint64_t ns) {
    return ns <= INT64_MAX / 8;
}

static bool is_sound(const struct recording_note *note) {
    return note->magic == NOTE_MAGIC && note->start_realtime_ns >= 0 && note->start_realtime_ns <= INT64_MAX / 2 &&
           is_moment(note->start_ns) && is_moment(note->flush_ns) && is_moment(note->program_started_ns) &&
           is_moment(note->program_ended_ns) && is_moment(note->paused_ns);
}

int recording_note_read(struct recording_note *note, int directory, struct error *err) {
    int file = openat(directory, "note", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return error_fail(err, "note: %s", strerror(errno));
    *note = (struct recording_note){0};
    ssize_t size = pread(file, note, sizeof *note, 0);
    close(file);
    bool is_whole = size == (ssize_t)sizeof *note || size == SIZE_BEFORE_GROUP;
    if (!is_whole || note->size != (size_t)size || !is_sound(note))
        return error_fail(err, "note: is not that of a recording of this version");
    note->boot_id[sizeof note->boot_id - 1] = '\0';
    return 0;
}
