/* serve.h: a small HTTP server over a warehouse, with the paths of Go's net/http/pprof.
 *
 * It has no thread and no loop of its own, because SQLite is used from one thread: whoever opens it waits until
 * server_descriptor is readable or server_timeout has passed, and calls server_step. A request that has to wait
 * (?seconds=N) is put aside meanwhile; the others are answered. What a request costs is bounded: length of its URL and
 * headers, connections, requests that wait, seconds to wait, bytes on their way out, and the time a client may take. */
#ifndef CLEAR_SERVE_SERVE_H
#define CLEAR_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/db.h"

struct server;

#define SERVE_ADDRESS "127.0.0.1:6060"

/* What switches a recording on and off, for who has the token. */
struct server_control {
    bool (*is_on)(void *context); /* NULL: there is nothing to switch */
    int (*set)(void *context, bool is_on, struct error *err);
    const char *token; /* what token_check (serve/token.h) approves of */
    void *context;
};

/* Where the profiles are read. */
struct server_source {
    /* A recording of this process: the connection that writes it, the run, and what stores all that has happened until now. */
    struct db *db;
    int64_t run_id;
    int (*flush)(void *context, struct error *err);
    bool (*records)(void *context, const char *kind); /* false: what is not there of that kind will not come either */
    struct server_control control;
    /* Else what opens the warehouse for reading. It is closed when nobody has asked for anything in a while, so that a
     * recorder that ends can fold its -wal into the file. */
    int (*open)(void *context, struct db *db, struct error *err);
    void *context;
};

/* Listens at `address` (serve/address.h). One that others can reach is a usage error but with `anywhere`. */
int server_open(struct server **server, const char *address, bool anywhere, const struct server_source *source,
                struct error *err);
/* What to open in a browser: "http://127.0.0.1:6060/debug/pprof/". */
const char *server_url(const struct server *server);
int server_descriptor(const struct server *server);
/* At most so many nanoseconds until the next server_step, even if nobody asks for anything; -1: any number. */
int64_t server_timeout(const struct server *server);
void server_step(struct server *server);
/* The recording has ended: answers those that wait, and gives them a moment to read it. Nobody else is let in. */
void server_finish(struct server *server);
/* Safe on NULL. */
void server_close(struct server *server);

#endif
