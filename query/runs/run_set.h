/* run_set.h: the runs that a set names. A set is one word:
 *   RUN          one run, as query/runs/select.h names it
 *   A..B         every run from A to B in the order of their ids; either may be any name of a run
 *   all          every run
 *   all:NAME     every run with that label; with that tag if NAME is KEY=VALUE
 *   tag:KEY=VALUE    every run with that tag
 *   last=N       the N newest (run_order) of the runs before it in the same word, such as tag:branch=main,last=20; of all runs if
 *                nothing is before it. A tag with the key `last` is tag:last=N.
 *   SET,SET,...  all of these together
 * A run that is named twice counts once. */
#ifndef CLEAR_QUERY_RUNS_RUN_SET_H
#define CLEAR_QUERY_RUNS_RUN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db.h"

struct run_set {
    int64_t *ids; /* in the order of the words; ascending within a range, a tag or `all` */
    size_t count;
};

/* Adds the runs of `text` to a set, which may be empty ({0}); the caller calls run_set_free. No run is a usage error. */
int run_set_add(struct run_set *set, struct db *db, const char *text, struct error *err);
void run_set_free(struct run_set *set);

/* The title of a picture of `count` runs: "heap of run 3: COMMAND", "heap of 20 runs". `run_id` is the first of them. free() it. */
char *run_title(struct db *db, int64_t run_id, size_t count, const char *kind);

/* Runs of several warehouses: the one of --db, and the private one that files were read into. */
struct run_list {
    struct run_item {
        struct db *db;
        int64_t id;
    } * items; /* in the order in which they were added */
    size_t count;
};

void run_list_add(struct run_list *list, struct db *db, int64_t id); /* does nothing if the list has it */
bool run_list_has(const struct run_list *list, const struct run_item *item);
/* Removes the runs of `other`. */
void run_list_remove(struct run_list *list, const struct run_list *other);
void run_list_free(struct run_list *list);

#endif
