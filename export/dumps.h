/* dumps.h: the text dumps of CLEAR's own runtime, and what perf stat and strace -c print, written from the tables so that tools
 * which read those read ours. Of a run, what the windows of `span` hold. Addresses are those in the file of the frame's module. */
#ifndef CLEAR_EXPORT_DUMPS_H
#define CLEAR_EXPORT_DUMPS_H

#include "query/runs/timespan.h"
#include "schema/db.h"

struct dump_format {
    const char *file, *kind; /* its name in NAME.profile/, and the kind of profile that it shows */
    int (*write)(struct db *db, int64_t run_id, const struct timespan *span, const char *path, struct error *err);
};
extern const struct dump_format dump_formats[]; /* ends with a NULL file */

/* The dump of that kind; a kind without one is a usage error that lists those that have. */
int dump_run(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
             struct error *err);

#endif
