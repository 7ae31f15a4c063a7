/* config.h: reads the configuration file clear.yaml, and applies it to a warehouse.
 *
 *   database: runs.sqlite            # used without --db and $CLEAR_DB; relative to the directory of clear.yaml
 *   toolchain:                       # how to build a program from a source file
 *     .c: cc -g -O1 -o {output} {source}   # words and placeholders: ingest/record/toolchain.h
 *   thresholds:                      # rows of the table rules
 *     lock_contended_percent: 30
 *   tags:                            # added to each run; auto: read from git (git_commit, git_branch)
 *     git_commit: auto
 *   queries:                         # saved queries by name, as in schema/queries.h
 *     my-sites: {description: ..., sql: ...}
 *   retention:                       # how long runs are kept, as in schema/retention.h
 *     keep: 30d
 *   push: postgresql://db/profiles   # where each run is sent, as in schema/push_rule.h
 *   filters:                         # of the browser's Refine, by name: options of clear report without their dashes
 *     no-runtime: {ignore: ^runtime\., granularity: files}
 *   gates:                           # rules of clear gate by name, as in schema/gates.h; clear's own do not apply then
 *     allocations: {figure: alloc_count, limit_percent: 1}
 *
 * clear reads the first file that it finds: in the working directory, then in its parents, then
 * $XDG_CONFIG_HOME/clear/clear.yaml (by default ~/.config/clear/clear.yaml). An unknown key, threshold or type is a failure that
 * names file, line, column and the nearest valid key.
 *
 * config_apply applies thresholds, queries and gates in two ways. A warehouse that is open for writing gets them as rows, so they travel
 * with the data. A warehouse that is only read is not changed: the connection gets temporary tables `rules`, `queries` and `gates` that
 * hide the file's. A view in the file does not see temporary tables, so each view is copied as a temporary view with the same name and
 * text. Either way every query sees the current configuration. */
#ifndef CLEAR_SCHEMA_CONFIG_H
#define CLEAR_SCHEMA_CONFIG_H

#include <stddef.h>

#include "schema/db.h"
#include "schema/gates.h"
#include "schema/push_rule.h"
#include "schema/queries.h"
#include "schema/retention.h"

struct config_pair {
    char *key, *value;
};

struct config_threshold {
    char *name; /* of a rule */
    double value;
};

struct config_filter {
    char *name;
    struct config_pair *options; /* key: one of filter_options in config.c */
    size_t option_count;
};
struct config {
    char *path;                    /* of the file; NULL: there is none */
    char *database;                /* NULL: not set */
    struct config_pair *toolchain; /* key: ".c"; value: the command, with {source} and {output} */
    size_t toolchain_count;
    struct config_pair *tags; /* in the order of the file */
    size_t tag_count;
    struct config_threshold *thresholds;
    size_t threshold_count;
    struct saved_query *queries;
    size_t query_count;
    struct retention retention; /* not set: runs stay */
    struct push_rule push;
    struct config_filter *filters;
    size_t filter_count;
    struct gate_rule *gates;
    size_t gate_count;
    bool has_gates;
};

/* The configuration file for the working directory; free() it. NULL: there is none. A file of a user who is not trusted (base/owner.h),
 * or behind a link of one, is skipped, because it could run commands and name another database: then `*passed` is its name (free() it
 * too), else NULL. */
char *config_find(char **passed);

/* Reads a file. A zeroed struct is an empty configuration. After a failure there is nothing to free. */
int config_read(struct config *config, const char *path, struct error *err);
/* The same for a text; `path` is its name in messages, and `database` is relative to the directory of `path`. */
int config_parse(struct config *config, const char *path, const char *text, struct error *err);
void config_free(struct config *config);

/* The command for source files with that extension (".c"), or NULL. */
const char *config_toolchain(const struct config *config, const char *ending);

/* Applies thresholds, queries and gates to this connection, or to the file if it is open for writing (see above). A reader of an older file
 * that cannot be written also gets clear's own queries and gates. Do not call it between ask_open and ask_close (query/sql/ask.h). */
int config_apply(const struct config *config, struct db *db, struct error *err);

#endif
