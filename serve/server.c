#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "export/export.h"
#include "query/profile/load/series.h"
#include "serve/exchange.h"
#include "serve/job.h"
#include "serve/library.h"
#include "serve/receiver.h"

enum {
    CLIENTS_MAX = 64,
    CLIENTS_KEPT = 48, /* of those that have not asked yet, the oldest beyond are closed: the rest is for new ones */
    CLIENTS_OF_ADDRESS =
        CLIENTS_MAX / 2,   /* whatever they do; the oldest that has not asked yet is closed for a new one */
    CLIENT_MEMORY = 32768, /* bytes of the request line and all headers of one request */
    FINISH_MS = 2000,
    STREAM_PIECE = 65536,
};
#define SENDING_MAX ((size_t)256 << 20)

/* ---- clients ----
 * The timeout of libmicrohttpd restarts with each byte, so a client that sends one byte at a time would stay for ever. */

/* Who a client is: an IPv4 address, or the network of an IPv6 address, in which one machine has 2^64 of them. */
static struct in6_addr address_of(const struct sockaddr *socket) {
    struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (socket->sa_family == AF_INET) {
        memcpy(address.s6_addr + 12, &((const struct sockaddr_in *)(const void *)socket)->sin_addr, 4);
    } else {
        const struct in6_addr *given = &((const struct sockaddr_in6 *)(const void *)socket)->sin6_addr;
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(given);
        address = (struct in6_addr){0};
        memcpy(address.s6_addr, given->s6_addr, is_mapped ? sizeof *given : sizeof *given / 2);
    }
    return address;
}

/* Someone who opens connections and says nothing, or half of a request, must not keep others out. */
static void make_room(const struct server *server, const struct client *newest) {
    struct client *oldest = NULL, *oldest_of_address = NULL;
    size_t count = 0, count_of_address = 0;
    for (struct client *client = server->clients; client; client = client->next) { /* new ones are put first */
        if (client->is_closing) continue;
        bool is_of_address = clients_are_one(client, newest);
        count_of_address += is_of_address;
        if (client->is_busy) continue;
        count++;
        oldest = client;
        if (is_of_address) oldest_of_address = client;
    }
    if (count_of_address > CLIENTS_OF_ADDRESS)
        oldest = oldest_of_address; /* which is the new one where all others are busy */
    else if (count <= CLIENTS_KEPT)
        return;
    oldest->is_closing = true;
    shutdown(oldest->descriptor, SHUT_RDWR);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code) {
    struct server *server = context;
    struct client *client = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        client = xcalloc(1, sizeof *client);
        client->descriptor = http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        client->address =
            address_of(http.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
        client->deadline_ns = clock_monotonic_ns() + READ_SECONDS * SECOND_NS;
        client->next = server->clients;
        client->link = &server->clients;
        if (client->next) client->next->link = &client->next;
        server->clients = client;
        *socket_context = client;
        make_room(server, client);
    } else if (client) {
        server->has_closed = true;
        *client->link = client->next;
        if (client->next) client->next->link = client->link;
        free(client);
        *socket_context = NULL;
    }
}

static void sweep(struct server *server, int64_t now_ns) {
    if (now_ns - server->swept_ns < SECOND_NS) return;
    server->swept_ns = now_ns;
    for (struct client *client = server->clients; client; client = client->next)
        if (client->deadline_ns <= now_ns) shutdown(client->descriptor, SHUT_RDWR); /* the library sees it and closes */
}

/* ---- replies ---- */

static void header(struct MHD_Response *response, const char *name, const char *value) {
    if (value) http.add_response_header(response, name, value);
}

