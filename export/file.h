/* file.h: a file that appears under its name only when it is whole.
 *
 * What is written goes to a new file beside it, which file_publish flushes to disk and renames over the name. Until then
 * the old file, if there is one, stays as it was; after file_abandon or a failure nothing is left. A symbolic link
 * stays a link: the file it points at is replaced; one of another user is refused (base/owner.h). A device, a pipe or "-"
 * (standard output) is written to directly.
 * A new file is for its owner alone (0600 without the umask), because profiles hold command lines; one that replaces another keeps the
 * permissions of that. */
#ifndef CLEAR_EXPORT_FILE_H
#define CLEAR_EXPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

struct file {
    char *path;      /* as the user gave it, for messages */
    char *target;    /* what is replaced; NULL when written to directly */
    char *temporary; /* the new file, NULL where there is none */
    int descriptor;
    struct buffer *bytes; /* not owned; set: there is no file, what is written is added here */
};

/* `binary` refuses standard output that is a terminal: a usage error. */
int file_open(struct file *file, const char *path, bool binary, struct error *err);
/* A file in memory, called `name` in messages. `bytes` gets what is written; file_abandon empties it. */
void file_open_memory(struct file *file, const char *name, struct buffer *bytes);
int file_write(struct file *file, const void *bytes, size_t size, struct error *err);
/* Ends the file; the struct is empty afterwards, in any case. */
int file_publish(struct file *file, struct error *err);
void file_abandon(struct file *file);

/* A name beside `path` that nothing has yet: "PATH.tmp-" and random letters. free() it. */
char *file_name_beside(const char *path);

#endif
