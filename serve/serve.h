/* serve.h: a small HTTP server for a warehouse, with the paths of Go's net/http/pprof.
 *
 * It has no thread and no loop, because SQLite is used from one thread: the caller waits until server_descriptor is readable or
 * server_timeout has passed, and then calls server_step. A request that must wait (?seconds=N) is suspended, and others are answered
 * in the meantime. The cost of requests is limited: length of URL and headers, connections, waiting requests, seconds to wait,
 * bytes that are being sent, and the time that a client may take. */
#ifndef CLEAR_SERVE_SERVE_H
#define CLEAR_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/db.h"

struct server;

#define SERVE_ADDRESS "127.0.0.1:6060"

/* What a POST to dump stored: the rings of running processes were copied first, and rows were written from the copy. */
struct server_dump {
    int64_t saved, save_ns; /* events that were copied; how long that took */
};

/* Switches a recording on and off, and stores its events, for clients with the token. */
struct server_control {
    bool (*is_on)(void *context); /* NULL: there is no recording to switch */
    int (*set)(void *context, bool is_on, struct error *err);
    int (*store_events)(void *context, struct server_dump *dump,
                        struct error *err); /* NULL: it keeps no single events */
    const char *token;                      /* a token that token_check (serve/token.h) accepts */
    void *context;
};

/* What programs send is stored (--receive). */
struct server_receive {
    const char *db;    /* the file; NULL: nothing is received */
    const char *token; /* a token that token_check accepts */
    int64_t every_ns;  /* how long a run is */
};

/* The warehouse to serve. */
struct server_source {
    /* A recording of this process: the connection that writes it, the run, and the function that stores all events up to now. */
    struct db *db;
    int64_t run_id;
    int (*flush)(void *context, struct error *err);
    bool (*records)(void *context, const char *kind); /* false: there will be no profile of that kind */
    struct server_control control;
    struct server_receive receive;
    /* Otherwise the function that opens the warehouse for reading. It is closed when there was no request for a while, so that a
     * recorder that ends can write its -wal into the file. */
    int (*open)(void *context, struct db *db, struct error *err);
    /* Of a team's store: its address, the project, and the file that `open` opens, with the runs that were asked for; they are fetched by
     * the commands of answers. */
    const char *store, *project, *fetched; /* NULL: `open` opens all there is */
    const char *name;                      /* of the store, for users */
    int64_t fetched_max;                   /* bytes of that file; 0: no limit */
    const char
        *token; /* every request must have it (serve/token.h), as with --http-anywhere; NULL: none is needed to read */
    const char *
        source_path; /* "a:b": source files below these directories, and that of the warehouse, may be read; NULL: that alone */
    const char *certificate, *key; /* PEM texts: TLS alone is spoken; NULL: none */
    const char *config; /* the configuration of the commands that make answers of the API; NULL: an empty one */
    void *context;
};

/* Listens at `address` (serve/address.h). An address that other machines can reach is a usage error without `anywhere`. */
int server_open(struct server **server, const char *address, bool anywhere, const struct server_source *source,
                struct error *err);
/* The URL for a browser: "http://127.0.0.1:6060/debug/pprof/". */
const char *server_url(const struct server *server);
int server_descriptor(const struct server *server);
/* Nanoseconds after which server_step must be called, also without a request; -1: no limit. */
int64_t server_timeout(const struct server *server);
void server_step(struct server *server);
/* The recording has ended: answers the waiting requests, and gives their clients a moment to read. Accepts no new ones. */
void server_finish(struct server *server);
/* NULL is allowed. */
void server_close(struct server *server);

#endif
