/* mcp_texts.h: what clear mcp has to read: the schema with its comments, and what is said of each diagnosis. Private to serve/mcp/. */
#ifndef CLEAR_SERVE_MCP_MCP_TEXTS_H
#define CLEAR_SERVE_MCP_MCP_TEXTS_H

#include "serve/mcp/mcp_tools.h"

/* "resources":[...] and "resourceTemplates":[...], in a fixed order. */
void resources_list(struct buffer *out);
void resources_templates(struct buffer *out);
/* The command that prints the resource of that name; NULL: there is none. */
struct job *resource_command(const struct mcp_source *source, const char *uri);
/* "contents":[...] of the output; `db` is of answer_open. */
int resource_add(struct buffer *out, struct db *db, const char *uri, const struct job *job, struct error *err);

#endif
