/* A segment as foreign input, without a warehouse: what `recording` reads too, some hundred times as often. The first byte chooses between damage
 * (warehouse.h) of a sound segment and chunks behind a sound header; it is read and summed, damaged once more while it is open, and read again,
 * as the program of a recording could do it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/recording.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"
#include "ingest/record/recorded.h"

enum { RENEW = 50000, RAW = 1, EVENTS_MAX = 64, TICKS = 1 << 20 };

static const struct fuzz_recording *sound;
static char directory[] = "/dev/shm/fuzz-clear.XXXXXX";
static const char name[] = "1-1.seg";
static int directory_file = -1, file = -1;
static size_t file_size;
static struct db db;
static struct resolver resolver;
static unsigned inputs;

/* ---- the file, in memory ---- */

static void end(void) {
    struct error ignored = {0};
    resolver_close(&resolver);
    if (db.handle) db_close(&db, &ignored);
    unlinkat(directory_file, name, 0);
    rmdir(directory);
    close(directory_file);
    close(file);
}

static void write_at(size_t place, const void *bytes, size_t size) {
    if (pwrite(file, bytes, size, (off_t)place) != (ssize_t)size) bug("the segment cannot be written");
}

static void start(void) {
    if (file >= 0) return;
    sound = fuzz_recording(FUZZ_WHOLE);
    directory_file = mkdtemp(directory) ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    file = directory_file < 0 ? -1 : openat(directory_file, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) bug("%s cannot be made", directory);
    atexit(end);
}

static void renew(void) {
    struct error err = {0};
    resolver_close(&resolver);
    if (db.handle && db_close(&db, &err) != 0) bug("%s", err.message);
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0 || resolver_open(&resolver, &db, &err)) bug("%s", err.message);
}

static void save_sound(size_t size) {
    if (file_size != size && ftruncate(file, (off_t)size)) bug("the segment cannot be cut");
    file_size = size;
    write_at(0, sound->segment, size < sound->segment_size ? size : sound->segment_size);
}

static void damage(const uint8_t *data, size_t size) {
    struct damage each;
    for (const uint8_t *at = data; fuzz_damage_next(&at, data + size, &each);) {
        size_t place = each.place % file_size, left = file_size - place;
        write_at(place, each.bytes, each.size < left ? each.size : left);
    }
}

static void save_raw(const uint8_t *data, size_t size) {
    struct segment head;
    save_sound(SEGMENT_HEADER_SIZE);
    file_size += size;
    write_at(SEGMENT_HEADER_SIZE, data, size);
    memcpy(&head, sound->segment, sizeof head);
    head.used = file_size;
    write_at(0, &head, sizeof head);
}

/* ---- reading ---- */

static void take_stack(void *context, const struct segment_stack *stack, size_t offset) {
    (void)stack;
    struct segment_stack copy;
    const uint64_t *pcs = segment_view_stack(context, offset, &copy);
    static volatile uint64_t last; /* each is read */
    for (uint32_t i = 0; pcs && i < copy.depth; i++)
        last = pcs[i];
    (void)last;
}

static void take_events(void *context, size_t offset, uint64_t turn, uint64_t count) {
    struct segment_event events[EVENTS_MAX];
    size_t got = segment_view_events(context, offset, turn, 0, count < EVENTS_MAX ? (size_t)count : EVENTS_MAX, events);
    if (got > EVENTS_MAX) bug("%zu events of %d", got, EVENTS_MAX);
}

/* Whether nothing in it is damaged. */
static bool read_segment(struct recorded *recorded) {
    static const struct segment_visitor visitor = {.stack = take_stack, .event_chunk = take_events};
    struct segment_view view;
    struct error err = {0};
    int code = segment_view_open(&view, directory_file, name, &err);
    if (code < 0) bug("%s", err.message);
    if (code == 0) return false;
    recorded_read(recorded, &resolver, &view, TICKS);
    segment_view_walk(&view, &visitor, &view);
    const bool is_whole = !view.corrupt;
    segment_view_close(&view);
    return is_whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    start();
    if (inputs++ % RENEW == 0) renew();
    struct recorded *recorded = recorded_new(name);
    size_t head = size > 0, half = head + (size - head) / 2;
    bool taken;
    if (head && data[0] % 2 == RAW) {
        save_raw(data + head, size - head);
        taken = read_segment(recorded);
    } else {
        save_sound(sound->segment_size);
        damage(data + head, half - head);
        taken = read_segment(recorded);
        damage(data + half, size - half);
        taken = read_segment(recorded) || taken;
    }
    replay_taken += taken;
    recorded_free(recorded);
    return 0;
}
