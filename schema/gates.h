/* gates.h: the rules of `clear gate`, read from YAML and stored as rows of the table `gates`. Clear's own are in schema/gates.yaml and
 * built into the program. Those of clear.yaml take the place of all of them, so that who reads clear.yaml sees the whole gate.
 *
 * In YAML, under the key `gates` of the configuration:
 *   allocations:                  # a name: letters, digits, - and _
 *     figure: alloc_count         # of the view series; or `query:`, @NAME or a SELECT with the columns subject, old and new
 *     subject: "function parse_*" # GLOB pattern of subjects; default: the whole run; of a query: every row
 *     base: tag:branch=main,last=20 # the runs to compare with where `clear gate` is given none; those of all rules must be the same
 *     direction: up               # up (default where more is not better), down or both: which change is judged
 *     limit_percent: 5            # a change counts that is more than this share of the old value, ... default: 0
 *     limit: 64KiB                # ... and more than this; bytes and times may have units. Default: 0
 *     runs: 5                     # least number of runs a side. Default: 1; a timed figure needs six of both sides together too
 *     timed: true                 # the figure varies from run to run. Default: what the view figure_kinds says
 *     action: fail                # fail (default) or warn */
#ifndef CLEAR_SCHEMA_GATES_H
#define CLEAR_SCHEMA_GATES_H

#include <stdbool.h>

#include "schema/db.h"
#include "schema/document.h"

/* The least runs of both sides together that tell how much a timed figure varies: 5 of the base and 1, or 3 a side. */
enum { GATES_TIMED_RUNS = 6 };

enum gate_direction { GATE_UP, GATE_DOWN, GATE_BOTH };

struct gate_rule {
    char *name;
    char *figure;  /* NULL: the rule is a query */
    char *query;   /* @NAME or SQL; NULL: the rule is a figure */
    char *subject; /* GLOB pattern; of a figure "" is the whole run */
    char *base;    /* set of runs (query/runs/run_set.h); "": none */
    enum gate_direction direction;
    double limit_percent, limit; /* both must be exceeded; from 0 */
    int64_t runs;
    bool is_timed, only_warns;
};
void gates_free(struct gate_rule *rule);

/* Reads one from a mapping; the caller calls gates_free. After a failure there is nothing to free. */
int gates_read(struct document *document, const yaml_node_t *node, const char *name, struct gate_rule *rule);

/* The word of a direction: up, down, both. */
const char *gates_direction(enum gate_direction direction);

/* Makes the rules of the table (the temporary one if it exists) these. */
int gates_put(struct db *db, const struct gate_rule *rules, size_t count, struct error *err);
/* Makes them clear's own, unless they came from a configuration. */
int gates_put_own(struct db *db, struct error *err);
/* Makes a temporary table `gates` that hides the file's, empty. */
int gates_shadow(struct db *db, struct error *err);

/* All rules of the table, in the order in which they were given; gates_free each and free() the array. `*are_own`: they are
 * clear's. */
int gates_load(struct db *db, struct gate_rule **rules, size_t *count, bool *are_own, struct error *err);
/* What gates_load gave. */
void gates_free_all(struct gate_rule *rules, size_t count);
/* The base that the rules name: to be freed; NULL if none names one. Two different ones are a usage error. */
int gates_base(const struct gate_rule *rules, size_t count, char **base, struct error *err);

#endif
