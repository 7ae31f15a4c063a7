/* A report at the prompt: reads its words, and writes it in a child process. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/report/output.h"
#include "cli/report/prompt.h"
#include "cli/report/prompt_job.h"
#include "export/format.h"
#include "query/report/report_runs.h"

struct prompt_request {
    struct prompt *prompt;
    const struct report_format *format;
    const struct prompt_view *view; /* NULL: no other program shows it */
    struct report_options options;  /* the current options, changed by the words for this report */
    const char *output;
    bool is_made;           /* the output is a file of ours, empty so far */
    struct word_list words; /* after the name; the digits of top10 come first */
    struct profile *profile;
    struct buffer focus, ignore;
    struct arena arena;
};

/* ---- words ---- */

static const struct report_format *format_called(const char *name) {
    const struct prompt_view *view = prompt_view_find(name);
    if (view) name = view->format;
    return report_format_named(name);
}

static int unknown(const struct prompt *prompt, const char *name, const char *argument, struct error *err) {
    struct nearest nearest = {.word = name};
    const struct report_format *format;
    if (prompt_is_option(name))
        return error_usage(err, "%s is an option: %s=%s", name, name, argument ? argument : "VALUE");
    for (size_t i = 0; (format = report_format_at(i)); i++)
        nearest_offer(&nearest, format->name);
    for (const struct prompt_view *view = prompt_views; view->name; view++)
        nearest_offer(&nearest, view->name);
    for (const struct prompt_command *command = prompt->commands; command->name; command++)
        nearest_offer(&nearest, command->name);
    if (!*nearest.found) return error_usage(err, "unknown command '%s'; help lists them", name);
    return error_usage(err, "unknown command '%s'; did you mean %s?", name, nearest.found);
}

/* top10 is top 10. */
static void split_digits(struct prompt_request *request, char *name) {
    size_t size = strlen(name), all = size;
    while (size && isdigit((unsigned char)name[size - 1]))
        size--;
    if (size == 0 || size == all) return;
    word_list_add(&request->words, arena_text(&request->arena, name + size, all - size));
    name[size] = '\0';
}

static int read_name(struct prompt_request *request, char *line, struct error *err) {
    char *name = prompt_word(&line);
    request->format = format_called(name);
    if (!request->format) {
        char *whole = arena_text(&request->arena, name, strlen(name));
        split_digits(request, name);
        request->format = format_called(name);
        if (!request->format) return unknown(request->prompt, whole, prompt_word(&line), err);
    }
    /* A script shows no pages. */
    bool is_both = strcmp(name, request->format->name) == 0;
    if (request->prompt->is_terminal || !is_both) request->view = prompt_view_find(name);
    for (char *word; (word = prompt_word(&line));)
        word_list_add(&request->words, word);
    return 0;
}

/* Whole numbers of 32 bits, as pprof takes them; larger ones are patterns. */
static bool is_number(const char *word, int64_t *number) {
    char *end;
    if (!isdigit((unsigned char)word[*word == '+' || *word == '-'])) return false;
    errno = 0;
    int64_t value = strtoll(word, &end, 10);
    if (errno || *end || value < INT32_MIN || value > INT32_MAX) return false;
    *number = value;
    return true;
}

static void add_regex(struct buffer *regex, const char *word) {
    if (*word) buffer_printf(regex, "%s%s", regex->size ? "|" : "", word);
}

static int read_word(struct prompt_request *request, size_t *at, struct error *err) {
    const char *word = request->words.items[*at];
    if (is_number(word, &request->options.nodecount)) return 0;
    if (*word == '>') {
        request->output = word[1] ? word + 1 : request->words.items[++*at];
        return request->output ? 0 : error_usage(err, "> needs a file, as in top >FILE");
    }
    if (strcmp(word, "-cum") == 0 || strcmp(word, "--cum") == 0)
        request->options.cum = true;
    else if (*word == '-')
        add_regex(&request->ignore, word + 1);
    else
        add_regex(&request->focus, word);
    return 0;
}

static void apply_words(struct prompt_request *request) {
    enum { LINES_AT_PROMPT = 10 };
    struct report_options *options = &request->options;
    const char *name = request->format->name;
    bool is_tags = strcmp(name, "tags") == 0;
    bool is_list = strcmp(name, "text") == 0 || strcmp(name, "top") == 0;
    if (request->focus.size)
        *(is_tags ? &options->filter.tagfocus : &options->filter.focus) = buffer_text(&request->focus);
    if (request->ignore.size)
        *(is_tags ? &options->filter.tagignore : &options->filter.ignore) = buffer_text(&request->ignore);
    if (is_list && options->nodecount == -1) options->nodecount = LINES_AT_PROMPT;
}

/* NAME [PATTERN] [N] [FOCUS]... [-IGNORE]... [-cum] [>FILE] */
static int read_request(struct prompt_request *request, char *line, struct error *err) {
    size_t at = 0;
    if (read_name(request, line, err) < 0) return -1;
    const char *name = request->format->name;
    if (request->format->takes_pattern) {
        if (request->words.count == 0) return error_usage(err, "%s needs a pattern, as in %s main", name, name);
        request->options.symbol = request->words.items[at++];
    }
    for (; at < request->words.count; at++)
        if (read_word(request, &at, err) < 0) return -1;
    apply_words(request);
    return 0;
}

static void free_request(struct prompt_request *request) {
    free(request->words.items);
    buffer_free(&request->focus);
    buffer_free(&request->ignore);
    arena_free(&request->arena);
}

/* ---- files ---- */

