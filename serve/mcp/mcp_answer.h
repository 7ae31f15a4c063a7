/* mcp_answer.h: makes the answer of a tool of the output of its command: statements over JSON (schema/mcp/mcp_answer.sql) and what they call.
 * Private to serve/mcp/. */
#ifndef CLEAR_SERVE_MCP_MCP_ANSWER_H
#define CLEAR_SERVE_MCP_MCP_ANSWER_H

#include "serve/mcp/mcp_tools.h"

/* Gives a connection of db_open_bare the functions of the statements:
 *   quoted(text, most)     the text as a JSON string, cut to so many bytes: names are data
 *   cut(text, most)        as it is, cut
 *   word(name)             as it is if it can be nothing but a name, else quoted
 *   shown(value, unit)     1.2 s of ns or nanoseconds, 4.0 KiB of bytes, 3 rows of row
 *   share(part, whole)     " (12 %)"; nothing of nothing
 *   figure(name, value)    "wait_ns 1.2 s": the unit is the end of the name
 *   figure_value(name, value)
 *   pattern(name)          a regular expression that matches this name alone */
int answer_open(struct db *db, struct error *err);

enum { ANSWER_TEXT_MAX = 24 << 10 /* bytes of a text; more is cut, and marked */ };

/* Adds content, structuredContent and isError, without braces: of the output of the last command of the call. `ending`: of the program that it
 * recorded, NULL for none. */
int answer_add(struct buffer *out, struct db *db, const struct tool_call *call, const struct job *job,
               const char *ending, struct error *err);
/* The same for what failed: words for the client's model, which may try again. */
void answer_add_error(struct buffer *out, const char *why);
/* Adds a JSON string whose line ends are \n, which costs a model less than \u000a. */
void answer_quote(struct buffer *out, const char *text, size_t size);

#endif
