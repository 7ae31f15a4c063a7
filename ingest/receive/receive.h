/* receive.h: stores what programs send over HTTP (clear serve --receive): OpenTelemetry's profiles, and Pyroscope's two ways. A request is one
 * transaction. */
#ifndef CLEAR_INGEST_RECEIVE_RECEIVE_H
#define CLEAR_INGEST_RECEIVE_RECEIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "schema/db.h"

#define RECEIVE_EVERY_NS INT64_C(3600000000000) /* the default of --every */

/* `bytes` are an envelope and the body. Adds the answer of the protocol for what was stored. A usage error says what is wrong with the request, of
 * which nothing is stored then; any other failure is of this machine, and the sender may try again. */
int receive(struct db *db, const uint8_t *bytes, size_t size, int64_t every_ns, struct buffer *answer,
            struct error *err);
/* Makes the facts that are behind (received_settle), before a server starts and after it has ended. */
int receive_settle(struct db *db, struct error *err);

#endif
