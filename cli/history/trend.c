#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/history/trend_output.h"
#include "cli/pager.h"
#include "query/runs/run_set.h"
#include "query/runs/select.h"

enum trend_format { TREND_TEXT, TREND_CSV, TREND_JSON };

struct trend_options {
    const char *db, *of;
    int64_t top;
    bool accept, forget;
    enum trend_format format;
};

#define AT(member) offsetof(struct trend_options, member)

static int take_format(void *into, const struct option_row *row, const char *text, struct error *err) {
    static const char *const names[] = {"text", "csv", "json"};
    struct trend_options *options = into;
    (void)row;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            options->format = (enum trend_format)i;
            return 0;
        }
    return error_usage(err, "--format must be text, csv or json, not '%s'", text);
}

static int take_json(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)text;
    return take_format(into, row, "json", err);
}

static const struct option_row trend_rows[] = {
    {"of", .type = OPTION_TEXT, .offset = AT(of), .argument = "SUBJECT",
     .help = "Functions, sites, locks, ... instead of whole runs: a name as in the view `series`, or a GLOB pattern, "
             "such as `function parse_*`, `lock *`, `finding heap-leak *`."},
    {"top", .type = OPTION_COUNT, .offset = AT(top), .max = INT64_MAX, .argument = "N",
     .help = "Of subjects without a change, list the N largest. Default: 20. 0: all."},
    {0},
};
static const struct option_row trend_known_rows[] = {
    {"accept", .type = OPTION_SWITCH, .offset = AT(accept),
     .help = "Record that the change of FIGURE in RUN is known, and why. It is still shown, as accepted; gates do not "
             "fail by it."},
    {"forget", .type = OPTION_SWITCH, .offset = AT(forget), .help = "Take that back."},
    {0},
};
static const struct option_row trend_output_rows[] = {
    {"format", .type = OPTION_TAKE, .take = take_format, .argument = "FORMAT", .words = "text csv json",
     .help = "`text` (default), `csv` (a row for each run and series) or `json`."},
    {"json", .type = OPTION_TAKE, .take = take_json,
     .help = "Same as `--format json`: an object with `runs` and `series`; a series has `values`, one a run, and "
             "`changes`."},
    {0},
};
#undef AT
const struct option_group trend_options[] = {{"Which series", trend_rows, 0},
                                             {"Known changes", trend_known_rows, 0},
                                             {"Output", trend_output_rows, 0},
                                             CLI_WAREHOUSE_OR_STORE(trend_options, db),
                                             CLI_OPTIONS_END};

/* ---- known changes ---- */

static int open_for_writing(struct db *db, const char *option, struct error *err) {
    struct stat about;
    /* To open it for writing would make an empty one. */
    bool is_missing = !cli_is_store(option) && (stat(cli_database(option), &about) || about.st_size == 0);
    return cli_open(db, option, is_missing ? DB_READ : DB_WRITE, err);
}

static int change_known(const struct trend_options *options, char **words, struct error *err) {
    const struct known_change change = {.figure = words[1],
                                        .subject = (char *)(uintptr_t)(options->of ? options->of : ""),
                                        .why = options->accept ? words[2] : NULL};
    struct db db;
    int64_t run;
    if (open_for_writing(&db, options->db, err)) return -1;
    int code = select_run(&db, words[0], &run, err);
    if (code == 0)
        code = options->accept ? known_change_add(&db, run, &change, err) : known_change_forget(&db, run, &change, err);
    if (db_close(&db, err)) code = -1;
    if (code) return -1;
    struct buffer line = {0};
    buffer_printf(&line, "run %lld: change of %s%s%s %s", (long long)run, change.figure, options->of ? " of " : "",
                  change.subject, options->accept ? "accepted" : "not accepted any more");
    buffer_make_visible(&line);
    puts(buffer_text(&line));
    buffer_free(&line);
    return 0;
}

/* ---- trends ---- */

/* Figures are words of small letters; names of runs and sets that look so are written all:NAME. */
static bool is_figure(const char *word) {
    return word[strspn(word, "abcdefghijklmnopqrstuvwxyz_")] == '\0' && strcmp(word, "all") != 0 &&
           strcmp(word, "latest") != 0;
}

/* Runs one by one, or those of a search. */
static bool names_bisected(const char *word) {
    return strstr(word, "bisect") || !word[strspn(word, "0123456789,.")];
}

static int show(struct db *db, const struct trend_options *options, const struct trend_request *request,
                struct error *err) {
    struct trend trend;
    int code = trend_make(&trend, db, request, err);
    if (code == 0) {
        pager_start();
        if (options->format == TREND_JSON)
            trend_print_json(&trend);
        else if (options->format == TREND_CSV)
            code = trend_print_csv(&trend, db, err);
        else
            trend_print(&trend, request->of, options->top);
    }
    trend_free(&trend);
    return code;
}

static int show_runs(const struct trend_options *options, char **words, struct error *err) {
    struct trend_request request = {.of = options->of};
    struct run_set set = {0};
    struct db db;
    if (*words && is_figure(*words)) request.figure = *words++;
    if (options->of && !request.figure)
        return error_usage(
            err,
            "--of says what a figure is of: name the figure, too, as in clear trend alloc_bytes --of 'function *'");
    if (cli_open_figures(&db, options->db, request.figure, options->of, err) < 0) return -1;
    int code = *words ? 0 : db_want_alike(&db, err);
    for (char **word = words; *word && code == 0; word++) {
        request.has_bisected |= names_bisected(*word);
        code = run_set_add(&set, &db, *word, err);
    }
    if (*words) request.runs = set.ids;
    request.run_count = set.count;
    if (code == 0) code = show(&db, options, &request, err);
    run_set_free(&set);
    if (db_close(&db, err)) code = -1;
    return code;
}

int command_trend(int argc, char **argv, struct error *err) {
    struct trend_options options = {.top = 20};
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (options.accept && options.forget) return error_usage(err, "--accept and --forget exclude each other");
    if (options.accept && argc != 4)
        return error_usage(err, "give the run, the figure and the reason: clear trend --accept RUN FIGURE \"WHY\"");
    if (options.forget && argc != 3)
        return error_usage(err, "give the run and the figure: clear trend --forget RUN FIGURE");
    return options.accept || options.forget ? change_known(&options, argv + 1, err)
                                            : show_runs(&options, argv + 1, err);
}
