#include "cli/report_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/run_or_file.h"
#include "query/profile/compare.h"
#include "query/profile/gather.h"

void word_list_add(struct word_list *words, const char *word) {
    words->items = xrealloc(words->items, (words->count + 2) * sizeof *words->items);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

/* ELF, and a name that says that it is a file. */
static bool is_executable(const char *name) {
    char magic[4] = "";
    FILE *file = strchr(name, '/') ? fopen(name, "re") : NULL;
    if (!file) return false;
    bool is_elf = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
    fclose(file);
    return is_elf;
}

/* `pprof PROGRAM PROFILE...`: the program's name goes before those in the profiles. */
static void take_executable(struct report_target *target) {
    struct word_list *words = &target->targets;
    if (words->count < 2 || !is_executable(words->items[0])) return;
    target->overrides.executable = words->items[0];
    memmove(words->items, words->items + 1, words->count * sizeof *words->items); /* the NULL too */
    words->count--;
}

/* Targets and bases are runs, or files, together: each word that is a file becomes the run that it was read into. */
int report_target_open(struct report_target *target, struct error *err) {
    take_executable(target);
    /* Or else a base that is a file would be the only run that there is, and so the latest. */
    if (target->targets.count == 0 && target->bases.count) word_list_add(&target->targets, "latest");
    size_t targets = target->targets.count, bases = target->bases.count;
    struct target_name *names = target->names = xcalloc(targets + bases + 1, sizeof *names);
    for (size_t i = 0; i < targets + bases; i++)
        names[i].name = i < targets ? target->targets.items[i] : target->bases.items[i - targets];
    return target_open_both(&target->handle, &target->files, target->db, names, targets + bases, err);
}

/* What the words turned out to be. */
static const struct target_name *names_of(const struct report_target *target, const struct words *words) {
    return target->names + (words == &target->bases ? target->targets.count : 0);
}

int report_target_runs(struct report_target *target, const struct word_list *words, struct run_set *runs,
                       struct error *err) {
    const struct target_name *names = names_of(target, words);
    for (size_t i = 0; i < words->count; i++)
        if (!names[i].file_run && run_set_add(runs, &target->handle, names[i].name, err) < 0) return -1;
    return words->count ? 0 : run_set_add(runs, &target->handle, "latest", err);
}

static int add_name(struct report_target *target, const struct target_name *name, struct run_list *runs,
                    struct error *err) {
    struct run_set set = {0};
    if (name->file_run) {
        run_list_add(runs, &target->files, name->file_run);
        return 0;
    }
    int code = run_set_add(&set, &target->handle, name->name, err);
    for (size_t i = 0; i < set.count && code == 0; i++)
        run_list_add(runs, &target->handle, set.ids[i]);
    run_set_free(&set);
    return code;
}

int report_target_list(struct report_target *target, const struct word_list *words, struct run_list *runs,
                       struct error *err) {
    const struct target_name *names = names_of(target, words);
    for (size_t i = 0; i < words->count; i++)
        if (add_name(target, &names[i], runs, err) < 0) return -1;
    return words->count ? 0 : add_name(target, &(struct target_name){.name = "latest"}, runs, err);
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

static int load(struct report_target *target, const struct word_list *words, struct profile *profile,
                struct error *err) {
    struct run_list runs = {0};
    int code = report_target_list(target, words, &runs, err);
    if (code == 0 && !target->chosen) code = gather_kind(&runs, &target->chosen, err);
    if (code == 0 && !target->title)
        target->title = run_title(runs.items[0].db, runs.items[0].id, runs.count, target->chosen);
    if (code == 0) code = load_sources(target, &runs, err);
    if (code == 0) code = gather_profile(profile, &runs, target->chosen, target->type, err);
    run_list_free(&runs);
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
    if (!target->chosen && target->kind) target->chosen = xstrdup(target->kind);
    if (load(target, &target->targets, profile, err) < 0) return -1;
    int code = subtract(target, profile, err);
    if (code == 0) code = report_finish_profile(profile, &target->overrides, err);
    if (code < 0) profile_free(profile);
    return code;
}

int report_target_write_runs(struct report_target *target, const struct report_format *format,
                             const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                             struct error *err) {
    struct run_list runs = {0};
    const struct report_runs asked = {&runs, target->kind, &target->overrides};
    if (target->bases.count)
        return error_usage(err, "%s and a base exclude each other", options->over_runs ? "over_runs" : "by_tag");
    int code = report_target_list(target, &target->targets, &runs, err);
    if (code == 0) code = report_runs_write(&asked, format, options, out, note, context, err);
    run_list_free(&runs);
    return code;
}

int report_target_close_db(struct report_target *target, struct error *err) {
    int code = db_close(&target->files, err);
    return db_close(&target->handle, err) < 0 ? -1 : code;
}

void report_target_close(struct report_target *target) {
    struct error ignored = {0};
    db_close(&target->handle, &ignored);
    db_close(&target->files, &ignored);
    sources_free(&target->sources);
    free(target->chosen);
    free(target->title);
    free(target->names);
    free(target->targets.items);
    free(target->bases.items);
}
