/* prompt_line.h: reads the lines of the prompt from a script, or from a terminal with editing, history and completion
 * (libedit). The history is $XDG_STATE_HOME/clear/report_history, by default below ~/.local/state. If it cannot be
 * written, there is no history and no message. */
#ifndef CLEAR_CLI_REPORT_PROMPT_LINE_H
#define CLEAR_CLI_REPORT_PROMPT_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "cli/report/sources.h"

struct prompt_lines;

/* What the last word of `line`, which ends at the cursor, could become: whole words, sorted, kept in `arena`.
 * `*start` is where that word begins. */
typedef void prompt_completer(void *context, const char *line, size_t *start, struct word_list *found,
                              struct arena *arena);

/* At a terminal or from standard input as it is. `complete` is asked at a terminal. */
struct prompt_lines *prompt_lines_open(bool is_terminal, prompt_completer *complete, void *context);
/* The next line without its end, NULL after the last; the caller may change it until the next call. ^C at a terminal
 * gives an empty line. */
char *prompt_lines_next(struct prompt_lines *lines);
void prompt_lines_close(struct prompt_lines *lines);

#endif
