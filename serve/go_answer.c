/* go_answer.c: what net/http/pprof says of a program beside its profiles: its command line, and the names of addresses. */
#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"
#include "serve/exchange.h"

/* The warehouse and the run, which is fetched first; NULL with a reply, or while it is fetched. */
static struct db *find(struct exchange *exchange, int64_t *run_id) {
    struct error err = {0};
    if (fetch_first(exchange, exchange->parameters.run)) return NULL;
    struct db *db = warehouse_db(exchange->server, &err);
    if (!db)
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "%s", err.message);
    else if (profile_run(exchange, db, run_id, &err))
        exchange_failed(exchange, MHD_HTTP_NOT_FOUND, &err);
    return exchange->reply.status ? NULL : db;
}

static void begin(struct exchange *exchange) {
    exchange->reply = (struct reply){.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8", .is_sized = true};
}

/* ---- cmdline ---- */

/* The words of a command line as escape_shell_words wrote it, a NUL between two. */
static void add_words(struct buffer *out, const char *command) {
    bool is_quoted = false;
    for (const char *at = command; *at; at++) {
        if (*at == '\'')
            is_quoted = !is_quoted;
        else if (*at == ' ' && !is_quoted)
            buffer_add_char(out, '\0');
        else if (*at == '\\' && !is_quoted && at[1])
            buffer_add_char(out, *++at);
        else
            buffer_add_char(out, *at);
    }
}

/* Of an ingested file: its name. */
void cmdline_answer(struct exchange *exchange) {
    struct error err = {0};
    int64_t run_id;
    struct db *db = find(exchange, &run_id);
    if (!db) return;
    sqlite3_stmt *row = db_prepare(db, "SELECT command, source FROM runs WHERE id = :run", &err);
    if (row) db_bind_int(row, ":run", run_id);
    int code = row ? db_step(db, row, &err) : -1;
    if (code == 1) {
        begin(exchange);
        if (*db_text(row, 0))
            add_words(&exchange->reply.body, db_text(row, 0));
        else
            buffer_add_text(&exchange->reply.body, db_text(row, 1));
    } else if (code == 0) {
        exchange_error(exchange, MHD_HTTP_NOT_FOUND, "run %" PRId64 " no longer exists", run_id);
    } else {
        exchange_failed(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
    }
    if (row) sqlite3_reset(row);
}

/* ---- symbol ---- */

static int add_name(struct exchange *exchange, struct db *db, int64_t run_id, uint64_t address, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("serve/symbol.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_int(row, ":address", (int64_t)address);
    int code = db_step(db, row, err);
    if (code == 1) buffer_printf(&exchange->reply.body, "0x%" PRIx64 " %s\n", address, db_text(row, 0));
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* "0x4005d0+0x4005e8", in the body of a POST, or behind the '?'. The first line is Go's: pprof asks only whether it is 0. */
void symbol_answer(struct exchange *exchange) {
    struct error err = {0};
    int64_t run_id;
    struct db *db = find(exchange, &run_id);
    if (!db) return;
    const char *query = strchr(exchange->uri, '?');
    const char *words = exchange->method == METHOD_POST ? buffer_text(&exchange->body) : query ? query + 1 : "";
    begin(exchange);
    buffer_add_text(&exchange->reply.body, "num_symbols: 1\n");
    for (const char *at = words; *at; at += at[0] == '+') {
        uint64_t address = strtoull(at, NULL, 0);
        at += strcspn(at, "+");
        if (!address || add_name(exchange, db, run_id, address, &err) == 0) continue;
        exchange_failed(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
        return;
    }
}
