/* input.h: the input of a reader: a file, standard input, bytes in memory, or a directory.
 *
 * gzip is inflated (several members one after the other too, as `cat a.gz b.gz` makes them); the inflated size is
 * bounded by INPUT_SIZE_MAX. A plain file is mapped and not copied. If it is truncated while it is read, SIGBUS ends
 * the process, as in every program that maps files; the open transaction is not committed then. */
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
    bool is_partial;     /* gzip, of which only the first INPUT_HEAD bytes are inflated, to recognise the format */
    int64_t modified_ns; /* ns since the epoch, of the file; now for standard input and memory */
    /* SHA-256 of the bytes in the file, before inflating; of a directory, of its files' names, sizes and bytes in the
     * order of the names. Of a file it is set by input_complete, so that a file of no known format is not read
     * whole. */
    char content_hash[INPUT_HASH_SIZE];
    void *owned;         /* inflated or copied bytes, freed by input_close */
    const uint8_t *file; /* the bytes before inflating */
    size_t file_size;
    bool is_mapped, is_borrowed; /* how `file` is released */
};

/* `path` "-" is standard input. */
int input_open(struct input *input, const char *path, struct error *err);
/* Bytes of the caller, which must live as long as the input; gzip is inflated. For tests, fuzzers, and files inside a
 * directory. */
int input_open_memory(struct input *input, const char *name, const uint8_t *data, size_t size, struct error *err);
/* Hashes the bytes, and inflates the rest of a partial input. Readers get complete inputs only. */
int input_complete(struct input *input, struct error *err);
/* Frees the bytes of one that is read; what it is called and its hash stay. */
void input_free_bytes(struct input *input);
void input_close(struct input *input); /* safe on a zeroed or failed one */

/* Whether the bytes begin with that text. For recognise functions. */
bool input_starts_with(const struct input *input, const char *text);

/* The lines of a text. Start with {.input = input}. A line has no CR or LF at its end; it is not NUL-terminated, may
 * contain any bytes, and may be as long as the file. */
struct input_lines {
    const struct input *input;
    size_t offset; /* of the next line */
    const char *line;
    size_t size;
    size_t number; /* of this line, from 1 */
};
bool input_next_line(struct input_lines *lines);

/* Set the error "PATH:LINE:COLUMN: ..." (column in bytes from 1, or 0 for none) or "PATH: byte OFFSET: ...", and return
 * -1. Say what was expected and what was found. */
int input_fail_line(struct error *err, const struct input_lines *lines, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int input_fail_byte(struct error *err, const struct input *input, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
