/* prompt_view.h: reports that another program shows: web, weblist at a terminal, eog, evince, gv, kcachegrind. The report goes
 * to a file that lives as long as the session; where no program can be started it stays, and that is said. */
#ifndef CLEAR_CLI_PROMPT_VIEW_H
#define CLEAR_CLI_PROMPT_VIEW_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/report_sources.h"

struct prompt_view {
    const char *name, *format, *suffix, *help; /* help: one line, no full stop */
    const char *program[3];                    /* and its options; a NULL program: a web browser */
};
extern const struct prompt_view prompt_views[]; /* ends with a NULL name */

struct prompt_viewed {
    const char *directory; /* the user's alone; NULL: none yet */
    struct words files;    /* to be removed at the end */
    size_t count;          /* of those that there were */
    struct arena arena;
};

const struct prompt_view *prompt_view_find(const char *name); /* NULL: it is none */
/* The name of a new file in a directory of the session's, in $TMPDIR, /tmp by default. NULL with the error set. */
const char *prompt_view_file(struct prompt_viewed *viewed, const struct prompt_view *view, struct error *err);
/* Starts the program, which goes on beside the session. */
int prompt_view_open(struct prompt_viewed *viewed, const struct prompt_view *view, const char *path, struct error *err);
void prompt_viewed_close(struct prompt_viewed *viewed);

#endif
