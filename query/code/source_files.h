/* sources.h: source texts for listings: those that a run kept (the table `sources`), else the files of this machine that may be read for a
 * profile (query/code/source_places.h). */
#ifndef CLEAR_QUERY_CODE_SOURCE_FILES_H
#define CLEAR_QUERY_CODE_SOURCE_FILES_H

#include "base/map.h"
#include "query/code/source_places.h"
#include "query/runs/run_set.h"
#include "schema/db.h"

/* A zeroed struct has no texts of runs. */
struct sources {
    struct map kept; /* path -> index into `items` */
    struct kept_source {
        char *path, *text;
        bool is_transpiled; /* made by a compiler from another one of them */
        int64_t *marked;    /* then: of each line, which line of that; 0 unknown */
        size_t line_count;
    } * items;
    size_t count;
    char *directory; /* of the warehouse whose runs were added first; NULL: there is none */
};

/* Adds what the runs kept; the latest run wins where they differ. */
int sources_load(struct sources *sources, struct db *db, const struct run_set *runs, struct error *err);
void sources_free(struct sources *sources);
/* The path of what a person wrote, and its *line, for a line of a transpiler's output; NULL: it is none, or it says nothing of
 * that line. */
const char *sources_original(const struct sources *sources, const char *path, int64_t *line);
bool sources_have(const struct sources *sources, const char *path); /* under just that path; NULL has none */

/* A file as lines, NUL-terminated without their ends; line N is lines[N - 1]. */
struct source_file {
    char *text;
    char **lines;
    size_t count;
};

/* The text of `path` as a profile names it: of the run where it was kept under that name or one that ends so; else of the file that
 * `places` allow. -1 with `*why` set (free() it) where there is none. `sources` may be NULL. */
int source_open(struct source_file *file, const struct sources *sources, const char *path,
                const struct source_places *places, char **why);
void source_close(struct source_file *file);

#endif
