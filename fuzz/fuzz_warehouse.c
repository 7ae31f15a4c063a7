/* A damaged warehouse, opened and read as `clear doctor` and `clear export` do it. The input is a SQLite file, or damage that is written
 * over a sound warehouse (warehouse.h); the places run around. */
#include "fuzz/warehouse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0}, ignored = {0};
    struct db db;
    fuzz_write_damaged(data, size);
    int code = db_open(&db, fuzz_warehouse()->path, DB_READ, &err);
    if (code != 0) {
        fuzz_check(code, &err);
        return 0;
    }
    code = fuzz_read_runs(&db, data, size, &err);
    fuzz_check(code, &err);
    db_close(&db, &ignored);
    return 0;
}
