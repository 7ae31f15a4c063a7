#include "ingest/record/windows.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static void make_room(struct windows *windows, size_t count) {
    if (count <= windows->capacity) return;
    windows->capacity = count * 2;
    windows->items = xrealloc(windows->items, windows->capacity * sizeof *windows->items);
}

void windows_add(struct windows *windows, const struct window *window) {
    make_room(windows, windows->count + 1);
    windows->items[windows->count++] = *window;
}

void windows_copy(struct windows *to, const struct windows *from) {
    make_room(to, from->count);
    if (from->count) memcpy(to->items, from->items, from->count * sizeof *from->items);
    to->count = from->count;
}

void windows_free(struct windows *windows) {
    free(windows->items);
    *windows = (struct windows){0};
}

/* ---- folding ----------------------------------------------------------------------------------------------------- */

static int run_fold(struct db *db, const char *name, const struct window *from, const struct window *into,
                    struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text(name), err);
    if (!statement) return -1;
    db_bind_int(statement, ":from", from->profile_id);
    db_bind_int(statement, ":into", into->profile_id);
    return db_run(db, statement, err);
}

static int fold_profile(struct db *db, const struct window *from, const struct window *into,
                        const struct window *folded, int64_t late_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/window_fold.sql"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":from", from->profile_id);
    db_bind_int(statement, ":into", into->profile_id);
    db_bind_int(statement, ":late", late_id);
    db_bind_int(statement, ":end", folded->end_ns);
    db_bind_int(statement, ":duration", folded->end_ns - folded->start_ns);
    return db_run(db, statement, err);
}

/* The rows of a profile go with it (ON DELETE CASCADE). */
static int delete_profile(struct db *db, int64_t id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, "DELETE FROM profiles WHERE id = :id", err);
    if (!statement) return -1;
    db_bind_int(statement, ":id", id);
    return db_run(db, statement, err);
}

/* The windows at index and index + 1 become one. */
static int fold_pair(struct windows *windows, size_t index, struct db *db, const struct measure *measure,
                     struct error *err) {
    struct window *early = &windows->items[index], *late = early + 1;
    bool late_is_larger = late->rows > early->rows;
    const struct window *from = late_is_larger ? early : late, *into = late_is_larger ? late : early;
    struct window folded = {.profile_id = into->profile_id,
                            .start_ns = early->start_ns,
                            .end_ns = late->end_ns,
                            .rows = early->rows + late->rows};
    for (size_t i = 0; i < MEASURE_FOLDS_MAX && measure->fold[i]; i++)
        if (run_fold(db, measure->fold[i], from, into, err)) return -1;
    if (fold_profile(db, from, into, &folded, late->profile_id, err) || delete_profile(db, from->profile_id, err))
        return -1;
    *early = folded;
    memmove(late, late + 1, (windows->count - index - 2) * sizeof *late);
    windows->count--;
    return 0;
}

/* The pair that is shortest relative to its age. So the ages of neighbours have about one ratio: in a run of a day,
 * windows of seconds at the end and of hours at the start. */
static size_t best_pair(const struct windows *windows, int64_t now_ns) {
    size_t best = 0;
    double least = 0;
    for (size_t i = 0; i + 1 < windows->count; i++) {
        double length = (double)(windows->items[i + 1].end_ns - windows->items[i].start_ns);
        double age = (double)(now_ns - windows->items[i].start_ns), share = length / (age > 1 ? age : 1);
        if (i > 0 && share >= least) continue;
        least = share;
        best = i;
    }
    return best;
}

/* Without folding only the last two windows are used, so the others are dropped from the list. */
static void forget_old(struct windows *windows) {
    if (windows->count <= 2) return;
    memmove(windows->items, windows->items + windows->count - 2, 2 * sizeof *windows->items);
    windows->count = 2;
}

int windows_fold(struct windows *windows, struct db *db, const struct measure *measure,
                 const struct window_limits *limits, int64_t now_ns, struct error *err) {
    if (!limits->most && !limits->keep_ns) forget_old(windows);
    while (limits->keep_ns && windows->count > 1 && windows->items[1].end_ns <= now_ns - limits->keep_ns)
        if (fold_pair(windows, 0, db, measure, err)) return -1;
    while (limits->most && windows->count > limits->most)
        if (fold_pair(windows, best_pair(windows, now_ns), db, measure, err)) return -1;
    return 0;
}
