/* target.h: whether a program can be recorded, before it runs.
 *
 * The runtime comes in by LD_PRELOAD. Programs that the loader does not preload into, or whose own runtime must come first, are
 * refused with a usage error of one line that says why and what to do. A script is judged by its interpreter. A static program
 * that dumps by itself can be recorded: all that there is of it is what it dumps. */
#ifndef CLEAR_INGEST_RECORD_RECORDABLE_H
#define CLEAR_INGEST_RECORD_RECORDABLE_H

#include <stdbool.h>

#include "base/error.h"

/* The file that `name` means: itself where it holds a slash, else the first executable of that name in $PATH, as
 * execvp(3) finds it. NULL with a usage error; free() it. */
char *target_find(const char *name, struct error *err);

/* 0 where the program at `path` can be recorded. `name` is what the user called it, for messages. */
int target_check(const char *path, const char *name, struct error *err);

/* Does the file hold that text? A program that names the variable CLEAR_ALLOC_PROFILE knows how to dump by itself. */
bool target_names(const char *path, const char *text);
/* Does the ELF file run at the addresses that stand in it, without a load bias? */
bool target_is_fixed(const char *path);

#endif
