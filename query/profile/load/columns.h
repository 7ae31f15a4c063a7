/* columns.h: what each column of a query means for a profile. One role a column, chosen by its name from the table in
 * columns.c, and, for names that say nothing, by the first value that is not NULL: text is a frame, a number a value. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_COLUMNS_H
#define CLEAR_QUERY_PROFILE_LOAD_COLUMNS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum role {
    ROLE_NONE,      /* not used */
    ROLE_TRACE,     /* trace_id: the stack, with addresses, mappings and inlined frames */
    ROLE_STACK,     /* stack: the same from names, "root;...;leaf" */
    ROLE_LABEL_SET, /* label_set_id: all labels of a set */
    ROLE_LABEL,     /* label:KEY or label:KEY/UNIT */
    ROLE_VALUE,     /* a sample value */
    ROLE_FUNCTION,  /* function, with file and line: one frame */
    ROLE_FILE,
    ROLE_LINE,
    ROLE_FRAME, /* text: a frame of that name */
    ROLE_OPEN,  /* ROLE_VALUE or ROLE_FRAME: no value has decided it yet */
};

struct query_column {
    enum role role;
    char *name; /* as the query names it */
    char *type; /* of a value; the key of a label */
    char *unit; /* of a value or a numeric label; "" for none */
    int slot;   /* of what is or may become a value: its place among those */
};

struct query_columns {
    struct query_column *items;
    int count;
    int slots;                /* columns that are or may become values */
    int trace, label_set;     /* -1 where there is none */
    int function, file, line; /* -1 where there is none */
};

/* Copies the names. A query that gives two stacks or the like is a usage error. */
int columns_open(struct query_columns *columns, sqlite3_stmt *statement, struct error *err);
void columns_free(struct query_columns *columns);

/* Decides open columns by the values of the statement's row. */
void columns_decide(struct query_columns *columns, sqlite3_stmt *statement);

/* A number of the statement's row: NULL is 0, a real is rounded; text is a failure that names row and column. */
int columns_number(const struct query_columns *columns, sqlite3_stmt *statement, int column, int64_t row,
                   int64_t *value, struct error *err);

#endif
