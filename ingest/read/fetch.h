/* fetch.h: an artefact that a server hands out: http://, https:// or, as pprof has it, https+insecure:// (certificates are not looked at).
 * HOST:PORT/PATH is http:// too. Where a URL has no path, /debug/pprof/profile is asked for. */
#ifndef CLEAR_INGEST_READ_FETCH_H
#define CLEAR_INGEST_READ_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct fetch_options {
    int64_t seconds;   /* asked of the server as ?seconds=N: how long it shall record; 0: as the URL says */
    int64_t timeout_s; /* for the answer; 0: half as long again as the recording, a minute where there is none */
    const char *tls_cert, *tls_key; /* the client's, PEM files; both or neither */
    const char *tls_ca;             /* PEM file with the authorities to trust instead of the system's */
    void (*progress)(void *context, const char *path, uint64_t done, uint64_t total); /* bytes; may be NULL */
    void *progress_context;
};

/* Does the name say so? A file of that name is not looked for. */
bool fetch_is_url(const char *name);

/* The URL without a user's name and password, as it may be shown and kept; free() it. */
char *fetch_shown_url(const char *url);

/* The body of a GET, at most INPUT_SIZE_MAX bytes. Any status other than 2xx is a failure that shows the first line of the answer.
 * `options` NULL is all zeros. */
int fetch(const char *url, const struct fetch_options *options, struct buffer *body, struct error *err);

#endif
