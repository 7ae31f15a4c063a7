/* schema.h: makes and migrates the tables and views of a warehouse, and fills rules, advice and wrappers.
 * The SQL is in schema/tables.sql, schema/views and schema/doctor, the figures and texts in schema/rules.yaml; all of it is
 * built into the program as strings (build/embed.c). Raw and derived are apart: tables are migrated step by step,
 * views are dropped and made anew whenever the program's differ from the file's. */
#ifndef CLEAR_SCHEMA_SCHEMA_H
#define CLEAR_SCHEMA_SCHEMA_H

#include "schema/db.h"

enum {
    SCHEMA_APPLICATION_ID = 0x434c4541, /* "CLEA": PRAGMA application_id, what file(1) and we know the file by */
    SCHEMA_VERSION = 1,                 /* PRAGMA user_version: raised by one with each step in schema.c */
};

/* Brings an open, writable database to SCHEMA_VERSION in one transaction. An empty one is made into a warehouse. */
int schema_prepare(struct db *db, struct error *err);

/* A text built into the program. */
struct embedded {
    const char *name; /* "tables.sql", "views/heap.sql" */
    const char *text;
};
extern const struct embedded embedded_files[]; /* ends with a NULL name */
const char *embedded_text(const char *name);   /* a name that is not there is a bug */

#endif
