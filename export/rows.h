/* rows.h: the rows of a query as the samples of a profile. Equal (stack, labels) are summed; memory is bounded by the distinct ones.
 *
 *     rows_open, rows_add for each row, then, with the profile's writer: rows_types, rows_write, rows_free
 *
 * Reading and writing are apart, so that a query that fails leaves no file, not even for a moment. The same rows may take
 * the results of several statements, as long as their columns are the same. */
#ifndef CLEAR_EXPORT_ROWS_H
#define CLEAR_EXPORT_ROWS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/map.h"
#include "query/profile/columns.h"
#include "export/names.h"

struct rows {
    struct columns columns;
    struct map samples;  /* stack and labels, encoded -> index into `values` */
    struct map texts;    /* names of frames and text labels -> index, so that an encoded sample stays short */
    int64_t *values;     /* [sample][columns.slots + 1]: sums, in the last place the count of rows */
    int64_t *first_rows; /* [sample]: the first row of it, for messages */
    size_t capacity;
    int64_t *told; /* [sample], of the first told_count: the sums of the last time (rows_again) */
    size_t told_count;
    int64_t row;    /* the one last added, from 1 */
    bool addressed; /* samples that are added from now on get their trace's address as label `addr` */
    bool named;     /* a sample without any frame gets one, [no stack]: pprof leaves out what has none */
    bool sparse;    /* samples whose values are all 0 are left out */
    bool by_trace;  /* written in the order of trace ids, which is the order of the file, and not in that of the rows */
    struct buffer frames, labels, key; /* scratch */
};

int rows_open(struct rows *rows, sqlite3_stmt *statement, struct error *err);
/* Takes the row on which the statement stands. */
int rows_add(struct rows *rows, sqlite3_stmt *statement, struct error *err);
/* Takes a row of a trace, a label set and as many values as there are value columns: four times as fast. */
int rows_add_plain(struct rows *rows, int64_t trace_id, int64_t label_set_id, const int64_t *values, struct error *err);

/* For reading the same again when it has grown: from now on what is written is the difference to what had been read before; but a
 * value whose type begins with inuse_ is a state, and is written as it is, and one that begins with max_ is written as it is
 * where it rose, else as 0. What had been read is kept, for what came since to be added to it, until rows_restart says that
 * all will be read again. The sample texts stay, so samples keep their keys. rows_back undoes it and what was read since. */
void rows_again(struct rows *rows);
void rows_restart(struct rows *rows);
void rows_back(struct rows *rows);
/* Whether sums of rows are right for every value: a maximum is none. */
bool rows_are_sums(const struct rows *rows);

/* Writes the sample types. */
/* `shown`, where it is not NULL, is the type that viewers show first; one that is not there is a usage error. */
int rows_types(const struct rows *rows, const char *shown, struct pprof_writer *writer, struct error *err);
/* Writes the samples. */
int rows_write(struct rows *rows, struct names *names, struct pprof_writer *writer, struct error *err);
/* Writes the samples of `base` negated and with the label pprof::base=true, as `pprof -diff_base` has them. Its values go under
 * the types of `rows`, whatever the order of its columns; one that is missing on either side is a usage error. */
int rows_write_base(struct rows *base, const struct rows *rows, struct names *names, struct pprof_writer *writer,
                    struct error *err);
void rows_free(struct rows *rows);

#endif