static void add_headers(struct MHD_Response *response, const struct reply *reply) {
    char *disposition = reply->filename ? xasprintf("attachment; filename=\"%s\"", reply->filename) : NULL;
    header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
    header(response, MHD_HTTP_HEADER_LOCATION, reply->location);
    header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, reply->challenge);
    header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
           reply->is_lasting ? "private, max-age=31536000, immutable"
           : *reply->tag     ? "no-cache"
                             : "no-store");
    header(response, MHD_HTTP_HEADER_ETAG, *reply->tag ? reply->tag : NULL);
    header(response, "Clear-Note", reply->note);
    header(response, "Referrer-Policy", "no-referrer");
    header(response, "X-Content-Type-Options", "nosniff");
    header(response, "Content-Security-Policy", reply->policy ? reply->policy : "default-src 'none'");
    header(response, "Cross-Origin-Resource-Policy", "same-origin");
    if (reply->is_error) header(response, "X-Go-Pprof", "1"); /* go tool pprof shows the text of such errors */
    if (reply->allow)
        header(response, MHD_HTTP_HEADER_ALLOW,
               reply->allow == METHOD_POST  ? "POST"
               : reply->allow & METHOD_POST ? "GET, HEAD, POST"
                                            : "GET, HEAD");
    if (reply->status == MHD_HTTP_SERVICE_UNAVAILABLE) header(response, "Retry-After", "1");
    free(disposition);
}

/* The body of a reply to HEAD whose length is not known. The library calls it for other requests only, which have a body. */
static ssize_t no_body(void *context, uint64_t position, char *bytes, size_t size) {
    (void)context;
    (void)position;
    (void)bytes;
    (void)size;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* Of an answer that goes on. */
static ssize_t read_stream(void *context, uint64_t position, char *bytes, size_t size) {
    struct exchange *exchange = context;
    struct buffer *next = exchange->job ? &exchange->job->output : exchange->live ? live_events(exchange->live) : NULL;
    (void)position;
    if (!next) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (next->size) {
        size_t taken = next->size < size ? next->size : size;
        memcpy(bytes, next->data, taken);
        memmove(next->data, next->data + taken, next->size -= taken);
        exchange->client->deadline_ns = clock_monotonic_ns() + SEND_SECONDS * SECOND_NS;
        return (ssize_t)taken;
    }
    bool is_over = exchange->job ? exchange->job->state == JOB_DONE : live_is_over(exchange->live);
    if (is_over) return MHD_CONTENT_READER_END_OF_STREAM;
    exchange->is_suspended = true;
    exchange->client->deadline_ns = INT64_MAX;
    http.suspend_connection(exchange->connection);
    return 0;
}

static struct MHD_Response *make_response(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    if (exchange->is_streaming)
        return http.create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, read_stream, exchange, NULL);
    if (!reply->is_sized) return http.create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, no_body, NULL, NULL);
    size_t size = reply->body.size;
    if (!size) return http.create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    return http.create_response_from_buffer(size, buffer_take(&reply->body), MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result send_reply(struct exchange *exchange) {
    struct server *server = exchange->server;
    if (server->sending_bytes + exchange->reply.body.size > SENDING_MAX)
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE,
                       "too many bytes are being sent to other clients: try again");
    struct reply *reply = &exchange->reply;
    exchange->sent = reply->body.size;
    exchange->client->is_busy = true;
    struct MHD_Response *response = make_response(exchange);
    if (!response) return MHD_NO;
    add_headers(response, reply);
    enum MHD_Result result = http.queue_response(exchange->connection, reply->status, response);
    http.destroy_response(response);
    server->sending_bytes += exchange->sent;
    exchange->client->deadline_ns =
        clock_monotonic_ns() + (SEND_SECONDS + (int64_t)exchange->sent / SEND_RATE) * SECOND_NS;
    return result;
}

/* ---- requests ---- */

static enum method find_method(const char *name) {
    if (strcmp(name, "GET") == 0) return METHOD_GET;
    if (strcmp(name, "HEAD") == 0) return METHOD_HEAD;
    return strcmp(name, "POST") == 0 ? METHOD_POST : 0;
}

