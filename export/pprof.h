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
#include "base/error.h"

struct file;
struct pprof_writer;

struct pprof_label {
    const char *key;
    const char *text; /* NULL: numeric */
    int64_t number;
    const char *unit; /* "" or NULL for none */
};

struct pprof_line {
    uint64_t function; /* id from pprof_function */
    int64_t line, column;
};

/* `path` "-" is standard output. `level` is gzip's, 1 (fast) to 9 (small); 0 is PPROF_LEVEL. */
enum { PPROF_LEVEL = 3 };
struct pprof_writer *pprof_open(const char *path, int level, struct error *err);
/* The same into a file that is open, which it takes over. */
struct pprof_writer *pprof_open_file(const struct file *file, int level);
/* A profile that stays in memory, not compressed: pprof_take ends it, gives its bytes and frees the writer. */
struct pprof_writer *pprof_open_memory(void);
void pprof_take(struct pprof_writer *writer, struct buffer *bytes);
/* Finish and publish the file; frees the writer in any case. */
int pprof_close(struct pprof_writer *writer, struct error *err);
/* Give up: nothing is left on disk. Safe on NULL. */
void pprof_abandon(struct pprof_writer *writer);

/* Header fields. All sample types must be given before the first sample. NULL texts are empty. */
void pprof_sample_type(struct pprof_writer *writer, const char *type, const char *unit);
void pprof_default_type(struct pprof_writer *writer, const char *type);
void pprof_period(struct pprof_writer *writer, const char *type, const char *unit, int64_t period);
void pprof_time(struct pprof_writer *writer, int64_t time_ns, int64_t duration_ns);
void pprof_comment(struct pprof_writer *writer, const char *text);
void pprof_frames(struct pprof_writer *writer, const char *drop, const char *keep);
void pprof_doc_url(struct pprof_writer *writer, const char *url);

/* Ids are 1, 2, 3 … in order of the calls, so callers may keep their own dense tables. Function 0 and mapping 0 are none. */
uint64_t pprof_mapping(struct pprof_writer *writer, uint64_t start, uint64_t limit, uint64_t offset,
                       const char *filename, const char *build_id, bool has_functions, bool has_filenames,
                       bool has_lines, bool has_inlines);
/* Which mapping is the main binary; the first one where this is not called. A reader takes the first in the file for it, so
 * mappings are written last, this one before the others. */
void pprof_main_mapping(struct pprof_writer *writer, uint64_t mapping);
uint64_t pprof_function(struct pprof_writer *writer, const char *name, const char *system_name, const char *filename,
                        int64_t start_line);
uint64_t pprof_location(struct pprof_writer *writer, uint64_t mapping, uint64_t address, bool is_folded,
                        const struct pprof_line *lines, size_t line_count);

/* Location ids leaf first; as many values as there are sample types. */
int pprof_sample(struct pprof_writer *writer, const uint64_t *locations, size_t location_count, const int64_t *values,
                 const struct pprof_label *labels, size_t label_count, struct error *err);

#endif
