/* web.h: shows runs or files in the browser: clear web, and clear report -http. */
#ifndef CLEAR_CLI_WEB_H
#define CLEAR_CLI_WEB_H

#include "cli/web/serving.h"

struct fetch_options;
struct web_request {
    struct serving serving;   /* its `page` is made here */
    const char *const *words; /* runs, or files and URLs, a program before them; `count` of them, 0: the latest run */
    size_t count;
    const char *const *bases; /* what is subtracted, likewise; `base_count` of them */
    size_t base_count;
    const struct fetch_options *fetch; /* of URLs; NULL: the defaults */
    const char *state;                 /* more of the page's URL, encoded: "&kind=heap"; NULL: nothing */
};

/* Several words are added up. Reads files and URLs into a warehouse of its own, which is removed at the end; runs and files together are a
 * usage error. A port that is left out behind a colon is a free one, as in pprof. Returns when a signal ends the server. */
int web_run(struct web_request *request, struct error *err);

/* Appends "&NAME=VALUE", encoded; nothing for a value that is NULL or empty. */
struct buffer;
void web_add_state(struct buffer *state, const char *name, const char *value);

#endif
