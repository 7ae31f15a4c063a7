/* prompt.h: the prompt of `clear report`: pprof's interactive commands and options, and sql, runs and use, on targets
 * that are loaded once. The commands come from a terminal or from a script on standard input.
 *
 * - prompt.c: reads lines and runs commands
 * - prompt_session.c: the target in use; words, and what is said
 * - prompt_line.c: lines of a script, or of a terminal with history
 * - prompt_complete.c: completes the word at the cursor
 * - prompt_option.c: NAME=VALUE, the list of options, shortcuts
 * - prompt_commands.c: a report: its words, its output
 * - prompt_job.c: the child process that writes a report
 * - view.c: the programs that show a report
 * - prompt_help.c: help */
#ifndef CLEAR_CLI_REPORT_PROMPT_H
#define CLEAR_CLI_REPORT_PROMPT_H

#include "cli/report/arguments.h"
#include "cli/report/view.h"

/* A target that was opened and loaded. It must not move: options and statements point into it. */
struct prompt_target {
    struct report_target target;
    struct profile profile;
};

struct prompt_command;

struct prompt {
    struct report_command *command;        /* the command line, and the current options */
    const struct prompt_command *commands; /* that are no reports; end with a NULL name */
    struct prompt_target *in_use;          /* never NULL */
    struct word_list targets;              /* the words that name in_use; texts are in the command's arena */
    struct prompt_viewed viewed;
    bool is_terminal;
    size_t line, failures; /* of a script: the line, from 1, and how many commands failed */
    bool is_over;
};

/* Runs a session. The exit status: 0; 1 if a command of a script failed. -1 with the error set if there is no
 * session: the target cannot be opened, or the script is empty. */
int prompt_run(struct report_command *command, struct error *err);

/* ---- for the files of the prompt ---- */

/* A command that is no report. `rest`: the line behind its name, without blanks around it; may be changed. */
struct prompt_command {
    const char *name, *also; /* another name, or NULL */
    int (*run)(struct prompt *prompt, char *rest, struct error *err);
    const char *usage, *help; /* help: one line, no full stop */
};

/* Prints on standard error, for a script with the number of the line. */
void prompt_print_error(const struct prompt *prompt, const struct error *err);
void prompt_print_note(void *context, const char *message); /* a filter_note of a const struct prompt */

/* Loads `targets` (NULL: the current ones again) as `kind` (NULL: the first kind that they have), and uses them
 * instead of the current ones. If that fails, the current ones stay in use. */
int prompt_use(struct prompt *prompt, const struct word_list *targets, const char *kind, struct error *err);
void prompt_leave(struct prompt *prompt); /* closes them */

#define prompt_blanks " \t\r\n\v\f"
/* The next word of a line, NUL-terminated in place; NULL after the last one. */
char *prompt_word(char **line);
/* Removes blanks at both ends. */
char *prompt_trim(char *text);

/* Sets an option: NAME=VALUE, or NAME of a switch. 1: the line is something else. May change the line. */
int prompt_assign(struct prompt *prompt, char *line, struct error *err);
bool prompt_is_option(const char *name);
int prompt_print_options(struct prompt *prompt, struct error *err);
/* Adds the lines that `line` is short for (":", "cpu", "total_delay"), or `line` itself. Texts are in `arena` or live
 * longer. */
void prompt_expand(struct prompt *prompt, const char *line, struct word_list *lines, struct arena *arena);

/* Runs a line that is a report: top10 -cum main >FILE. */
int prompt_report(struct prompt *prompt, char *line, struct error *err);

int prompt_help(struct prompt *prompt, char *rest, struct error *err);

/* A prompt_completer (cli/report/prompt_line.h) of a struct prompt. */
void prompt_complete(void *context, const char *line, size_t *start, struct word_list *found, struct arena *arena);

#endif
