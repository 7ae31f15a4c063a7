/* clear report and its short names: reads the command line, opens the targets, writes the report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "cli/report/arguments.h"
#include "cli/report/output.h"
#include "cli/report/prompt.h"
#include "cli/report/stripped.h"
#include "cli/web/web.h"
#include "export/format.h"
#include "query/runs/sampling_error.h"

/* -web and its like; a page on a terminal would be of no use to who typed -weblist. */
static const struct prompt_view *find_view(const struct report_command *command) {
    if (command->output) return NULL;
    return command->view || !isatty(STDOUT_FILENO) ? command->view : prompt_view_find(command->format->name);
}

static int put(const struct report_command *command, const struct buffer *out, struct error *err) {
    const struct prompt_view *view = find_view(command);
    if (view) return prompt_view_show(view, command->format, out, err);
    bool is_printed = !command->output || strcmp(command->output, "-") == 0;
    if (is_printed && !command->format->is_binary) pager_start();
    return report_output(command->format, out, command->output, err);
}

static int write_on_runs(struct report_command *command, struct error *err) {
    struct buffer out = {0};
    if (report_target_open(&command->target, err) < 0) return -1;
    int code = report_target_write_runs(&command->target, command->format, &command->options, &out, report_print_note,
                                        NULL, err);
    if (code == 0) code = report_target_close_db(&command->target, err);
    if (code == 0) code = put(command, &out, err);
    buffer_free(&out);
    return code;
}

static bool is_number(const char *word) {
    return *word && !word[strspn(word, "0123456789")];
}

/* A number may have been meant as how many lines to show. */
static int no_such_run(const struct report_command *command, struct error *err) {
    const struct word_list *words = &command->target.targets;
    if (err->status != ERROR_USAGE || words->count != 1 || !is_number(words->items[0])) return -1;
    return error_prefix(err, "%s is a run (clear %s -%s shows %s): ", words->items[0], command->name, words->items[0],
                        units_things(strtoll(words->items[0], NULL, 10), "line").text);
}

/* Says what is shown where the command line does not: which kind of several, and that a number is a run's. */
static void say_what(const struct report_command *command) {
    const struct report_target *target = &command->target;
    const struct word_list *words = &target->targets;
    const char *others = buffer_text(&target->other_kinds);
    bool is_numbered = words->count == 1 && is_number(words->items[0]);
    if (!*others && !target->telling_type && (!is_numbered || target->kind)) return;
    struct buffer line = {0};
    if (target->runs.count == 1)
        buffer_printf(&line, "%s of run %" PRId64, target->chosen, target->runs.items[0].id);
    else
        buffer_printf(&line, "%s of %zu runs", target->chosen, target->runs.count);
    if (target->telling_type) buffer_printf(&line, " by %s", target->telling_type);
    if (target->why.size) buffer_printf(&line, ", because %s", buffer_text(&target->why));
    if (target->telling_type) buffer_add_text(&line, "; --sample_index=inuse_space shows those");
    if (*others) buffer_printf(&line, "; --kind shows another: %s", others);
    if (is_numbered)
        buffer_printf(&line, "; clear %s -%s shows %s", command->name, words->items[0],
                      units_things(strtoll(words->items[0], NULL, 10), "line").text);
    error_print("%s", buffer_text(&line));
    buffer_free(&line);
}

/* Addresses alone: pprof's users name the program before the profile. */
static void say_nameless(const struct report_command *command, const struct profile *profile) {
    const struct report_target *target = &command->target;
    size_t nameless = 0;
    if (target->naming.is_told || target->runs.count != 1) return;
    for (size_t i = 0; i < profile->location_count; i++) {
        const struct profile_location *location = &profile->locations[i];
        if (location->mapping || !location->address) continue;
        if (location->line_count) return;
        nameless++;
    }
    if (!nameless) return;
    error_print("addresses of the program have no names: name it before the profile, as in clear %s ./PROGRAM %s",
                command->name, target->targets.count ? target->targets.items[0] : "latest");
}

static int say_how_exact_cpu(struct report_target *target, struct error *err) {
    struct buffer text = {0};
    int code = sampling_error_add_cpu(target->runs.items[0].db, target->runs.items[0].id, &text, err);
    if (code == 0 && text.size) error_print("%s", buffer_text(&text));
    buffer_free(&text);
    return code;
}

/* Beside a sampled profile of one run: how far its figures may be off. */
static int say_how_exact(struct report_command *command, struct error *err) {
    struct report_target *target = &command->target;
    struct sampling_error error;
    struct buffer text = {0};
    if (target->runs.count != 1 || !target->chosen) return 0;
    /* A file that is only looked at says as much as pprof does. */
    if (strcmp(target->chosen, "cpu") == 0)
        return target->runs.items[0].db->is_private ? 0 : say_how_exact_cpu(target, err);
    if (strcmp(target->chosen, "heap") != 0) return 0;
    int code = sampling_error_of(target->runs.items[0].db, target->runs.items[0].id, &error, err);
    if (code == 1) sampling_error_text(&error, &text);
    if (text.size) {
        /* The error of a sum grows with its root. */
        double percent = 10 * error.alloc_bytes;
        if (percent > 0 && percent < 99.5)
            buffer_printf(&text, "; of a function with 1 %% of the bytes %s", units_percent(percent).text);
        error_print("sampled; in 95 of 100 runs the truth is within: %s", buffer_text(&text));
    }
    buffer_free(&text);
    return code < 0 ? -1 : 0;
}

