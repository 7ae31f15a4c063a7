#include "query/run_set.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "query/select.h"

static void add(struct run_set *set, int64_t id) {
    for (size_t i = 0; i < set->count; i++)
        if (set->ids[i] == id) return;
    set->ids = xrealloc(set->ids, (set->count + 1) * sizeof *set->ids);
    set->ids[set->count++] = id;
}

/* Adds the ids that a statement gives; it is an error where there are none. */
static int add_rows(struct run_set *set, struct db *db, sqlite3_stmt *statement, const char *text, struct error *err) {
    int code;
    bool any = false;
    while ((code = db_step(db, statement, err)) == 1) {
        add(set, sqlite3_column_int64(statement, 0));
        any = true;
    }
    if (code == 0 && !any)
        return error_usage(err, "%s: no run is in '%s'; `clear runs --db %s` lists them", db->path, text, db->path);
    return code;
}

static int add_range(struct run_set *set, struct db *db, const char *text, const char *dots, struct error *err) {
    int64_t first, last;
    char *name = xstrdup(text);
    name[dots - text] = '\0';
    int code = select_run(db, name, &first, err);
    free(name);
    if (code < 0 || select_run(db, dots + 2, &last, err) < 0) return -1;
    sqlite3_stmt *rows = db_prepare(db, "SELECT id FROM runs WHERE id BETWEEN :first AND :last ORDER BY id", err);
    if (!rows) return -1;
    db_bind_int(rows, ":first", first < last ? first : last);
    db_bind_int(rows, ":last", first < last ? last : first);
    return add_rows(set, db, rows, text, err);
}

static int add_all(struct run_set *set, struct db *db, const char *text, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db, "SELECT id FROM runs ORDER BY id", err);
    return rows ? add_rows(set, db, rows, text, err) : -1;
}

static int add_named(struct run_set *set, struct db *db, const char *text, struct error *err) {
    const char *name = text + strlen("all:"), *equals = strchr(name, '=');
    sqlite3_stmt *rows =
        equals ? db_prepare(db, "SELECT run_id FROM tags WHERE key = :key AND value = :value ORDER BY run_id", err)
               : db_prepare(db, "SELECT id FROM runs WHERE label = :label ORDER BY id", err);
    if (!rows) return -1;
    if (equals) {
        char *key = xstrdup(name);
        key[equals - name] = '\0';
        db_bind_text(rows, ":key", key);
        db_bind_text(rows, ":value", equals + 1);
        free(key);
    } else {
        db_bind_text(rows, ":label", name);
    }
    return add_rows(set, db, rows, text, err);
}

static int add_one(struct run_set *set, struct db *db, const char *text, struct error *err) {
    int64_t id;
    const char *dots = strstr(text, "..");
    if (strcmp(text, "all") == 0) return add_all(set, db, text, err);
    if (strncmp(text, "all:", strlen("all:")) == 0) return add_named(set, db, text, err);
    if (dots) {
        /* A label may have dots in it. */
        struct error ignored = {0};
        if (select_run(db, text, &id, &ignored) < 0) return add_range(set, db, text, dots, err);
    } else if (select_run(db, text, &id, err) < 0) {
        return -1;
    }
    add(set, id);
    return 0;
}

int run_set_add(struct run_set *set, struct db *db, const char *text, struct error *err) {
    char *copy = xstrdup(text), *rest = copy, *one;
    int code = 0;
    while (code == 0 && (one = strsep(&rest, ",")))
        code = add_one(set, db, one, err);
    free(copy);
    return code;
}

void run_set_free(struct run_set *set) {
    free(set->ids);
    *set = (struct run_set){0};
}
