/* exchange.h: the types that the files of serve/ share: the server, one request with its reply, the table of paths. Private to serve/. */
#ifndef CLEAR_SERVE_EXCHANGE_H
#define CLEAR_SERVE_EXCHANGE_H

#include <netinet/in.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/map.h"
#include "ingest/receive/envelope.h"
#include "query/runs/run_set.h"
#include "serve/address.h"
#include "serve/cache.h"
#include "serve/parameters.h"
#include "serve/serve.h"
#include "serve/trees.h"

struct embedded;
struct export_format;
struct api_parameter;
struct job;
struct live;
struct profile_series;
struct resource;
struct MHD_Connection;
struct MHD_Daemon;
struct exchange;

enum {
    WAITING_MAX = 32,
    WAITING_SQL_MAX = WAITING_MAX / 2, /* of these: SQL of users */
    WAITING_SQL_OF_ADDRESS = WAITING_SQL_MAX / 2,
    WAITING_WRITERS_MAX = WAITING_MAX / 2, /* of these: what stores profiles that were sent */
};
enum { MARKS_MAX = 24, BODY_MAX = 256 /* of a POST */, SQL_MAX = 65536, SYMBOL_MAX = 65536 /* some 3,400 addresses */ };
enum {
    READ_SECONDS = 10, /* for a whole request, and between two requests of a connection */
    SEND_SECONDS = 10, /* for a reply, and one more for each SEND_RATE bytes of it */
    SEND_RATE = 65536,
};
#define SECOND_NS INT64_C(1000000000)

/* ---- the table of paths ---- */

enum method { METHOD_GET = 1, METHOD_HEAD = 2, METHOD_POST = 4 };

struct route {
    const char *path; /* below /debug/pprof/; NULL in the last row: any other word, which is then the kind */
    unsigned methods; /* enum method */
    void (*answer)(struct exchange *exchange); /* makes the reply, or suspends the request (exchange_wait) */
    const char *help;                          /* one line for the index; NULL: not in the index */
    const struct parameter *parameters;        /* that it accepts; NULL: those of a profile */
    /* Of a profile: */
    const char *kind, *type;         /* as for `clear export`; type NULL: the kind's default */
    int seconds;                     /* default of seconds= for a run that is being recorded; 0: the whole run */
    bool is_delta;                   /* only what happened since the last request for this path */
    const struct resource *resource; /* of the API: it reads the parameters */
    const char *none; /* sample type of the empty profile that a run without this kind gets; NULL: status 404 */
    bool is_page;     /* the parameters are the application's */
    bool is_raw;      /* reads its query and its body itself */
};
extern const struct route routes[]; /* below ROUTES_PREFIX; ends with the row without a path */
#define ROUTES_PREFIX "/debug/pprof/"
#define SYMBOL_PATH   ROUTES_PREFIX "symbol"
extern const struct route page_route; /* "/" and "/web/NAME" */
extern const struct route
    api_routes[]; /* below API_PREFIX; ends with a row without a path, which answers that there is no such resource */
#define API_PREFIX "/api/"
#define ROWS_PATH  API_PREFIX "rows"

/* Checks the request, and calls the function of its path. */
void routes_answer(struct exchange *exchange);
/* The checks that need no body; with a reply where one fails. */
void routes_check(struct exchange *exchange);

/* ---- the server ---- */

/* What a delta path has already sent of a run. It has a number for each sample of the run, so there are only a few marks. */
struct mark {
    const struct route *route;
    int64_t run_id;
    struct profile_series *series;
};

struct client {
    int descriptor;
    struct in6_addr address; /* or its network */
    int64_t deadline_ns; /* CLOCK_MONOTONIC: the connection is closed then; INT64_MAX while the client waits for us */
    bool is_busy;        /* from a whole request to the end of its reply */
    bool is_closing;     /* to make room for others */
    struct client *next, **link;
};

/* They have one address, or network. */
bool clients_are_one(const struct client *a, const struct client *b);

struct server {
    struct address address;
    char *url;
    struct MHD_Daemon *daemon;
    int descriptor; /* an epoll of the library's and of the jobs' pipes */
    bool has_ended; /* the recording */
    /* A connection was closed in the last step. Where all places were taken, the library listens no more until its next turn, for which it
     * asks no time: without that turn a server whose clients have all gone would wait for ever. */
    bool has_closed;
    struct client *clients;
    struct exchange *waiting[WAITING_MAX];
    size_t waiting_count, sending_bytes, receiving_bytes;
    int64_t swept_ns, looked_ns, left_ns;

