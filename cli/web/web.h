/* web.h: shows runs or a file in the browser: clear web, and clear report -http. */
#ifndef CLEAR_CLI_WEB_H
#define CLEAR_CLI_WEB_H

#include "cli/web/serving.h"

struct web_request {
    struct serving serving;   /* its `page` is made here */
    const char *const *words; /* runs, or one file or URL; `count` of them, 0: the latest run */
    size_t count;
    const char *state; /* more of the page's URL, encoded: "&kind=heap"; NULL: nothing */
};

/* Reads a file or URL into a warehouse of its own, which is removed at the end. Returns when a signal ends the server. */
int web_run(struct web_request *request, struct error *err);

/* Appends "&NAME=VALUE", encoded; nothing for a value that is NULL or empty. */
struct buffer;
void web_add_state(struct buffer *state, const char *name, const char *value);

#endif
