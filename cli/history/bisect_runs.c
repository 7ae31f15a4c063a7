#include "cli/history/bisect_runs.h"

#include <stdlib.h>
#include <string.h>

#include "query/history/run_values.h"
#include "schema/schema.h"

enum { SHORT_LEAST = 7 }; /* characters of a hash that a tag may be cut to */

struct bisect_commit *bisect_runs_find(const struct bisect_runs *runs, const char *hash) {
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(runs->commits[i]->hash, hash) == 0) return runs->commits[i];
    return NULL;
}

struct bisect_commit *bisect_runs_commit(struct bisect_runs *runs, const char *hash) {
    struct bisect_commit *commit = bisect_runs_find(runs, hash);
    if (commit) return commit;
    commit = xcalloc(1, sizeof *commit);
    commit->hash = xstrdup(hash);
    runs->commits = xrealloc(runs->commits, (runs->count + 1) * sizeof *runs->commits);
    return runs->commits[runs->count++] = commit;
}

int bisect_runs_add(struct bisect_runs *runs, struct db *db, const char *hash, int64_t run_id, struct error *err) {
    double value;
    int code = run_value(db, run_id, runs->figure, runs->of, &value, err);
    if (code != 1) return code;
    struct bisect_commit *commit = bisect_runs_commit(runs, hash);
    commit->runs = xrealloc(commit->runs, (commit->values.count + 1) * sizeof *commit->runs);
    commit->runs[commit->values.count] = run_id;
    side_values_add(&commit->values, value);
    return 1;
}

/* NULL: it is none of them. */
static const char *commit_of(const struct bisect_commits *range, const char *tag) {
    size_t size = strlen(tag);
    if (size < SHORT_LEAST || strspn(tag, "0123456789abcdef") != size) return NULL;
    for (size_t i = 0; i < range->count; i++)
        if (strncmp(range->hashes[i], tag, size) == 0) return range->hashes[i];
    return NULL;
}

struct tagged_run {
    int64_t id;
    const char *hash; /* the range's */
};

/* The runs first and their values afterwards: the statements of the view are not nested. */
static struct tagged_run *find_stored(struct db *db, const struct bisect_stored *stored,
                                      const struct bisect_commits *range, size_t *count, struct error *err) {
    struct tagged_run *found = xcalloc(1, sizeof *found);
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/commit_runs.sql"), err);
    *count = 0;
    if (!row) return found;
    db_bind_text(row, ":command", stored->command);
    db_bind_text(row, ":host", stored->host);
    db_bind_text(row, ":search", stored->search);
    db_bind_int(row, ":any", stored->takes_failed);
    while (db_step(db, row, err) == 1) {
        const char *hash = commit_of(range, db_text(row, 1));
        if (!hash) continue;
        found = xrealloc(found, (*count + 1) * sizeof *found);
        found[(*count)++] = (struct tagged_run){sqlite3_column_int64(row, 0), hash};
    }
    return found;
}

int bisect_runs_load(struct bisect_runs *runs, struct db *db, const struct bisect_stored *stored,
                     const struct bisect_commits *range, struct error *err) {
    size_t count;
    struct tagged_run *found = find_stored(db, stored, range, &count, err);
    int code = err->status == ERROR_NONE ? 0 : -1;
    for (size_t i = 0; i < count && code == 0; i++)
        code = bisect_runs_add(runs, db, found[i].hash, found[i].id, err) < 0 ? -1 : 0;
    free(found);
    return code;
}

void bisect_runs_free(struct bisect_runs *runs) {
    for (size_t i = 0; i < runs->count; i++) {
        side_values_free(&runs->commits[i]->values);
        free(runs->commits[i]->runs);
        free(runs->commits[i]->hash);
        free(runs->commits[i]);
    }
    free(runs->commits);
    runs->commits = NULL;
    runs->count = 0;
}
