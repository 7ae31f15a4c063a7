/* unrecorded.c: what one side of a comparison did not record. That is unknown there, and not 0: it must not be called a difference. */
#include "query/diff/changes.h"
#include "schema/schema.h"

/* A kind, its tables, and its columns of the totals: so many from `first`. */
static const struct {
    const char *kind;
    enum diff_table_id tables[2];
    size_t first, columns;
} kinds[DIFF_KINDS] = {
    {"heap", {DIFF_FUNCTIONS, DIFF_SITES}, TOTAL_HEAP, 5},
    {"lock", {DIFF_LOCKS, DIFF_WAITS}, TOTAL_LOCK, 3},
    {"cpu", {DIFF_CPU, DIFF_CPU}, TOTAL_CPU, 1},
};

int diff_count_recorded(struct diff *diff, int side, struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("diff/recorded.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) < 0) return -1;
    for (int kind = 0; kind < DIFF_KINDS; kind++)
        diff->recorded[side][kind] += (size_t)sqlite3_column_int(row, kind);
    diff->paused[side] += (size_t)sqlite3_column_int(row, DIFF_KINDS);
    sqlite3_reset(row);
    return 0;
}

static bool is_paused(const struct diff *diff, int side) {
    return diff->paused[side] == diff->run_count[side];
}

/* One side alone was paused in all of its runs: everything of it is unknown. */
static bool is_recorded_once(const struct diff *diff) {
    return is_paused(diff, DIFF_OLD) != is_paused(diff, DIFF_NEW);
}

static bool is_of_one_side(const struct diff *diff, int kind) {
    return (diff->recorded[DIFF_OLD][kind] == 0) != (diff->recorded[DIFF_NEW][kind] == 0);
}

static void say_unrecorded(struct diff *diff, int side, int kind) {
    size_t missing = diff->run_count[side] - diff->recorded[side][kind];
    if (missing == 0) return;
    diff->losses = xrealloc(diff->losses, (diff->loss_count + 1) * sizeof *diff->losses);
    diff->losses[diff->loss_count++] =
        (struct diff_loss){side, "not-recorded", kinds[kind].kind, (int64_t)missing, missing};
}

void diff_leave_out_unrecorded(struct diff *diff) {
    for (size_t id = 0; id < DIFF_TABLES && is_recorded_once(diff); id++)
        if (id != DIFF_TOTALS) diff->tables[id].count = 0;
    for (int kind = 0; kind < DIFF_KINDS; kind++) {
        if (diff->recorded[DIFF_OLD][kind] + diff->recorded[DIFF_NEW][kind] == 0) continue;
        say_unrecorded(diff, DIFF_OLD, kind);
        say_unrecorded(diff, DIFF_NEW, kind);
        if (!is_of_one_side(diff, kind)) continue;
        for (size_t i = 0; i < 2; i++)
            diff->tables[kinds[kind].tables[i]].count = 0;
    }
}

bool diff_is_unrecorded(const struct diff *diff, size_t total) {
    if (is_recorded_once(diff)) return total != TOTAL_DURATION;
    for (int kind = 0; kind < DIFF_KINDS; kind++)
        if (total >= kinds[kind].first && total - kinds[kind].first < kinds[kind].columns)
            return is_of_one_side(diff, kind);
    return false;
}
