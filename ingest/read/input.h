/* input.h: one artefact to read: a file, standard input, bytes in memory, or a directory.
 *
 * Bytes that were gzip are inflated (several members one after the other, as `cat a.gz b.gz` makes them); their size is
 * bounded by INPUT_SIZE_MAX, so that a bomb is an error and not a machine without memory. A plain file is mapped, not
 * read. A file that is cut while it is read ends the process by SIGBUS, as with every reader that maps; what is
 * transacted stays whole. */
#ifndef CLEAR_INGEST_READ_INPUT_H
#define CLEAR_INGEST_READ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes after inflating, and of standard input; a mapped file may be larger. */
#define INPUT_SIZE_MAX (UINT64_C(512) << 20)
enum {
    INPUT_HASH_SIZE = 65, /* SHA-256 as hex, with its NUL */
    INPUT_HEAD = 64 * 1024,
};

struct input {
    const char *path;    /* as the user named it, for messages and runs.source; "standard input" for "-". Not owned. */
    const uint8_t *data; /* NULL for a directory and for no bytes at all */
    size_t size;
    bool is_directory;
    bool is_partial;     /* gzip, and only the first INPUT_HEAD bytes are inflated yet: enough to recognise it by */
    int64_t modified_ns; /* ns since the epoch, of the file; now for standard input and memory */
    char content_hash[INPUT_HASH_SIZE]; /* of the bytes as they stand in the file, before inflating. Of a directory: of
                                           its files' names, sizes and bytes in the order of the names. Of a file only
                                           after input_complete, so that what no reader knows is not read */
    void *owned;                        /* the inflated or read bytes, to be freed */
    const uint8_t *file;                /* the bytes before inflating … */
    size_t file_size;
    bool is_mapped, is_borrowed; /* … and how they are given back */
};

/* `path` "-" is standard input. */
int input_open(struct input *input, const char *path, struct error *err);
/* Bytes of the caller, which must live as long; gzip is inflated. For tests, fuzzing, and files inside a directory. */
int input_open_memory(struct input *input, const char *name, const uint8_t *data, size_t size, struct error *err);
/* Hashes the bytes, and inflates the rest of a partial input. A reader never sees a partial one. */
int input_complete(struct input *input, struct error *err);
void input_close(struct input *input); /* safe on a zeroed or failed one */

/* Do the bytes begin so? For recognise functions. */
bool input_starts_with(const struct input *input, const char *text);

/* Lines of a text artefact. Start with {.input = input}. The line has no CR or LF; it is not NUL-terminated and may hold
 * NULs, any bytes, and be as long as the file. */
struct input_lines {
    const struct input *input;
    size_t offset; /* of the next line */
    const char *line;
    size_t size;
    size_t number; /* of this line, from 1 */
};
bool input_next_line(struct input_lines *lines);

/* "PATH:LINE:COLUMN: ..." (column from 1, in bytes, 0 for none) and "PATH: byte OFFSET: ...". Return -1. Say what was
 * expected and what is there. */
int input_fail_line(struct error *err, const struct input_lines *lines, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int input_fail_byte(struct error *err, const struct input *input, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
