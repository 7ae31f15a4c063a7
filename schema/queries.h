/* queries.h: saved queries. Each is a row of the table `queries`, so that they travel with the file. Clear's own stand in
 * schema/queries/NAME.yaml and are built in; a user's come from the configuration or from `clear query --save`.
 *
 * The shape in YAML (in a file of its own, `name:` too; in the configuration the name is the key above):
 *   description: one line
 *   params: {run: {type: run, default: latest}, top: {type: integer, default: 20}}
 *   sql: SELECT ...
 *   export: {format: folded}        # options of clear export, without their dashes
 * A parameter is of type run (names a run, binds its id), integer, real or text; without a default it must be given. */
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

/* Reads one from a mapping. `name` is the key that it stood under, or NULL where `name:` is one of the fields. On failure
 * nothing is to free. */
int queries_read(struct document *document, const yaml_node_t *node, const char *name, struct saved_query *query);
/* A letter, then letters, digits, '-' or '_'. */
bool queries_is_name(const char *name);

/* Puts a row into the table `queries` (the temporary one where it exists), in place of one of that name. */
int queries_put(struct db *db, const struct saved_query *query, struct error *err);

/* Puts the built-in ones into the table. */
int queries_put_own(struct db *db, struct error *err);
bool queries_is_own(const char *name);

#endif
