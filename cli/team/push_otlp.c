#include "cli/team/push_otlp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/otlp_proto.h"
#include "base/path.h"
#include "base/protobuf.h"
#include "base/wire.h"
#include "export/export.h"
#include "export/format.h"
#include "ingest/read/fetch.h"
#include "schema/schema.h"

enum { TRIES = 6, HEADERS_MAX = 32, ANSWER_MAX = 1 << 20, TIMEOUT_S = 60, TOKEN_MAX = 8192 };
enum {
    ANSWER_PARTIAL = 1,
    PARTIAL_REJECTED = 1,
    PARTIAL_WHY,
    STATUS_MESSAGE = 2
}; /* of the answer; google.rpc.Status */

/* ---- the resource: of what did not come in as OTLP, who ran and where, and the tags ---- */

static void add_attribute(struct buffer *resource, const char *key, const char *text) {
    if (!*text) return;
    size_t begin = protobuf_begin(resource, PART_ATTRIBUTES);
    protobuf_add_text(resource, KEY_VALUE_KEY, key);
    size_t value = protobuf_begin(resource, KEY_VALUE_VALUE);
    protobuf_add_text(resource, OTLP_VALUE_TEXT, text);
    protobuf_end(resource, value);
    protobuf_end(resource, begin);
}

static int describe_run(struct db *db, int64_t run_id, struct buffer *resource, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db, embedded_text("export/push_otlp/attributes"), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", run_id);
    int state;
    while ((state = db_step(db, rows, err)) == 1)
        add_attribute(resource, db_text(rows, 0), db_text(rows, 1));
    return state;
}

/* Whether the ResourceProfiles says what it is of. */
static bool has_resource(struct wire message) {
    struct wire_field field = {0};
    while (wire_next(&message, &field) == WIRE_OK)
        if (field.number == RESOURCE_RESOURCE) return true;
    return false;
}

static int64_t count_profiles(struct wire resource) {
    struct wire_field scope = {0}, profile = {0};
    int64_t count = 0;
    while (wire_next(&resource, &scope) == WIRE_OK)
        while (scope.number == RESOURCE_SCOPES && wire_next(&scope.bytes, &profile) == WIRE_OK)
            count += profile.number == SCOPE_PROFILES;
    return count;
}

/* The profiles of `exported`, with `resource` where they have none. */
static int64_t add_resource(struct buffer *out, const struct buffer *exported, const struct buffer *resource) {
    const uint8_t *bytes = (const uint8_t *)buffer_text(exported);
    struct wire message = {bytes, bytes + exported->size};
    struct wire_field field = {0};
    int64_t profiles = 0;
    while (wire_next(&message, &field) == WIRE_OK) {
        size_t begin = protobuf_begin(out, (unsigned)field.number);
        if (field.number == OTLP_RESOURCES) {
            profiles += count_profiles(field.bytes);
            if (!has_resource(field.bytes))
                protobuf_add_bytes(out, RESOURCE_RESOURCE, buffer_text(resource), resource->size);
        }
        buffer_add(out, field.bytes.at, wire_size(field.bytes));
        protobuf_end(out, begin);
    }
    return profiles;
}

/* ---- the request ---- */

static void compress_body(struct buffer *out, const struct buffer *body) {
    enum { GZIP = 15 + 16, MEMORY = 8 };
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)buffer_text(body), .avail_in = (uInt)body->size};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        out_of_memory(0);
    buffer_reserve(out, deflateBound(&stream, body->size));
    stream.next_out = (uint8_t *)out->data;
    stream.avail_out = (uInt)deflateBound(&stream, body->size);
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) bug("deflate did not end");
    out->size = stream.total_out;
    deflateEnd(&stream);
}

/* The message of a google.rpc.Status; NULL where the body is none. */
static char *explain(const struct buffer *body) {
    const uint8_t *bytes = (const uint8_t *)buffer_text(body);
    struct wire message = {bytes, bytes + body->size};
    struct wire_field field = {0};
    char *text = NULL;
    enum wire_state state;
    while ((state = wire_next(&message, &field)) == WIRE_OK) {
        if (field.number != STATUS_MESSAGE || field.type != WIRE_BYTES || text) continue;
        text = xasprintf("%.*s", (int)wire_size(field.bytes), (const char *)field.bytes.at);
    }
    if (state == WIRE_END) return text;
    free(text);
    return NULL;
}

/* A receiver that took a part says how many profiles it left out, and why. */
static int check_answer(const struct buffer *answer, const char *url, struct error *err) {
    const uint8_t *bytes = (const uint8_t *)buffer_text(answer);
    struct wire message = {bytes, bytes + answer->size};
    struct wire_field field = {0}, part = {0};
    uint64_t rejected = 0;
    struct wire why = {bytes, bytes};
    while (wire_next(&message, &field) == WIRE_OK)
        while (field.number == ANSWER_PARTIAL && field.type == WIRE_BYTES &&
               wire_next(&field.bytes, &part) == WIRE_OK) {
            if (part.number == PARTIAL_REJECTED) rejected = part.value;
            if (part.number == PARTIAL_WHY && part.type == WIRE_BYTES) why = part.bytes;
        }
    if (!rejected) return 0;
    return error_fail(err, "%s: %" PRIu64 " profiles were rejected: %.*s", url, rejected, (int)wire_size(why),
                      (const char *)why.at);
}

