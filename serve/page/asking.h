/* asking.h: requests to the API that come from this process and not from a client. Private to serve/page/. */
#ifndef CLEAR_SERVE_PAGE_ASKING_H
#define CLEAR_SERVE_PAGE_ASKING_H

#include <stddef.h>

#include "base/buffer.h"

struct server;

/* The caller sets resource and query ("kind=cpu&width=1200"). */
struct api_question {
    const char *resource;
    char *query;     /* owned */
    unsigned status; /* 200, or `body` is the error */
    struct buffer body;
};
/* Answers all of them, as a client would be answered: by the same commands, several at a time, with the same limits. `server` is of
 * server_open_alone. */
void server_ask(struct server *server, struct api_question *asks, size_t count);
void api_questions_free(struct api_question *asks, size_t count);

#endif
