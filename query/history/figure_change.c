#include "query/history/figure_change.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int read_rule(struct db *db, const char *name, double *value, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT value FROM rules WHERE name = :name", err);
    if (!row) return -1;
    db_bind_text(row, ":name", name);
    int code = db_step(db, row, err);
    if (code == 1) *value = sqlite3_column_double(row, 0);
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

int figure_limits_read(struct figure_limits *limits, struct db *db, struct error *err) {
    *limits = (struct figure_limits){.floor_percent = 1, .false_percent = 0.2}; /* as in schema/rules.yaml */
    if (read_rule(db, "diff_floor_percent", &limits->floor_percent, err)) return -1;
    return read_rule(db, "diff_false_percent", &limits->false_percent, err);
}

/* Varies on a side, and both sides together tell how much. */
static bool is_tested(const struct noise *noise) {
    return !isnan(noise->p) && !isinf(noise->t) && !(noise->old.sd == 0 && noise->new.sd == 0);
}

/* The same in all runs of each side, of which one has several. */
static bool is_exact(const struct noise *noise) {
    return !isnan(noise->p) && !is_tested(noise);
}

static enum figure_verdict judge(const struct noise *noise, double p_limit, double floor_percent) {
    double before = noise->old.mean, delta = noise->new.mean - before;
    enum figure_verdict direction = delta > 0 ? FIGURE_UP : FIGURE_DOWN;
    if (delta == 0) return FIGURE_SAME;
    if (isnan(noise->p)) return FIGURE_UNKNOWN;
    if (is_exact(noise)) return direction;
    if (noise->p > p_limit || 100 * fabs(delta) < floor_percent * fabs(before)) return FIGURE_NOISE;
    return direction;
}

void figure_changes_judge(struct figure_change *changes, size_t count, const struct figure_limits *limits) {
    double *p = xcalloc(count + 1, sizeof *p);
    size_t tested = 0;
    for (size_t i = 0; i < count; i++)
        if (is_tested(&changes[i].noise)) p[tested++] = changes[i].noise.p;
    double limit = noise_limit(p, tested, limits->false_percent / 100);
    for (size_t i = 0; i < count; i++)
        changes[i].verdict = judge(&changes[i].noise, limit, limits->floor_percent);
    free(p);
}

const char *figure_verdict_word(enum figure_verdict verdict) {
    static const char *const words[] = {"same", "noise", "up", "down", "unknown"};
    return words[verdict];
}
