#include "query/profile/load/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "query/profile/compare.h"
#include "query/profile/load/load.h"
#include "query/runs/telling_kind.h"

static bool is_seen(const struct run_list *runs, size_t end) {
    for (size_t i = 0; i < end; i++)
        if (runs->items[i].db == runs->items[end].db) return true;
    return false;
}

bool gather_next(const struct run_list *runs, struct db **db, struct run_set *set) {
    size_t at = 0;
    while (*db && at < runs->count && runs->items[at].db != *db)
        at++;
    if (*db) at++;
    while (at < runs->count && is_seen(runs, at))
        at++;
    if (at >= runs->count) return false;
    *db = runs->items[at].db;
    set->ids = xrealloc(set->ids, (runs->count + 1) * sizeof *set->ids);
    set->count = 0;
    for (size_t i = at; i < runs->count; i++)
        if (runs->items[i].db == *db) set->ids[set->count++] = runs->items[i].id;
    return true;
}

enum { MAPPED_MAX = 64 }; /* runs */

/* Pages of a file that is mapped stay in the process as long as the system has room: with many runs that is most of the
 * file, and the memory of a report would go with the runs. Read, they go through SQLite's own cache of a fixed size: 1,000 runs
 * of 300 stacks take 10.0 instead of 14.3 MB, and no more time. */
static int read_unmapped(struct db *db, size_t run_count, struct error *err) {
    return run_count > MAPPED_MAX ? db_exec(db, "PRAGMA mmap_size = 0", err) : 0;
}

int gather_begin(const struct run_list *runs, struct error *err) {
    for (size_t i = 0; i < runs->count; i++)
        if (!is_seen(runs, i) && (read_unmapped(runs->items[i].db, runs->count, err) < 0 ||
                                  db_exec(runs->items[i].db, "SAVEPOINT gather", err) < 0))
            return -1;
    return 0;
}

/* After a failure of gather_begin there may be none to release; that is no error. */
void gather_end(const struct run_list *runs) {
    struct error ignored = {0};
    for (size_t i = 0; i < runs->count; i++)
        if (!is_seen(runs, i)) (void)db_exec(runs->items[i].db, "RELEASE gather", &ignored);
}

/* ---- kinds ---- */

static bool has_line(const char *lines, const char *line, size_t size) {
    for (const char *at = lines; *at; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") == size && strncmp(at, line, size) == 0) return true;
    return false;
}

/* The kinds of `kinds` (a line each) that all `others` have too: the first one is returned, the rest go to `more`. */
static char *common(const char *kinds, char **others, size_t count, struct buffer *more) {
    char *first = NULL;
    for (const char *at = kinds; *at; at += strcspn(at, "\n") + 1) {
        size_t size = strcspn(at, "\n"), has = 0;
        while (has < count && has_line(others[has], at, size))
            has++;
        if (has < count) continue;
        if (first && more) buffer_printf(more, "%s%.*s", more->size ? ", " : "", (int)size, at);
        if (!first) first = xasprintf("%.*s", (int)size, at);
    }
    return first;
}

int gather_kind(const struct run_list *runs, char **kind, struct buffer *others, struct error *err) {
    struct run_set set = {0};
    struct db *db = NULL;
    char **kinds = NULL;
    size_t count = 0;
    int code = 0;
    while (code == 0 && gather_next(runs, &db, &set)) {
        kinds = xrealloc(kinds, (count + 1) * sizeof *kinds);
        kinds[count] = NULL;
        code = profile_common_kinds(db, &set, &kinds[count++], err);
    }
    *kind = code == 0 && count ? common(kinds[0], kinds + 1, count - 1, others) : NULL;
    if (code == 0 && !*kind) code = error_usage(err, "no one kind of profile is in all of these runs; give --kind");
    for (size_t i = 0; i < count; i++)
        free(kinds[i]);
    free(kinds);
    run_set_free(&set);
    return code;
}

/* Moves the kind from `others` to its place, and *kind to the others. */
static void prefer(char **kind, struct buffer *others, const char *wanted) {
    struct buffer rest = {0};
    char *copy = xstrdup(buffer_text(others)), *at = copy, *word;
    bool has = false;
    buffer_add_text(&rest, *kind);
    while ((word = strsep(&at, ","))) {
        word += strspn(word, " ");
        bool is_wanted = strcmp(word, wanted) == 0;
        if (!is_wanted) buffer_printf(&rest, ", %s", word);
        has |= is_wanted;
    }
    if (has) {
        free(*kind);
        *kind = xstrdup(wanted);
        buffer_clear(others);
        buffer_add_text(others, buffer_text(&rest));
    }
    free(copy);
    buffer_free(&rest);
}

int gather_telling_kind(const struct run_list *runs, char **kind, const char **type, struct buffer *others,
                        struct buffer *why, struct error *err) {
    struct run_effort effort = {0};
    struct run_set set = {0};
    struct db *db = NULL;
    struct buffer reason = {0};
    int code = gather_kind(runs, kind, others, err);
    *type = NULL;
    if (code < 0) return code;
    while (code == 0 && gather_next(runs, &db, &set))
        code = run_effort_add(&effort, db, &set, err);
    run_set_free(&set);
    const char *wanted = code == 0 ? telling_kind(&effort, &reason) : NULL;
    if (wanted) prefer(kind, others, wanted);
    if (wanted && strcmp(*kind, wanted) == 0) buffer_add_text(why, buffer_text(&reason));
    if (code == 0 && strcmp(*kind, "heap") == 0) *type = telling_heap_type(&effort, why);
    buffer_free(&reason);
    return code;
}

/* ---- sums ---- */

static int find_spans(struct db *db, const struct load_request *request, const struct timespan_request *span,
                      struct timespan *spans, struct error *err) {
    const struct run_set *runs = request->runs;
    for (size_t i = 0; i < runs->count; i++)
        if (timespan_find(db, runs->ids[i], request->kind, span, &spans[i], err) < 0) return -1;
    return 0;
}

static int load(struct profile *profile, struct db *db, struct load_request request,
                const struct timespan_request *span, struct error *err) {
    struct timespan *spans = NULL;
    int code = read_unmapped(db, request.runs->count, err);
    if (code == 0 && span && timespan_is_wanted(span)) {
        request.spans = spans = xcalloc(request.runs->count + 1, sizeof *spans);
        code = find_spans(db, &request, span, spans, err);
    }
    if (code == 0) code = profile_load(profile, db, &request, err);
    free(spans);
    return code;
}

int gather_profile(struct profile *profile, const struct run_list *runs, const char *kind, const char *type,
                   const struct timespan_request *span, struct error *err) {
    struct run_set set = {0};
    struct db *db = NULL;
    int code = 0;
    bool any = false, is_alone = runs->count == 1;
    const struct load_request request = {
        .kind = kind, .runs = &set, .type = type, .is_exact = is_alone, .keeps_zero = is_alone};
    while (code == 0 && gather_next(runs, &db, &set)) {
        struct profile more;
        if ((code = load(any ? &more : profile, db, request, span, err)) < 0) break;
        if (any) {
            code = compare_add(profile, &more, err);
            profile_free(&more);
        }
        any = true;
    }
    if (code < 0 && any) profile_free(profile);
    run_set_free(&set);
    return code;
}
