/* fetch.h: fetches a profile from a URL: http://, https://, or https+insecure:// (certificates are not verified; the
 * name is pprof's). HOST:PORT/PATH is http:// too. A URL without a path gets /debug/pprof/profile. */
#ifndef CLEAR_INGEST_READ_FETCH_H
#define CLEAR_INGEST_READ_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct fetch_options {
    int64_t seconds;                /* how long the server is to record, sent as ?seconds=N; 0: as in the URL */
    int64_t timeout_s;              /* for the response; 0: 1.5 times the recording, or a minute without one */
    const char *tls_cert, *tls_key; /* PEM files of the client's certificate and key; both or neither */
    const char *tls_ca;             /* PEM file of the authorities to trust instead of the system's */
    const char *post;               /* the body of a POST, of which no redirection is followed; NULL: a GET */
    size_t post_size;               /* 0: it is a text */
    const char *const *headers;     /* "NAME: VALUE", more or in place of libcurl's; ends with NULL; NULL: none */
    const char *path;               /* of a URL without one; NULL: /debug/pprof/profile */
    char *(*explain)(const struct buffer *body); /* what the body of an error says, for free(); NULL: its first line */
    long *status;                                /* of the answer, 0 for none, also of a failure; may be NULL */
    uint64_t size_max;                           /* of the response, in bytes; 0: INPUT_SIZE_MAX */
    void (*progress)(void *context, const char *path, uint64_t done, uint64_t total); /* bytes; may be NULL */
    void *progress_context;
};

/* Whether the name has the form of a URL. Whether there is a file of that name is not checked. */
bool fetch_is_url(const char *name);

/* The URL without user name and password, for messages and the warehouse; free() it. */
char *fetch_shown_url(const char *url);

/* Where the server of a profile names addresses, as pprof asks it: .../debug/pprof/heap and gperftools' /pprof/heap give .../symbol, all else
 * .../symbolz, without a query. free() it. */
char *fetch_symbol_url(const char *url);

/* Adds the body of the response to `body`, at most size_max bytes. A status other than 2xx is a failure,
 * and the message has the first line of the response. `options` NULL is all zeros. */
int fetch(const char *url, const struct fetch_options *options, struct buffer *body, struct error *err);

#endif
