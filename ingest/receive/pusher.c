/* pusher.c: Pyroscope's push API, PusherService.Push of its Connect protocol: series of labels, each with profile.proto as bytes; as protobuf, or as
 * JSON with the names of fields in either case and the bytes in base64. */
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "ingest/receive/receiving.h"
#include "ingest/receive/sent_labels.h"
#include "schema/schema.h"

enum { PUSH_SERIES = 1, SERIES_LABELS = 1, SERIES_SAMPLES, LABEL_NAME = 1, LABEL_VALUE, SAMPLE_PROFILE = 1 };

/* Go's profiles of blocks and of mutexes have the same sample types, so in one run they would be one kind. */
static const char *kind_of(const struct sent_labels *labels) {
    return labels->profile && strcmp(labels->profile, "block") == 0 ? RECEIVE_BLOCK : NULL;
}

static int store_profile(struct receiving *receiving, const struct sent_labels *labels, struct wire bytes) {
    struct received *received = &receiving->received;
    if (++receiving->profiles > RECEIVE_PROFILES_MAX)
        return error_fail(receiving->err, "more than %d profiles in one request", RECEIVE_PROFILES_MAX);
    received->service = labels->service;
    received->host = labels->host;
    received->tags = &labels->tags;
    received->series = buffer_text(&labels->series);
    return receive_pprof(receiving, bytes, kind_of(labels));
}

/* ---- protobuf ---- */

/* The next field: 1; 0 at the end, -1 with the error set. */
static int next(struct receiving *receiving, struct wire *message, struct wire_field *field) {
    enum wire_state state = wire_next(message, field);
    if (state >= 0) return (int)state;
    return input_fail_byte(receiving->err, &receiving->body, (uint64_t)(message->at - receiving->body.data), "%s",
                           wire_problem(state));
}

static int read_label(struct receiving *receiving, struct wire message, struct sent_labels *labels) {
    struct wire_field field = {0};
    struct wire texts[LABEL_VALUE + 1] = {{0}};
    struct arena arena = {0};
    int state;
    while ((state = next(receiving, &message, &field)) == 1)
        if (field.number <= LABEL_VALUE && field.type == WIRE_BYTES) texts[field.number] = field.bytes;
    if (state == 0)
        labels_add(labels, arena_text(&arena, (const char *)texts[LABEL_NAME].at, wire_size(texts[LABEL_NAME])),
                   arena_text(&arena, (const char *)texts[LABEL_VALUE].at, wire_size(texts[LABEL_VALUE])));
    arena_free(&arena);
    return state;
}

static int store_sample(struct receiving *receiving, struct wire message, const struct sent_labels *labels) {
    struct wire_field field = {0};
    struct wire profile = {message.at, message.at};
    int state;
    while ((state = next(receiving, &message, &field)) == 1)
        if (field.number == SAMPLE_PROFILE && field.type == WIRE_BYTES) profile = field.bytes;
    return state < 0 ? -1 : store_profile(receiving, labels, profile);
}

/* Labels may stand behind the samples: they are read first. */
static int read_labels(struct receiving *receiving, struct wire message, struct sent_labels *labels) {
    struct wire_field field = {0};
    int state;
    while ((state = next(receiving, &message, &field)) == 1)
        if (field.number == SERIES_LABELS && field.type == WIRE_BYTES &&
            read_label(receiving, field.bytes, labels) != 0)
            return -1;
    labels_end(labels);
    return state;
}

static int store_series(struct receiving *receiving, struct wire message) {
    struct sent_labels labels = {0};
    struct wire_field field = {0};
    int code = read_labels(receiving, message, &labels);
    while (code == 0 && next(receiving, &message, &field) == 1)
        if (field.number == SERIES_SAMPLES && field.type == WIRE_BYTES)
            code = store_sample(receiving, field.bytes, &labels);
    labels_free(&labels);
    return code;
}

static int store_protobuf(struct receiving *receiving) {
    struct wire message = {receiving->body.data, receiving->body.data + receiving->body.size};
    struct wire_field field = {0};
    int state = 0;
    while (message.at < message.end && (state = next(receiving, &message, &field)) == 1)
        if (field.number == PUSH_SERIES && field.type == WIRE_BYTES && store_series(receiving, field.bytes) != 0)
            return -1;
    return state < 0 ? -1 : 0;
}

/* ---- JSON ----
 * SQLite reads it. The rows are those of a series one behind the other: its labels, then its profiles. */

enum { ROW_SERIES, ROW_KEY, ROW_VALUE, ROW_PROFILE };

static int store_json_profile(struct receiving *receiving, const struct sent_labels *labels, const char *text) {
    struct buffer bytes = {0};
    int code = base64_decode(&bytes, text) ? 0 : error_fail(receiving->err, "the body: rawProfile is not base64");
    const uint8_t *at = (const uint8_t *)buffer_text(&bytes);
    if (code == 0) code = store_profile(receiving, labels, (struct wire){at, at + bytes.size});
    buffer_free(&bytes);
    return code;
}

static int take_row(struct receiving *receiving, sqlite3_stmt *row, struct sent_labels *labels, int64_t *series,
                    bool *ended) {
    if (sqlite3_column_int64(row, ROW_SERIES) != *series) {
        labels_free(labels);
        *series = sqlite3_column_int64(row, ROW_SERIES);
        *ended = false;
    }
    if (sqlite3_column_type(row, ROW_PROFILE) == SQLITE_NULL) {
        labels_add(labels, db_text(row, ROW_KEY), db_text(row, ROW_VALUE));
        return 0;
    }
    if (!*ended) labels_end(labels);
    *ended = true;
    return store_json_profile(receiving, labels, db_text(row, ROW_PROFILE));
}

static int store_json(struct receiving *receiving) {
    struct db json; /* one of its own: the statement is open while rows are written */
    struct sent_labels labels = {0};
    int64_t series = -1;
    bool ended = false;
    struct arena text = {0};
    if (db_open_bare(&json, "the body", receiving->err) != 0) return -1;
    sqlite3_stmt *rows = db_prepare(&json, embedded_text("ingest/pusher/json_rows"), receiving->err);
    int code = rows ? 1 : -1;
    if (rows) db_bind_text(rows, ":body", arena_text(&text, (const char *)receiving->body.data, receiving->body.size));
    arena_free(&text);
    while (code == 1 && (code = db_step(&json, rows, receiving->err)) == 1)
        if (take_row(receiving, rows, &labels, &series, &ended) != 0) code = -1;
    labels_free(&labels);
    return db_close(&json, receiving->err) ? -1 : code;
}

int receive_push(struct receiving *receiving, struct buffer *answer) {
    if (!receiving->envelope.is_json) return store_protobuf(receiving);
    if (store_json(receiving) != 0) return -1;
    buffer_add_text(answer, "{}");
    return 0;
}
