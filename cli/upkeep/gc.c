#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/collect.h"
#include "cli/runs.h"
#include "cli/upkeep/edit.h"

struct gc_options {
    const char *db;
    struct retention rules;
    bool dry_run, json;
};

/* ---- options ----------------------------------------------------------------------------------------------------- */

static struct retention *rules_of(void *into, const struct option_row *row) {
    return (struct retention *)(void *)((char *)into + row->offset);
}

static int take_keep(void *into, const struct option_row *row, const char *text, struct error *err) {
    return retention_keep(rules_of(into, row), "--keep", text, err);
}

static int take_thin(void *into, const struct option_row *row, const char *text, struct error *err) {
    return retention_thin(rules_of(into, row), "--thin", text, err);
}

static int take_max_size(void *into, const struct option_row *row, const char *text, struct error *err) {
    return retention_max_size(rules_of(into, row), "--max-size", text, err);
}

static int take_base(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)err;
    retention_add_base(rules_of(into, row), text);
    return 0;
}

#define AT(member) offsetof(struct gc_options, member)
static const struct option_row rule_rows[] = {
    {"keep", .type = OPTION_TAKE, .take = take_keep, .offset = AT(rules), .argument = "TIME",
     .help = "Keep every run of the last TIME, such as `30d`, `12h` or `4w`; without `--thin` delete all older ones."},
    {"thin", .type = OPTION_TAKE, .take = take_thin, .offset = AT(rules), .argument = "SPAN",
     .words = "hour day week month",
     .help = "Of the older runs keep the newest of each `hour`, `day`, `week` or `month`, for each command."},
    {"max-size", .type = OPTION_TAKE, .take = take_max_size, .offset = AT(rules), .argument = "BYTES",
     .help =
         "Then delete the oldest runs until the file has at most BYTES, such as `2G`: also runs that `--keep` would "
         "keep."},
    {"base", .type = OPTION_TAKE, .take = take_base, .offset = AT(rules), .is_repeatable = true, .argument = "RUNS",
     .words = "<runs>", .help = "Keep these runs, because others are compared with them: `tag:branch=main,last=20`."},
    {0},
};
static const struct option_row gc_rows[] = {
    {"dry-run", .letter = 'n', .type = OPTION_SWITCH, .offset = AT(dry_run),
     .help = "Print what would be deleted, and change nothing."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON object: the `runs` that were deleted, the `rows` and `names` with them, and the size of the "
             "file before and after."},
    {0},
};
#undef AT
const struct option_group gc_options[] = {
    {"Which runs", rule_rows, 0}, {"What is done", gc_rows, 0}, CLI_WAREHOUSE(gc_options, db), CLI_OPTIONS_END};

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void print_json(const struct gc_result *result, bool is_trial) {
    struct buffer ids = {0};
    buffer_add_json_integers(&ids, result->ids, result->id_count);
    printf("{\"runs\":%s,\"rows\":%" PRId64 ",\"names\":%" PRId64 ",\"bytes_before\":%" PRId64
           ",\"bytes_after\":%" PRId64 ",\"free_bytes\":%" PRId64 ",\"recording\":%s,\"done\":%s}\n",
           buffer_text(&ids), result->deleted.rows, result->names, result->bytes_before, result->bytes_after,
           result->free_bytes, result->is_recorded ? "true" : "false", is_trial ? "false" : "true");
    buffer_free(&ids);
}

static void print_notes(const struct gc_result *result, const char *path) {
    if (result->is_recorded)
        printf("names and stacks stay, because a run is being recorded: clear gc frees them later\n");
    if (result->room_needed)
        printf("%s of %s hold nothing: to write the file anew, which gives them back, needs %s of free disk\n",
               units_bytes(result->free_bytes).text, path, units_bytes(result->room_needed).text);
}

static void print_text(const struct gc_result *result, const struct gc_options *options, const char *path) {
    printf("%s %s with %s, and %s of names and stacks that nothing uses\n",
           options->dry_run ? "would delete" : "deleted", units_things(result->deleted.runs, "run").text,
           units_things(result->deleted.rows, "row").text, units_things(result->names, "row").text);
    printf("%s: %s before, %s after\n", path, units_bytes(result->bytes_before).text,
           units_bytes(result->bytes_after).text);
    if (options->rules.max_bytes && result->bytes_after > options->rules.max_bytes)
        printf("that is more than %s: the runs that are left have a label or a pin, or are the newest of a command, "
               "bases, accepted, or being recorded\n",
               number_limit(options->rules.max_bytes).text);
    print_notes(result, path);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* Rules on the command line stand for those of clear.yaml. */
static const struct retention *rules_in_force(const struct gc_options *options) {
    const struct retention *given = &options->rules;
    bool is_given = given->has_keep || given->thin || given->max_bytes;
    return is_given || !cli_config()->retention.is_set ? given : &cli_config()->retention;
}

static int collect(struct db *db, struct gc_options *options, struct error *err) {
    struct gc_policy policy = {
        .deadline_ns = INT64_MAX, .is_trial = options->dry_run, .may_rewrite = !options->dry_run};
    struct gc_result result;
    int code = collect_runs(db, rules_in_force(options), &policy, false, &result, err);
    if (code == 0 && options->dry_run && !options->json && result.id_count)
        code = runs_print(db, &(struct runs_shown){.only = &(struct run_set){result.ids, result.id_count}}, err);
    if (code == 0 && options->json)
        print_json(&result, options->dry_run);
    else if (code == 0)
        print_text(&result, options, db->path);
    free(result.ids);
    return code;
}

int command_gc(int argc, char **argv, struct error *err) {
    struct gc_options options = {0};
    struct run_set none;
    struct db db;
    int code = cli_options(&argc, argv, &options, err) < 0 || cli_at_most(0, argc, argv, err) ? -1 : 0;
    if (code == 0) {
        code = edit_open(&db, options.db, NULL, &none, err);
        if (code == 0) code = collect(&db, &options, err);
        if (db_close(&db, err)) code = -1;
    }
    retention_free(&options.rules);
    return code;
}
