#include "ingest/upkeep/give_back.h"

#include "base/clock.h"

enum { INCREMENTAL = 2 }; /* PRAGMA auto_vacuum */

int gives_back(struct db *db, bool *does, struct error *err) {
    int64_t mode;
    if (db_int(db, "PRAGMA auto_vacuum", 0, &mode, err)) return -1;
    *does = mode == INCREMENTAL;
    return 0;
}

int give_back(struct db *db, int64_t deadline_ns, struct error *err) {
    int64_t free_pages;
    bool does;
    if (gives_back(db, &does, err)) return -1;
    while (does && clock_monotonic_ns() < deadline_ns) {
        if (db_int(db, "PRAGMA freelist_count", 0, &free_pages, err)) return -1;
        if (!free_pages) break;
        if (db_exec(db, "PRAGMA incremental_vacuum(512)", err)) return -1;
    }
    return 0;
}
