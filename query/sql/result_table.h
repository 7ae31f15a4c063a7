/* result_table.h: prints the rows of any statement, as a table for people or as CSV, JSON, JSON Lines or Markdown for programs.
 * Memory does not grow with the rows: a table is aligned and printed in blocks of TABLE_BLOCK_ROWS or 16 MiB, the others row by row. */
#ifndef CLEAR_QUERY_SQL_RESULT_TABLE_H
#define CLEAR_QUERY_SQL_RESULT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "schema/db.h"

enum { TABLE_BLOCK_ROWS = 10000 };

enum table_format {
    TABLE_TEXT,   /* aligned columns, numbers to the right, NULL and blobs (x'01ff') shown as SQL writes them */
    TABLE_CSV,    /* RFC 4180: CRLF, quotes where needed. NULL is nothing, an empty text is "" */
    TABLE_JSON,   /* one array of objects. Blobs are strings of hex digits, infinite numbers null */
    TABLE_JSONL,  /* the same objects, one per line */
    TABLE_ARRAYS, /* a line {"columns":[…]}, an array for each row, and a line {"end":true,"rows":N,"truncated":…} */
    TABLE_MARKDOWN, /* a GitHub table; characters with a meaning in Markdown or HTML are escaped. NULL as in TABLE_TEXT */
};

struct table_options {
    enum table_format format;
    int64_t bytes_max; /* of output: more is a failure, soon after; 0: no limit */
    int64_t rows_max;  /* the first rows alone; 0: all */
    int json_columns;  /* TABLE_JSON, TABLE_JSONL: so many of the last columns hold JSON */
    bool no_header;    /* TABLE_TEXT and TABLE_CSV */
    int width; /* TABLE_TEXT: texts are cut so that rows have at most so many columns of the terminal; 0: none is cut */
    bool
        has_notes; /* TABLE_TEXT: the last column is a line of its own below its row, and none if it is empty or NULL */
    bool
        human; /* TABLE_TEXT, TABLE_MARKDOWN: columns named ..._bytes, ..._ns and other integers in units (base/units.h) */
};

/* "table", "csv", "json", "jsonl" (or "ndjson"), "arrays", "markdown"; any other name is a usage error that lists them. */
int table_format_of(const char *name, enum table_format *format, struct error *err);

/* Prints all rows. `step` is db_step, or a function like it with other error messages. If `out` cannot be written, it stops and
 * returns 0: the owner of the stream must check ferror(). */
typedef int table_step(struct db *db, sqlite3_stmt *statement, struct error *err);
int table_print(FILE *out, struct db *db, sqlite3_stmt *statement, table_step *step,
                const struct table_options *options, struct error *err);

#endif
