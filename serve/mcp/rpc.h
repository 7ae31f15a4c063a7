/* rpc.h: messages of JSON-RPC 2.0, one a line, as the Model Context Protocol has them: an id is a string or an integer, params are an
 * object, and there are no batches. Private to serve/mcp/. */
#ifndef CLEAR_SERVE_MCP_RPC_H
#define CLEAR_SERVE_MCP_RPC_H

#include <stdbool.h>

#include "base/buffer.h"
#include "schema/db.h"

enum rpc_code {
    RPC_PARSE = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_NO_RESOURCE = -32002,        /* until 2025-11-25; RPC_INVALID_PARAMS since */
    RPC_UNSUPPORTED_VERSION = -32022 /* since 2026-07-28 */
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE /* of a client; nobody asked: it is ignored */, RPC_WRONG };

struct rpc_message {
    enum rpc_kind kind;
    char *id;           /* as JSON; NULL: none that could be read */
    char *method;       /* of a request or notification */
    char *text;         /* the line */
    enum rpc_code code; /* of RPC_WRONG */
    const char *why;    /* of RPC_WRONG */
    bool has_version;   /* params._meta names a protocol version: since 2026-07-28 each request does */
    char *version;      /* that; NULL: it is no string */
    bool has_abilities; /* params._meta has those of the client, an object */
    char *cancelled;    /* of notifications/cancelled: the id, as JSON; NULL: none */
};

/* Reads a line without its end. Whatever it is, *message can be freed, and says what it is. `db` is of db_open_bare. */
void rpc_read(struct rpc_message *message, struct db *db, const char *line, size_t size);
void rpc_message_free(struct rpc_message *message);

/* A text of the message at a JSON path; NULL: it is not there, or no string. free() it. */
char *rpc_text(struct db *db, const struct rpc_message *message, const char *path);
/* Whether there is an object at the path, and whether nothing else is there. */
bool rpc_has_object(struct db *db, const struct rpc_message *message, const char *path);
bool rpc_is_object_or_missing(struct db *db, const struct rpc_message *message, const char *path);

/* A line with an error. `id` NULL: the message's could not be read. `data`: more, as JSON; NULL: none. */
void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *why, const char *data);

#endif
