/* source_map.h: from the lines of a transpiler's output back to the lines that a person wrote, by the markers `// CLR:N`.
 *
 * A file is the transpiler's output where it holds such markers and it is known what it was made of:
 *   ._clear_tmp_NAME.zig   NAME.cht beside it
 *   transpiled.zig         MODULE.cht beside it (MODULE: the binary), else source.cht where that is what stands there
 *   X.EXT, X.cht.EXT       X.cht beside it, if that exists
 *   any, made in a build   the source that was built (source_map_built)
 * Everything else, runtime and library files above all, keeps its own name and lines; so does a line above the first marker. */
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
    char *source;                  /* what it was made of; NULL: it is no transpiler's output */
    char *text;                    /* of the transpiled file, NUL-terminated; NULL where source is */
    char *source_text;             /* NULL where it cannot be read */
    struct source_marker *markers; /* in the order of their lines */
    size_t count;
    bool is_stored;
};

struct source_map {
    struct map files;                /* path -> struct source_map_file * */
    struct source_map_file **mapped; /* of these, the transpiler's output */
    size_t mapped_count;
    char *build_directory, *built_source;        /* of source_map_built */
    char *kept_module, *kept_file, *kept_source; /* of source_map_kept */
};

/* What stands below that directory was made of that file. */
void source_map_built(struct source_map *map, const char *directory, const char *source);
/* A directory NAME.profile/: its transpiled.zig and source.cht, and not what stands at the paths in the debug information by
 * now, belong to the binary NAME. Either may be missing. */
void source_map_kept(struct source_map *map, const char *directory);
void source_map_free(struct source_map *map);

/* The file, looked at the first time it is asked for. `module`: the binary's file name. */
const struct source_map_file *source_map_look(struct source_map *map, const char *module, const char *path);

/* The line of the source that made that line: of the nearest marker at or above it; 0 where there is none. */
int source_file_line(const struct source_map_file *file, int line);

/* The whole of a regular file as NUL-terminated text, bytes that are no UTF-8 replaced by '?'; NULL where it cannot be
 * read or is no source. free() it. */
char *source_read(const char *path);

#endif