    struct server_source source;
    struct db own; /* opened by source.open */
    bool is_open;
    dev_t device; /* of the file that is open */
    ino_t inode;
    int64_t asked_ns, flushed_ns; /* the last request that used it; the last flush that was requested */
    struct map fetched;           /* of a store: sets of runs -> when they were fetched, CLOCK_MONOTONIC */
    unsigned generation;          /* number of files there were under the name */
    struct cache cache;           /* of the file that is open */
    struct trees trees;           /* of the file of that name */
    struct cache answers;         /* of resources that are kept; the keys name the stamps of the file */
    struct mark marks[MARKS_MAX]; /* the most recently used one is last */
    size_t mark_count;
};

/* The state of a run at this moment. */
struct run_state {
    int64_t run_id;
    int64_t flushed_ns;         /* CLOCK_REALTIME: the last flush; all events up to then are stored */
    int64_t window_ns;          /* the end of the newest window; 0: there is none */
    bool is_recording, is_ours; /* ours: by this process */
};
int run_state_read(const struct server *server, struct db *db, int64_t run_id, struct run_state *state,
                   struct error *err);

/* The warehouse, open, or NULL with the error set. */
struct db *warehouse_db(struct server *server, struct error *err);
/* Closes the warehouse after a while without requests. */
void warehouse_rest(struct server *server);
void warehouse_close(struct server *server);
/* Stores all events up to now, if this process records the run. */
int warehouse_flush(struct server *server, int64_t run_id, struct error *err);
/* The marks of the delta paths, which are of another file. */
void marks_forget(struct server *server);

/* A server that listens nowhere: this process alone asks it. */
int server_open_alone(struct server **server, const struct server_source *source, struct error *err);

/* "http" or "https" */
const char *server_scheme(const struct server *server);

/* ---- one request ---- */

struct reply {
    unsigned status;         /* 0: none yet */
    const char *type;        /* of the content */
    const char *policy;      /* Content-Security-Policy */
    char *filename;          /* for a profile that a browser saves */
    char *note;              /* what the command said beside its answer, percent-encoded */
    bool is_lasting;         /* with a tag: another content has another address */
    char tag[24];            /* ETag: the client may keep it, and asks whether it is still so; "" none */
    const char *location;    /* of a redirection */
    const char *challenge;   /* WWW-Authenticate, of a 401 */
    unsigned allow;          /* enum method, of a 405 */
    bool is_error, is_sized; /* sized: `body` is complete, for HEAD too */
    struct buffer body;
};

/* Of a waiting request. */
struct wait {
    int64_t run_id;
    unsigned generation;           /* of the server when the wait began */
    struct profile_series *series; /* the reply has what came after it */
    int64_t until_ns;              /* CLOCK_REALTIME: events up to then must be stored first */
    int64_t due_ns, give_up_ns;    /* CLOCK_MONOTONIC */
};

/* The parameters of a request to the API, in their order. */
enum { API_GIVEN_MAX = 40 };
struct api_given {
    struct {
        const struct api_parameter *parameter;
        char *value; /* owned; not empty */
    } items[API_GIVEN_MAX];
    size_t count;
};
void api_given_free(struct api_given *given);
/* Makes the parameters that are options of reports (serve/api/resource.h). Call it before a request is read. */
void api_filters_read(void);
/* The same as a module for the application. */
void api_filters_script(struct buffer *out);

struct exchange {
    struct server *server;
    struct MHD_Connection *connection; /* NULL: asked by this process (page/asking.c) */
    struct client *client;
    char *uri;
    enum method method; /* 0: another */
    bool is_begun, is_waiting;
    const struct route *route;
    char *path;                     /* below its prefix, decoded */
    bool is_api;                    /* below API_PREFIX: errors are JSON */
    enum receive_protocol protocol; /* of profiles that are sent (receiver.h) */
    bool is_json;                   /* of these: the Content-Type */
    size_t collected;               /* of these: bytes of the body in `body`, or in the job that waits */
    int64_t begun_ns;               /* of these: when the headers were there, CLOCK_MONOTONIC */
    struct buffer body;             /* of a POST; more parameters, or SQL */
    struct parameters parameters;
    const struct export_format *format; /* of a profile */
    const char *kind;                   /* of a profile: instead of the route's; NULL: that */
    struct wait wait;                   /* of a profile */
    struct job *job;                    /* of the API: NULL, or the command that makes the answer */
    struct api_given given;
    struct run_set runs;                       /* of the API: those of its parameter, once they were looked up */
    char *filename;                            /* of the API: of a download */
    char *kept_as;                             /* of the API: the key in server->answers or ->trees; owned */
    const char *type;                          /* of the API: of the content; NULL: JSON */
    unsigned failure;                          /* of the API: the status where the command fails; 0: 500 */
    void (*finish)(struct exchange *exchange); /* makes the reply when the job is done; of a stream, when it begins */
    bool is_streaming, is_suspended; /* an answer is being sent as it comes; the client waits for more of it */
    struct live *live;               /* of the API: NULL, or what is watched for the answer */
    int64_t queued_ns;
    char *fetching;   /* of a store: the runs that are fetched before the answer is made; owned */
    int64_t asked_ns; /* of a store: when the first of them were asked for, CLOCK_MONOTONIC */
    bool is_read;     /* of the API: the parameters are in `given` */
    struct reply reply;
    size_t sent; /* bytes of its body that are being sent */
};

