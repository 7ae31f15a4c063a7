/* readers.h: every format's struct, each defined in its own file. The order in which they are asked is in formats.c. */
#ifndef CLEAR_INGEST_READ_READERS_H
#define CLEAR_INGEST_READ_READERS_H

#include "ingest/read/format.h"

extern const struct format format_pprof;           /* pprof_read.c */
extern const struct format format_folded;          /* folded_read.c */
extern const struct format format_legacy;          /* legacy.c */
extern const struct format format_perf_data;       /* perf_data_read.c */
extern const struct format format_clear_dump;      /* clear_dumps.c */
extern const struct format format_clear_directory; /* clear_dumps.c */

#endif
