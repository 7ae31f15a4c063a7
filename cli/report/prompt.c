#include "cli/report/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/report/prompt_line.h"
#include "cli/runs.h"
#include "export/format.h"

/* ---- what is said ---- */

static int describe(struct prompt *prompt, struct error *err) {
    struct prompt_target *in_use = prompt->in_use;
    struct buffer text = {0};
    int64_t total = 0;
    int code = report_describe(&in_use->profile, &prompt->command->options, &text, &total, err);
    if (code == 0) fputs(buffer_text(&text), stdout);
    if (code == 0 && total == 0 && in_use->profile.type_count > 1)
        puts("No sample has this sample type; sample_index=TYPE chooses another, o lists them.");
    buffer_free(&text);
    return code;
}

static void print_banner(struct prompt *prompt) {
    struct error err = {0};
    if (describe(prompt, &err) < 0) prompt_print_error(prompt, &err);
    puts("Interactive: help lists the commands, o the options; quit leaves.");
}

/* ---- commands that are no reports ---- */

static int run_use(struct prompt *prompt, char *rest, struct error *err) {
    struct word_list targets = {0};
    for (char *word; (word = prompt_word(&rest));)
        word_list_add(&targets, word);
    /* For another target the kind is again the default, unless --kind was given. */
    int code = targets.count ? prompt_use(prompt, &targets, prompt->command->target.kind, err) : 0;
    free(targets.items);
    if (code == 0 && prompt->is_terminal) return describe(prompt, err);
    return code;
}

/* The runs of the warehouse, also if the target in use is a file. */
static int run_runs(struct prompt *prompt, char *rest, struct error *err) {
    struct db db = {0};
    if (*rest) return error_usage(err, "runs takes no argument; use RUN switches to a run");
    struct db *in_use = report_target_db(&prompt->in_use->target);
    if (!in_use->is_private) return runs_print(in_use, &(struct runs_shown){0}, err);
    int code = cli_open(&db, prompt->command->target.db, DB_READ, err);
    if (code == 0) code = runs_print(&db, &(struct runs_shown){0}, err);
    db_close(&db, err);
    return code;
}

/* "run=3", the default of :run, if one run is in use; else NULL. free() it. */
static char *run_in_use(struct prompt *prompt) {
    struct run_set runs = {0};
    report_target_runs(&prompt->in_use->target, &runs);
    char *text = runs.count == 1 ? xasprintf("run=%" PRId64, runs.ids[0]) : NULL;
    run_set_free(&runs);
    return text;
}

static int run_sql(struct prompt *prompt, char *rest, struct error *err) {
    if (!*rest) return error_usage(err, "sql needs a SELECT, as in sql SELECT * FROM run_summary");
    struct db *db = report_target_db(&prompt->in_use->target);
    char *run = run_in_use(prompt);
    struct answer_options options = {.timeout_ns = (int64_t)ASK_TIMEOUT_S * 1000000000, .run = run};
    int code;
    if (*rest == '@') {
        struct word_list arguments = {0};
        const char *name = prompt_word(&rest);
        for (char *word; (word = prompt_word(&rest));)
            word_list_add(&arguments, word);
        code = answer_saved(db, &options, name + 1, (char *const *)(uintptr_t)arguments.items, arguments.count, err);
        free(arguments.items);
    } else {
        code = answer_sql(db, &options, rest, NULL, 0, err);
    }
    free(run);
    return code;
}

static int run_options(struct prompt *prompt, char *rest, struct error *err) {
    if (*rest) return error_usage(err, "o lists all options; help %s explains one", rest);
    return prompt_print_options(prompt, err);
}

static int run_quit(struct prompt *prompt, char *rest, struct error *err) {
    (void)rest;
    (void)err;
    prompt->is_over = true;
    return 0;
}

static const struct prompt_command prompt_commands[] = {
    {"o", "options", run_options, "o, options", "list the options with their values"},
    {"help", NULL, prompt_help, "help [NAME]", "list commands and options, or explain one"},
    {"runs", NULL, run_runs, "runs", "list the runs of the warehouse"},
    {"use", NULL, run_use, "use TARGET...", "use another run, set of runs or file"},
    {"sql", NULL, run_sql, "sql SELECT ...",
     "query the warehouse; :run is the run in use; sql @NAME runs a saved query"},
    {"quit", "exit", run_quit, "quit, exit, q, ^D", "leave the prompt"},
    {"q", NULL, run_quit, "q", "leave the prompt"},
    {0},
};

/* ---- lines ---- */

static const struct prompt_command *find_command(const char *line, size_t size) {
    for (const struct prompt_command *command = prompt_commands; command->name; command++)
        if ((strlen(command->name) == size && strncmp(command->name, line, size) == 0) ||
            (command->also && strlen(command->also) == size && strncmp(command->also, line, size) == 0))
            return command;
    return NULL;
}

static int run_command(struct prompt *prompt, char *line, struct error *err) {
    size_t size = strcspn(line, prompt_blanks);
    const struct prompt_command *command = find_command(line, size);
    if (command) return command->run(prompt, prompt_trim(line + size), err);
    int code = prompt_assign(prompt, line, err);
    return code <= 0 ? code : prompt_report(prompt, line, err);
}

static void run_line(struct prompt *prompt, char *line) {
    struct word_list lines = {0};
    struct arena arena = {0};
    line = prompt_trim(line);
    if (*line && *line != '#') prompt_expand(prompt, line, &lines, &arena);
    for (size_t i = 0; i < lines.count; i++) {
        struct error err = {0};
        char *copy = xstrdup(lines.items[i]);
        if (run_command(prompt, copy, &err) < 0) {
            fflush(stdout);
            prompt_print_error(prompt, &err);
            prompt->failures++;
        }
        free(copy);
    }
    free(lines.items);
    arena_free(&arena);
}

/* A closed pipe or a full disk ends a script; main prints which. */
static void run_lines(struct prompt *prompt) {
    struct prompt_lines *lines = prompt_lines_open(prompt->is_terminal, prompt_complete, prompt);
    for (char *line; !prompt->is_over && (line = prompt_lines_next(lines));) {
        prompt->line++;
        run_line(prompt, line);
        fflush(stdout);
        if (ferror(stdout)) prompt->is_over = true;
    }
    prompt_lines_close(lines);
}

/* Suggests a report for a word that is no run. */
static int explain(const struct word_list *words, struct error *err) {
    const char *word = words->count ? words->items[0] : "";
    struct nearest nearest = {.word = word};
    const struct report_format *format;
    for (size_t i = 0; (format = report_format_at(i)); i++)
        nearest_offer(&nearest, format->name);
    if (err->status != ERROR_USAGE || !*nearest.found || !strstr(err->message, word)) return -1;
    *err = (struct error){0};
    return error_usage(err, "no report and no run is called '%s'; did you mean %s?", word, nearest.found);
}

int prompt_run(struct report_command *command, struct error *err) {
    struct prompt prompt = {
        .command = command, .commands = prompt_commands, .is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    command->options.compact_labels = true;
    if (prompt_use(&prompt, &command->target.targets, command->target.kind, err) < 0)
        return explain(&command->target.targets, err);
    if (prompt.is_terminal) print_banner(&prompt);
    run_lines(&prompt);
    prompt_leave(&prompt);
    prompt_viewed_close(&prompt.viewed);
    if (prompt.is_terminal) return 0;
    if (prompt.line == 0)
        return error_usage(
            err, "no report: clear report top, tree, peek=REGEX, ...; or commands on standard input, which is empty");
    return prompt.failures ? ERROR_FAILURE : 0;
}
