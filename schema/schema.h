/* schema.h: makes and migrates the tables and views of a warehouse, and writes its rules, advice, wrappers and queries.
 * The SQL is in schema/tables.sql, schema/views and schema/doctor, thresholds and texts are in schema/rules.yaml. They are built into
 * the program as strings, as is every other .sql file below schema/ (schema/embed.awk). Tables are migrated step by step; views are
 * dropped and made again if the file's differ from the program's. */
#ifndef CLEAR_SCHEMA_SCHEMA_H
#define CLEAR_SCHEMA_SCHEMA_H

#include <stdbool.h>

#include "schema/db.h"

enum {
    SCHEMA_APPLICATION_ID =
        0x434c4541,      /* "CLEA": PRAGMA application_id, by which file(1) and clear recognize the file */
    SCHEMA_VERSION = 11, /* PRAGMA user_version: one more with each file in migrations/ */
};

/* The state of an open database. One of another program and one of a newer clear are errors. */
enum schema_state {
    SCHEMA_EMPTY, /* contains nothing: can become a warehouse */
    SCHEMA_OLDER, /* tables of an earlier version */
    SCHEMA_STALE, /* tables of this version; but views, rules or queries of another clear, or users' diagnoses to join */
    SCHEMA_UNSEALED, /* facts of runs are missing, or of another definition (schema/facts.h); all else is current */
    SCHEMA_CURRENT,  /* nothing to do */
};
int schema_read_state(struct db *db, enum schema_state *state, struct error *err);

/* Migrates an open, writable database to SCHEMA_VERSION in one transaction. An empty one becomes a warehouse. `state`: as it was read last; it is
 * read again where there is something to do, once nobody else writes. */
int schema_prepare(struct db *db, enum schema_state state, struct error *err);

/* For a connection that only reads a file which could not be brought up to date: where the file's views are not those of this clear,
 * this connection gets clear's own as temporary views. Adds the diagnoses of users to the view doctor of this connection. */
int schema_prepare_reader(struct db *db, struct error *err);

/* Copies every view of the file as a temporary view of this connection, in which names mean temporary tables first; once a connection. */
int schema_shadow_views(struct db *db, struct error *err);

/* Runs the migrations that the file still needs, all or none. steps[0] migrates from version 1 to 2, steps[1] from 2 to 3, and so on;
 * each is SQL that ends by raising user_version. schema_prepare calls it; it is public for its test. */
int schema_migrate(struct db *db, const char *const *steps, int count, struct error *err);

/* Writes rules, advice and wrappers of a YAML text (as schema/rules.yaml; any part may be missing) to the file. A row of the same name
 * is replaced, others stay. `name` is for messages: "NAME:LINE:COLUMN: what is wrong". */
int schema_load_rules(struct db *db, const char *name, const char *text, struct error *err);

/* A text built into the program. */
struct embedded {
    const char *name; /* "tables.sql", "views/heap.sql", "queries/hot-sites.yaml" */
    const char *text;
};
extern const struct embedded embedded_files[]; /* ends with a NULL name */
/* What follows "CREATE VIEW " in the text of clear's own view of that name. NULL if the view is not clear's, for `doctor`, which
 * also joins the diagnoses of users, and for `sites`, which is made with the tables. */
const char *schema_view_text(const char *view);
size_t schema_view_count(void);              /* views for which schema_view_text has a text */
char *schema_sites_text(void);               /* the same of `sites`, without the semicolon; free() it */
const char *embedded_text(const char *name); /* an unknown name is a bug */

#endif
