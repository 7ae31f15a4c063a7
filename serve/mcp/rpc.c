#include "serve/mcp/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "schema/schema.h"

static void refuse(struct rpc_message *message, enum rpc_code code, const char *why) {
    message->kind = RPC_WRONG;
    message->code = code;
    message->why = why;
}

/* The columns of mcp/rpc/read. */
enum {
    TYPE,
    VERSION,
    ID_TYPE,
    ID,
    METHOD_TYPE,
    METHOD,
    PARAMS_TYPE,
    IS_ANSWER,
    ASKED_TYPE,
    ASKED,
    ABILITIES,
    CANCELLED
};

static bool is(sqlite3_stmt *row, int column, const char *text) {
    return strcmp(db_text(row, column), text) == 0;
}

static bool is_missing(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_NULL;
}

/* NULL for SQL's NULL. */
static char *take_text(sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? xstrdup(text) : NULL;
}

static void judge(struct rpc_message *message, sqlite3_stmt *row) {
    bool has_id = is(row, ID_TYPE, "text") || is(row, ID_TYPE, "integer");
    if (!is(row, TYPE, "object")) {
        refuse(message, RPC_INVALID_REQUEST, "a message is one object; batches are no part of the protocol");
        return;
    }
    message->id = has_id ? take_text(row, ID) : NULL;
    message->kind = has_id ? RPC_REQUEST : RPC_NOTIFICATION;
    if (!sqlite3_column_int(row, VERSION))
        refuse(message, RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    else if (!has_id && !is_missing(row, ID_TYPE))
        refuse(message, RPC_INVALID_REQUEST, "an id is a string or an integer");
    else if (is_missing(row, METHOD_TYPE) && sqlite3_column_int(row, IS_ANSWER))
        message->kind = RPC_RESPONSE;
    else if (!(message->method = is(row, METHOD_TYPE, "text") ? take_text(row, METHOD) : NULL))
        refuse(message, RPC_INVALID_REQUEST, "a message needs a method, a string");
    else if (!is_missing(row, PARAMS_TYPE) && !is(row, PARAMS_TYPE, "object"))
        refuse(message, RPC_INVALID_PARAMS, "params must be an object");
}

/* A notification has no answer, and is of no use then. */
static void refuse_nul(struct rpc_message *message) {
    if (message->kind == RPC_REQUEST)
        refuse(message, RPC_INVALID_PARAMS, "a message holds no NUL character");
    else
        message->kind = RPC_RESPONSE;
}

static void read_parts(struct rpc_message *message, struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("mcp/rpc/read"), err);
    if (!row) return;
    db_bind_text(row, ":line", message->text);
    if (db_step(db, row, err) != 1) return;
    judge(message, row);
    message->has_version = !is_missing(row, ASKED_TYPE);
    message->version = is(row, ASKED_TYPE, "text") ? take_text(row, ASKED) : NULL;
    message->has_abilities = is(row, ABILITIES, "object");
    message->cancelled = take_text(row, CANCELLED);
    sqlite3_reset(row);
}

/* SQLite ends a text there, which would then be another one than the client sent. */
static bool has_nul(const char *json) {
    for (; (json = strchr(json, '\\')); json += 2)
        if (strncmp(json, "\\u0000", 6) == 0) return true;
    return false;
}

static bool is_json(struct db *db, const char *text, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT json_valid(:line)", err);
    if (!row) return false;
    db_bind_text(row, ":line", text);
    bool is_valid = db_step(db, row, err) == 1 && sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return is_valid;
}

void rpc_read(struct rpc_message *message, struct db *db, const char *line, size_t size) {
    struct error err = {0};
    *message = (struct rpc_message){.text = xcalloc(size + 1, 1)};
    memcpy(message->text, line, size);
    if (utf8_bad_byte(line, size) != size)
        refuse(message, RPC_PARSE, "a message is UTF-8, without NUL");
    else if (!is_json(db, message->text, &err))
        refuse(message, RPC_PARSE, "a message is one line of JSON");
    else
        read_parts(message, db, &err);
    if (message->kind != RPC_WRONG && has_nul(message->text)) refuse_nul(message);
    if (err.status != ERROR_NONE) refuse(message, RPC_PARSE, "the message cannot be read");
}

void rpc_message_free(struct rpc_message *message) {
    free(message->id);
    free(message->method);
    free(message->text);
    free(message->version);
    free(message->cancelled);
    *message = (struct rpc_message){0};
}

char *rpc_text(struct db *db, const struct rpc_message *message, const char *path) {
    struct error ignored = {0};
    char *text = NULL;
    sqlite3_stmt *row = db_prepare(db, "SELECT :line ->> :path WHERE json_type(:line, :path) = 'text'", &ignored);
    if (!row) return NULL;
    db_bind_text(row, ":line", message->text);
    db_bind_text(row, ":path", path);
    if (db_step(db, row, &ignored) == 1) text = take_text(row, 0);
    sqlite3_reset(row);
    return text;
}

static bool ask_type(struct db *db, const struct rpc_message *message, const char *path, const char *sql) {
    struct error ignored = {0};
    sqlite3_stmt *row = db_prepare(db, sql, &ignored);
    if (!row) return false;
    db_bind_text(row, ":line", message->text);
    db_bind_text(row, ":path", path);
    bool is_so = db_step(db, row, &ignored) == 1 && sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return is_so;
}

bool rpc_has_object(struct db *db, const struct rpc_message *message, const char *path) {
    return ask_type(db, message, path, "SELECT json_type(:line, :path) IS 'object'");
}

bool rpc_is_object_or_missing(struct db *db, const struct rpc_message *message, const char *path) {
    return ask_type(db, message, path, "SELECT coalesce(json_type(:line, :path), 'object') = 'object'");
}

void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *why, const char *data) {
    buffer_add_text(out, "{\"jsonrpc\":\"2.0\"");
    if (id) buffer_printf(out, ",\"id\":%s", id);
    buffer_printf(out, ",\"error\":{\"code\":%d,", (int)code);
    buffer_add_json_field(out, "message", why);
    if (data) buffer_printf(out, ",\"data\":%s", data);
    buffer_add_text(out, "}}\n");
}
