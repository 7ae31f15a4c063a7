#include "ingest/receive/receive.h"

#include <string.h>

#include "base/clock.h"
#include "base/protobuf.h"
#include "ingest/read/readers.h"
#include "ingest/receive/receiving.h"

/* ---- OpenTelemetry ---- */

enum { ANSWER_PARTIAL = 1, PARTIAL_REJECTED = 1, PARTIAL_WHY };

/* ExportProfilesServiceResponse: empty where all of it is stored. */
static void answer_otlp(const struct received *received, struct buffer *answer) {
    if (!received->rejected) return;
    size_t begin = protobuf_begin(answer, ANSWER_PARTIAL);
    protobuf_add_int(answer, PARTIAL_REJECTED, (int64_t)received->rejected);
    protobuf_add_text(answer, PARTIAL_WHY, received->why);
    protobuf_end(answer, begin);
}

int receive_otlp(struct receiving *receiving, struct buffer *answer) {
    const struct received *received = &receiving->received;
    if (receiving->body.size == 0) return 0; /* no profiles are no failure */
    if (ingest_received(&receiving->ingest, &receiving->body, &format_otlp, receiving->err) != 0) return -1;
    if (received->rejected && !received->stored) return error_fail(receiving->err, "%s", received->why);
    answer_otlp(received, answer);
    return 0;
}

/* ---- any ---- */

static int open_body(struct receiving *receiving, struct wire body) {
    bool is_gzip = wire_size(body) >= 2 && body.at[0] == 0x1f && body.at[1] == 0x8b;
    if (receiving->envelope.is_gzip && !is_gzip)
        return error_fail(receiving->err, "Content-Encoding is gzip, and the body is not");
    return input_open_memory(&receiving->body, "the body", body.at, wire_size(body), receiving->err);
}

static int store(struct receiving *receiving, struct buffer *answer) {
    switch (receiving->envelope.protocol) {
    case RECEIVE_OTLP: return receive_otlp(receiving, answer);
    case RECEIVE_PYROSCOPE: return receive_pyroscope(receiving);
    case RECEIVE_PUSH: return receive_push(receiving, answer);
    default: return error_fail(receiving->err, "this protocol is not received");
    }
}

static int store_all(struct receiving *receiving, struct buffer *answer) {
    struct ingest *ingest = &receiving->ingest;
    struct error *err = receiving->err;
    struct db *db = ingest->db;
    if (db_begin(db, err) != 0) return -1;
    int code = writer_refresh(&ingest->writer, err) || store(receiving, answer) || received_end(ingest, err);
    if (code == 0) return db_commit(db, err);
    bool is_ours = received_is_our_fault(db);
    while (db->depth)
        db_rollback(db);
    if (!is_ours) err->status = ERROR_USAGE;
    return -1;
}

int receive(struct db *db, const uint8_t *bytes, size_t size, int64_t every_ns, struct buffer *answer,
            struct error *err) {
    struct receiving receiving = {.err = err, .received = {.every_ns = every_ns, .now_ns = clock_realtime_ns()}};
    struct wire body = {bytes, bytes + size};
    const struct ingest_options options = {0};
    int code = envelope_read(&receiving.envelope, &body) ? open_body(&receiving, body)
                                                         : error_fail(err, "not a request that was handed on");
    if (code != 0) err->status = ERROR_USAGE;
    if (code == 0) code = ingest_open(&receiving.ingest, db, &options, err);
    if (code == 0) {
        receiving.ingest.received = &receiving.received;
        code = store_all(&receiving, answer);
    }
    ingest_close(&receiving.ingest);
    received_free(&receiving.received);
    input_close(&receiving.body);
    envelope_free(&receiving.envelope);
    if (code != 0) buffer_clear(answer);
    return code;
}

int receive_settle(struct db *db, struct error *err) {
    return received_settle(db, err);
}
