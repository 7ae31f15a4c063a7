#include "serve/receiver.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/job.h"

enum { SECONDS = 120, ANSWER_MAX = 1 << 16 };

static void receive_answer(struct exchange *exchange);

static const struct {
    const char *path;
    struct route route;
} places[RECEIVE_PROTOCOLS] = {
    [RECEIVE_OTLP] = {"/v1development/profiles",
                      {"v1development/profiles", METHOD_POST, receive_answer, .help = NULL, .is_raw = true}},
    [RECEIVE_PYROSCOPE] = {"/ingest", {"ingest", METHOD_POST, receive_answer, .help = NULL, .is_raw = true}},
    [RECEIVE_PUSH] = {"/push.v1.PusherService/Push",
                      {"push.v1.PusherService/Push", METHOD_POST, receive_answer, .help = NULL, .is_raw = true}},
};

enum receive_protocol receive_protocol_of(const char *uri) {
    for (enum receive_protocol i = RECEIVE_OTLP; i < RECEIVE_PROTOCOLS; i++) {
        size_t size = strlen(places[i].path);
        if (strncmp(uri, places[i].path, size) == 0 && (!uri[size] || uri[size] == '?')) return i;
    }
    return RECEIVE_NONE;
}

const struct route *receive_route(enum receive_protocol protocol) {
    return &places[protocol].route;
}

/* ---- before the body ---- */

/* The media type of a header, without parameters. */
static bool is_type(const char *value, const char *type) {
    size_t size = strlen(type);
    return value && strncasecmp(value, type, size) == 0 && (!value[size] || strchr("; \t", value[size]));
}

static bool take_type(struct exchange *exchange, struct envelope *envelope) {
    size_t count;
    const char *type = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, &count);
    bool is_known = true;
    envelope->is_json = exchange->is_json = is_type(type, "application/json");
    if (envelope->protocol == RECEIVE_OTLP) is_known = is_type(type, "application/x-protobuf");
    if (envelope->protocol == RECEIVE_PUSH) is_known = envelope->is_json || is_type(type, "application/proto");
    if (!is_known)
        exchange_error(exchange, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be %s",
                       envelope->protocol == RECEIVE_OTLP ? "application/x-protobuf"
                                                          : "application/proto or application/json");
    envelope->type = (char *)(uintptr_t)(type ? type : "");
    return is_known;
}

static bool take_encoding(struct exchange *exchange, struct envelope *envelope) {
    size_t count;
    const char *encoding = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_ENCODING, &count);
    envelope->is_gzip = encoding && strcasecmp(encoding, "gzip") == 0;
    if (!count || envelope->is_gzip || (encoding && (!*encoding || strcasecmp(encoding, "identity") == 0))) return true;
    exchange_error(exchange,
                   envelope->protocol == RECEIVE_PUSH ? MHD_HTTP_NOT_IMPLEMENTED : MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                   "the Content-Encoding must be gzip or identity");
    return false;
}

static bool check_length(struct exchange *exchange) {
    enum { DIGITS_MAX = 18 };
    size_t lengths;
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH, &lengths);
    size_t digits = length ? strspn(length, "0123456789") : 0;
    if (!lengths) return true; /* it comes in chunks */
    if (!digits || length[digits])
        exchange_error(exchange, MHD_HTTP_BAD_REQUEST, "one Content-Length, of digits alone");
    else if (digits > DIGITS_MAX || atoll(length) > RECEIVE_MAX)
        exchange_error(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "a body of more than %d MiB", RECEIVE_MAX >> 20);
    return exchange->reply.status == 0;
}

void receive_begin(struct exchange *exchange) {
    struct envelope envelope = {.protocol = exchange->protocol};
    const char *query = strchr(exchange->uri, '?');
    exchange->begun_ns = clock_monotonic_ns();
    routes_check(exchange);
    if (exchange->reply.status || !take_type(exchange, &envelope) || !take_encoding(exchange, &envelope) ||
        !check_length(exchange))
        return;
    envelope.query = (char *)(uintptr_t)(query ? query + 1 : "");
    envelope_add(&exchange->body, &envelope);
}

/* ---- the body ---- */

void receive_forget(struct exchange *exchange) {
    exchange->server->receiving_bytes -= exchange->collected;
    exchange->collected = 0;
    buffer_free(&exchange->body);
}

/* Who sends slowly has as long as who reads slowly. */
static void extend(struct exchange *exchange) {
    exchange->client->deadline_ns =
        exchange->begun_ns + (READ_SECONDS + (int64_t)exchange->collected / SEND_RATE) * SECOND_NS;
}

void receive_take(struct exchange *exchange, const char *bytes, size_t size) {
    struct server *server = exchange->server;
    if (exchange->reply.status) return;
    if (exchange->collected + size > RECEIVE_MAX)
        exchange_error(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "a body of more than %d MiB", RECEIVE_MAX >> 20);
    else if (server->receiving_bytes + size > RECEIVING_MAX)
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "too many bytes come from other clients: try again");
    if (exchange->reply.status) {
        receive_forget(exchange);
        return;
    }
    buffer_add(&exchange->body, bytes, size);
    exchange->collected += size;
    server->receiving_bytes += size;
    extend(exchange);
}

/* ---- behind it ---- */

static const char *type_of(const struct exchange *exchange) {
    if (exchange->protocol == RECEIVE_OTLP) return "application/x-protobuf";
    if (exchange->protocol == RECEIVE_PYROSCOPE) return "text/plain; charset=utf-8";
    return exchange->is_json ? "application/json" : "application/proto";
}

static void finish(struct exchange *exchange) {
    exchange->reply = (struct reply){.status = MHD_HTTP_OK, .type = type_of(exchange), .is_sized = true};
    exchange->reply.body = exchange->job->output;
    exchange->job->output = (struct buffer){0};
}

static void receive_answer(struct exchange *exchange) {
    const struct server_receive *receive = &exchange->server->source.receive;
    struct job *job = exchange->job = job_new();
    job->input = exchange->body;
    exchange->body = (struct buffer){0};
    job->writes = true;
    job->seconds = SECONDS;
    job->output_max = ANSWER_MAX;
    job_words_add(&job->words, "/proc/self/exe");
    job_words_add(&job->words, "ingest");
    job_words_add(&job->words, "--received");
    job_words_add(&job->words, "--every");
    job_words_add(&job->words, "%" PRId64 "ns", receive->every_ns);
    job_words_add(&job->words, "--db");
    job_words_add(&job->words, "%s", receive->db);
    job_words_add(&job->words, "--config");
    job_words_add(&job->words, "%s", exchange->server->source.config ? exchange->server->source.config : "/dev/null");
    exchange->finish = finish;
    exchange->failure = MHD_HTTP_SERVICE_UNAVAILABLE;
    exchange_wait(exchange);
}
