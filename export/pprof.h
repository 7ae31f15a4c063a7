/* pprof.h: writes a gzipped profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto).
 *
 * Streaming: samples are written as they come, so memory is bounded by the distinct names and locations, not by the
 * samples. Deterministic: the same calls give the same bytes (string 0 is "", ids from 1 in order of first use, no time stamp in the
 * gzip header). The file appears under its name only when it is whole: it is written beside it and renamed, and every write, the
 * gzip trailer, fsync and the final close are checked. */
#ifndef CLEAR_EXPORT_PPROF_H
#define CLEAR_EXPORT_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "query/profile/model.h"

struct file;
struct pprof_writer;

/* Into a file that is open, which it takes over. `level` is gzip's, 1 (fast) to 9 (small); 0 is PPROF_LEVEL. */
enum { PPROF_LEVEL = 3 };
struct pprof_writer *pprof_open_file(const struct file *file, int level);
/* Finish and publish the file; frees the writer in any case. */
int pprof_close(struct pprof_writer *writer, struct error *err);
/* Give up: nothing is left on disk. Safe on NULL. */
void pprof_abandon(struct pprof_writer *writer);

/* Header fields. All sample types must be given before the first sample. */
void pprof_sample_type(struct pprof_writer *writer, const struct profile_type *type);
void pprof_default_type(struct pprof_writer *writer, const char *type);
void pprof_period(struct pprof_writer *writer, const struct profile_type *type, int64_t period);
void pprof_time(struct pprof_writer *writer, int64_t time_ns, int64_t duration_ns);
void pprof_comment(struct pprof_writer *writer, const char *text);
void pprof_frames(struct pprof_writer *writer, const char *drop, const char *keep);
void pprof_doc_url(struct pprof_writer *writer, const char *url);

/* Ids are 1, 2, 3 … in order of the calls; what names another by its index (query/profile/model.h) means the id after that. A reader
 * takes the first mapping for the main binary. */
uint64_t pprof_mapping(struct pprof_writer *writer, const struct profile_mapping *mapping);
uint64_t pprof_function(struct pprof_writer *writer, const struct profile_function *function);
uint64_t pprof_location(struct pprof_writer *writer, const struct profile_location *location,
                        const struct profile_line *lines);

/* Location ids leaf first; as many values as there are sample types. */
int pprof_sample(struct pprof_writer *writer, const uint64_t *locations, size_t location_count, const int64_t *values,
                 const struct profile_label *labels, size_t label_count, struct error *err);

#endif
