/* session.h: the requests of one client: reads its messages, answers those that need no command at once, and the others when their
 * commands have ended. It does no input and output of its own. Private to serve/mcp/. */
#ifndef CLEAR_SERVE_MCP_SESSION_H
#define CLEAR_SERVE_MCP_SESSION_H

#include "serve/mcp/mcp_tools.h"

enum { SESSION_LINE_MAX = 1 << 20, SESSION_CALLS_MAX = 32 };

/* A request that waits for a command. */
struct mcp_call {
    char *id; /* as JSON */
    bool is_modern, is_cancelled;
    struct tool_call tool; /* its `tool` NULL: a resource is read, by its only step */
    char *uri;             /* of a resource */
    size_t at;             /* the step that runs, or is next */
};

struct mcp_session {
    const struct mcp_source *source;
    struct db db;       /* for functions of JSON */
    struct buffer line; /* the beginning of one */
    bool is_skipping;   /* the rest of a line that is too long */
    bool is_initialized;
    struct buffer out; /* for the client */
    struct mcp_call calls[SESSION_CALLS_MAX];
    size_t call_count;
    int epoll; /* of the commands' outputs */
};

/* session_close it, also after an error. */
int session_open(struct mcp_session *session, const struct mcp_source *source, struct error *err);
/* Ends what runs; a program that is recorded is told to end and has two seconds to do so. */
void session_close(struct mcp_session *session);

/* Bytes from the client, in any pieces. */
void session_take(struct mcp_session *session, const char *bytes, size_t size);
/* There will be no more: what runs a program is told to end. */
void session_end(struct mcp_session *session, int64_t now_ns);
/* Starts commands, and answers for those that have ended. */
void session_step(struct mcp_session *session, int64_t now_ns);
/* When session_step must be called where session->epoll tells of nothing, CLOCK_MONOTONIC; INT64_MAX: never. */
int64_t session_due(const struct mcp_session *session, int64_t now_ns);

#endif
