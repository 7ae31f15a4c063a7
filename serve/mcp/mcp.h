/* mcp.h: the warehouse for coding agents: a server of the Model Context Protocol over standard input and output, one JSON-RPC message a
 * line. It speaks the revision 2026-07-28, in which each request stands alone, and those with a handshake (initialize), 2025-11-25 and two
 * before it; see docs/agents.md.
 *
 * Each tool is a command of clear in a process of its own with limits of memory, time and output (serve/job.h), so what a client asks
 * cannot end the server, and no file is open between requests. */
#ifndef CLEAR_SERVE_MCP_MCP_H
#define CLEAR_SERVE_MCP_MCP_H

#include <stdbool.h>

#include "base/error.h"

/* All texts live as long as the server. */
struct mcp_source {
    const char *directory; /* absolute, without links; the working directory, and files that tools name are below it */
    const char *db, *project, *runs, *config; /* options of the commands; NULL: they look themselves */
    bool allows_profile;                      /* the tool `profile` runs programs */
};

/* Serves until `input` ends and what was asked is answered, nobody reads `output`, or SIGINT, SIGTERM or SIGHUP comes. */
int mcp_run(const struct mcp_source *source, int input, int output, struct error *err);

#endif
