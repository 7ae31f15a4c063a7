/* schema.h: makes and migrates the tables and views of a warehouse, and fills rules, advice, wrappers and queries.
 * The SQL is in schema/tables.sql, schema/views and schema/doctor, the figures and texts in schema/rules.yaml; all of it is
 * built into the program as strings (build/embed.c). Raw and derived are apart: tables are migrated step by step,
 * views are dropped and made anew whenever the program's differ from the file's. */
#ifndef CLEAR_SCHEMA_SCHEMA_H
#define CLEAR_SCHEMA_SCHEMA_H

#include "schema/db.h"

enum {
    SCHEMA_APPLICATION_ID = 0x434c4541, /* "CLEA": PRAGMA application_id, what file(1) and we know the file by */
    SCHEMA_VERSION = 2,                 /* PRAGMA user_version: raised by one with each file in migrations/ */
};

/* What an open database is. A foreign one and a newer one are errors. */
enum schema_state {
    SCHEMA_EMPTY, /* nothing is in it: ours to make */
    SCHEMA_OLDER, /* tables of an earlier version */
    SCHEMA_STALE, /* tables of this version; views, rules or queries of another clear, or diagnoses of a user to join */
    SCHEMA_CURRENT, /* nothing to do */
};
int schema_look(struct db *db, enum schema_state *state, struct error *err);

/* Brings an open, writable database to SCHEMA_VERSION in one transaction. An empty one is made into a warehouse. */
int schema_prepare(struct db *db, struct error *err);

/* For a connection that only reads a file that could not be brought up to date: joins the diagnoses that users made to the
 * view doctor of this connection. A file whose views are another clear's stays as it is. */
int schema_prepare_reader(struct db *db, struct error *err);

/* steps[0] takes a file from version 1 to 2, steps[1] from 2 to 3, ... Each is SQL that ends by raising user_version.
 * Runs those that the file still needs, all of them or none. Inside schema_prepare; apart for its test. */
int schema_migrate(struct db *db, const char *const *steps, int count, struct error *err);

/* Puts rules, advice and wrappers of a YAML text (the shape of schema/rules.yaml, any part may be missing) into the
 * file. A row of the same name is replaced, others stay. `name` is for messages: "NAME:LINE:COLUMN: what is wrong". */
int schema_load_rules(struct db *db, const char *name, const char *text, struct error *err);

/* A text built into the program. */
struct embedded {
    const char *name; /* "tables.sql", "views/heap.sql", "queries/hot-sites.yaml" */
    const char *text;
};
extern const struct embedded embedded_files[]; /* ends with a NULL name */
/* What follows "CREATE VIEW " in the text of clear's own view of that name; NULL where the view is none of clear's, and for
 * `doctor`, which also joins the diagnoses of users. */
const char *schema_view_text(const char *view);
const char *embedded_text(const char *name);   /* a name that is not there is a bug */

#endif
