#include "cli/collect.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/push_after.h"
#include "query/runs/run_set.h"
#include "schema/gates.h"

/* A set that names no run is passed over where `is_lenient`. */
static int add_base(struct run_set *set, struct db *db, const char *base, bool is_lenient, struct error *err) {
    struct error none = {0};
    if (run_set_add(set, db, base, &none) == 0 || (is_lenient && none.status == ERROR_USAGE)) return 0;
    *err = none;
    return -1;
}

/* Those that the rules of clear gate compare with. They may name runs that are still to come. */
static int add_gate_bases(struct run_set *set, struct db *db, struct error *err) {
    struct gate_rule *rules;
    size_t count;
    bool are_own;
    if (gates_load(db, &rules, &count, &are_own, err) < 0) return -1;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        if (*rules[i].base) code = add_base(set, db, rules[i].base, true, err);
    gates_free_all(rules, count);
    return code;
}

static int find_bases(struct db *db, const struct retention *rules, bool is_lenient, struct run_set *set,
                      struct error *err) {
    for (size_t i = 0; i < rules->base_count; i++)
        if (add_base(set, db, rules->bases[i], is_lenient, err) < 0) return -1;
    return add_gate_bases(set, db, err) || push_after_add_waiting(db, set, err) ? -1 : 0;
}

int collect_runs(struct db *db, const struct retention *rules, struct gc_policy *policy, bool is_lenient,
                 struct gc_result *result, struct error *err) {
    struct run_set bases = {0};
    *result = (struct gc_result){0};
    int code = find_bases(db, rules, is_lenient, &bases, err);
    policy->rules = rules;
    policy->bases = bases.ids;
    policy->base_count = bases.count;
    if (code == 0) code = gc_run(db, policy, result, err);
    run_set_free(&bases);
    return code;
}

static int collect_briefly(const char *path, const struct retention *rules, struct gc_result *result,
                           struct error *err) {
    struct gc_policy policy = {.deadline_ns = clock_monotonic_ns() + rules->budget_ns};
    struct error ignored = {0};
    struct db db;
    int64_t patience_ms = rules->budget_ns / 1000000;
    if (db_open_within(&db, path, DB_WRITE, patience_ms < INT32_MAX ? (int)patience_ms : INT32_MAX, err)) return -1;
    int code = collect_runs(&db, rules, &policy, true, result, err);
    db_close(&db, &ignored);
    return code;
}

void collect_after_recording(const char *path, bool is_quiet) {
    const struct retention *rules = &cli_config()->retention;
    struct gc_result result = {0};
    struct error err = {0};
    if (!rules->is_set) return;
    if (collect_briefly(path, rules, &result, &err))
        error_print("retention was not applied, the run is stored: %s", err.message);
    else if (result.deleted.runs && !is_quiet)
        fprintf(stderr, "clear: retention deleted %s, %s\n", units_things(result.deleted.runs, "older run").text,
                units_bytes(result.bytes_before - result.bytes_after).text);
    free(result.ids);
}
