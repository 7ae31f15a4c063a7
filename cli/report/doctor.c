#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grid.h"
#include "base/terminal.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "cli/report/stripped.h"
#include "cli/run_or_file.h"
#include "cli/span_options.h"
#include "query/diff/diff.h"
#include "query/doctor/doctor.h"
#include "query/profile/pattern.h"
#include "query/runs/run_part.h"
#include "query/runs/run_together.h"
#include "query/runs/select.h"
#include "query/whatif/whatif.h"
#include "schema/diagnoses.h"

struct doctor_command {
    const char *db, *run, *other, *focus, *ignore, *peek, *what_if;
    struct timespan_request part;
    enum heap_by by;
    int64_t top, why;
    bool json, overview, full_names, cumulative, has_by, has_top, together;
};

/* no-color.org: any value but an empty one means no. */
static bool wants_colour(void) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    return terminal_is_shown(stdout) && term && *term && strcmp(term, "dumb") != 0;
}

#define AT(member) offsetof(struct doctor_command, member)

static int take_top(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct doctor_command *options = into;
    (void)row;
    options->has_top = true;
    return cli_count("--top", text, 0, INT64_MAX, &options->top, err);
}

static int take_why(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct doctor_command *options = into;
    (void)row;
    return cli_count("--why", text, 1, INT64_MAX, &options->why, err);
}

static int take_by(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct doctor_command *options = into;
    (void)row;
    options->has_by = true;
    return heap_by_of(text, &options->by, err);
}

static const struct option_row compare_rows[] = {
    {"diff", .type = OPTION_TEXT, .offset = AT(other), .argument = "NEW", .words = "<target>",
     .help =
         "Print what changed from OLD to NEW. Without OLD, the latest run is compared with NEW. If a side has several "
         "runs, only changes outside the noise are reported (Welch's t test)."},
    {0},
};

static const struct option_row together_rows[] = {
    {"together", .type = OPTION_SWITCH, .offset = AT(together),
     .help = "Judge all runs of a set, such as `tag:ci=42,last=20`, as if they were one run."},
    {0},
};

static const struct option_row what_if_rows[] = {
    {"what-if", .type = OPTION_TEXT, .offset = AT(what_if), .argument = "lock=NAME:CHANGE",
     .help = "Predict how long the run would have taken with that lock `free`, held `half` as long, or in `shards=N` "
             "parts: its threads are "
             "replayed from the events of `clear profile --trace=lock,wait,hold,thread`."},
    {0},
};

