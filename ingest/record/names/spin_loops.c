#include "ingest/record/names/spin_loops.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/elf_file.h"
#include "base/path.h"
#include "ingest/record/names/flag_writers.h"
#include "ingest/symbols/spin_loop.h"
#include "schema/schema.h"

/* The file that the last location was in: they come in order of their files. */
struct code_file {
    int64_t mapping_id; /* 0: none yet */
    int descriptor;     /* -1: it cannot be read, or is of another build */
};

static void close_file(struct code_file *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
}

static void open_file(struct code_file *file, int64_t mapping_id, const char *path, const char *build_id) {
    if (file->mapping_id == mapping_id) return;
    close_file(file);
    file->mapping_id = mapping_id;
    struct elf_code code = elf_code_read(path, build_id);
    if (code.is_there) file->descriptor = elf_file_open(path);
    elf_code_free(&code);
}

/* A run whose loops are being looked for. */
struct loop_search {
    struct db *db;
    struct code_file file;
    struct symbolizer *symbolizer; /* NULL: not needed so far */
    int64_t left;                  /* bytes of code that may still be searched for stores */
    bool sleeps;                   /* the loops that sleep are looked for */
};

/* The columns of the statements @sampled and @napped. */
enum { PROCESS, LOCATION, MAPPING, PATH, BUILD_ID, ADDRESS, OFFSET, SEGMENT_OFFSET, SEGMENT_SIZE };

/* The loop around the code at that offset of the file; start: where the code that was searched begins; stores: it stores to one place. */
static bool find_loop(const struct loop_search *search, int64_t offset, struct spin_loop *loop, int64_t *start,
                      bool *stores) {
    uint8_t code[2 * SPIN_LOOP_REACH];
    *start = offset > SPIN_LOOP_REACH ? offset - SPIN_LOOP_REACH : 0;
    ssize_t size = search->file.descriptor < 0 ? -1 : pread(search->file.descriptor, code, sizeof code, *start);
    size_t at = (size_t)(offset - *start);
    if (size <= (ssize_t)at) return false;
    /* A location is the last byte of a call. */
    if (search->sleeps) return nap_loop_find(code, (size_t)size, at + 1, loop);
    *stores = !spin_loop_find(code, (size_t)size, at, loop);
    return !*stores || store_loop_find(code, (size_t)size, at, loop);
}

/* 1: a stack has the function. One that sleeps until a handler of a signal has set its flag waits for no other thread; a handler is in no stack. -1: failed. */
static int is_met(struct db *db, const char *function, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("ingest/spin_loops/met"), err);
    if (!row) return -1;
    db_bind_text(row, ":writer", function);
    int code = db_step(db, row, err);
    sqlite3_reset(row);
    return code;
}

static void find_writer(struct loop_search *search, sqlite3_stmt *row, const struct spin_loop *loop, int64_t start,
                        struct flag_writer *found) {
    *found = (struct flag_writer){0};
    if (!loop->asked_count) return;
    if (!search->symbolizer) search->symbolizer = symbolizer_open();
    struct code_segment segment = {
        .file = search->file.descriptor,
        .name = path_base(db_text(row, PATH)),
        .offset = sqlite3_column_int64(row, SEGMENT_OFFSET),
        .size = sqlite3_column_int64(row, SEGMENT_SIZE),
        .to_address = sqlite3_column_int64(row, ADDRESS) - sqlite3_column_int64(row, OFFSET),
        .module = symbolizer_module(search->symbolizer, db_text(row, PATH), db_text(row, BUILD_ID))};
    if (flag_loop_is_pure(&segment, loop, start)) flag_writer_find(&segment, loop, start, &search->left, found);
}

static int insert_loop(struct loop_search *search, sqlite3_stmt *row, const struct spin_loop *loop, int64_t start,
                       bool stores, struct error *err) {
    struct flag_writer found;
    find_writer(search, row, loop, start, &found);
    int met = !found.writer ? 0 : search->sleeps ? is_met(search->db, found.writer, err) : 1;
    bool is_known = met == 1 && found.flag;
    sqlite3_stmt *insert = met < 0 ? NULL : db_prepare(search->db, embedded_text("ingest/spin_loops/loop"), err);
    int code = -1;
    if (insert) {
        db_bind_int(insert, ":process", sqlite3_column_int64(row, PROCESS));
        db_bind_int(insert, ":location", sqlite3_column_int64(row, LOCATION));
        db_bind_int(insert, ":head",
                    sqlite3_column_int64(row, ADDRESS) - sqlite3_column_int64(row, OFFSET) + start +
                        (int64_t)loop->head);
        db_bind_int(insert, ":instructions", loop->instructions);
        db_bind_int(insert, ":has_pause", loop->has_pause);
        db_bind_int(insert, ":sleeps", search->sleeps);
        db_bind_int(insert, ":stores", stores);
        db_bind_text(insert, ":asked", is_known ? found.flag : "");
        db_bind_text(insert, ":writer", is_known ? found.writer : "");
        code = db_run(search->db, insert, err);
    }
    free(found.flag);
    free(found.writer);
    return code;
}

static int insert_loops(struct loop_search *search, const char *places, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(search->db, embedded_text(places), err);
    if (!row) return -1;
    int code;
    db_bind_int(row, ":run", run_id);
    while ((code = db_step(search->db, row, err)) == 1) {
        struct spin_loop loop;
        int64_t start;
        bool stores = false;
        open_file(&search->file, sqlite3_column_int64(row, MAPPING), db_text(row, PATH), db_text(row, BUILD_ID));
        if (!find_loop(search, sqlite3_column_int64(row, OFFSET), &loop, &start, &stores)) continue;
        if (insert_loop(search, row, &loop, start, stores, err)) {
            code = -1;
            break;
        }
    }
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

int spin_loops_insert(struct db *db, int64_t run_id, struct error *err) {
    enum { SEARCHED_MAX = 256 << 20 }; /* bytes: about half a second */
    struct loop_search search = {.db = db, .file = {.descriptor = -1}, .left = SEARCHED_MAX};
    int code = insert_loops(&search, "ingest/spin_loops/sampled", run_id, err);
    search.sleeps = true;
    if (code == 0) code = insert_loops(&search, "ingest/spin_loops/napped", run_id, err);
    close_file(&search.file);
    symbolizer_close(search.symbolizer);
    return code;
}
