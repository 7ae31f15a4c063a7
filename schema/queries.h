/* queries.h: reads saved queries from YAML and stores them. Each is a row of the table `queries`, so they travel with the file. Clear's
 * own are in schema/queries/NAME.yaml and built into the program; a user's come from the configuration or from `clear query --save`.
 *
 * In YAML (in a file of its own with `name:`; in the configuration the name is the key above):
 *   description: one line
 *   params: {run: {type: run, default: latest}, top: {type: integer, default: 20}}
 *   sql: SELECT ...
 *   export: {format: folded}        # options of clear export, without their dashes
 * The type of a parameter is run (its value is the name of a run, and the id is bound), integer, real or text. A parameter without a
 * default must be given. */
#ifndef CLEAR_SCHEMA_QUERIES_H
#define CLEAR_SCHEMA_QUERIES_H

#include <stdbool.h>

#include "schema/db.h"
#include "schema/document.h"

struct saved_query {
    char *name, *description;
    char *params; /* JSON: [{"name":"run","type":"run","default":"latest"}, ...]; as in the table */
    char *sql;
    char *export; /* JSON: {"format":"folded"} */
};
void queries_free(struct saved_query *query);

/* Reads one from a mapping; the caller calls queries_free. `name` is the key above it, or NULL if `name:` is one of the fields. After
 * a failure there is nothing to free. */
int queries_read(struct document *document, const yaml_node_t *node, const char *name, struct saved_query *query);
/* True for a letter followed by letters, digits, '-' and '_'. */
bool queries_is_name(const char *name);

/* Stores a row in the table `queries` (the temporary one if it exists) and replaces a row of that name. */
int queries_put(struct db *db, const struct saved_query *query, struct error *err);

/* Stores the built-in queries in the table. */
int queries_put_own(struct db *db, struct error *err);
bool queries_is_own(const char *name);

#endif
