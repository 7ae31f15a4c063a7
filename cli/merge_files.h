/* merge_files.h: clear merge, and clear ingest of a warehouse: what they say of each file. */
#ifndef CLEAR_CLI_MERGE_FILES_H
#define CLEAR_CLI_MERGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "ingest/read/warehouse/merge.h"

struct merge_files {
    bool is_quiet, is_json;
    size_t failed;    /* files; each was named on standard error */
    size_t printed;   /* objects of a JSON array */
    int64_t last_run; /* here, of the file that brought one last; 0: none did */
};

/* Merges one file, and prints a line about it on standard output, or an object. */
void merge_one_file(struct merge_files *files, struct merge *merge, const char *path);
/* The same with a merge of its own. */
void merge_single_file(struct merge_files *files, struct db *db, const char *path);

#endif