/* The same of single figures, where they are the run's own and not those of a difference. */
static int find_sampling(struct report_command *command, const struct profile *profile, struct error *err) {
    struct report_target *target = &command->target;
    if (target->runs.count != 1 || target->bases.count || !target->chosen) return 0;
    return report_find_sampling(&command->options, target->runs.items[0].db, target->runs.items[0].id, target->chosen,
                                profile, err);
}

static int write_report(struct report_command *command, struct error *err) {
    struct profile profile;
    struct buffer out = {0};
    if (report_target_open(&command->target, err) < 0) return no_such_run(command, err);
    bool is_of_one_type = !command->target.bases.count && report_is_of_one_type(command->format, &command->options);
    if (is_of_one_type) command->target.type = command->options.sample_index;
    if (report_has_sides(command->format, &command->options)) command->target.is_diff = true;
    if (report_target_load(&command->target, &profile, err) < 0) return -1;
    if (command->target.telling_type) command->options.sample_index = command->target.telling_type;
    say_what(command);
    say_nameless(command, &profile);
    if (strcmp(command->name, "report") != 0) stripped_say(&profile); /* clear report prints what pprof does */
    int code = say_how_exact(command, err);
    if (code == 0) code = find_sampling(command, &profile, err);
    if (!*command->options.title) command->options.title = command->target.title;
    if (command->target.base_title) command->options.base_title = command->target.base_title;
    if (code == 0) code = report_target_close_db(&command->target, err);
    if (code == 0)
        code = report_write(&profile, command->format, &command->options, &out, report_print_note, NULL, err);
    if (code == 0) code = put(command, &out, err);
    buffer_free(&out);
    profile_free(&profile);
    return code;
}

/* Without a report there is the prompt; but where a person sits at the keyboard and nobody at the other end, a report
 * was forgotten. */
static int no_report(struct report_command *command, struct error *err) {
    const struct word_list *words = &command->target.targets;
    if (!isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)) return prompt_run(command, err);
    if (words->count) return report_format_find(words->items[0], &command->options.symbol, err) ? 0 : -1;
    return error_usage(err, "no report: clear report top, tree, peek=REGEX, traces, ...");
}

static void add_window(struct buffer *state, const char *name, int64_t window) {
    char number[24] = "";
    if (window) snprintf(number, sizeof number, "%" PRId64, window);
    web_add_state(state, name, number);
}

/* The state of the page is what the options say, as far as the page has it. */
static int show_in_browser(struct report_command *command, struct error *err) {
    const struct word_list *words = &command->target.targets, *bases = &command->target.bases;
    struct buffer state = {0}, text = {0};
    if (command->format) return error_usage(err, "-http shows all reports: leave out %s", command->format->name);
    const char *const fields[][2] = {{"kind", command->target.kind},
                                     {"si", command->options.sample_index},
                                     {"from", command->target.span.from.text},
                                     {"to", command->target.span.to.text},
                                     {"base_from", command->target.base_span.from.text},
                                     {"base_to", command->target.base_span.to.text}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        web_add_state(&state, fields[i][0], fields[i][1]);
    add_window(&state, "window", command->target.span.window);
    add_window(&state, "base_window", command->target.base_span.window);
    for (struct option_walk walk = {0}; report_option_next(&walk); buffer_clear(&text)) {
        report_option_state(&command->options, walk.row, &text);
        web_add_state(&state, walk.row->parameter, buffer_text(&text));
    }
    struct web_request request = {
        .serving = {.db = command->target.db,
                    .address = command->http,
                    .no_browser = command->no_browser,
                    .source_path = *command->options.source_path ? command->options.source_path : NULL},
        .words = words->items,
        .count = words->count,
        .bases = bases->items,
        .base_count = bases->count,
        .fetch = &command->target.fetch,
        .state = buffer_text(&state)};
    int code = web_run(&request, err);
    buffer_free(&state);
    buffer_free(&text);
    return code;
}

/* argv[0] is "report" or a short name. */
int command_report(int argc, char **argv, struct error *err) {
    struct report_command command = {0};
    int code = report_command_read(&command, argc, argv, err);
    if (code == 0 && command.http)
        code = show_in_browser(&command, err);
    else if (code == 0 && !command.format)
        code = no_report(&command, err);
    else if (code == 0)
        code = (report_runs_wanted(&command.options) ? write_on_runs : write_report)(&command, err);
    report_command_free(&command);
    return code;
}

int command_top(int argc, char **argv, struct error *err) {
    return command_report(argc, argv, err);
}

int command_tree(int argc, char **argv, struct error *err) {
    return command_report(argc, argv, err);
}

int command_peek(int argc, char **argv, struct error *err) {
    return command_report(argc, argv, err);
}

int command_list(int argc, char **argv, struct error *err) {
    return command_report(argc, argv, err);
}
