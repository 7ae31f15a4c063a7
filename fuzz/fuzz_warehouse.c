/* A damaged warehouse, opened and read as `clear doctor` and `clear export` do it. The input is a SQLite file, or damage that is written
 * over a sound warehouse (warehouse.h); the places run around. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/replay.h"
#include "fuzz/warehouse.h"

static void remove_companions(const char *path) {
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    char name[256];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
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

static void write_warehouse(const uint8_t *data, size_t size) {
    const struct fuzz_warehouse *warehouse = fuzz_warehouse();
    remove_companions(warehouse->path);
    unlink(warehouse->path);
    FILE *file = fopen(warehouse->path, "wb");
    if (!file) bug("%s cannot be written", warehouse->path);
    if (size > 16 && memcmp(data, "SQLite format 3", 16) == 0)
        fwrite(data, 1, size, file);
    else
        write_damaged(file, data, size);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0}, ignored = {0};
    struct db db;
    write_warehouse(data, size);
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
