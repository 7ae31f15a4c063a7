/* rows.h: the rows of a query as the samples of a profile. Equal (stack, labels) are summed; memory is bounded by the distinct ones.
 *
 *     rows_open, rows_add for each row, then, with the profile's writer: rows_write, rows_free
 *
 * Reading and writing are apart, so that a query that fails leaves no file, not even for a moment. */
#ifndef CLEAR_EXPORT_ROWS_H
#define CLEAR_EXPORT_ROWS_H

#include "base/buffer.h"
#include "base/map.h"
#include "export/columns.h"
#include "export/names.h"

struct rows {
    struct columns columns;
    struct map samples;  /* stack and labels, encoded -> index into `values` */
    struct map texts;    /* names of frames and text labels -> index, so that an encoded sample stays short */
    int64_t *values;     /* [sample][columns.slots + 1]: sums, in the last place the count of rows */
    int64_t *first_rows; /* [sample]: the first row of it, for messages */
    size_t capacity;
    int64_t row;                       /* the one last added, from 1 */
    struct buffer frames, labels, key; /* scratch */
};

int rows_open(struct rows *rows, sqlite3_stmt *statement, struct error *err);
/* Takes the row on which the statement stands. */
int rows_add(struct rows *rows, sqlite3_stmt *statement, struct error *err);
/* Writes sample types and samples. */
int rows_write(struct rows *rows, struct names *names, struct pprof_writer *writer, struct error *err);
void rows_free(struct rows *rows);

#endif
