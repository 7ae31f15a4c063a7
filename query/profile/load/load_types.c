#include "query/profile/load/load_types.h"

#include <stdlib.h>
#include <string.h>

#include "query/profile/load/load.h"
#include "query/runs/timespan.h"
#include "schema/schema.h"

enum { ID, IS_STORED, SAMPLE_TYPES }; /* of export/kind_profiles.sql */

/* What the profiles of the runs say. */
struct said {
    char *first;       /* JSON, of the first profile; NULL: none yet. free() it */
    char *unlike;      /* the first that is not so; NULL: all are alike. free() it */
    int64_t unlike_id; /* its run */
    bool is_stored;
};

static int read_run(struct said *said, struct db *db, int64_t run_id, const char *kind, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db, embedded_text("export/kind_profiles.sql"), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", run_id);
    kind_bind(rows, kind);
    timespan_bind(rows, &timespan_all);
    int code;
    while ((code = db_step(db, rows, err)) == 1) {
        const char *text = db_text(rows, SAMPLE_TYPES);
        if (!sqlite3_column_int(rows, IS_STORED)) said->is_stored = false;
        if (!said->first) said->first = xstrdup(text);
        if (said->unlike || strcmp(said->first, text) == 0) continue;
        said->unlike = xstrdup(text);
        said->unlike_id = run_id;
    }
    return code;
}

static int read_runs(struct said *said, struct db *db, const struct run_set *runs, const char *kind, bool may_have_none,
                     struct error *err) {
    for (size_t i = 0; i < runs->count; i++)
        if ((!may_have_none && profile_check_kind(db, runs->ids[i], kind, err) < 0) ||
            read_run(said, db, runs->ids[i], kind, err) < 0)
            return -1;
    return 0;
}

static void add_type(struct load_types *types, const char *type, const char *unit) {
    types->types = xrealloc(types->types, (types->count + 1) * sizeof *types->types);
    types->types[types->count++] = (struct profile_type){arena_text(&types->texts, type, strlen(type)),
                                                         arena_text(&types->texts, unit, strlen(unit))};
}

static int parse_types(struct load_types *types, struct db *db, const char *json, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db, "SELECT value ->> 0, value ->> 1 FROM json_each(:types) ORDER BY key", err);
    if (!rows) return -1;
    db_bind_text(rows, ":types", json);
    int code;
    while ((code = db_step(db, rows, err)) == 1)
        add_type(types, db_text(rows, 0), db_text(rows, 1));
    return code;
}

/* Of a kind that is made of others: the one whose table has these types. */
static const struct kind *find_table(const struct load_types *types, const char *kind) {
    const struct kind *declared = kind_find(kind_stored(kind));
    for (size_t i = 0; i < types->count; i++)
        if (!kind_type_find(declared, types->types[i].type)) return &kinds[KIND_COUNT];
    return declared;
}

static int choose(struct load_types *types, const struct said *said, struct db *db, const char *kind,
                  struct error *err) {
    const struct kind *declared = kind_find(kind);
    types->is_stored = said->is_stored && said->first && !kind_is_made_again(declared, said->first);
    if (!types->is_stored && declared->name) {
        for (const struct kind_type *type = declared->types; type->type; type++)
            add_type(types, type->type, type->unit);
        return 0;
    }
    if (said->unlike)
        return error_usage(err, "run %lld has %s profiles of other sample types (%s) than those before it (%s)",
                           (long long)said->unlike_id, kind, said->unlike, said->first);
    if (said->first && parse_types(types, db, said->first, err) < 0) return -1;
    return types->count ? 0 : error_fail(err, "%s: a %s profile has no sample types", db->path, kind);
}

int load_types_find(struct load_types *types, struct db *db, const struct run_set *runs, const char *kind,
                    bool may_have_none, struct error *err) {
    struct said said = {.is_stored = true};
    *types = (struct load_types){0};
    int code = read_runs(&said, db, runs, kind, may_have_none, err);
    if (code == 0) code = choose(types, &said, db, kind, err);
    if (code == 0) types->table = find_table(types, kind);
    free(said.first);
    free(said.unlike);
    return code;
}

void load_types_free(struct load_types *types) {
    free(types->types);
    arena_free(&types->texts);
    *types = (struct load_types){0};
}