/* The first line of a request has been read. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection) {
    struct exchange *exchange = xcalloc(1, sizeof *exchange);
    exchange->server = context;
    exchange->connection = connection;
    exchange->uri = xstrdup(uri);
    exchange->is_api = strncmp(uri, API_PREFIX, strlen(API_PREFIX)) == 0;
    if (exchange->server->source.receive.db) exchange->protocol = receive_protocol_of(uri);
    exchange->client = http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    return exchange;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code) {
    struct server *server = context;
    struct exchange *exchange = *request;
    (void)connection;
    (void)code;
    *request = NULL;
    if (!exchange) return;
    server->sending_bytes -= exchange->sent;
    exchange->client->is_busy = false;
    exchange->client->deadline_ns = clock_monotonic_ns() + READ_SECONDS * SECOND_NS;
    exchange_free(exchange);
}

void exchange_free(struct exchange *exchange) {
    waiting_forget(exchange);
    if (exchange->protocol) receive_forget(exchange);
    parameters_free(&exchange->parameters);
    exchange_reply_free(exchange);
    buffer_free(&exchange->body);
    api_given_free(&exchange->given);
    run_set_free(&exchange->runs);
    free(exchange->filename);
    free(exchange->kept_as);
    free(exchange->fetching);
    profile_series_free(exchange->wait.series);
    free(exchange->path);
    free(exchange->uri);
    free(exchange);
}

/* A POST may have a few parameters as its body, with a Content-Length; no other request has a body. */
static size_t body_most(const struct exchange *exchange) {
    if (exchange->method != METHOD_POST) return 0;
    if (strcmp(exchange->uri, SYMBOL_PATH) == 0) return SYMBOL_MAX;
    return strncmp(exchange->uri, ROWS_PATH, strlen(ROWS_PATH)) == 0 ? SQL_MAX : BODY_MAX;
}

static void limit_body(struct exchange *exchange) {
    size_t lengths, codings;
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH, &lengths);
    (void)exchange_header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING, &codings);
    bool is_short = length && strlen(length) <= 6 && strspn(length, "0123456789") == strlen(length);
    size_t most = body_most(exchange);
    if (codings || lengths > 1 || (length && (!is_short || (size_t)atoi(length) > most)))
        exchange_error(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "only a POST may have a body, of at most %zu bytes",
                       most ? most : (size_t)BODY_MAX);
}

static enum MHD_Result take_body(struct exchange *exchange, const char *bytes, size_t *size) {
    if (exchange->protocol) {
        receive_take(exchange, bytes, *size);
        *size = 0;
        return MHD_YES;
    }
    if (*size > body_most(exchange) - exchange->body.size) return MHD_NO;
    buffer_add(&exchange->body, bytes, *size);
    *size = 0;
    return MHD_YES;
}

/* The library calls it after the headers, for each piece of a body, after the body, and once more after a wait.
 * layers-ok: libmicrohttpd decides the parameters */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_size, void **request) {
    struct exchange *exchange = *request;
    (void)context;
    (void)connection;
    (void)url;
    (void)version;
    if (!exchange->is_begun) {
        exchange->is_begun = true;
        exchange->method = find_method(method);
        (exchange->protocol ? receive_begin : limit_body)(exchange);
        return exchange->reply.status ? send_reply(exchange) : MHD_YES;
    }
    if (*upload_size) return take_body(exchange, upload, upload_size);
    exchange->client->is_busy = true; /* from here on the client waits for us */
    exchange->client->deadline_ns = INT64_MAX;
    if (!exchange->reply.status) routes_answer(exchange);
    if (!exchange->is_waiting) return send_reply(exchange);
    http.suspend_connection(connection);
    return MHD_YES;
}

/* ---- the server ---- */

static void ignore_log(void *context, const char *format, va_list args) {
    (void)context;
    (void)format;
    (void)args;
}

/* GnuTLS alone would speak 1.0 and 1.1 too, which RFC 8996 forbids. */
static const char tls_versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

