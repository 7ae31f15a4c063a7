#include "query/runs/telling_kind.h"

#include <stdbool.h>

#include "base/units.h"
#include "schema/schema.h"

enum {
    CPU_MIN_NS = 100000000,
    CPU_PERCENT = 10,
    ALLOCATION_NS = 50,
    ALLOCATION_PERCENT = 20,
    WAIT_MIN_NS = 20000000,
    WAIT_PERCENT = 20,
    LOCK_WAITS_MIN = 2,
    WAITS_MIN = 10,
    LIVE_PERCENT = 1,
};

int run_effort_add(struct run_effort *effort, struct db *db, const struct run_set *runs, struct error *err) {
    struct buffer ids = {0};
    int64_t *const figures[] = {&effort->duration_ns,  &effort->cpu_ns,         &effort->alloc_count,
                                &effort->lock_wait_ns, &effort->lock_contended, &effort->wait_ns,
                                &effort->waits,        &effort->alloc_bytes,    &effort->live_bytes};
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/effort.sql"), err);
    if (!row) return -1;
    buffer_add_json_integers(&ids, runs->ids, runs->count);
    db_bind_text(row, ":runs", buffer_text(&ids));
    buffer_free(&ids);
    int state = db_step(db, row, err);
    for (int i = 0; state == 1 && i < (int)(sizeof figures / sizeof *figures); i++)
        if (__builtin_add_overflow(*figures[i], sqlite3_column_int64(row, i), figures[i])) *figures[i] = INT64_MAX;
    sqlite3_reset(row);
    return state < 0 ? -1 : 0;
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static bool is_busy(const struct run_effort *effort) {
    return effort->cpu_ns >= CPU_MIN_NS && percent(effort->cpu_ns, effort->duration_ns) >= CPU_PERCENT;
}

static bool is_allocating(const struct run_effort *effort) {
    return percent(effort->alloc_count, effort->cpu_ns) * ALLOCATION_NS >= ALLOCATION_PERCENT;
}

static bool is_long(const struct run_effort *effort, int64_t wait_ns) {
    return wait_ns >= WAIT_MIN_NS && percent(wait_ns, effort->duration_ns) >= WAIT_PERCENT;
}

const char *telling_kind(const struct run_effort *effort, struct buffer *why) {
    struct buffer ignored = {0};
    struct buffer *reason = why ? why : &ignored;
    bool locks = effort->lock_contended >= LOCK_WAITS_MIN && is_long(effort, effort->lock_wait_ns);
    bool waits = effort->waits >= WAITS_MIN && is_long(effort, effort->wait_ns);
    const char *kind = NULL;
    if (is_busy(effort)) {
        if (!is_allocating(effort)) kind = "cpu";
        if (kind) buffer_printf(reason, "it computed for %s", units_ns(effort->cpu_ns).text);
    } else if (locks && (!waits || effort->lock_wait_ns >= effort->wait_ns)) {
        kind = "lock";
        buffer_printf(reason, "it waited for locks for %s in all", units_ns(effort->lock_wait_ns).text);
    } else if (waits) {
        kind = "wait";
        buffer_printf(reason, "it waited for %s in all", units_ns(effort->wait_ns).text);
    }
    if (kind) buffer_printf(reason, ", in a run of %s", units_ns(effort->duration_ns).text);
    buffer_free(&ignored);
    return kind;
}

const char *telling_heap_type(const struct run_effort *effort, struct buffer *why) {
    if (effort->alloc_bytes <= 0 || percent(effort->live_bytes, effort->alloc_bytes) >= LIVE_PERCENT) return NULL;
    buffer_printf(why, "%s of %s are live at the end", units_bytes(effort->live_bytes).text,
                  units_bytes(effort->alloc_bytes).text);
    return "alloc_space";
}
