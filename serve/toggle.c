/* toggle.c: what a POST changes of a recording, for clients with the token: /debug/pprof/toggle switches it off and on,
 * /debug/pprof/dump stores the events that its rings have now. */
#include <inttypes.h>
#include <microhttpd.h>
#include <string.h>

#include "schema/schema.h"
#include "serve/exchange.h"

static bool may_control(struct exchange *exchange) {
    const struct server_control *control = &exchange->server->source.control;
    if (control->is_on && !exchange->server->has_ended) return access_check(exchange, control->token, access_bearer);
    exchange_error(exchange, MHD_HTTP_CONFLICT, "%s",
                   control->is_on ? "the recording has ended"
                                  : "nothing is being recorded here: only clear profile --http can be switched");
    return false;
}

void toggle_answer(struct exchange *exchange) {
    struct error err = {0};
    const struct server_control *control = &exchange->server->source.control;
    const char *state = exchange->parameters.state;
    if (!may_control(exchange)) return;
    bool is_on = state ? strcmp(state, "on") == 0 : !control->is_on(control->context);
    if (control->set(control->context, is_on, &err)) {
        exchange_failed(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
        return;
    }
    exchange->reply = (struct reply){.status = MHD_HTTP_OK, .type = "application/json", .is_sized = true};
    buffer_printf(&exchange->reply.body, "{\"recording\":%s}\n", is_on ? "true" : "false");
}

/* How many events the run has; -1 with the error set. */
static int64_t count_events(struct server *server, struct error *err) {
    struct db *db = warehouse_db(server, err);
    sqlite3_stmt *row = db ? db_prepare(db, embedded_text("serve/event_count.sql"), err) : NULL;
    if (!row) return -1;
    db_bind_int(row, ":run", server->source.run_id);
    int64_t count = db_step(db, row, err) == 1 ? sqlite3_column_int64(row, 0) : -1;
    sqlite3_reset(row);
    return count;
}

void dump_answer(struct exchange *exchange) {
    struct error err = {0};
    struct server *server = exchange->server;
    struct server_dump dump = {0};
    const struct server_control *control = &server->source.control;
    if (!may_control(exchange)) return;
    if (!control->store_events) {
        exchange_error(exchange, MHD_HTTP_CONFLICT, "no events are kept: record with clear profile --trace");
        return;
    }
    int64_t count = control->store_events(control->context, &dump, &err) ? -1 : count_events(server, &err);
    if (count < 0) {
        exchange_failed(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
        return;
    }
    exchange->reply = (struct reply){.status = MHD_HTTP_OK, .type = "application/json", .is_sized = true};
    buffer_printf(&exchange->reply.body, "{\"events\":%" PRId64 ",\"saved\":%" PRId64 ",\"save_ms\":%.3f}\n", count,
                  dump.saved, (double)dump.save_ns / 1e6);
}
