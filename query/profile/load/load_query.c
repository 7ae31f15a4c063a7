#include "query/profile/load/load_query.h"

#include <stdlib.h>
#include <string.h>

#include "query/profile/drop_frames.h"
#include "query/profile/load/query_rows.h"
#include "query/sql/ask.h"

struct asking {
    struct ask ask;
    const struct profile_query *query;
    struct profile *profile;
    struct profile_builder builder;
    struct profile_names names;
    struct query_rows rows;
};

/* The arguments with run=ID before them, or as they are for run 0. */
static int bind(struct asking *asking, sqlite3_stmt *statement, int64_t run_id, struct error *err) {
    const struct profile_query *query = asking->query;
    size_t count = query->argument_count;
    char **arguments = xcalloc(count + 1, sizeof *arguments);
    for (size_t i = 0; i < count; i++)
        arguments[i] = query->arguments[i];
    if (run_id) arguments[count] = xasprintf("run=%lld", (long long)run_id);
    if (run_id) count++;
    int code = query->saved ? saved_bind(&asking->ask, statement, query->saved, arguments, count, err)
                            : ask_bind(&asking->ask, statement, arguments, count, err);
    if (run_id) free(arguments[count - 1]);
    free(arguments);
    return code;
}

static int open_profile(struct asking *asking, sqlite3_stmt *statement, struct error *err) {
    size_t count;
    if (query_rows_open(&asking->rows, statement, err) < 0) return -1;
    struct profile_type *types = query_rows_types(&asking->rows, &count);
    profile_build_exact(&asking->builder, asking->profile, types, count);
    asking->builder.keeps_zero = true;
    profile_names_open(&asking->names, asking->ask.db, &asking->builder);
    asking->rows.names = &asking->names;
    asking->rows.names_empty = asking->rows.keeps_zero = true;
    free(types);
    return 0;
}

static int read_once(struct asking *asking, sqlite3_stmt *statement, int64_t run_id, struct error *err) {
    int code = bind(asking, statement, run_id, err);
    if (code == 0 && !asking->rows.columns.items) code = open_profile(asking, statement, err);
    while (code == 0 && (code = ask_step(asking->ask.db, statement, err)) == 1)
        code = query_rows_add(&asking->rows, statement, err);
    return code;
}

static int read_rows(struct asking *asking, struct error *err) {
    const struct run_set *runs = asking->query->runs;
    sqlite3_stmt *statement = ask_prepare(&asking->ask, asking->query->sql, err);
    int code = statement ? 0 : -1;
    if (code == 0 && runs->count == 0) code = read_once(asking, statement, 0, err);
    for (size_t i = 0; code == 0 && i < runs->count; i++)
        code = read_once(asking, statement, runs->ids[i], err);
    sqlite3_finalize(statement);
    return code;
}

/* Only now is it known which columns are values. */
static void keep_values(struct asking *asking) {
    size_t count, *kept = query_rows_values(&asking->rows, &count);
    profile_keep_types(asking->profile, kept, count);
    free(kept);
}

/* Whether the values are figures of the heap, by the names of their columns: what was allocated is the caller's of the allocator,
 * but time belongs to the function that took it. */
static bool is_of_heap(const struct profile *profile) {
    bool is_heap = false;
    for (size_t i = 0; i < profile->type_count; i++) {
        const char *type = profile->types[i].type, *unit = profile->types[i].unit;
        if (strcmp(unit, "nanoseconds") == 0) return false;
        is_heap |= strcmp(unit, "bytes") == 0 || strstr(type, "alloc") || strstr(type, "free") || strstr(type, "inuse");
    }
    return is_heap;
}

static int describe(struct asking *asking, struct error *err) {
    struct buffer regex = {0};
    struct profile *profile = asking->profile;
    int code = is_of_heap(profile) ? drop_frames(asking->ask.db, &regex, err) : 0;
    profile_add_comment(profile, asking->query->comment ? asking->query->comment : asking->query->sql);
    profile->drop_frames = profile_text(profile, buffer_text(&regex));
    buffer_free(&regex);
    return code;
}

int profile_load_query(struct profile *profile, struct db *db, const struct profile_query *query, struct error *err) {
    struct asking asking = {.query = query, .profile = profile};
    *profile = (struct profile){0};
    ask_open(&asking.ask, db, 0, false); /* no limit: an export is a file somebody waits for */
    int code = read_rows(&asking, err);
    ask_close(&asking.ask);
    if (code == 0) keep_values(&asking);
    if (code == 0) code = describe(&asking, err);
    if (code == 0) code = profile_names_find_main_mapping(&asking.names, err);
    profile_names_free(&asking.names);
    if (asking.builder.profile) profile_built(&asking.builder);
    query_rows_free(&asking.rows);
    if (code < 0) profile_free(profile);
    return code;
}
