/* multipart.h: the parts of a form (multipart/form-data, RFC 7578). */
#ifndef CLEAR_INGEST_RECEIVE_MULTIPART_H
#define CLEAR_INGEST_RECEIVE_MULTIPART_H

#include <stdbool.h>

#include "base/wire.h"

/* Whether the Content-Type is that of a form. */
bool multipart_is(const char *type);

struct multipart {
    char delimiter[76]; /* "--" and the boundary, of at most 70 characters */
    struct wire rest;
};
/* False where the type names no boundary. */
bool multipart_begin(struct multipart *parts, const char *type, struct wire body);
/* The next part: 1; 0 behind the last one; -1 where the form is cut off, or is none. `name` is where it stands, "" for none. */
int multipart_next(struct multipart *parts, struct wire *name, struct wire *content);

#endif
