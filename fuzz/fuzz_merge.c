/* A damaged warehouse that is merged into a new one: `clear merge` of a stranger's file. The input is a SQLite file, or damage that is
 * written over a sound warehouse (warehouse.h). Whatever the file is, the target stays whole, and what was refused left nothing. */
#include "fuzz/warehouse.h"
#include "ingest/read/warehouse/merge.h"

static void tell_nobody(const char *line) {
    (void)line;
}

static int64_t count(struct db *db, const char *sql) {
    struct error err = {0};
    int64_t rows = -1;
    if (db_int(db, sql, 0, &rows, &err) != 0) bug("the target cannot be read: %s", err.message);
    return rows;
}

static void check_target(struct db *db, int code) {
    if (count(db, "SELECT count(*) FROM pragma_foreign_key_check")) bug("a merged row refers to none");
    if (count(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"))
        bug("the target is damaged");
    if (code && count(db, "SELECT count(*) FROM runs")) bug("a run of a file that was refused");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0}, ignored = {0};
    struct merge_result result;
    struct merge merge;
    struct db db;
    fuzz_write_damaged(data, size);
    if (db_open_private(&db, "the target", &err) != 0) bug("%s", err.message);
    int code = merge_open(&merge, &db, &err);
    merge.tell = tell_nobody;
    if (code == 0) code = merge_file(&merge, fuzz_warehouse()->path, &result, &err);
    fuzz_check(code, &err);
    merge_close(&merge);
    check_target(&db, code);
    db_close(&db, &ignored);
    return 0;
}
