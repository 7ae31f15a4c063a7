/* gzip_file.h: a file (export/file.h) whose bytes are compressed, on a thread of their own from the first full batch on: deflate is
 * as costly as making what it compresses. Deterministic: the same bytes in the same batches give the same file; no time stamp, no name and
 * no system stand in its header. */
#ifndef CLEAR_EXPORT_GZIP_FILE_H
#define CLEAR_EXPORT_GZIP_FILE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

struct file;
struct gzip_file;

/* Takes over a file that is open. `level` is gzip's, 1 (fast) to 9 (small). */
struct gzip_file *gzip_file_open(const struct file *file, int level);
/* What is to be compressed is added to these bytes. The pointer is good until gzip_file_close or gzip_file_abandon. */
struct buffer *gzip_file_bytes(struct gzip_file *gzip);
/* To be called as bytes were added: hands them over where they are a full batch. A failure is told by gzip_file_check. */
void gzip_file_pass(struct gzip_file *gzip);
/* -1 with the error set where a batch could not be written; nothing can be added then. */
int gzip_file_check(struct gzip_file *gzip, struct error *err);
/* Compresses the rest, ends the file and publishes it; frees in any case. */
int gzip_file_close(struct gzip_file *gzip, struct error *err);
/* Gives up: nothing is left on disk. Safe on NULL. */
void gzip_file_abandon(struct gzip_file *gzip);

#endif
