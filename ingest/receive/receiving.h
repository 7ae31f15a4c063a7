/* receiving.h: the parts of receive.c. */
#ifndef CLEAR_INGEST_RECEIVE_RECEIVING_H
#define CLEAR_INGEST_RECEIVE_RECEIVING_H

#include "ingest/read/ingest.h"
#include "ingest/read/input.h"
#include "ingest/read/received.h"
#include "ingest/receive/envelope.h"
#include "ingest/receive/receive.h"

#define RECEIVE_BLOCK                                                                                                  \
    "go_block" /* contentions of Go's block profile: a mutex profile has the same sample types, and may be in the same run */
enum { RECEIVE_PROFILES_MAX = 4096 }; /* of one request of the push API */

struct receiving {
    struct ingest ingest;
    struct received received;
    struct envelope envelope;
    struct input body; /* inflated */
    int profiles;      /* of the push API that were met */
    struct error *err;
};

/* Each stores the profiles of the body; a wrong request is an error of any kind. */
int receive_otlp(struct receiving *receiving, struct buffer *answer);
int receive_pyroscope(struct receiving *receiving);
int receive_push(struct receiving *receiving, struct buffer *answer);

/* Stores a profile.proto, plain or gzip, with what receiving->received says of it. `locks`: the kind of its contentions, where
 * they are not those of locks; NULL: they are. */
int receive_pprof(struct receiving *receiving, struct wire bytes, const char *locks);

#endif
