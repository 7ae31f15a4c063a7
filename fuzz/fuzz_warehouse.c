/* A damaged warehouse, read as `clear doctor` and `clear export` read one. The input is a SQLite file, or what is written over a
 * sound warehouse of two runs: records of a place (3 bytes, little-endian), a length (1 byte) and so many bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limit.h"
#include "export/export.h"
#include "export/format.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "query/doctor/doctor.h"
#include "query/runs/select.h"
#include "schema/diagnoses.h"

enum { RECORD_HEAD = 4, REPORT_LIMIT = 64 << 20 };

static const char memory_dump[] =
    "# total_allocs: 5000\n# addr alloc_count alloc_bytes free_count free_bytes live_bytes\n"
    "0x401234 1000 40000 500 20000 20000\n0x402000 2000 80000 2000 80000 0\n";
static const char lock_dump[] =
    "# lock-profile v2\n# addr acquires contended total_wait_ns max_wait_ns total_hold_ns max_hold_ns"
    " read_acquires read_contended read_total_wait_ns read_max_wait_ns\n"
    "0x500000 2000 500 4000000 1000000 8000000 2000000 0 0 0 0\n";

static char directory[] = "/dev/shm/fuzz-clear.XXXXXX";
static char path[sizeof directory + sizeof "/runs.sqlite"];
static uint8_t *sound; /* bytes of the sound warehouse; kept to the end, as a fuzzer has no end */
static size_t sound_size;
static FILE *nowhere;

static void remove_files(void) {
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char name[sizeof path + 16];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void end(void) {
    remove_files();
    rmdir(directory);
    fclose(nowhere);
    free(sound);
}

static void add_run(struct ingest *ingest, const char *name, const char *text) {
    struct input input;
    struct ingest_result result;
    struct error err = {0};
    if (input_open_memory(&input, name, (const uint8_t *)text, strlen(text), &err) != 0) bug("%s", err.message);
    if (ingest_input(ingest, &input, &format_clear_dump, &result, &err) != 0) bug("%s", err.message);
    input_close(&input);
}

static void make_sound(void) {
    static const struct ingest_options options = {.label = "fuzz"};
    struct error err = {0};
    struct ingest ingest;
    struct db db;
    struct stat status;
    if (db_open(&db, path, DB_WRITE, &err) != 0 || ingest_open(&ingest, &db, &options, &err) != 0)
        bug("%s", err.message);
    add_run(&ingest, "alloc.txt", memory_dump);
    add_run(&ingest, "locks.txt", lock_dump);
    ingest_close(&ingest);
    if (db_close(&db, &err) != 0) bug("%s", err.message);
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &status) != 0) bug("%s cannot be read", path);
    sound_size = (size_t)status.st_size;
    sound = xmalloc(sound_size);
    if (fread(sound, 1, sound_size, file) != sound_size) bug("%s cannot be read", path);
    fclose(file);
}

static void start(void) {
    if (sound) return;
    if (!mkdtemp(directory)) bug("%s cannot be made", directory);
    snprintf(path, sizeof path, "%s/runs.sqlite", directory);
    nowhere = fopen("/dev/null", "w");
    limit_set(REPORT_LIMIT);
    make_sound();
    atexit(end);
}

static void write_over(FILE *file, const uint8_t *data, size_t size) {
    fwrite(sound, 1, sound_size, file);
    for (size_t at = 0; at + RECORD_HEAD <= size;) {
        size_t place = (size_t)data[at] | (size_t)data[at + 1] << 8 | (size_t)data[at + 2] << 16, length = data[at + 3];
        at += RECORD_HEAD;
        if (length > size - at) length = size - at;
        fseek(file, (long)(place % sound_size), SEEK_SET);
        fwrite(data + at, 1, length, file);
        at += length;
    }
}

static void write_warehouse(const uint8_t *data, size_t size) {
    remove_files();
    FILE *file = fopen(path, "wb");
    if (!file) bug("%s cannot be written", path);
    if (size > 16 && memcmp(data, "SQLite format 3", 16) == 0)
        fwrite(data, 1, size, file);
    else
        write_over(file, data, size);
    fclose(file);
}

static void leave_out(void *context, const char *view, const char *why) {
    (void)context;
    if (!*view || !*why) bug("a diagnosis is left out without a name or a reason");
}

static int export_kind(struct db *db, int64_t run_id, const char *kind, const char *format, struct error *err) {
    struct buffer bytes = {0};
    struct export_request request = {.format = export_format_find(format, err), .bytes = &bytes, .path = "-"};
    request.source.kind = kind;
    request.source.runs = (struct run_set){.ids = &run_id, .count = 1};
    int code = export_write(db, &request, err);
    buffer_free(&bytes);
    return code;
}

static int read_run(struct db *db, const char *run, const char *kind, struct error *err) {
    struct doctor_options options = {.top = 5, .cumulative = true};
    if (select_run(db, run, &options.run_id, err) != 0) return -1;
    if (diagnoses_check(db, options.run_id, leave_out, NULL, err) != 0) return -1;
    if (doctor_print(nowhere, db, &options, err) != 0) return -1;
    if (doctor_print_json(nowhere, db, &options, err) != 0) return -1;
    if (export_kind(db, options.run_id, kind, "pprof", err) != 0) return -1;
    return export_kind(db, options.run_id, kind, "folded", err);
}

static void check_error(int code, const struct error *err) {
    if (code == 0)
        replay_taken++;
    else if (err->status == ERROR_NONE || !*err->message)
        bug("failed without an error");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0}, ignored = {0};
    struct db db;
    start();
    write_warehouse(data, size);
    int code = db_open(&db, path, DB_READ, &err);
    if (code != 0) {
        check_error(code, &err);
        return 0;
    }
    code = read_run(&db, "latest~1", "heap", &err);
    if (code == 0) code = read_run(&db, "latest", "lock", &err);
    check_error(code, &err);
    db_close(&db, &ignored);
    return 0;
}
