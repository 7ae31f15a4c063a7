#include "query/diff/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "schema/schema.h"
#include "schema/signature.h"

/* ---- places ------------------------------------------------------------------------------------------------------ */

enum { FRAMES_MAX = 512 }; /* of a place: what is deeper does not tell sites apart */

struct frame_list {
    struct site_frame frames[FRAMES_MAX];
    size_t count;
    uint64_t build;
};

/* Leaf first. Of a recursion the outermost call stays. */
static void add_frame(struct frame_list *list, sqlite3_stmt *row) {
    const char *name = db_text(row, 0), *build = db_text(row, 4);
    int64_t line = sqlite3_column_int64(row, 1), start = sqlite3_column_int64(row, 3);
    struct site_frame frame = {.function = signature_function(name, ""),
                               .line = start && line >= start ? line - start + 1 : line,
                               .column = sqlite3_column_int64(row, line ? 2 : 5)};
    if (!list->build && *build) list->build = hash_bytes(build, strlen(build));
    if (!*name) return;
    if (list->count && list->frames[list->count - 1].function == frame.function) list->count--;
    if (list->count < FRAMES_MAX) list->frames[list->count++] = frame;
}

const struct site_place *site_place_read(struct db *db, int64_t trace_id, struct arena *arena, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("diff/frames.sql"), err);
    if (!row) return NULL;
    struct frame_list *list = xcalloc(1, sizeof *list);
    int code;
    db_bind_int(row, ":trace", trace_id);
    while ((code = db_step(db, row, err)) == 1)
        add_frame(list, row);
    struct site_place *place = NULL;
    if (code == 0) {
        place = arena_alloc(arena, sizeof *place + list->count * sizeof *place->frames);
        *place = (struct site_place){.build = list->build, .count = list->count};
        for (size_t i = 0; i < list->count; i++) {
            place->frames[i] = list->frames[list->count - 1 - i];
            place->lines = hash_combine(hash_combine(place->lines, (uint64_t)place->frames[i].line),
                                        (uint64_t)place->frames[i].column);
            place->names |= UINT64_C(1) << (place->frames[i].function & 63);
        }
    }
    free(list);
    return place;
}

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

int site_place_order(const struct site_place *a, const struct site_place *b) {
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = compare(a->frames[i].line, b->frames[i].line);
        if (!order) order = compare(a->frames[i].column, b->frames[i].column);
        if (order) return order;
    }
    return compare((int64_t)a->count, (int64_t)b->count);
}

bool site_place_same_build(const struct site_place *a, const struct site_place *b) {
    return a->build && a->build == b->build;
}

/* ---- one signature ----------------------------------------------------------------------------------------------- */

enum { LINES_FAR = 1000, CELLS_MAX = 1 << 22 };

/* How far a call moved: lines count more than columns. Lines that are not known on one side say nothing. */
static int64_t distance(const struct site_frame *a, const struct site_frame *b) {
    if (!a->line || !b->line) return 0;
    int64_t lines = llabs(a->line - b->line);
    return 2 * (lines < LINES_FAR ? lines : LINES_FAR) + (a->column != b->column);
}

static int64_t moved(const struct site_place *a, const struct site_place *b) {
    int64_t sum = 0;
    for (size_t i = 0; i < a->count && i < b->count; i++)
        sum += distance(&a->frames[i], &b->frames[i]);
    return sum;
}

/* cost[i][j]: the least movement with which the first i of the shorter list are matched within the first j of the longer one. Of very many
 * places (a recursion through several functions) the first ones are matched with the first ones. */
static void match_shorter(const struct site_place *const *shorter, size_t count, const struct site_place *const *longer,
                          size_t longer_count, size_t *match) {
    size_t width = longer_count + 1;
    if ((count + 1) * width > CELLS_MAX) {
        for (size_t i = 0; i < count; i++)
            match[i] = i;
        return;
    }
    int64_t *cost = xcalloc((count + 1) * width, sizeof *cost);
    for (size_t i = 1; i <= count; i++)
        for (size_t j = i; j <= longer_count; j++) {
            int64_t take = cost[(i - 1) * width + j - 1] + moved(shorter[i - 1], longer[j - 1]);
            cost[i * width + j] = j > i && cost[i * width + j - 1] <= take ? cost[i * width + j - 1] : take;
        }
    for (size_t i = count, j = longer_count; i > 0; j--) {
        if (j > i && cost[i * width + j] == cost[i * width + j - 1]) continue;
        match[--i] = j - 1;
    }
    free(cost);
}

void site_places_match(const struct site_place *const *old, size_t old_count, const struct site_place *const *new,
                       size_t new_count, size_t *match) {
    if (new_count <= old_count) {
        match_shorter(new, new_count, old, old_count, match);
        return;
    }
    size_t *back = xcalloc(old_count + 1, sizeof *back);
    match_shorter(old, old_count, new, new_count, back);
    for (size_t i = 0; i < new_count; i++)
        match[i] = SIZE_MAX;
    for (size_t i = 0; i < old_count; i++)
        match[back[i]] = i;
    free(back);
}

/* ---- without some functions -------------------------------------------------------------------------------------- */

bool site_place_contains(const struct site_place *a, const struct site_place *b, size_t *missing, int64_t *apart) {
    const struct site_place *longer = a->count >= b->count ? a : b, *shorter = longer == a ? b : a;
    size_t met = 0;
    *missing = longer->count - shorter->count;
    *apart = 0;
    if ((shorter->names & ~longer->names) || shorter->count < 2) return false;
    for (size_t i = 0; i < longer->count && met < shorter->count; i++) {
        if (longer->frames[i].function != shorter->frames[met].function) continue;
        *apart += distance(&longer->frames[i], &shorter->frames[met]);
        met++;
    }
    return met == shorter->count;
}
