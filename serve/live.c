/* live.c: GET /api/live: what a recording does, as server-sent events: `window` after each flush, `end` when it is over. */
#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>

#include "serve/exchange.h"

#define QUIET_NS (15 * SECOND_NS) /* a comment after so long without an event, so that a client that left is noticed */

struct live {
    int64_t run_id, window_ns, sent_ns;
    char *uuid;
    unsigned generation; /* of the server's file */
    struct buffer events;
    bool is_over, is_recording;
};

struct buffer *live_events(struct live *live) {
    return &live->events;
}

bool live_is_over(const struct live *live) {
    return live->is_over;
}

void live_free(struct live *live) {
    if (!live) return;
    free(live->uuid);
    buffer_free(&live->events);
    free(live);
}

static void add_event(struct live *live, const char *name, const struct run_state *state) {
    buffer_printf(&live->events, "event: %s\ndata: {", name);
    buffer_add_json_field(&live->events, "uuid", live->uuid);
    buffer_printf(&live->events, ",\"time_ns\":%" PRId64 ",\"recording\":%s}\n\n", state->window_ns,
                  state->is_recording ? "true" : "false");
}

static int look(struct exchange *exchange, struct live *live, struct run_state *state, struct error *err) {
    struct db *db = warehouse_db(exchange->server, err);
    if (!db) return -1;
    if (exchange->server->generation != live->generation)
        return error_usage(err, "the file with this run was replaced by another one");
    return run_state_read(exchange->server, db, live->run_id, state, err);
}

static void end_with(struct live *live, const struct error *err) {
    buffer_add_text(&live->events, "event: error\ndata: {");
    buffer_add_json_field(&live->events, "error", err->message);
    buffer_add_text(&live->events, "}\n\n");
    live->is_over = true;
}

void live_step(struct exchange *exchange, int64_t now_ns) {
    struct live *live = exchange->live;
    struct error err = {0};
    struct run_state state;
    size_t before = live->events.size;
    if (live->is_over) return;
    if (look(exchange, live, &state, &err)) {
        end_with(live, &err);
    } else {
        if (state.window_ns != live->window_ns || !live->sent_ns) add_event(live, "window", &state);
        live->window_ns = state.window_ns;
        live->is_over = !state.is_recording;
        if (live->is_over) add_event(live, "end", &state);
    }
    if (live->events.size == before && now_ns - live->sent_ns > QUIET_NS) buffer_add_text(&live->events, ":\n\n");
    if (live->events.size != before) live->sent_ns = now_ns;
}

int live_begin(struct exchange *exchange, int64_t run_id, struct error *err) {
    struct db *db = warehouse_db(exchange->server, err);
    sqlite3_stmt *row = db ? db_prepare(db, "SELECT uuid FROM runs WHERE id = :run", err) : NULL;
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code != 1) return code < 0 ? -1 : error_usage(err, "the run no longer exists");
    exchange->live = xcalloc(1, sizeof *exchange->live);
    *exchange->live =
        (struct live){.run_id = run_id, .uuid = xstrdup(db_text(row, 0)), .generation = exchange->server->generation};
    sqlite3_reset(row);
    return 0;
}
