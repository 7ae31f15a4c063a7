/* report_by_tag.h: between the two halves of --by-tag: query/report/by_tag.c makes columns and a profile with a value for each,
 * query/report/by_tag_table.c writes them. */
#ifndef CLEAR_QUERY_REPORT_BY_TAG_H
#define CLEAR_QUERY_REPORT_BY_TAG_H

#include "query/report/report_runs.h"

enum column_role { COLUMN_VALUE, COLUMN_NONE, COLUMN_OTHER };

struct tag_column {
    enum column_role role;
    const char *value; /* of the tag; of the others "(none)", "(other)" */
    struct run_list runs;
    size_t values;      /* how many values of the tag it stands for */
    int64_t started_ns; /* of its oldest run */
    int64_t total;
};

struct by_tag {
    const struct report_runs *runs;
    const char *key;
    const char *type; /* of gather_profile */
    bool of_labels;   /* of the samples, and not tags of the runs */
    size_t most;      /* columns, but for the last two */
    struct tag_column *columns;
    size_t room;               /* of columns, in items */
    size_t count, value_count; /* all values that there are */
    struct arena texts;
    struct report report;
    struct profile
        *profile; /* with `width` values for the sum, then for each column: the value, and the divisor of a mean */
    size_t width;
    bool is_wide;
};

/* The table, as text or JSON. The profile is narrowed, and the columns have their totals. */
void by_tag_write(struct by_tag *by, struct buffer *out);

#endif
