#include "serve/page/asking.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "serve/exchange.h"

enum { AT_ONCE = 8 /* of the places of requests that wait; JOBS_MAX of them run */ };

static struct exchange *begin(struct server *server, struct client *nobody, const struct api_question *ask) {
    struct exchange *exchange = xcalloc(1, sizeof *exchange);
    exchange->server = server;
    exchange->client = nobody;
    exchange->method = METHOD_GET;
    exchange->is_api = true;
    exchange->uri = xasprintf(API_PREFIX "%s?%s", ask->resource, ask->query);
    exchange->path = xstrdup(ask->resource);
    exchange->route = api_routes;
    while (exchange->route->path && strcmp(exchange->route->path, ask->resource) != 0)
        exchange->route++;
    exchange->route->answer(exchange);
    return exchange;
}

static bool any_waits(struct exchange *const *exchanges, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (exchanges[i]->is_waiting) return true;
    return false;
}

static void attend(struct server *server) {
    struct epoll_event ready;
    int64_t left_ns = waiting_next(server) - clock_monotonic_ns();
    (void)epoll_wait(server->descriptor, &ready, 1, left_ns > 0 ? (int)(left_ns / 1000000) + 1 : 0);
    (void)waiting_step(server, clock_monotonic_ns(), false);
}

static void answer(struct server *server, struct api_question *asks, size_t count) {
    struct client nobody = {.descriptor = -1};
    struct exchange *exchanges[AT_ONCE];
    for (size_t i = 0; i < count; i++)
        exchanges[i] = begin(server, &nobody, &asks[i]);
    while (any_waits(exchanges, count))
        attend(server);
    for (size_t i = 0; i < count; i++) {
        struct reply *reply = &exchanges[i]->reply;
        asks[i].status = reply->status;
        asks[i].body = reply->body;
        reply->body = (struct buffer){0};
        exchange_free(exchanges[i]);
    }
}

void server_ask(struct server *server, struct api_question *asks, size_t count) {
    for (size_t i = 0; i < count; i += AT_ONCE)
        answer(server, asks + i, count - i < AT_ONCE ? count - i : AT_ONCE);
}

void api_questions_free(struct api_question *asks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(asks[i].query);
        buffer_free(&asks[i].body);
    }
}
