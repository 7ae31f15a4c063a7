#include "query/report/history_changes.h"

#include <string.h>

#include "query/history/figure_change.h"

/* What counts what a program does, and no time or chance: as the figures of trend_is_exact. */
static const struct {
    const char *kind, *type; /* type NULL: all of the kind */
} exact_types[] = {{"heap", NULL},       {"heap-peak", NULL}, {"mmap", NULL},           {"lifetimes", "allocated"},
                   {"io", "calls"},      {"io", "bytes"},     {"syscalls", "calls"},    {"threads", "started"},
                   {"mvcc", "reads"},    {"mvcc", "commits"}, {"lock", "acquisitions"}, {"channels", "pushes"},
                   {"channels", "pops"}, {"fibers", "spawns"}};

static bool is_exact(const char *kind, const char *type) {
    for (size_t i = 0; i < sizeof exact_types / sizeof *exact_types; i++)
        if (strcmp(exact_types[i].kind, kind) == 0 && (!exact_types[i].type || strcmp(exact_types[i].type, type) == 0))
            return true;
    return false;
}

int history_search_prepare(const struct history_search *of, struct db *db, struct change_search *search,
                           struct error *err) {
    struct figure_limits limits;
    int64_t floor_ns;
    if (figure_limits_read(&limits, db, err) ||
        db_int(db, "SELECT value FROM rules WHERE name = 'diff_floor_ns'", 1000000, &floor_ns, err))
        return -1;
    *search = (struct change_search){.is_exact = is_exact(of->kind, of->type) && !of->is_estimated,
                                     .series_count = of->series_count ? of->series_count : 1,
                                     .floor_percent = limits.floor_percent,
                                     .floor = strcmp(of->unit, "nanoseconds") == 0 ? (double)floor_ns : 0};
    return 0;
}
