/* exchange.h: what the files of the server share: the server itself, one request with its reply, and the table of paths. */
#ifndef CLEAR_SERVE_EXCHANGE_H
#define CLEAR_SERVE_EXCHANGE_H

#include <sys/types.h>

#include "base/buffer.h"
#include "serve/address.h"
#include "serve/cache.h"
#include "serve/parameters.h"
#include "serve/serve.h"

struct export_format;
struct profile_series;
struct MHD_Connection;
struct MHD_Daemon;
struct exchange;

enum { WAITING_MAX = 32, MARKS_MAX = 24, BODY_MAX = 256 };

/* ---- the table of paths ---- */

enum method { METHOD_GET = 1, METHOD_HEAD = 2, METHOD_POST = 4 };

struct route {
    const char *path; /* below /debug/pprof/; NULL, the last row: any other word, which is then the kind */
    unsigned methods; /* enum method */
    void (*answer)(struct exchange *exchange); /* makes the reply, or puts the request aside (exchange_wait) */
    const char *help;                          /* one line, for the index; NULL: not in it */
    const struct parameter *parameters;        /* that it takes; NULL: those of a profile */
    /* Of a profile: */
    const char *kind, *type; /* as for `clear export`; type NULL: the kind's default */
    int seconds;             /* how long a run that goes on is watched where nothing is said; 0: all of it is meant */
    bool is_delta;           /* since this path was last asked for */
};
extern const struct route routes[]; /* ends with the one of no path */
#define ROUTES_PREFIX "/debug/pprof/"

/* Checks the request and has it answered. */
void routes_answer(struct exchange *exchange);

/* ---- the server ---- */

/* What a delta path has told of a run. It holds a number for each of the run's samples, so there are not many. */
struct mark {
    const struct route *route;
    int64_t run_id;
    struct profile_series *series;
};

struct client {
    int descriptor;
    int64_t deadline_ns; /* CLOCK_MONOTONIC: then it is dropped; INT64_MAX while we are the ones that are waited for */
    bool is_busy;        /* between a request and the end of its reply */
    struct client *next, **link;
};

struct server {
    struct address address;
    char *url;
    struct MHD_Daemon *daemon;
    int descriptor;
    bool has_ended; /* the recording */
    struct client *clients;
    struct exchange *waiting[WAITING_MAX];
    size_t waiting_count, sending_bytes;
    int64_t swept_ns, looked_ns;

    struct server_source source;
    struct db own; /* opened by source.open */
    bool is_open;
    dev_t device; /* of the file that is open */
    ino_t inode;
    int64_t asked_ns, flushed_ns; /* the last request for it; the last flush asked for */
    unsigned generation;          /* how many files there were under the name */
    struct cache cache;           /* of the file that is open */
    struct mark marks[MARKS_MAX]; /* the one that was used last is the last */
    size_t mark_count;
};

/* The warehouse, open, or NULL with the error set. */
struct db *warehouse_db(struct server *server, struct error *err);
/* Closes what nobody has asked for in a while. */
void warehouse_rest(struct server *server);
void warehouse_close(struct server *server);
/* Stores what has happened until now, if the run is recorded by this process. */
int warehouse_flush(struct server *server, int64_t run_id, struct error *err);

/* ---- one request ---- */

struct reply {
    unsigned status;         /* 0: none yet */
    const char *type;        /* of the content */
    const char *policy;      /* Content-Security-Policy */
    char *filename;          /* of a profile to be saved */
    const char *location;    /* of a redirection */
    const char *challenge;   /* WWW-Authenticate, of a 401 */
    unsigned allow;          /* enum method, of a 405 */
    bool is_error, is_sized; /* sized: `body` is all of it, even if HEAD was asked for */
    struct buffer body;
};

/* Of a request that waits. */
struct wait {
    int64_t run_id;
    unsigned generation;           /* of the server, when it began */
    struct profile_series *series; /* what came after that is told */
    int64_t until_ns;              /* CLOCK_REALTIME: what happened until then must be stored */
    int64_t due_ns, give_up_ns;    /* CLOCK_MONOTONIC */
};

struct exchange {
    struct server *server;
    struct MHD_Connection *connection;
    struct client *client;
    char *uri;
    enum method method; /* 0: another */
    bool is_begun, is_waiting;
    const struct route *route;
    char *path;              /* below ROUTES_PREFIX, decoded */
    char body[BODY_MAX + 1]; /* of a POST; more parameters */
    size_t body_size;
    struct parameters parameters;
    const struct export_format *format; /* of a profile */
    struct wait wait;
    struct reply reply;
    size_t sent; /* bytes of its body that are on their way */
};

/* The value of a header; NULL: not there, or there more than once (then *count > 1). */
const char *exchange_header(const struct exchange *exchange, const char *name, size_t *count);
void exchange_error(struct exchange *exchange, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A usage error is `status`, anything else is ours. */
void exchange_failed(struct exchange *exchange, unsigned status, const struct error *err);
/* Puts the request aside until exchange->wait is due. */
void exchange_wait(struct exchange *exchange);

/* ---- answers ---- */

void index_answer(struct exchange *exchange);
void profile_answer(struct exchange *exchange);
void toggle_answer(struct exchange *exchange);
void profile_forget(struct server *server); /* what the delta paths have told: it was of another file */
/* Of a request that waits: true once its reply is made. */
bool profile_look(struct exchange *exchange, int64_t now_ns);

#endif
