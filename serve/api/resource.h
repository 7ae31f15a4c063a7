/* resource.h: the resources of the browser's API (docs/api.md): how the parameters of a request become a command of clear, and its output the
 * answer. Private to serve/. */
#ifndef CLEAR_SERVE_API_RESOURCE_H
#define CLEAR_SERVE_API_RESOURCE_H

#include <stdbool.h>

#include "serve/exchange.h"
#include "serve/job.h"

enum api_value {
    API_END,
    API_OPTION, /* --OPTION=VALUE */
    API_SWITCH, /* 1: --OPTION; 0: nothing */
    API_CHOICE, /* one of the words of `option`: --VALUE */
    API_OWN,    /* the resource reads it itself */
};

struct api_parameter {
    const char *name;
    enum api_value value;
    const char *option;
};

enum { API_TABLES_MAX = 5 };

struct resource {
    const struct api_parameter *parameters[API_TABLES_MAX];    /* tables of those that it accepts; ends with NULL */
    int (*make)(struct exchange *exchange, struct error *err); /* fills exchange->job, or makes the reply */
    void (*finish)(struct exchange *exchange); /* makes the reply of the command's output; NULL: it is the reply */
    bool is_kept;    /* the output depends on the warehouse alone: it is the answer until that changes */
    bool asks_store; /* of a store: the command gets its address, and the runs are not fetched */
};

/* The selection, but for runs= and base=. */
extern const struct api_parameter api_runs[], api_selection[];
/* Those of the options of reports (query/report/options.h), as api_filters_read finds them; end with a NULL name. */
enum { API_FILTERS_MAX = 31 };
extern struct api_parameter api_filters[API_FILTERS_MAX + 1];

/* The value of a parameter of this request; NULL: not given, or empty. */
const char *api_value(const struct exchange *exchange, const char *name);
/* A whole number within limits; `preset` where it is not given. */
int api_number(const struct exchange *exchange, const char *name, int64_t least, int64_t most, int64_t preset,
               int64_t *number, struct error *err);

/* The job of this request: `clear COMMAND` on the server's warehouse. */
int api_command(struct exchange *exchange, const char *command, struct error *err);
/* Adds what the given parameters stand for. */
int api_options(struct exchange *exchange, struct error *err);
/* The runs that runs= names; without it the run that is recorded here, else the latest. They are looked up once a request, which owns
 * them. NULL with the error set. */
const struct run_set *api_run_set(struct exchange *exchange, struct error *err);
/* The one run of them; -1 with the error set: "WHAT of one run", where there are more. */
int64_t api_one_run(struct exchange *exchange, const char *what, struct error *err);
/* Adds them as one word of ids: of an option, or NULL. */
int api_add_runs(struct exchange *exchange, const char *option, struct error *err);
/* The same for the runs that base= names, if it is given. */
int api_add_base(struct exchange *exchange, const char *option, struct error *err);
/* Adds all that selects samples: what the parameters stand for, the base with the part of it that is asked for, the runs. */
int api_add_selection(struct exchange *exchange, struct error *err);

/* The kind of the request, or the first that all of its runs have; free() it. NULL with the error set. */
char *api_kind(struct exchange *exchange, struct error *err);
/* The job: `clear report -FORMAT` of the selection. */
int api_report(struct exchange *exchange, const char *format, struct error *err);
/* The job: `clear query` on SQL that it gets as its standard input. */
int api_query(struct exchange *exchange, const char *format, const char *sql, size_t size, struct error *err);

/* Sets exchange->kept_as: the command, and when the warehouse changed last. Call it before the command reads, so that what is kept is never
 * older than its key. */
void api_name_kept(struct exchange *exchange, const char *path);

/* Each is in the file of its subject, resource_SUBJECT.c. */
extern const struct resource resource_runs, resource_run, resource_server, resource_table, resource_source,
    resource_disasm, resource_series, resource_changes, resource_graph, resource_findings, resource_compare,
    resource_rows, resource_queries, resource_schema, resource_objects, resource_windows, resource_live,
    resource_timeline, resource_export, resource_tree, resource_overview;

#endif
