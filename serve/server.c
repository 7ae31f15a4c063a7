#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "export/export.h"
#include "query/profile/series.h"
#include "serve/exchange.h"
#include "serve/library.h"

enum {
    CLIENTS_MAX = 64,
    CLIENTS_KEPT = 48, /* of those that have not asked yet, the oldest beyond are closed: the rest is for new ones */
    CLIENT_MEMORY = 16384, /* bytes of the request line and all headers of one request */
    READ_SECONDS = 10,     /* for a whole request, and between two requests of a connection */
    SEND_SECONDS = 10,     /* for a reply, and one more for each SEND_RATE bytes of it */
    SEND_RATE = 65536,
    FINISH_MS = 2000,
};
#define SECOND_NS   INT64_C(1000000000)
#define LOOK_NS     INT64_C(100000000) /* between two checks for a flush of another process */
#define SENDING_MAX ((size_t)256 << 20)

/* ---- clients ----
 * The timeout of libmicrohttpd restarts with each byte, so a client that sends one byte at a time would stay for ever. */

/* Someone who opens connections and says nothing must not keep others out. */
static void make_room(struct server *server) {
    struct client *oldest = NULL;
    size_t count = 0;
    for (struct client *client = server->clients; client; client = client->next) {
        if (client->is_busy || client->is_closing) continue;
        count++;
        oldest = client; /* new ones are put first */
    }
    if (count <= CLIENTS_KEPT) return;
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
        client->deadline_ns = clock_monotonic_ns() + READ_SECONDS * SECOND_NS;
        client->next = server->clients;
        client->link = &server->clients;
        if (client->next) client->next->link = &client->next;
        server->clients = client;
        *socket_context = client;
        make_room(server);
    } else if (client) {
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

/* True if the client has closed its side, which means that it gave up, as in net/http. The library does not check suspended
 * connections. */
static bool is_disconnected(const struct client *client) {
    struct pollfd one = {.fd = client->descriptor, .events = POLLRDHUP};
    return poll(&one, 1, 0) == 1 && one.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* ---- replies ---- */

void exchange_error(struct exchange *exchange, unsigned status, const char *format, ...) {
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    buffer_free(&exchange->reply.body);
    free(exchange->reply.filename);
    exchange->reply =
        (struct reply){.status = status, .type = "text/plain; charset=utf-8", .is_error = true, .is_sized = true};
    buffer_add_text(&exchange->reply.body, message);
    buffer_add_char(&exchange->reply.body, '\n');
}

void exchange_failed(struct exchange *exchange, unsigned status, const struct error *err) {
    exchange_error(exchange, err->status == ERROR_USAGE ? status : MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", err->message);
}

static void header(struct MHD_Response *response, const char *name, const char *value) {
    if (value) http.add_response_header(response, name, value);
}

static void add_headers(struct MHD_Response *response, const struct reply *reply) {
    char *disposition = reply->filename ? xasprintf("attachment; filename=\"%s\"", reply->filename) : NULL;
    header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
    header(response, MHD_HTTP_HEADER_LOCATION, reply->location);
    header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, reply->challenge);
    header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    header(response, "X-Content-Type-Options", "nosniff");
    header(response, "Content-Security-Policy", reply->policy ? reply->policy : "default-src 'none'");
    header(response, "Cross-Origin-Resource-Policy", "same-origin");
    if (reply->is_error) header(response, "X-Go-Pprof", "1"); /* go tool pprof shows the text of such errors */
    if (reply->allow) header(response, MHD_HTTP_HEADER_ALLOW, reply->allow == METHOD_POST ? "POST" : "GET, HEAD");
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

static struct MHD_Response *make_response(struct reply *reply) {
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
    struct MHD_Response *response = make_response(reply);
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

struct header_search {
    const char *name, *value;
    size_t count;
};

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct header_search *search = context;
    (void)kind;
    if (strcasecmp(name, search->name) != 0) return MHD_YES;
    search->value = value ? value : "";
    search->count++;
    return MHD_YES;
}

const char *exchange_header(const struct exchange *exchange, const char *name, size_t *count) {
    struct header_search search = {.name = name};
    http.get_connection_values(exchange->connection, MHD_HEADER_KIND, on_header, &search);
    *count = search.count;
    return search.count == 1 ? search.value : NULL;
}

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
    exchange->client = http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    exchange->client->is_busy = true;
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
    parameters_free(&exchange->parameters);
    buffer_free(&exchange->reply.body);
    free(exchange->reply.filename);
    profile_series_free(exchange->wait.series);
    free(exchange->path);
    free(exchange->uri);
    free(exchange);
}

/* A POST may have a few parameters as its body, with a Content-Length; no other request has a body. */
static void limit_body(struct exchange *exchange) {
    size_t lengths, codings;
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH, &lengths);
    (void)exchange_header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING, &codings);
    bool is_short = length && strlen(length) <= 4 && strspn(length, "0123456789") == strlen(length);
    int most = exchange->method == METHOD_POST ? BODY_MAX : 0;
    if (codings || lengths > 1 || (length && (!is_short || atoi(length) > most)))
        exchange_error(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "only a POST may have a body, of at most %d bytes",
                       BODY_MAX);
}

