#include "cli/report_target.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/target.h"
#include "query/compare.h"
#include "query/profile_load.h"
#include "query/report.h"

void words_add(struct words *words, const char *word) {
    words->items = xrealloc(words->items, (words->count + 2) * sizeof *words->items);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

/* Targets and bases are runs, or files, together: each word that is a file becomes the run that it was read into. */
int report_target_open(struct report_target *target, struct error *err) {
    size_t targets = target->targets.count, bases = target->bases.count;
    const char **names = xcalloc(targets + bases + 1, sizeof *names);
    for (size_t i = 0; i < targets + bases; i++)
        names[i] = i < targets ? target->targets.items[i] : target->bases.items[i - targets];
    int code = target_open(&target->handle, target->db, "", names, targets + bases, err);
    for (size_t i = 0; i < targets + bases; i++)
        *(i < targets ? &target->targets.items[i] : &target->bases.items[i - targets]) = names[i];
    free(names);
    return code;
}

int report_target_runs(struct report_target *target, const struct words *words, struct run_set *runs,
                       struct error *err) {
    for (size_t i = 0; i < words->count; i++)
        if (run_set_add(runs, &target->handle, words->items[i], err) < 0) return -1;
    return words->count ? 0 : run_set_add(runs, &target->handle, "latest", err);
}

static int load(struct report_target *target, const struct words *words, struct profile *profile, struct error *err) {
    struct run_set runs = {0};
    struct db *db = &target->handle;
    int code = report_target_runs(target, words, &runs, err);
    if (code == 0 && !target->chosen) code = profile_choose_kind(db, &runs, &target->chosen, err);
    if (code == 0) code = sources_load(&target->sources, db, &runs, err);
    if (code == 0)
        code = target->type ? profile_load_type(profile, db, &runs, target->chosen, target->type, err)
                            : profile_load(profile, db, &runs, target->chosen, err);
    run_set_free(&runs);
    return code;
}

static int subtract(struct report_target *target, struct profile *profile, struct error *err) {
    struct profile base;
    const struct compare_options options = {target->is_diff, target->normalize};
    if (!target->bases.count) return 0;
    if (load(target, &target->bases, &base, err) < 0) return error_prefix(err, "base: ");
    int code = compare_subtract(profile, &base, &options, err);
    profile_free(&base);
    return code;
}

int report_target_load(struct report_target *target, struct profile *profile, struct error *err) {
    free(target->chosen);
    target->chosen = target->kind ? xstrdup(target->kind) : NULL;
    if (load(target, &target->targets, profile, err) < 0) return -1;
    int code = subtract(target, profile, err);
    if (code == 0) code = report_finish_profile(profile, target->comment, err);
    if (code < 0) profile_free(profile);
    return code;
}

int report_target_close_db(struct report_target *target, struct error *err) {
    return db_close(&target->handle, err);
}

void report_target_close(struct report_target *target) {
    struct error ignored = {0};
    db_close(&target->handle, &ignored);
    sources_free(&target->sources);
    free(target->chosen);
    free(target->targets.items);
    free(target->bases.items);
}
