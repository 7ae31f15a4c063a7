/* page_file.h: one HTML file with the application of web/ and the answers of the API for one run, which a browser shows without a server and
 * without a network. The answers are those that the server gives; what is not among them, the pages say. */
#ifndef CLEAR_SERVE_PAGE_PAGE_FILE_H
#define CLEAR_SERVE_PAGE_PAGE_FILE_H

#include "base/buffer.h"
#include "serve/serve.h"

struct page_file {
    const struct server_source *source; /* open, config, source_path and context; a file, and no store */
    const char *run, *base;             /* words for a run and, or NULL, for the runs that it is compared with */
    size_t most;                        /* bytes of the file */
    size_t left_out;                    /* set: answers that had no room */
};

/* Adds the file to `out`. */
int page_file_make(struct page_file *file, struct buffer *out, struct error *err);

#endif
