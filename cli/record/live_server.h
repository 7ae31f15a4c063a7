/* live_server.h: the HTTP server of `clear profile --http`, in a process of its own: nothing that a request asks for ends or slows
 * the recorder. The process reads the warehouse through its own connection; what it needs of the recorder (a flush, whether
 * recording is on, to switch it) it asks for through a socket. */
#ifndef CLEAR_CLI_LIVE_SERVER_H
#define CLEAR_CLI_LIVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "serve/serve.h"

struct live_server_terms {
    const char *address, *database, *token; /* database: the option --db */
    const char *certificate, *key;          /* PEM texts: TLS alone is spoken; NULL: none */
    bool anywhere;
    bool (*records)(void *context, const char *kind); /* called in the server */
    /* Called in the recorder. */
    int (*flush)(void *context, struct error *err);
    bool (*is_on)(void *context);
    int (*set)(void *context, bool is_on, struct error *err);
    /* Those that the rings have now; NULL: there are no rings. */
    int (*store_events)(void *context, struct server_dump *dump, struct error *err);
    void *context;
};

struct live_server {
    const struct live_server_terms *terms; /* they live as long */
    pid_t pid;                             /* 0: none */
    int socket;                            /* -1: none; when it is readable, call live_server_step */
    char url[512];                         /* for a browser */
};

/* Starts the process, which waits for live_server_open. Call it before a warehouse is open: SQLite does not survive a fork(2). */
int live_server_start(struct live_server *live, const struct live_server_terms *terms, struct error *err);
/* Serves that run; live->url is set. */
int live_server_open(struct live_server *live, int64_t run_id, struct error *err);
/* Answers what the server asked. When the process has ended, says so on standard error; there is no server from then on. */
void live_server_step(struct live_server *live);
/* The recording has ended: lets the server answer the waiting requests, and ends it. Safe where there is none. */
void live_server_finish(struct live_server *live);

#endif
