#include "fuzz/warehouse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"
#include "export/export.h"
#include "export/format.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "query/doctor/doctor.h"
#include "query/runs/select.h"
#include "schema/diagnoses.h"

enum { RECORD_HEAD = 4, REPORT_LIMIT = 64 << 20, READINGS = 2 * FUZZ_PARTS };

static const char memory_dump[] =
    "# total_allocs: 5000\n# addr alloc_count alloc_bytes free_count free_bytes live_bytes\n"
    "0x401234 1000 40000 500 20000 20000\n0x402000 2000 80000 2000 80000 0\n";
static const char lock_dump[] =
    "# lock-profile v2\n# addr acquires contended total_wait_ns max_wait_ns total_hold_ns max_hold_ns"
    " read_acquires read_contended read_total_wait_ns read_max_wait_ns\n"
    "0x500000 2000 500 4000000 1000000 8000000 2000000 0 0 0 0\n";

static char directory[] = "/dev/shm/fuzz-clear.XXXXXX";
static char path[sizeof directory + sizeof "/runs.sqlite"];
static uint8_t *sound;
static FILE *nowhere;

/* ---- the sound warehouse ---- */

/* The warehouse, and what SQLite puts beside it. */
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

int64_t fuzz_add_run(struct db *db, const struct format *format, const char *name, const char *text) {
    static const struct ingest_options options = {.label = "fuzz"};
    struct ingest ingest;
    struct ingest_result result;
    struct input input;
    struct error err = {0};
    if (ingest_open(&ingest, db, &options, &err) != 0) bug("%s", err.message);
    if (input_open_memory(&input, name, (const uint8_t *)text, strlen(text), &err) != 0) bug("%s", err.message);
    if (ingest_input(&ingest, &input, format, &result, &err) != 0) bug("%s", err.message);
    input_close(&input);
    ingest_close(&ingest);
    return result.run_id;
}

static void make_sound(struct fuzz_warehouse *made) {
    struct error err = {0};
    struct stat status;
    struct db db;
    if (db_open(&db, path, DB_WRITE, &err) != 0) bug("%s", err.message);
    fuzz_add_run(&db, &format_clear_dump, "alloc.txt", memory_dump);
    fuzz_add_run(&db, &format_clear_dump, "locks.txt", lock_dump);
    if (db_close(&db, &err) != 0) bug("%s", err.message);
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &status) != 0) bug("%s cannot be read", path);
    size_t size = (size_t)status.st_size;
    sound = xmalloc(size);
    if (fread(sound, 1, size, file) != size) bug("%s cannot be read", path);
    fclose(file);
    *made = (struct fuzz_warehouse){path, sound, size};
}

const struct fuzz_warehouse *fuzz_warehouse(void) {
    static struct fuzz_warehouse made;
    if (made.path) return &made;
    if (!mkdtemp(directory)) bug("%s cannot be made", directory);
    snprintf(path, sizeof path, "%s/runs.sqlite", directory);
    nowhere = fopen("/dev/null", "w");
    if (!nowhere) bug("/dev/null cannot be opened");
    limit_set(REPORT_LIMIT);
    make_sound(&made);
    atexit(end);
    return &made;
}

/* ---- damage ---- */

bool fuzz_damage_next(const uint8_t **at, const uint8_t *stop, struct damage *damage) {
    const uint8_t *record = *at;
    size_t left = (size_t)(stop - record);
    if (left < RECORD_HEAD) return false;
    size_t size = record[3];
    if (size > left - RECORD_HEAD) size = left - RECORD_HEAD;
    size_t place = (size_t)record[0] | (size_t)record[1] << 8 | (size_t)record[2] << 16;
    *damage = (struct damage){place, size, record + RECORD_HEAD};
    *at = record + RECORD_HEAD + size;
    return true;
}

static void write_damaged(FILE *file, const uint8_t *data, size_t size) {
    const struct fuzz_warehouse *warehouse = fuzz_warehouse();
    struct damage damage;
    fwrite(warehouse->sound, 1, warehouse->sound_size, file);
    for (const uint8_t *at = data; fuzz_damage_next(&at, data + size, &damage);) {
        fseek(file, (long)(damage.place % warehouse->sound_size), SEEK_SET);
        fwrite(damage.bytes, 1, damage.size, file);
    }
}

void fuzz_write_damaged(const uint8_t *data, size_t size) {
    const struct fuzz_warehouse *warehouse = fuzz_warehouse();
    remove_files();
    FILE *file = fopen(warehouse->path, "wb");
    if (!file) bug("%s cannot be written", warehouse->path);
    if (size > 16 && memcmp(data, "SQLite format 3", 16) == 0)
        fwrite(data, 1, size, file);
    else
        write_damaged(file, data, size);
    fclose(file);
}

/* ---- reading ---- */

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

static int read_part(struct db *db, const struct doctor_options *options, const char *kind, enum fuzz_part part,
                     struct error *err) {
    switch (part) {
    case FUZZ_DOCTOR: return doctor_print(nowhere, db, options, err);
    case FUZZ_DOCTOR_JSON: return doctor_print_json(nowhere, db, options, err);
    case FUZZ_PPROF: return export_kind(db, options->run_id, kind, "pprof", err);
    default: return export_kind(db, options->run_id, kind, "folded", err);
    }
}

static int read_run(struct db *db, const char *run, const char *kind, enum fuzz_part part, struct error *err) {
    struct doctor_options options = {.top = 5, .cumulative = true};
    if (select_run(db, run, &options.run_id, err) != 0) return -1;
    if (diagnoses_check(db, options.run_id, leave_out, NULL, err) != 0) return -1;
    return read_part(db, &options, kind, part, err);
}

/* Which part of which run a fuzzer reads: of READINGS * 4 inputs each run's doctor has two, the exports have the others. */
static unsigned choose_part(const uint8_t *data, size_t size) {
    unsigned choice = (unsigned)((size + (size ? data[size - 1] : 0u)) % (READINGS * 4));
    bool is_doctor = choice < 4;
    unsigned part = (is_doctor ? FUZZ_DOCTOR : FUZZ_PPROF) + choice % 2;
    return part + (choice / 2 % 2 ? FUZZ_PARTS : 0u);
}

int fuzz_read_runs(struct db *db, const uint8_t *data, size_t size, struct error *err) {
    unsigned part = 0, last = READINGS;
    if (!replay_is_whole) {
        part = choose_part(data, size);
        last = part + 1;
    }
    int code = 0;
    for (; code == 0 && part < last; part++)
        code = part < FUZZ_PARTS ? read_run(db, "latest~1", "heap", part, err)
                                 : read_run(db, "latest", "lock", part - FUZZ_PARTS, err);
    return code;
}

void fuzz_check(int code, const struct error *err) {
    if (code == 0)
        replay_taken++;
    else if (err->status == ERROR_NONE || !*err->message)
        bug("failed without an error");
}
