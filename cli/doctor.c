#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grid.h"
#include "cli/cli.h"
#include "cli/run_or_file.h"
#include "query/diff/diff.h"
#include "query/doctor/doctor.h"
#include "query/profile/pattern.h"
#include "query/runs/select.h"
#include "schema/diagnoses.h"

enum { DB = CLI_LONG, JSON, TOP, DIFF, BY, CUMULATIVE, FOCUS, IGNORE, PEEK };

struct options {
    const char *db, *run, *other, *focus, *ignore, *peek;
    enum heap_by by;
    int64_t top;
    bool json, cumulative, has_by, has_top;
};

/* no-color.org: any value but an empty one means no. */
static bool wants_colour(void) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static int take_option(struct options *options, int option, struct error *err) {
    switch (option) {
    case DB: options->db = optarg; return 0;
    case JSON: options->json = true; return 0;
    case TOP: options->has_top = true; return cli_count("--top", optarg, 0, INT64_MAX, &options->top, err);
    case DIFF: options->other = optarg; return 0;
    case BY: options->has_by = true; return heap_by_of(optarg, &options->by, err);
    case CUMULATIVE: options->cumulative = true; return 0;
    case FOCUS: options->focus = optarg; return 0;
    case IGNORE: options->ignore = optarg; return 0;
    case PEEK: options->peek = optarg; return 0;
    default: return -1;
    }
}

/* Before anything is opened. The line and a caret below the place go ahead of the message. */
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

static int check_patterns(const struct options *options, struct error *err) {
    if (check_pattern("--focus", options->focus, err) < 0) return -1;
    if (check_pattern("--ignore", options->ignore, err) < 0) return -1;
    return check_pattern("--peek", options->peek, err);
}

static int read_options(int argc, char **argv, struct options *options, struct error *err) {
    static const struct option longs[] = {
        {"db", required_argument, NULL, DB},       {"json", no_argument, NULL, JSON},
        {"top", required_argument, NULL, TOP},     {"diff", required_argument, NULL, DIFF},
        {"by", required_argument, NULL, BY},       {"cumulative", no_argument, NULL, CUMULATIVE},
        {"focus", required_argument, NULL, FOCUS}, {"ignore", required_argument, NULL, IGNORE},
        {"peek", required_argument, NULL, PEEK},   {0}};
    int option;
    while ((option = cli_option(argc, argv, "", longs, err)) != CLI_END)
        if (option < 0 || take_option(options, option, err) < 0) return -1;
    if (options->other && options->peek) return error_usage(err, "--peek is about one run: leave --diff away");
    options->run = optind < argc ? argv[optind++] : NULL;
    if (cli_no_more(argc, argv, err) < 0) return -1;
    return check_patterns(options, err);
}

/* ---- one run ---- */

static void say_left_out(void *context, const char *view, const char *why) {
    (void)context;
    fprintf(stderr, "clear: the view %s is left out of the diagnoses: %s\n", view, why);
}

static int diagnose(const struct options *options, struct error *err) {
    struct doctor_options doctor = {.top = options->top,
                                    .has_top = options->has_top,
                                    .has_by = options->has_by,
                                    .by = options->by,
                                    .cumulative = options->cumulative,
                                    .focus = options->focus,
                                    .ignore = options->ignore,
                                    .peek = options->peek,
                                    .colour = wants_colour()};
    const char *run = options->run;
    struct db db;
    if (target_open(&db, options->db, "", &run, 1, err) < 0) return -1;
    int code = select_run(&db, run, &doctor.run_id, err);
    if (code == 0) code = diagnoses_check(&db, doctor.run_id, say_left_out, NULL, err);
    if (code == 0)
        code = options->json ? doctor_print_json(stdout, &db, &doctor, err) : doctor_print(stdout, &db, &doctor, err);
    db_close(&db, err);
    return code;
}

/* ---- two sides ---- */

/* A run that is on both sides says nothing about the difference: it stays where it is the only one, and the set loses it. */
static void take_apart(struct run_list *from, const struct run_list *other) {
    struct run_list left = {0};
    for (size_t i = 0; i < from->count; i++)
        if (!run_list_has(other, &from->items[i])) run_list_add(&left, from->items[i].db, from->items[i].id);
    if (left.count == 0) {
        run_list_free(&left);
        return;
    }
    run_list_free(from);
    *from = left;
}

static int compare(const struct options *options, struct error *err) {
    struct targets targets = {.option = options->db};
    struct diff_options diff = {.by = options->by,
                                .top = options->top,
                                .cumulative = options->cumulative,
                                .focus = options->focus,
                                .ignore = options->ignore,
                                .colour = wants_colour()};
    /* One name alone is what the latest run is held against. */
    diff.sides[DIFF_OLD].name = options->run ? options->run : options->other;
    diff.sides[DIFF_NEW].name = options->run ? options->other : "latest";
    int code = 0;
    for (int side = 0; side < DIFF_SIDES && code == 0; side++)
        code = targets_add(&targets, diff.sides[side].name, &diff.sides[side].runs, err);
    if (code == 0) {
        take_apart(&diff.sides[DIFF_OLD].runs, &diff.sides[DIFF_NEW].runs);
        take_apart(&diff.sides[DIFF_NEW].runs, &diff.sides[DIFF_OLD].runs);
        diff.rules = targets.warehouse.handle ? &targets.warehouse : &targets.files;
        code = options->json ? diff_print_json(stdout, &diff, err) : diff_print(stdout, &diff, err);
    }
    for (int side = 0; side < DIFF_SIDES; side++)
        run_list_free(&diff.sides[side].runs);
    targets_close(&targets);
    return code;
}

int command_doctor(int argc, char **argv, struct error *err) {
    struct options options = {.top = 5};
    if (read_options(argc, argv, &options, err) < 0) return -1;
    return options.other ? compare(&options, err) : diagnose(&options, err);
}
