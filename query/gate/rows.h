/* rows.h: reads the figures of all runs of a gate into rows, and what limits them. */
#ifndef CLEAR_QUERY_GATE_ROWS_H
#define CLEAR_QUERY_GATE_ROWS_H

#include "query/gate/gate.h"

/* What is known of a run before its figures are read. */
struct gate_run {
    struct run_item item;
    enum gate_side side;
    int64_t started_ns;
    char *uuid;
    bool has_losses;  /* sampled, or events were dropped: exact figures are estimates */
    bool is_left_out; /* it did not end as a run of the base did */
};

struct gate_row_list {
    struct gate_run *runs; /* old ones first */
    size_t run_count, old_count;
    struct gate_row **rows;
    size_t count;
    struct map index; /* rule and subject -> row */
};

/* Reads all rows of all rules. Adds notes to the gate. gate_rows_free frees the list, but not the rows. */
int gate_rows_read(struct gate_row_list *list, struct gate *gate, struct error *err);
void gate_rows_free(struct gate_row_list *list);

/* The value of the row's subject in a run that is not in the list. */
int gate_rows_value(const struct gate_row *row, const struct gate *gate, const struct run_item *run, double *value,
                    struct error *err);

/* A bound statement for the rows (subject, value) of a figure of one run: of one subject, or of those that match a GLOB pattern. */
sqlite3_stmt *gate_series(const char *figure, const char *subject, bool is_one, const struct run_item *run,
                          struct error *err);

#endif