/* The suffix of reports that are not text for a terminal and go to a file, as in pprof; else NULL. */
static const char *suffix_of(const struct report_format *format) {
    if (strcmp(format->name, "callgrind") == 0) return "callgraph.out"; /* pprof's own */
    return format->is_binary && format->suffix ? format->suffix + 1 : NULL;
}

/* Creates the first of profile001.SUFFIX, profile002.SUFFIX, ... that does not exist. */
static const char *make_file(struct arena *arena, const char *suffix, struct error *err) {
    enum { FILES_MAX = 10000 };
    for (int number = 1; number < FILES_MAX; number++) {
        char *path = xasprintf("profile%03d.%s", number, suffix);
        const char *kept = arena_text(arena, path, strlen(path));
        free(path);
        int file = open(kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno == EEXIST) continue;
        if (file < 0) break;
        close(file);
        return kept;
    }
    error_fail(err, "profile001.%s: %s; name a file with >FILE", suffix, strerror(errno));
    return NULL;
}

/* A report that another program shows needs no file name. */
static int choose_output(struct prompt_request *request, struct error *err) {
    if (request->view) return 0;
    const char *suffix = suffix_of(request->format);
    request->is_made = !request->output && suffix;
    if (request->is_made && !(request->output = make_file(&request->arena, suffix, err))) return -1;
    if (request->output) fprintf(stderr, "Generating report in %s\n", request->output);
    return 0;
}

/* ---- the process ---- */

enum { STATUS_OK, STATUS_FAILED, STATUS_NO_OUTPUT };

/* In the child: reports change the profile, which is the child's own copy. */
static int write_report(void *context) {
    struct prompt_request *request = context;
    struct prompt *prompt = request->prompt;
    struct error err = {0};
    struct buffer out = {0};
    int code =
        report_write(request->profile, request->format, &request->options, &out, prompt_print_note, prompt, &err);
    if (code == 0) code = choose_output(request, &err);
    if (code == 0) code = report_output(request->format, &out, request->output, &err);
    buffer_free(&out);
    if (code < 0 && request->is_made && request->output) (void)unlink(request->output);
    if (code < 0) prompt_print_error(prompt, &err);
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return code < 0 ? STATUS_FAILED : STATUS_OK;
    if (errno != EPIPE) fprintf(stderr, "clear: standard output: %s\n", strerror(errno ? errno : EIO));
    return STATUS_NO_OUTPUT;
}

/* 0: it was written; 1: it was not, and the child has printed why, or the user interrupted it. */
static int look_at(struct prompt *prompt, int status, struct error *err) {
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGPIPE || (!signal && WEXITSTATUS(status) == STATUS_NO_OUTPUT)) prompt->is_over = true;
    if (signal && signal != SIGPIPE && signal != SIGINT)
        return error_fail(err, "signal %d ended the report (%s)", signal, strsignal(signal));
    if (signal == SIGINT)
        putchar('\n');
    else if (status)
        prompt->failures++;
    return status ? 1 : 0;
}

/* A report runs in a process of its own: it changes the profile that it is about, which fork copies as it is touched;
 * and ^C, or running out of memory, ends the report and not the session. The child leaves the warehouse alone:
 * SQLite's connections do not survive a fork. */
static int run_request(struct prompt *prompt, struct prompt_request *request, struct error *err) {
    int status;
    bool is_viewed = request->view && !request->output;
    if (!is_viewed) request->view = NULL;
    if (!*request->options.title) request->options.title = prompt->in_use->target.title;
    if (prompt->in_use->target.base_title) request->options.base_title = prompt->in_use->target.base_title;
    if (is_viewed && !(request->output = prompt_view_file(&prompt->viewed, request->view, err))) return -1;
    if (prompt_job(prompt->is_terminal, write_report, request, &status, err) < 0) return -1;
    int code = look_at(prompt, status, err);
    if (code == 0 && is_viewed) return prompt_view_open(&prompt->viewed, request->view, request->output, err);
    return code < 0 ? -1 : 0;
}

/* Reports that read the warehouse run by run are made in this process, which owns the connection. */
static int write_on_runs(struct prompt *prompt, struct prompt_request *request, struct error *err) {
    struct buffer out = {0};
    request->view = NULL; /* these reports are text */
    int code = report_target_write_runs(&prompt->in_use->target, request->format, &request->options, &out,
                                        prompt_print_note, prompt, err);
    if (code == 0) code = choose_output(request, err);
    if (code == 0) code = report_output(request->format, &out, request->output, err);
    buffer_free(&out);
    return code;
}

/* The session's profile; or where both sides of its difference are to be seen and it has no marks, one that has. */
static int write_on_profile(struct prompt *prompt, struct prompt_request *request, struct error *err) {
    struct report_target *target = &prompt->in_use->target;
    struct profile marked;
    request->profile = &prompt->in_use->profile;
    if (target->is_diff || !target->bases.count || !report_has_sides(request->format, &request->options))
        return run_request(prompt, request, err);
    target->is_diff = true;
    int code = report_target_load(target, &marked, err);
    target->is_diff = false;
    if (code < 0) return -1;
    request->profile = &marked;
    code = run_request(prompt, request, err);
    profile_free(&marked);
    return code;
}

int prompt_report(struct prompt *prompt, char *line, struct error *err) {
    struct prompt_request request = {
        .prompt = prompt, .options = prompt->command->options, .output = prompt->command->output};
    int code = read_request(&request, line, err);
    if (code == 0)
        code = (report_runs_wanted(&request.options) ? write_on_runs : write_on_profile)(prompt, &request, err);
    free_request(&request);
    return code;
}
