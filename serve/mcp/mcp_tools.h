/* mcp_tools.h: the tools of clear mcp: their names, arguments and texts as one table, from which the list for clients is made and by which
 * arguments are checked. Private to serve/mcp/. */
#ifndef CLEAR_SERVE_MCP_MCP_TOOLS_H
#define CLEAR_SERVE_MCP_MCP_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/job.h"
#include "serve/mcp/mcp.h"
#include "serve/mcp/rpc.h"

enum tool_value {
    TOOL_TEXT,
    TOOL_RUNS,   /* names of runs; a file must be below the base directory */
    TOOL_CHOICE, /* one of the words of `words` */
    TOOL_COUNT,  /* an integer from `least` to `most` */
    TOOL_LIST,   /* 1 to TOOL_LIST_MAX strings */
    TOOL_VALUES  /* an object of strings and numbers */
};

enum { TOOL_ARGUMENTS_MAX = 9, TOOL_LIST_MAX = 48, TOOL_STEPS_MAX = 2, TOOL_TEXT_MAX = 64 << 10 /* bytes */ };

struct tool_argument {
    const char *name; /* NULL ends the table */
    enum tool_value value;
    const char *option; /* --OPTION=VALUE of the command; NULL: the tool adds it itself */
    const char *help, *words;
    int64_t least, most, preset;
    bool is_required;
};

struct tool_call;

struct tool {
    const char *name, *title, *help; /* a NULL name ends the table */
    struct tool_argument arguments[TOOL_ARGUMENTS_MAX + 1];
    /* Adds the words of the commands that make the answer. */
    int (*make)(struct tool_call *call, struct error *err);
    const char *answer; /* the statement that makes the answer of the last command's output (serve/mcp/mcp_answer.h) */
    bool runs_programs; /* only with --allow-profile */
};
extern const struct tool tools[];

/* What the client gave for an argument. */
struct tool_given {
    const struct tool_argument *argument;
    char *text;             /* of TOOL_TEXT, TOOL_RUNS, TOOL_CHOICE */
    int64_t number;         /* of TOOL_COUNT */
    struct job_words words; /* of TOOL_LIST; of TOOL_VALUES NAME=VALUE */
};

struct tool_call {
    const struct tool *tool;
    const struct mcp_source *source;
    struct tool_given given[TOOL_ARGUMENTS_MAX];
    size_t given_count;
    struct job *steps[TOOL_STEPS_MAX]; /* the commands, one after the other; owned until they are started */
    size_t step_count;
    char uuid[37]; /* of the run that it records */
};
void tool_call_free(struct tool_call *call);

/* The tool of that name that this server has, or NULL. */
const struct tool *tool_find(const struct mcp_source *source, const char *name);
/* {"tools":[...] without the closing brace. */
void tools_list(const struct mcp_source *source, struct buffer *out);
/* Reads params.arguments of a tools/call and makes the commands. A usage error says what is wrong with them. */
int tool_call_read(struct tool_call *call, struct db *db, const struct rpc_message *message, struct error *err);

const char *tool_text(const struct tool_call *call, const char *name);              /* NULL: not given */
int64_t tool_number(const struct tool_call *call, const char *name);                /* or its preset */
const struct job_words *tool_words(const struct tool_call *call, const char *name); /* NULL: not given */

/* A command on the warehouse, which may be a store. */
struct job *tool_reader(const struct mcp_source *source, const char *command);

/* Checks names of runs: none may be an option, a URL, or a file that is not below the base directory. */
int tool_check_runs(const char *directory, const char *runs, struct error *err);

#endif