static int start(struct server *server, struct error *err) {
    const struct server_source *source = &server->source;
    const struct MHD_OptionItem tls[] = {
        {source->certificate ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)(uintptr_t)source->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)source->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)tls_versions},
        {MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (source->certificate) flags |= MHD_USE_TLS;
    int listener = address_listen(&server->address, err);
    if (listener < 0) return -1;
    server->daemon =
        http.start_daemon(flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL,
                          MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CLIENTS_MAX,
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
                          (unsigned)READ_SECONDS, MHD_OPTION_URI_LOG_CALLBACK, on_uri, server,
                          MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
                          on_completed, server, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (!server->daemon) {
        close(listener);
        return source->certificate
                   ? error_usage(err, "the certificate and the key do not belong together, or are not PEM")
                   : error_fail(err, "libmicrohttpd cannot start: %s", strerror(errno));
    }
    struct epoll_event event = {.events = EPOLLIN};
    int library = http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    server->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (server->descriptor < 0 || epoll_ctl(server->descriptor, EPOLL_CTL_ADD, library, &event))
        return error_fail(err, "epoll: %s", strerror(errno));
    char *base = address_url(&server->address, server_scheme(server));
    server->url = xasprintf("%s%s", base, ROUTES_PREFIX);
    free(base);
    return 0;
}

int server_open(struct server **server, const char *address, bool anywhere, const struct server_source *source,
                struct error *err) {
    struct server *made = xcalloc(1, sizeof *made);
    *server = NULL;
    made->descriptor = -1;
    api_filters_read();
    made->source = *source;
    if (address_read(&made->address, address, anywhere, err) || library_load(err) || start(made, err)) {
        server_close(made);
        return -1;
    }
    *server = made;
    return 0;
}

int server_open_alone(struct server **server, const struct server_source *source, struct error *err) {
    struct server *made = xcalloc(1, sizeof *made);
    *server = NULL;
    api_filters_read();
    made->source = *source;
    made->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (made->descriptor < 0) {
        error_fail(err, "epoll: %s", strerror(errno));
        server_close(made);
        return -1;
    }
    *server = made;
    return 0;
}

const char *server_url(const struct server *server) {
    return server->url;
}

int server_descriptor(const struct server *server) {
    return server->descriptor;
}

static int64_t earlier(int64_t timeout_ns, int64_t other_ns) {
    if (other_ns < 0) other_ns = 0;
    return timeout_ns < 0 || other_ns < timeout_ns ? other_ns : timeout_ns;
}

int64_t server_timeout(const struct server *server) {
    int64_t timeout_ns = -1, now_ns = clock_monotonic_ns();
    if (server->has_closed) return 0;
    MHD_UNSIGNED_LONG_LONG library_ms;
    if (http.get_timeout(server->daemon, &library_ms) == MHD_YES)
        timeout_ns = library_ms > 3600000 ? SECONDS_MAX_NS : (int64_t)library_ms * 1000000;
    if (server->clients || server->is_open) timeout_ns = earlier(timeout_ns, SECOND_NS);
    if (server->waiting_count) timeout_ns = earlier(timeout_ns, waiting_next(server) - now_ns);
    return timeout_ns;
}

void server_step(struct server *server) {
    int64_t now_ns = clock_monotonic_ns();
    bool sweeps = now_ns - server->swept_ns >= SECOND_NS;
    server->has_closed = false;
    http.run(server->daemon);
    bool any = waiting_step(server, now_ns, sweeps);
    sweep(server, now_ns);
    if (any) http.run(server->daemon);
    warehouse_rest(server);
}

static bool is_busy(const struct server *server) {
    for (const struct client *client = server->clients; client; client = client->next)
        if (client->is_busy) return true;
    return false;
}

void server_finish(struct server *server) {
    int64_t until_ns = clock_monotonic_ns() + FINISH_MS * INT64_C(1000000);
    struct error ignored = {0};
    if (server->waiting_count && server->source.flush) (void)server->source.flush(server->source.context, &ignored);
    server->has_ended = true;
    int listener = http.quiesce_daemon(server->daemon);
    if (listener >= 0) close(listener);
    do {
        server_step(server);
        struct pollfd one = {.fd = server->descriptor, .events = POLLIN};
        if (is_busy(server)) poll(&one, 1, 10);
    } while (is_busy(server) && clock_monotonic_ns() < until_ns);
}

void server_close(struct server *server) {
    if (!server) return;
    waiting_close(server);
    if (server->daemon) {
        http.run(server->daemon); /* suspended connections must be resumed before the end */
        http.stop_daemon(server->daemon);
    }
    if (server->descriptor >= 0) close(server->descriptor);
    warehouse_close(server);
    marks_forget(server);
    cache_clear(&server->cache);
    cache_clear(&server->answers);
    map_free(&server->fetched);
    trees_clear(&server->trees);
    address_free(&server->address);
    free(server->url);
    free(server);
}
