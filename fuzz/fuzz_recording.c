/* A recording whose files are foreign input: what `clear recover` finds in a directory, and what a program writes into its segment while
 * `clear profile` reads it. The first byte of the input chooses the part, and which sound recording it is of (recording.h): one with all kinds
 * of chunks takes three times as long as those with some of them. The rest is that file as it is, or damage (warehouse.h) of the sound one.
 * Whatever it is: nothing outside of it is read, a failure has a message, no segment makes one, and the warehouse stays whole. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/recording.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"
#include "ingest/record/collector.h"
#include "ingest/record/lost.h"

enum part {
    PART_SEGMENT,     /* damage of a segment that is recovered */
    PART_LIVE,        /* the same of one that was read before, while it is written */
    PART_RUN,         /* run.json */
    PART_NOTE,        /* damage of the note */
    PART_CONTROL,     /* damage of the control file */
    PART_RAW_SEGMENT, /* chunks of a segment behind a sound header */
    PARTS,
};

enum { RENEW = 2000, SEALED = 64 };

static char directory[] = "/dev/shm/fuzz-clear.XXXXXX";
static int directory_file = -1;
static const struct fuzz_recording *sound;
static struct db db;
static unsigned inputs;

/* ---- around facts_seal (the linker's --wrap) ---- */

int __real_facts_seal(struct db *sealed, int64_t run_id, struct error *err);
int __wrap_facts_seal(struct db *sealed, int64_t run_id, struct error *err);

/* It makes tables and drops them, so that SQLite prepares every statement again, which is nine tenths of an execution. So the facts are made for
 * one input of SEALED, and for all in a replay. */
int __wrap_facts_seal(struct db *sealed, int64_t run_id, struct error *err) {
    if (sealed == &db && !replay_is_whole && inputs % SEALED) return 0;
    return __real_facts_seal(sealed, run_id, err);
}

/* ---- the directory and the warehouse ---- */

static void end(void) {
    static const char *const names[] = {"run.json", "note", "control", "1-1.seg", "owner"};
    struct error ignored = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlinkat(directory_file, names[i], 0);
    rmdir(directory);
    close(directory_file);
    if (db.handle) db_close(&db, &ignored);
}

static void start(void) {
    if (directory_file >= 0) return;
    directory_file = mkdtemp(directory) ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory_file < 0) bug("%s cannot be made", directory);
    atexit(end);
}

static void expect_none(const char *sql) {
    struct error err = {0};
    int64_t rows = -1;
    if (db_int(&db, sql, -1, &rows, &err) != 0) bug("%s", err.message);
    if (rows) bug("%lld rows: %s", (long long)rows, sql);
}

static void check_warehouse(void) {
    expect_none("SELECT count(*) FROM pragma_foreign_key_check");
    expect_none("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'");
    expect_none(
        "SELECT count(*) FROM sites WHERE alloc_count < 0 OR alloc_bytes < 0 OR typeof(alloc_bytes) <> 'integer'");
}

static void renew(void) {
    struct error err = {0};
    if (db.handle) check_warehouse();
    if (db.handle && db_close(&db, &err) != 0) bug("%s", err.message);
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
}

/* Over what is there, as a program does: the file stays the same one. */
static void save(const char *name, const void *bytes, size_t size) {
    int file = openat(directory_file, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 0) || write(file, bytes, size) != (ssize_t)size) bug("%s cannot be written", name);
    close(file);
}

/* A run of its own for each input: one that is over is left as it is, and so nothing more of its recording would be read. */
static void save_run(void) {
    static const char name[] = "000000000001\"";
    char number[sizeof name];
    char *run = xstrdup(sound->run), *at = strstr(run, name);
    if (!at) bug("the recording has another name");
    snprintf(number, sizeof number, "%012x\"", inputs);
    memcpy(at, number, strlen(number));
    save("run.json", run, strlen(run));
    free(run);
}

static void save_damaged(const char *name, const void *whole, size_t whole_size, const uint8_t *data, size_t size) {
    char *bytes = xmalloc(whole_size);
    struct damage damage;
    memcpy(bytes, whole, whole_size);
    for (const uint8_t *at = data; fuzz_damage_next(&at, data + size, &damage);) {
        size_t place = damage.place % whole_size, left = whole_size - place;
        memcpy(bytes + place, damage.bytes, damage.size < left ? damage.size : left);
    }
    save(name, bytes, whole_size);
    free(bytes);
}

