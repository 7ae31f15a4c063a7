/* envelope.h: what a server hands on of a request with profiles: how it was sent, and behind it the body as it came. The server writes the
 * envelope before the body is there, and reads nothing of either: what strangers sent is read in a process that ends with it. */
#ifndef CLEAR_INGEST_RECEIVE_ENVELOPE_H
#define CLEAR_INGEST_RECEIVE_ENVELOPE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/wire.h"

enum receive_protocol {
    RECEIVE_NONE,
    RECEIVE_OTLP,      /* POST /v1development/profiles, ExportProfilesServiceRequest */
    RECEIVE_PYROSCOPE, /* POST /ingest */
    RECEIVE_PUSH,      /* POST /push.v1.PusherService/Push, of the Connect protocol */
    RECEIVE_PROTOCOLS
};

struct envelope {
    enum receive_protocol protocol;
    bool is_gzip, is_json; /* by the headers Content-Encoding and Content-Type */
    char *query, *type;    /* behind the ? of the URL; the header Content-Type; "" none. Owned by who reads */
};

/* Adds it; the body is what follows. */
void envelope_add(struct buffer *out, const struct envelope *envelope);
/* Takes it from the front of `bytes`, which is the body then. False where it is none; envelope_free in any case. */
bool envelope_read(struct envelope *envelope, struct wire *bytes);
void envelope_free(struct envelope *envelope);

#endif