static enum MHD_Result take_body(struct exchange *exchange, const char *bytes, size_t *size) {
    if (*size > BODY_MAX - exchange->body_size) return MHD_NO;
    memcpy(exchange->body + exchange->body_size, bytes, *size);
    exchange->body_size += *size;
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
        limit_body(exchange);
        return exchange->reply.status ? send_reply(exchange) : MHD_YES;
    }
    if (*upload_size) return take_body(exchange, upload, upload_size);
    exchange->client->deadline_ns = INT64_MAX; /* from here on the client waits for us */
    if (!exchange->reply.status) routes_answer(exchange);
    if (!exchange->is_waiting) return send_reply(exchange);
    http.suspend_connection(connection);
    return MHD_YES;
}

/* ---- requests that wait ---- */

void exchange_wait(struct exchange *exchange) {
    struct server *server = exchange->server;
    if (server->waiting_count == WAITING_MAX) {
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "%d other requests are waiting: try again", WAITING_MAX);
        return;
    }
    exchange->is_waiting = true;
    server->waiting[server->waiting_count++] = exchange;
}

static void stop_waiting(struct server *server, size_t index) {
    struct exchange *exchange = server->waiting[index];
    server->waiting[index] = server->waiting[--server->waiting_count];
    exchange->is_waiting = false;
    http.resume_connection(exchange->connection);
}

static int64_t next_look(const struct server *server) {
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < server->waiting_count; i++)
        if (server->waiting[i]->wait.due_ns < next_ns) next_ns = server->waiting[i]->wait.due_ns;
    return next_ns < server->looked_ns + LOOK_NS ? server->looked_ns + LOOK_NS : next_ns;
}

static bool look_after_waiting(struct server *server, int64_t now_ns, bool sweeps) {
    bool any = false;
    bool looks = server->has_ended || now_ns >= next_look(server);
    if (looks) server->looked_ns = now_ns;
    for (size_t i = server->waiting_count; i-- > 0;) {
        struct exchange *exchange = server->waiting[i];
        if (sweeps && is_disconnected(exchange->client))
            exchange_error(exchange, MHD_HTTP_REQUEST_TIMEOUT, "the client has gone");
        else if (!looks || !profile_answer_wait(exchange, now_ns))
            continue;
        stop_waiting(server, i);
        any = true;
    }
    return any;
}

/* ---- the server ---- */

static void ignore_log(void *context, const char *format, va_list args) {
    (void)context;
    (void)format;
    (void)args;
}

static int start(struct server *server, struct error *err) {
    int listener = address_listen(&server->address, err);
    if (listener < 0) return -1;
    server->daemon = http.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, server,
        MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CLIENTS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)READ_SECONDS, MHD_OPTION_URI_LOG_CALLBACK, on_uri, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_END);
    if (!server->daemon) {
        close(listener);
        return error_fail(err, "libmicrohttpd cannot start: %s", strerror(errno));
    }
    server->descriptor = http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    char *base = address_url(&server->address);
    server->url = xasprintf("%s%s", base, ROUTES_PREFIX);
    free(base);
    return 0;
}

int server_open(struct server **server, const char *address, bool anywhere, const struct server_source *source,
                struct error *err) {
    struct server *made = xcalloc(1, sizeof *made);
    *server = NULL;
    made->source = *source;
    if (address_read(&made->address, address, anywhere, err) || library_load(err) || start(made, err)) {
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
    MHD_UNSIGNED_LONG_LONG library_ms;
    if (http.get_timeout(server->daemon, &library_ms) == MHD_YES)
        timeout_ns = library_ms > 3600000 ? SECONDS_MAX_NS : (int64_t)library_ms * 1000000;
    if (server->clients || server->is_open) timeout_ns = earlier(timeout_ns, SECOND_NS);
    if (server->waiting_count) timeout_ns = earlier(timeout_ns, next_look(server) - now_ns);
    return timeout_ns;
}

void server_step(struct server *server) {
    int64_t now_ns = clock_monotonic_ns();
    bool sweeps = now_ns - server->swept_ns >= SECOND_NS;
    http.run(server->daemon);
    bool any = look_after_waiting(server, now_ns, sweeps);
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
    for (size_t i = server->waiting_count; i-- > 0;) {
        exchange_error(server->waiting[i], MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
        stop_waiting(server, i);
    }
    if (server->daemon) {
        http.run(server->daemon); /* suspended connections must be resumed before the end */
        http.stop_daemon(server->daemon);
    }
    warehouse_close(server);
    profile_forget(server);
    cache_clear(&server->cache);
    address_free(&server->address);
    free(server->url);
    free(server);
}