static const struct option_row shown_rows[] = {
    {"focus", .type = OPTION_TEXT, .offset = AT(focus), .argument = "REGEX",
     .help = "Keep findings about stacks with a function, file or binary that matches, and about locks and cells whose "
             "name matches."},
    {"ignore", .type = OPTION_TEXT, .offset = AT(ignore), .argument = "REGEX",
     .help = "Drop those that match. `--ignore` wins over `--focus`."},
    {"top", .letter = 'n', .type = OPTION_TAKE, .take = take_top, .is_number = true, .argument = "N",
     .help = "Print at most N rows of each section; `-9` is short for `-n 9`. Default: 5. 0: all."},
    {"why", .type = OPTION_TAKE, .take = take_why, .is_number = true, .argument = "N",
     .help = "Explain the finding with the number N: the rule, its thresholds and the figures that met them, the "
             "facts, and the "
             "SQL that shows the rows."},
    {"full-names", .type = OPTION_SWITCH, .offset = AT(full_names),
     .help = "Print the names of functions in full. Default: their usual form, `std::map<…>::find`, without "
             "parameters, paths "
             "of packages and hashes."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print all rows as a JSON array; with `--diff`, as one object."},
    {"overview", .type = OPTION_SWITCH, .offset = AT(overview),
     .help = "Print as one JSON object what the browser's page Overview shows: the verdict in words, the three worst "
             "findings (`--top N`: so many), the "
             "functions that cost most, what happened over time, and the run before of the same program."},
    {0},
};

static const struct option_row function_rows[] = {
    {"by", .type = OPTION_TAKE, .take = take_by, .argument = "VALUE", .words = "bytes allocs inuse_bytes inuse_allocs",
     .help = "Sort allocations by `bytes` (default), `allocs`, `inuse_bytes` or `inuse_allocs`, and add tables of "
             "functions."},
    {"cumulative", .type = OPTION_SWITCH, .offset = AT(cumulative),
     .help = "Add tables of functions, sorted by cumulative value: the function and all that it calls."},
    {"peek", .type = OPTION_TEXT, .offset = AT(peek), .argument = "REGEX",
     .help = "Instead of findings, print callers and callees of the functions that match."},
    {0},
};

const struct option_group doctor_options[] = {{"Compare", compare_rows, 0},
                                              {"Several runs", together_rows, 0},
                                              {"Findings", shown_rows, 0},
                                              {"Prediction", what_if_rows, 0},
                                              {"Functions", function_rows, 0},
                                              {"Part of the run", span_options, AT(part)},
                                              CLI_WAREHOUSE_OR_STORE(doctor_command, db),
                                              CLI_OPTIONS_END};
#undef AT

/* Checks a pattern before anything is opened. Prints the pattern and a caret below the error. */
static int check_pattern(const char *option, const char *regex, struct error *err) {
    size_t place;
    struct pattern *pattern = regex ? pattern_compile_at(option, regex, &place, err) : NULL;
    pattern_free(pattern);
    if (pattern || !regex) return 0;
    struct buffer line = {0};
    grid_visible(&line, regex, INT_MAX);
    fprintf(stderr, "  %s\n  %*s^\n", buffer_text(&line), grid_width(regex, place), "");
    buffer_free(&line);
    return -1;
}

static int check_patterns(const struct doctor_command *options, struct error *err) {
    if (check_pattern("--focus", options->focus, err) < 0) return -1;
    if (check_pattern("--ignore", options->ignore, err) < 0) return -1;
    return check_pattern("--peek", options->peek, err);
}

static int check_together(const struct doctor_command *options, struct error *err) {
    if (!options->together) return 0;
    if (options->other)
        return error_usage(err,
                           "--together and --diff exclude each other: --diff takes the mean over the runs of a set");
    if (timespan_is_wanted(&options->part))
        return error_usage(err, "--together judges whole runs; --from, --to and --window are of one run");
    if (!options->run) return error_usage(err, "--together needs the runs: clear doctor last=20 --together");
    return 0;
}

static int check_why(const struct doctor_command *options, struct error *err) {
    if (!options->why) return 0;
    if (options->other || options->together || options->peek || timespan_is_wanted(&options->part))
        return error_usage(
            err,
            "--why explains a finding of one whole run: without --diff, --together, --peek, --from, --to, --window");
    if (options->focus || options->ignore)
        return error_usage(err, "--why names one finding: without --focus and --ignore");
    return 0;
}

static int check_overview(const struct doctor_command *options, struct error *err) {
    if (!options->overview ||
        !(options->other || options->peek || options->why || options->what_if || options->focus || options->ignore))
        return 0;
    return error_usage(
        err, "--overview is a page of its own: without --diff, --peek, --why, --what-if, --focus and --ignore");
}

static int check_what_if(const struct doctor_command *options, struct error *err) {
    if (!options->what_if || !(options->other || options->together || options->peek || options->why || options->focus ||
                               options->ignore || timespan_is_wanted(&options->part)))
        return 0;
    return error_usage(err, "--what-if is about one whole run: without other options than --json");
}

static int read_options(int argc, char **argv, struct doctor_command *options, struct error *err) {
    if (cli_options(&argc, argv, options, err) < 0) return -1;
    if (span_options_check(&options->part, err)) return -1;
    if (options->other && timespan_is_wanted(&options->part))
        return error_usage(err,
                           "--diff compares whole runs; two parts of runs are compared by clear report -diff_base");
    if (options->other && options->peek) return error_usage(err, "--peek and --diff exclude each other");
    options->run = argv[1];
    if (argc == 3 && !options->other)
        return error_usage(err, "two runs are compared by clear doctor %s --diff %s", argv[1], argv[2]);
    if (cli_at_most(1, argc, argv, err) < 0 || check_together(options, err) || check_why(options, err) ||
        check_what_if(options, err) || check_overview(options, err))
        return -1;
    return check_patterns(options, err);
}

/* ---- one run ---- */

static void warn_left_out(void *context, const char *view, const char *why) {
    (void)context;
    error_print("the view %s is not used as a diagnosis: %s", view, why);
}

static void say_unnamed(const char *file, int64_t warnings) {
    stripped_say_file(file, units_things(warnings, "warning").text);
}

static struct doctor_options doctor_options_of(const struct doctor_command *options) {
    return (struct doctor_options){.top = options->top,
                                   .why = options->why,
                                   .has_top = options->has_top,
                                   .has_by = options->has_by,
                                   .by = options->by,
                                   .cumulative = options->cumulative,
                                   .focus = options->focus,
                                   .ignore = options->ignore,
                                   .peek = options->peek,
                                   .full_names = options->full_names,
                                   .overview = options->overview,
                                   .unnamed = say_unnamed,
                                   .colour = wants_colour()};
}

static int print_findings(const struct doctor_command *options, struct db *db, const struct doctor_options *doctor,
                          struct error *err) {
    if (diagnoses_check(db, doctor->run_id, warn_left_out, NULL, err)) return -1;
    return options->json || options->overview ? doctor_print_json(stdout, db, doctor, err)
                                              : doctor_print(stdout, db, doctor, err);
}

static int diagnose(const struct doctor_command *options, struct error *err) {
    pager_start();
    struct doctor_options doctor = doctor_options_of(options);
    const char *run = options->run;
    struct buffer part = {0};
    struct db db;
    if (target_open(&db, options->db, "", &run, 1, err) < 0) return -1;
    int code = select_run(&db, run, &doctor.run_id, err);
    if (code == 0 && timespan_is_wanted(&options->part))
        code = run_part_shadow(&db, doctor.run_id, &options->part, &part, err);
    doctor.part = part.data;
    if (code == 0 && options->what_if)
        code = whatif_print(stdout, &db, doctor.run_id, options->what_if, options->json, err);
    else if (code == 0)
        code = print_findings(options, &db, &doctor, err);
    db_close(&db, err);
    buffer_free(&part);
    return code;
}

/* ---- several runs as one ---- */

static int diagnose_together(const struct doctor_command *options, struct error *err) {
    pager_start();
    struct doctor_options doctor = doctor_options_of(options);
    struct targets targets = {.option = options->db};
    struct run_list runs = {0};
    struct run_together together = {0};
    int code = targets_add(&targets, options->run, &runs, err);
    if (code == 0) code = run_together_shadow(&runs, options->run, &together, err);
    doctor.run_id = together.run_id;
    doctor.together = &together;
    if (code == 0) code = print_findings(options, runs.items[0].db, &doctor, err);
    run_together_free(&together);
    run_list_free(&runs);
    struct error ignored = {0};
    targets_close(&targets, &ignored);
    return code;
}

/* ---- two sides ---- */

static bool has_all(const struct run_list *list, const struct run_list *wanted) {
    for (size_t i = 0; i < wanted->count; i++)
        if (!run_list_has(list, &wanted->items[i])) return false;
    return true;
}

/* Removes the runs of `other` from `from`, unless nothing would be left. */
static void take_apart(struct run_list *from, const struct run_list *other) {
    if (!has_all(other, from)) run_list_remove(from, other);
}

/* A run that is compared with itself would always answer "no change". */
static int check_sides(const struct diff_options *diff, struct error *err) {
    const struct run_list *old = &diff->sides[DIFF_OLD].runs, *new = &diff->sides[DIFF_NEW].runs;
    if (!has_all(old, new) || !has_all(new, old)) return 0;
    return error_usage(err, "%s and %s are the same run%s: name two that differ (clear runs lists them)",
                       diff->sides[DIFF_OLD].name, diff->sides[DIFF_NEW].name, old->count == 1 ? "" : "s");
}

static int compare(const struct doctor_command *options, struct error *err) {
    pager_start();
    struct targets targets = {.option = options->db};
    struct diff_options diff = {.by = options->by,
                                .top = options->top,
                                .cumulative = options->cumulative,
                                .focus = options->focus,
                                .ignore = options->ignore,
                                .full_names = options->full_names,
                                .colour = wants_colour()};
    /* One name alone is compared with the latest run. */
    diff.sides[DIFF_OLD].name = options->run ? options->run : options->other;
    diff.sides[DIFF_NEW].name = options->run ? options->other : "latest";
    int code = 0;
    for (int side = 0; side < DIFF_SIDES && code == 0; side++)
        code = targets_add(&targets, diff.sides[side].name, &diff.sides[side].runs, err);
    if (code == 0) code = check_sides(&diff, err);
    if (code == 0) {
        take_apart(&diff.sides[DIFF_OLD].runs, &diff.sides[DIFF_NEW].runs);
        take_apart(&diff.sides[DIFF_NEW].runs, &diff.sides[DIFF_OLD].runs);
        diff.rules = targets.warehouse.handle ? &targets.warehouse : &targets.files;
        code = options->json ? diff_print_json(stdout, &diff, err) : diff_print(stdout, &diff, err);
    }
    for (int side = 0; side < DIFF_SIDES; side++)
        run_list_free(&diff.sides[side].runs);
    struct error ignored = {0};
    targets_close(&targets, &ignored);
    return code;
}

int command_doctor(int argc, char **argv, struct error *err) {
    struct doctor_command options = {.top = 5};
    if (read_options(argc, argv, &options, err) < 0) return -1;
    if (options.together) return diagnose_together(&options, err);
    return options.other ? compare(&options, err) : diagnose(&options, err);
}
