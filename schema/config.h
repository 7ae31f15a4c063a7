/* config.h: what a user sets once instead of on each command line: the file clear.yaml.
 *
 *   database: runs.sqlite            # where --db and $CLEAR_DB say nothing; relative to the file's directory
 *   toolchain:                       # how a source file becomes a program
 *     .c: cc -g -O1 -o {output} {source}   # words and placeholders: ingest/record/toolchain.h
 *   thresholds:                      # rows of the table rules
 *     lock_contended_percent: 30
 *   tags:                            # put on each run; auto: asked of git (git_commit, git_branch)
 *     git_commit: auto
 *   queries:                         # saved queries by name, in the shape of schema/queries.h
 *     my-sites: {description: ..., sql: ...}
 *
 * It is looked for in the working directory, then upward, then as $XDG_CONFIG_HOME/clear/clear.yaml (by default
 * ~/.config/clear/clear.yaml). The first one found counts alone. An unknown key, threshold or type is a failure that
 * names file, line, column and the nearest valid key.
 *
 * Thresholds and queries apply to a warehouse in two ways (config_apply). One that is open for writing gets them as rows: they
 * travel with the data. One that is only read is not touched: temporary tables `rules` and `queries` of the connection
 * take the place of the file's, and because a view in the file never sees a temporary table, each view is made anew as a
 * temporary one with the same name and text. So whoever asks sees the configuration that is in force now. */
#ifndef CLEAR_SCHEMA_CONFIG_H
#define CLEAR_SCHEMA_CONFIG_H

#include <stddef.h>

#include "schema/db.h"
#include "schema/queries.h"

struct config_pair {
    char *key, *value;
};

struct config_threshold {
    char *name; /* of a rule */
    double value;
};

struct config {
    char *path;                    /* of the file; NULL where there is none */
    char *database;                /* NULL where it says nothing */
    struct config_pair *toolchain; /* key: ".c"; value: the command, with {source} and {output} */
    size_t toolchain_count;
    struct config_pair *tags; /* in the order of the file */
    size_t tag_count;
    struct config_threshold *thresholds;
    size_t threshold_count;
    struct saved_query *queries;
    size_t query_count;
};

/* The file that counts for the working directory; free() it. NULL: there is none. One on the way that belongs to neither
 * this user nor root is passed over, as it could run commands: `*passed` (free() it too) is then its name, else NULL. */
char *config_find(char **passed);

/* Reads a file. A zeroed struct is an empty configuration. On failure nothing is to free. */
int config_read(struct config *config, const char *path, struct error *err);
/* The same of a text; `path` is its name in messages, and its directory is what `database` is relative to. */
int config_parse(struct config *config, const char *path, const char *text, struct error *err);
void config_free(struct config *config);

/* The command for source files of that ending (".c"), or NULL. */
const char *config_toolchain(const struct config *config, const char *ending);

/* Puts thresholds and queries in force for this connection, or into the file where it is writable (see above). For
 * readers it also makes clear's own queries known where the file is an older one's that cannot be written. Not under
 * the guard of query/sql/ask.h. */
int config_apply(const struct config *config, struct db *db, struct error *err);

#endif
