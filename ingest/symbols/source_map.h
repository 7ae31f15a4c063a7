/* source_map.h: maps lines of transpiled code to lines of its source, by the markers `// CLR:N`.
 *
 * A file is transpiled code if it has such markers and its source is known:
 *   ._clear_tmp_NAME.zig   NAME.cht in the same directory
 *   transpiled.zig         MODULE.cht in the same directory (MODULE is the binary), else source.cht there
 *   X.EXT, X.cht.EXT       X.cht in the same directory, if it exists
 *   any file of a build    the source that was built (source_map_built)
 * Every other file keeps its own name and lines, above all those of runtimes and libraries; so does a line above the
 * first marker. */
#ifndef CLEAR_INGEST_SYMBOLS_SOURCE_MAP_H
#define CLEAR_INGEST_SYMBOLS_SOURCE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"

struct source_marker {
    int line, source_line; /* from 1 */
};

struct source_map_file {
    char *path;                    /* of the transpiled file, as debug information names it */
    char *source;                  /* path of its source; NULL: it is not transpiled code */
    char *text;                    /* of the transpiled file, NUL-terminated; NULL where `source` is */
    char *source_text;             /* NULL where it cannot be read */
    struct source_marker *markers; /* in the order of their lines */
    size_t count;
    bool is_stored;
};

struct source_map {
    struct map files;                /* path -> struct source_map_file * */
    struct source_map_file **mapped; /* those that are transpiled code */
    size_t mapped_count;
    char *build_directory, *built_source;        /* of source_map_built */
    char *kept_module, *kept_file, *kept_source; /* of source_map_kept */
};

/* Files below that directory are transpiled from that source. */
void source_map_built(struct source_map *map, const char *directory, const char *source);
/* For a directory NAME.profile/: the code and source of the binary NAME are its transpiled.zig and source.cht, and not
 * the files that are at the paths of the debug information now. Either may be missing. */
void source_map_kept(struct source_map *map, const char *directory);
void source_map_free(struct source_map *map);

/* The file of that path, which is read at the first call. `module` is the base name of the binary. Never NULL; owned by
 * the map. */
const struct source_map_file *source_map_find_file(struct source_map *map, const char *module, const char *path);

/* The source line of a line of the file: that of the last marker at or above it; 0 where there is none. */
int source_file_line(const struct source_map_file *file, int line);

/* The text of a regular file, NUL-terminated, with '?' for bytes that are not UTF-8. NULL where it cannot be read or is
 * not a source. free() it. */
char *source_read(const char *path);

#endif
