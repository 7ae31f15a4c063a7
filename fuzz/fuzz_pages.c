/* Damaged rows and indexes of a warehouse, and sound tables and views. So one connection stays open and its statements prepared, which
 * makes ten times the executions of `warehouse`. The input is damage (warehouse.h); its places count the
 * bytes of the pages without schema, and run around. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"

enum { CHANGE_COUNTER = 24, COUNTER_BYTES = 4, TOUCHED_MAX = 256 };

static struct db db;
static int file = -1;
static size_t page_size, *pages, page_count; /* pages: where those begin that hold rows or indexes */
static struct { size_t place, size; } touched[TOUCHED_MAX];
static size_t touched_count;

/* ---- around db_limit and db_unlimit (the linker's --wrap) ---- */

void __real_db_limit(struct db *limited, int64_t ns);
void __real_db_unlimit(struct db *limited);
void __wrap_db_limit(struct db *limited, int64_t ns);
void __wrap_db_unlimit(struct db *limited);

/* Their authorizer makes SQLite prepare every statement again, which is nine tenths of a read. The views are clear's own here, and the
 * fuzzer has a limit of time. */
void __wrap_db_limit(struct db *limited, int64_t ns) {
    if (limited != &db) __real_db_limit(limited, ns);
}

void __wrap_db_unlimit(struct db *limited) {
    if (limited != &db) __real_db_unlimit(limited);
}

/* ---- the open warehouse ---- */

static void end(void) {
    struct error ignored = {0};
    db_close(&db, &ignored);
    close(file);
    free(pages);
}

static void find_pages(void) {
    static const char sql[] =
        "SELECT (pageno - 1) * pgsize, pgsize FROM dbstat WHERE name <> 'sqlite_schema' AND pageno > 1";
    struct error err = {0};
    sqlite3_stmt *row = db_prepare(&db, sql, &err);
    int code = -1;
    while (row && (code = db_step(&db, row, &err)) == 1) {
        pages = xrealloc(pages, (page_count + 1) * sizeof *pages);
        pages[page_count++] = (size_t)sqlite3_column_int64(row, 0);
        page_size = (size_t)sqlite3_column_int64(row, 1);
    }
    if (code != 0) bug("%s", err.message);
    if (!page_count) bug("the warehouse has no page of rows");
}

static void start(void) {
    struct error err = {0};
    if (db.handle) return;
    if (db_open(&db, fuzz_warehouse()->path, DB_READ, &err) != 0) bug("%s", err.message);
    file = open(fuzz_warehouse()->path, O_RDWR | O_CLOEXEC);
    if (file < 0) bug("%s cannot be written", fuzz_warehouse()->path);
    find_pages();
    atexit(end);
}

static void write_at(size_t place, const uint8_t *bytes, size_t size) {
    if (pwrite(file, bytes, size, (off_t)place) != (ssize_t)size) bug("the warehouse cannot be written");
}

/* SQLite reads pages again whose file has another change counter. */
static void count_change(void) {
    static uint32_t counter = UINT32_C(1) << 24;
    counter++;
    const uint8_t bytes[COUNTER_BYTES] = {(uint8_t)(counter >> 24), (uint8_t)(counter >> 16), (uint8_t)(counter >> 8),
                                          (uint8_t)counter};
    write_at(CHANGE_COUNTER, bytes, sizeof bytes);
}

static void repair(void) {
    while (touched_count) {
        touched_count--;
        write_at(touched[touched_count].place, fuzz_warehouse()->sound + touched[touched_count].place,
                 touched[touched_count].size);
    }
}

static void damage_one(const struct damage *damage) {
    size_t in_page = damage->place % page_size, page = pages[damage->place / page_size % page_count];
    size_t size = damage->size < page_size - in_page ? damage->size : page_size - in_page;
    write_at(page + in_page, damage->bytes, size);
    touched[touched_count].place = page + in_page;
    touched[touched_count++].size = size;
}

static void reset_statements(void) {
    for (sqlite3_stmt *statement = NULL; (statement = sqlite3_next_stmt(db.handle, statement));)
        sqlite3_reset(statement);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0};
    struct damage damage;
    start();
    for (const uint8_t *at = data; touched_count < TOUCHED_MAX && fuzz_damage_next(&at, data + size, &damage);)
        damage_one(&damage);
    count_change();
    int code = fuzz_read_runs(&db, data, size, &err);
    fuzz_check(code, &err);
    reset_statements();
    repair();
    return 0;
}
