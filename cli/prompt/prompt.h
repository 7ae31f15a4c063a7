/* prompt.h: the prompt of `clear report`: pprof's interactive commands and options over a target that is loaded once, at a
 * terminal or from a script on standard input. Beside them `sql`, `runs`, `use`.
 *
 * prompt.c        the session: lines, and the command that each of them is
 * prompt_line.c   where lines come from: a script, or a terminal by libedit, with history
 * prompt_complete.c  what the word at the cursor could become
 * prompt_option.c NAME=VALUE, the list of options, shortcuts
 * prompt_report.c a report: its words, where it goes
 * prompt_job.c    the process that it is written in
 * prompt_view.c   the programs that show a report
 * prompt_help.c   help */
#ifndef CLEAR_CLI_PROMPT_PROMPT_H
#define CLEAR_CLI_PROMPT_PROMPT_H

#include "cli/prompt/view.h"
#include "cli/report_arguments.h"

/* A target that was opened and loaded. Its place in memory is fixed: options and statements point into it. */
struct prompt_target {
    struct report_target target;
    struct profile profile;
};

struct prompt {
    struct report_command *command; /* what the command line said, and the options in force */
    struct prompt_target *in_use;   /* never NULL */
    struct words targets;           /* what it was opened from, as said; texts are the command's arena */
    struct prompt_viewed viewed;
    bool is_terminal;
    size_t line, failures; /* of a script: the line, from 1, and how many commands failed */
    bool is_over;
};

/* The session, from the first line to the last. The exit status: 0 of a session at a terminal; of a script 0, or 1 where one
 * of its commands failed, which ends nothing. -1 where there is no session: the target cannot be opened, or the script is
 * empty. */
int prompt_run(struct report_command *command, struct error *err);

/* ---- for the files of the prompt ---- */

/* A command that is no report. `rest`: the line behind its name, without blanks around it; may be changed. */
struct prompt_command {
    const char *name, *also; /* another name, or NULL */
    int (*run)(struct prompt *prompt, char *rest, struct error *err);
    const char *usage, *help; /* help: one line, no full stop */
};
extern const struct prompt_command prompt_commands[]; /* ends with a NULL name */

/* To standard error: of a script, with the line. */
void prompt_print_error(const struct prompt *prompt, const struct error *err);
void prompt_print_note(void *context, const char *message); /* a filter_note of a const struct prompt */

/* Loads what `targets` name (NULL: what is in use, anew) as `kind` (NULL: the first that there is) in the place of what is in
 * use, which stays where that fails. */
int prompt_use(struct prompt *prompt, const struct words *targets, const char *kind, struct error *err);

/* The next word of a line, NUL-terminated in place; NULL after the last one. */
char *prompt_word(char **line);
/* Takes the blanks off both ends. */
char *prompt_trim(char *text);

/* NAME=VALUE, or NAME of a switch: sets the option. 1: the line is no such thing. May change the line. */
int prompt_assign(struct prompt *prompt, char *line, struct error *err);
bool prompt_is_option(const char *name);
int prompt_print_options(struct prompt *prompt, struct error *err);
/* Adds the lines that `line` is short for (":", "cpu", "total_delay"), or itself. Texts are in `arena`, or as long-lived. */
void prompt_expand(struct prompt *prompt, const char *line, struct words *lines, struct arena *arena);

/* A line that is a report: top10 -cum main >FILE. */
int prompt_report(struct prompt *prompt, char *line, struct error *err);

int prompt_help(struct prompt *prompt, char *rest, struct error *err);

/* A prompt_completer (cli/prompt/line.h) of a struct prompt. */
void prompt_complete(void *context, const char *line, size_t *start, struct words *found, struct arena *arena);

#endif
