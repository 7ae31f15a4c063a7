/* view.h: shows reports in another program: web, weblist on a terminal, eog, evince, gv, kcachegrind. In the prompt the report is
 * written to a file that is removed at the end of the session. If no program can be started, the file stays and a
 * message names it. */
#ifndef CLEAR_CLI_REPORT_VIEW_H
#define CLEAR_CLI_REPORT_VIEW_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/report/sources.h"

struct prompt_view {
    const char *name, *format, *suffix, *help; /* help: one line, no full stop */
    const char *program[3];                    /* and its options; a NULL program: a web browser */
};
extern const struct prompt_view prompt_views[]; /* ends with a NULL name */

struct prompt_viewed {
    const char *directory;  /* readable by the user only; NULL: not made yet */
    struct word_list files; /* to be removed at the end */
    size_t count;           /* of all files made so far */
    struct arena arena;
};

const struct prompt_view *prompt_view_find(const char *name); /* NULL: not found */
/* The name of a new file in a directory of the session's, in $TMPDIR, /tmp by default. NULL with the error set. */
const char *prompt_view_file(struct prompt_viewed *viewed, const struct prompt_view *view, struct error *err);
/* Starts the program in the background. */
int prompt_view_open(struct prompt_viewed *viewed, const struct prompt_view *view, const char *path, struct error *err);
void prompt_viewed_close(struct prompt_viewed *viewed);

/* Outside of a session: writes a report into such a file and starts the program. The file stays, because a browser may
 * read it long after the command has ended; a message names it. */
int prompt_view_show(const struct prompt_view *view, const struct report_format *format, const struct buffer *out,
                     struct error *err);

#endif