/* The value of a header; NULL: missing, or more than one (*count > 1). */
const char *exchange_header(const struct exchange *exchange, const char *name, size_t *count);
void exchange_error(struct exchange *exchange, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Replies with `status` for a usage error, and 500 for any other error. */
void exchange_failed(struct exchange *exchange, unsigned status, const struct error *err);
/* The reply as it was before anything was said. */
void exchange_reply_free(struct exchange *exchange);
/* With all that it owns. */
void exchange_free(struct exchange *exchange);
/* Its answer is what a statement of the client's says. */
bool exchange_is_sql(const struct exchange *exchange);
/* Suspends the request until exchange->wait is due, or until exchange->job is done. */
void exchange_wait(struct exchange *exchange);

/* Sends the answer as it comes: the output of exchange->job, or the events of exchange->live. */
void exchange_stream(struct exchange *exchange, const char *type);

/* What a recording does, as server-sent events (live.c). */
int live_begin(struct exchange *exchange, int64_t run_id, struct error *err);
/* Adds what is new to the events. */
void live_step(struct exchange *exchange, int64_t now_ns);
struct buffer *live_events(struct live *live); /* those to be sent */
bool live_is_over(const struct live *live);
void live_free(struct live *live);

/* ---- runs of a store ---- */

/* True: the runs of this set (NULL: the latest) are fetched first, and the route is asked again then; or there is an error already. Always
 * false where the runs are in a file. */
bool fetch_first(struct exchange *exchange, const char *set);
/* What it waits for has come in the meantime. */
bool fetch_is_done(const struct exchange *exchange);

/* ---- requests that wait ---- */

/* Looks after all of them; true: some go on, so the library has something to do. `looks_for_clients`: also for those that left. */
bool waiting_step(struct server *server, int64_t now_ns, bool looks_for_clients);
/* When waiting_step must be called next, CLOCK_MONOTONIC; INT64_MAX: never. */
int64_t waiting_next(const struct server *server);
/* The request is over: it waits no more. */
void waiting_forget(struct exchange *exchange);
/* Ends all of them with an error. */
void waiting_close(struct server *server);

/* ---- answers ---- */

/* False, with a reply, for a request without this token. `challenge` is what a 401 asks for: with access_basic a browser asks its user. */
bool access_check(struct exchange *exchange, const char *token, const char *challenge);
extern const char access_basic[], access_bearer[];

struct export_request;
/* The request, written by another process with limits of memory, time and output. apart_can: false for one of few stacks, one that needs what
 * this process knows (what a path has sent already), that is wrong, and for a run that has nothing of the kind yet. */
bool apart_can(const struct server *server, struct db *db, const struct export_request *request);
/* The job that writes it. */
struct job *apart_job(const struct server *server, const struct db *db, const struct export_request *request);

/* A file of the application ("web/main.js"), or NULL; also what is made of the tables of this program. The first is asked for with NULL. */
const struct embedded *application_file(const char *name);
const struct embedded *application_next(const struct embedded *file);

void index_answer(struct exchange *exchange);
void api_answer(struct exchange *exchange);
void profile_answer(struct exchange *exchange);
void cmdline_answer(struct exchange *exchange);
void symbol_answer(struct exchange *exchange);
/* The run of the parameter `run`: by default the one that is recorded, else the latest. */
int profile_run(const struct exchange *exchange, struct db *db, int64_t *run_id, struct error *err);
void toggle_answer(struct exchange *exchange);
void dump_answer(struct exchange *exchange);

/* For a waiting request: true when its reply is made. */
bool profile_answer_wait(struct exchange *exchange, int64_t now_ns);

#endif
