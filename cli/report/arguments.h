/* arguments.h: the command line of `clear report` and its short names, read into what it asks for. */
#ifndef CLEAR_CLI_REPORT_ARGUMENTS_H
#define CLEAR_CLI_REPORT_ARGUMENTS_H

#include "base/arena.h"
#include "base/error.h"
#include "cli/report/sources.h"
#include "cli/report/view.h"
#include "query/report/report.h"

struct report_command {
    const char *name; /* the command's: report, top, peek, ... */
    const char *output;
    const char *http; /* an address: show it in the browser instead; NULL: do not */
    bool no_browser;
    const struct report_format *format; /* NULL: none is named; that is for the prompt (cli/report/prompt.h) */
    const struct prompt_view *view;     /* the program that shows it where no output is named; NULL: none */
    struct report_target target;
    struct report_options options;
    struct arena arena; /* texts of the options */
};

/* Options are as pprof's, with one dash or two, "=" or a word of its own. -1 with no error set: help was asked for, and
 * printed. report_command_free it, whatever comes of it. */
int report_command_read(struct report_command *command, int argc, char **argv, struct error *err);
void report_command_free(struct report_command *command);

#endif
