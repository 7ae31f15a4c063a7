#include "cli/report/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "query/profile/compare.h"
#include "query/profile/load/gather.h"

void word_list_add(struct word_list *words, const char *word) {
    words->items = xrealloc(words->items, (words->count + 2) * sizeof *words->items);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

/* pprof PROGRAM PROFILE...: the program's name replaces those in the profiles. A name without a slash may be that of a run. */
static int take_executable(struct report_target *target, struct error *err) {
    struct word_list *words = &target->targets;
    if (words->count < 2 || !run_or_file_is_program(words->items[0])) return 0;
    int is_file = targets_is_file(&target->open, words->items[0], err);
    if (is_file <= 0) return is_file;
    target->overrides.executable = words->items[0];
    target->naming.is_told = true;
    memmove(words->items, words->items + 1, words->count * sizeof *words->items); /* the NULL too */
    words->count--;
    return 0;
}

static int add_words(struct report_target *target, const struct word_list *words, struct run_list *runs,
                     struct error *err) {
    for (size_t i = 0; i < words->count; i++)
        if (targets_add(&target->open, words->items[i], runs, err) < 0) return -1;
    return 0;
}

/* The URL that all words are; NULL: there are others. */
static const char *only_url(const struct report_target *target) {
    const char *found = target->targets.count ? target->targets.items[0] : NULL;
    for (size_t i = 0; found && i < target->targets.count; i++)
        if (strcmp(found, target->targets.items[i]) != 0) found = NULL;
    for (size_t i = 0; found && i < target->bases.count; i++)
        if (strcmp(found, target->bases.items[i]) != 0) found = NULL;
    return found && fetch_is_url(found) ? found : NULL;
}

int report_target_open(struct report_target *target, struct error *err) {
    target->open = (struct targets){.option = target->db, .fetch = &target->fetch};
    target->overrides.name_addresses = name_addresses;
    target->overrides.context = &target->naming;
    if (take_executable(target, err) < 0) return -1;
    target->naming.url = only_url(target);
    target->naming.fetch = &target->fetch;
    int code = target->targets.count ? add_words(target, &target->targets, &target->runs, err)
                                     : targets_add(&target->open, "latest", &target->runs, err);
    if (code == 0 && add_words(target, &target->bases, &target->base_runs, err) < 0) code = error_prefix(err, "base: ");
    return code;
}

struct db *report_target_db(struct report_target *target) {
    return target->open.warehouse.handle ? &target->open.warehouse : &target->open.files;
}

void report_target_runs(struct report_target *target, struct run_set *runs) {
    const struct db *db = report_target_db(target);
    for (size_t i = 0; i < target->runs.count; i++) {
        if (target->runs.items[i].db != db) continue;
        runs->ids = xrealloc(runs->ids, (runs->count + 1) * sizeof *runs->ids);
        runs->ids[runs->count++] = target->runs.items[i].id;
    }
}

static int load_sources(struct report_target *target, const struct run_list *runs, struct error *err) {
    struct run_set set = {0};
    struct db *db = NULL;
    int code = 0;
    while (code == 0 && gather_next(runs, &db, &set))
        code = sources_load(&target->sources, db, &set, err);
    run_set_free(&set);
    return code;
}

/* The type is that of whole runs: a part of one and a difference have the kind's own. */
static int open_on_telling(struct report_target *target, const struct run_list *runs, struct error *err) {
    const char *type;
    int code = gather_telling_kind(runs, &target->chosen, &type, &target->other_kinds, &target->why, err);
    if (code || !type) return code;
    if (target->bases.count || timespan_is_wanted(&target->span)) {
        buffer_clear(&target->why);
        return 0;
    }
    target->telling_type = type;
    if (target->type) target->type = type;
    return 0;
}

static int choose_kind(struct report_target *target, const struct run_list *runs, struct error *err) {
    if (target->chosen) return 0;
    if (target->opens_on_telling) return open_on_telling(target, runs, err);
    return gather_kind(runs, &target->chosen, &target->other_kinds, err);
}

static int load(struct report_target *target, const struct run_list *runs, const struct timespan_request *span,
                struct profile *profile, struct error *err) {
    int code = choose_kind(target, runs, err);
    if (code == 0 && !target->title)
        target->title = run_title(runs->items[0].db, runs->items[0].id, runs->count, target->chosen);
    if (code == 0) code = load_sources(target, runs, err);
    if (code == 0) code = gather_profile(profile, runs, target->chosen, target->type, span, err);
    return code;
}

static int subtract(struct report_target *target, struct profile *profile, struct error *err) {
    struct profile base;
    const struct compare_options options = {target->is_diff, target->normalize};
    if (!target->bases.count) return 0;
    bool is_apart = timespan_is_wanted(&target->base_span);
    if (load(target, &target->base_runs, is_apart ? &target->base_span : &target->span, &base, err) < 0)
        return error_prefix(err, "base: ");
    const struct run_item *first = target->base_runs.items;
    if (!target->base_title)
        target->base_title = run_title(first->db, first->id, target->base_runs.count, target->chosen);
    int code = compare_subtract(profile, &base, &options, err);
    profile_free(&base);
    return code;
}

int report_target_load(struct report_target *target, struct profile *profile, struct error *err) {
    if (!target->chosen && target->kind) target->chosen = xstrdup(target->kind);
    if (load(target, &target->runs, &target->span, profile, err) < 0) return -1;
    int code = subtract(target, profile, err);
    if (code == 0) code = report_finish_profile(profile, &target->overrides, err);
    if (code < 0) profile_free(profile);
    return code;
}

int report_target_write_runs(struct report_target *target, const struct report_format *format,
                             const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                             struct error *err) {
    const struct report_runs asked = {&target->runs, target->kind, &target->overrides, &target->span};
    if (target->bases.count)
        return error_usage(err, "%s and a base exclude each other", options->over_runs ? "over_runs" : "by_tag");
    return report_runs_write(&asked, format, options, out, note, context, err);
}

int report_target_close_db(struct report_target *target, struct error *err) {
    return targets_close(&target->open, err);
}

void report_target_close(struct report_target *target) {
    struct error ignored = {0};
    targets_close(&target->open, &ignored);
    run_list_free(&target->runs);
    run_list_free(&target->base_runs);
    sources_free(&target->sources);
    free(target->chosen);
    free(target->title);
    free(target->base_title);
    buffer_free(&target->other_kinds);
    buffer_free(&target->why);
    free(target->targets.items);
    free(target->bases.items);
}
