/* queue.c: puts a request among those that wait (waiting.c). */
#include <string.h>

#include "base/clock.h"
#include "serve/exchange.h"
#include "serve/job.h"
#include "serve/library.h"

bool clients_are_one(const struct client *a, const struct client *b) {
    return memcmp(&a->address, &b->address, sizeof a->address) == 0;
}

bool exchange_is_sql(const struct exchange *exchange) {
    return exchange->job && exchange->job->is_sql;
}

/* False, with a reply: there is SQL enough already. */
static bool may_ask_sql(struct exchange *exchange) {
    const struct server *server = exchange->server;
    int count = 0, of_address = 0;
    for (size_t i = 0; i < server->waiting_count; i++) {
        if (!exchange_is_sql(server->waiting[i])) continue;
        count++;
        of_address += clients_are_one(server->waiting[i]->client, exchange->client);
    }
    if (of_address >= WAITING_SQL_OF_ADDRESS)
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "%d queries of this address are not done: try again",
                       of_address);
    else if (count >= WAITING_SQL_MAX)
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "%d other queries are not done: try again", count);
    return !exchange->reply.is_error;
}

/* False, with a reply: so many profiles that were sent are not stored yet that others would find no place. */
static bool may_write(struct exchange *exchange) {
    const struct server *server = exchange->server;
    int count = 0;
    for (size_t i = 0; i < server->waiting_count; i++)
        count += server->waiting[i]->job && server->waiting[i]->job->writes;
    if (count < WAITING_WRITERS_MAX) return true;
    exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "%d other requests are not stored yet: try again", count);
    return false;
}

void exchange_wait(struct exchange *exchange) {
    struct server *server = exchange->server;
    if (exchange->job && exchange->job->writes && !may_write(exchange)) return;
    if (exchange_is_sql(exchange) && !may_ask_sql(exchange)) return;
    if (server->waiting_count == WAITING_MAX) {
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "%d other requests are waiting: try again", WAITING_MAX);
        return;
    }
    exchange->is_waiting = !exchange->is_streaming;
    exchange->queued_ns = clock_monotonic_ns();
    server->waiting[server->waiting_count++] = exchange;
}