static void save_raw_segment(const uint8_t *data, size_t size) {
    struct buffer raw = {0};
    buffer_add(&raw, sound->segment, SEGMENT_HEADER_SIZE);
    buffer_add(&raw, data, size);
    ((struct segment *)(void *)raw.data)->used = raw.size;
    save("1-1.seg", raw.data, raw.size);
    buffer_free(&raw);
}

/* ---- one input ---- */

static void pass_over(const char *message) {
    if (!*message) bug("a warning without words");
}

/* Other processes are in the same transaction: what one has in its segment may not fail it. */
static void expect_stored(int code, const struct error *err) {
    fuzz_check(code, err);
    if (code) bug("a segment fails the recording: %s", err->message);
}

static void recover(bool is_segment) {
    struct lost lost;
    struct error err = {0};
    int code = lost_open(&lost, directory, &err);
    if (code == 0) bug("somebody has %s", directory);
    if (code == 1) {
        bool was_over = false;
        int64_t run_id = lost_store(&lost, &db, pass_over, &was_over, &err);
        code = run_id < 0 ? -1 : 0;
        if (code == 0 && db.depth) bug("a transaction is open");
        lost_close(&lost);
    }
    if (is_segment)
        expect_stored(code, &err);
    else
        fuzz_check(code, &err);
}

static void record_live(const uint8_t *data, size_t size) {
    char *command[] = {(char *)"./server", NULL};
    const struct run_description description = {.command = command};
    const struct collector_options options = {.features = FUZZ_RECORDING_FEATURES,
                                              .depth = 64,
                                              .cpu_hz = 99,
                                              .wall_hz = 99,
                                              .streams_events = true,
                                              .windows = {.most = 2}};
    struct collector *collector;
    struct error err = {0};
    int64_t run_id = run_begin(&db, &description, &err);
    unlinkat(directory_file, "control", 0);
    if (run_id < 0 || collector_open(&collector, &db, run_id, directory_file, &options, &err)) bug("%s", err.message);
    int writer = openat(directory_file, "1-1.seg", O_RDWR | O_CLOEXEC); /* so it runs */
    int code = collector_flush(collector, false, &err);
    save_damaged("1-1.seg", sound->segment, sound->segment_size, data, size);
    if (code == 0) code = collector_flush(collector, false, &err);
    close(writer);
    if (code == 0) code = collector_flush(collector, true, &err);
    collector_close(collector);
    expect_stored(code, &err);
}

/* One of eight is whole. */
static enum fuzz_recorded choose_recording(unsigned choice) {
    return choice % 8 ? FUZZ_WHOLE + 1 + (choice % 8 - 1) % (FUZZ_RECORDINGS - 1) : FUZZ_WHOLE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum part part = size ? data[0] % PARTS : PART_SEGMENT;
    const uint8_t *rest = data + (size > 0);
    size_t left = size - (size > 0);
    start();
    sound = fuzz_recording(choose_recording(size ? data[0] / PARTS : 0));
    if (inputs++ % RENEW == 0) renew();
    save_run();
    save("note", &sound->note, sizeof sound->note);
    save("control", &sound->control, sizeof sound->control);
    save("1-1.seg", sound->segment, sound->segment_size);
    switch (part) {
    case PART_SEGMENT: save_damaged("1-1.seg", sound->segment, sound->segment_size, rest, left); break;
    case PART_RUN: save("run.json", rest, left); break;
    case PART_NOTE: save_damaged("note", &sound->note, sizeof sound->note, rest, left); break;
    case PART_CONTROL: save_damaged("control", &sound->control, sizeof sound->control, rest, left); break;
    case PART_RAW_SEGMENT: save_raw_segment(rest, left); break;
    default: break;
    }
    if (part == PART_LIVE)
        record_live(rest, left);
    else
        recover(part == PART_SEGMENT || part == PART_RAW_SEGMENT);
    return 0;
}
