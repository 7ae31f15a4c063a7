#include "schema/walk.h"

enum { STEPS = 16 }; /* a restart costs as much; most ids are consecutive */

int walk_next(struct db *db, struct walk *walk, struct error *err) {
    int code = db_step(db, walk->at, err);
    walk->id = code == 1 ? sqlite3_column_int64(walk->at, 0) : 0;
    return code < 0 ? -1 : 0;
}

int walk_to(struct db *db, struct walk *walk, const char *sql, int64_t id, struct error *err) {
    while (walk->id && walk->id < id && id - walk->id <= STEPS)
        if (walk_next(db, walk, err) < 0) return -1;
    if (walk->id == id && id) return 1;
    walk->id = 0;
    walk->at = db_prepare(db, sql, err);
    if (!walk->at) return -1;
    db_bind_int(walk->at, ":first", id);
    if (walk_next(db, walk, err) < 0) return -1;
    return walk->id == id;
}

int walk_to_row(struct db *db, struct walk *walk, const char *sql, const char *what, int64_t id, struct error *err) {
    int found = walk_to(db, walk, sql, id, err);
    if (found == 0) error_fail(err, "%s %lld is not in the warehouse", what, (long long)id);
    return found == 1 ? 0 : -1;
}

void walk_end(struct walk *walk) {
    if (walk->at) sqlite3_reset(walk->at);
    *walk = (struct walk){0};
}