static bool may_try_again(long status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static int post(const struct push_otlp *push, const char *const *headers, const struct buffer *body,
                struct error *err) {
    long status = 0;
    const struct fetch_options options = {.post = body->data,
                                          .post_size = body->size,
                                          .headers = headers,
                                          .path = "/v1development/profiles",
                                          .explain = explain,
                                          .status = &status,
                                          .size_max = ANSWER_MAX,
                                          .timeout_s = TIMEOUT_S};
    struct buffer answer = {0};
    int code = fetch(push->url, &options, &answer, err);
    for (int i = 1; code != 0 && may_try_again(status) && i < TRIES; i++) {
        nanosleep(&(struct timespec){.tv_sec = 1l << (i - 1)}, NULL);
        *err = (struct error){0};
        buffer_clear(&answer);
        code = fetch(push->url, &options, &answer, err);
    }
    char *shown = fetch_shown_url(push->url);
    if (code == 0) code = check_answer(&answer, shown, err);
    free(shown);
    buffer_free(&answer);
    return code;
}

/* ---- headers ---- */

struct header_list {
    const char *items[HEADERS_MAX + 1];
    char *owned[HEADERS_MAX];
    size_t count;
};

static void add_header(struct header_list *list, char *text) {
    if (list->count == HEADERS_MAX) {
        free(text);
        return;
    }
    list->items[list->count] = list->owned[list->count] = text;
    list->count++;
}

/* $OTEL_EXPORTER_OTLP_HEADERS, as every exporter of OpenTelemetry reads it: KEY=VALUE,KEY=VALUE. */
static void add_variable(struct header_list *list) {
    const char *text = getenv("OTEL_EXPORTER_OTLP_HEADERS");
    char *copy = xstrdup(text ? text : ""), *rest = copy;
    for (char *pair; (pair = strsep(&rest, ","));) {
        char *value = strchr(pair, '=');
        if (!value) continue;
        *value++ = '\0';
        pair += strspn(pair, " ");
        if (*pair && !strpbrk(pair, "\r\n") && !strpbrk(value, "\r\n"))
            add_header(list, xasprintf("%s: %s", pair, value));
    }
    free(copy);
}

/* The first line, which goes to the receiver alone. */
static char *read_token(const char *path, struct error *err) {
    char line[TOKEN_MAX + 1] = "";
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, sizeof line, file);
    int why = errno;
    if (file) fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (is_read && *line) return xstrdup(line);
    error_usage(err, "--otlp-token %s: %s", path, file ? "the first line is empty" : strerror(why));
    return NULL;
}

static int make_headers(struct header_list *list, const struct push_otlp *push, struct error *err) {
    add_header(list, xstrdup("Content-Type: application/x-protobuf"));
    add_header(list, xstrdup("Content-Encoding: gzip"));
    if (push->token_file) {
        char *token = read_token(push->token_file, err);
        if (!token) return -1;
        add_header(list, xasprintf("Authorization: Bearer %s", token));
        free(token);
    }
    add_variable(list);
    return 0;
}

static void free_headers(struct header_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->owned[i]);
}

/* ---- runs ---- */

static int push_one(struct push_otlp *push, struct db *db, int64_t run_id, const char *const *headers,
                    struct error *err) {
    struct buffer exported = {0}, resource = {0}, body = {0}, compressed = {0};
    struct export_request request = {.format = export_format_find("otlp", err), .bytes = &exported};
    request.source.runs = (struct run_set){.ids = &run_id, .count = 1};
    int code = request.format ? export_write(db, &request, err) : -1;
    if (code == 0) code = describe_run(db, run_id, &resource, err);
    if (code == 0) {
        int64_t profiles = add_resource(&body, &exported, &resource);
        compress_body(&compressed, &body);
        code = post(push, headers, &compressed, err);
        push->runs += code == 0;
        push->profiles += code == 0 ? profiles : 0;
        push->bytes += (int64_t)compressed.size;
    }
    if (code != 0) error_prefix(err, "run %" PRId64 ": ", run_id);
    buffer_free(&exported);
    buffer_free(&resource);
    buffer_free(&body);
    buffer_free(&compressed);
    return code;
}

int push_otlp(struct push_otlp *push, struct db *db, const struct run_set *set, struct error *err) {
    struct header_list headers = {0};
    int code = make_headers(&headers, push, err);
    for (size_t i = 0; i < set->count && code == 0; i++)
        code = push_one(push, db, set->ids[i], headers.items, err);
    free_headers(&headers);
    return code;
}
