#include "query/runs/run_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "query/runs/select.h"
#include "schema/schema.h"

/* A set while it grows. */
struct growing {
    struct run_set set;
    struct map members; /* its ids: a set may have all runs of a file with many */
};

static void add(struct growing *growing, int64_t id) {
    struct run_set *set = &growing->set;
    bool is_new;
    map_put(&growing->members, &id, sizeof id, &is_new);
    if (!is_new) return;
    if (set->count % 256 == 0) set->ids = xrealloc(set->ids, (set->count + 256) * sizeof *set->ids);
    set->ids[set->count++] = id;
}

static void growing_free(struct growing *growing) {
    run_set_free(&growing->set);
    map_free(&growing->members);
}

/* Adds the ids that a statement returns; no id is an error. */
static int add_rows(struct growing *set, struct db *db, sqlite3_stmt *statement, const char *text, struct error *err) {
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

static int add_range(struct growing *set, struct db *db, const char *text, const char *dots, struct error *err) {
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

static int add_all(struct growing *set, struct db *db, const char *text, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db, "SELECT id FROM runs ORDER BY id", err);
    return rows ? add_rows(set, db, rows, text, err) : -1;
}

/* "KEY=VALUE". */
static int add_tagged(struct growing *set, struct db *db, const char *tag, const char *text, struct error *err) {
    const char *equals = strchr(tag, '=');
    if (!equals || equals == tag) return error_usage(err, "'%s': write tag:KEY=VALUE, such as tag:branch=main", text);
    sqlite3_stmt *rows =
        db_prepare(db, "SELECT run_id FROM tags WHERE key = :key AND value = :value ORDER BY run_id", err);
    if (!rows) return -1;
    char *key = xstrdup(tag);
    key[equals - tag] = '\0';
    db_bind_text(rows, ":key", key);
    db_bind_text(rows, ":value", equals + 1);
    free(key);
    return add_rows(set, db, rows, text, err);
}

static int add_named(struct growing *set, struct db *db, const char *text, struct error *err) {
    const char *name = text + strlen("all:");
    if (strchr(name, '=')) return add_tagged(set, db, name, text, err);
    sqlite3_stmt *rows = db_prepare(db, "SELECT id FROM runs WHERE label = :label ORDER BY id", err);
    if (!rows) return -1;
    db_bind_text(rows, ":label", name);
    return add_rows(set, db, rows, text, err);
}

/* Keeps the `wanted` newest runs of the set, in their order. */
static int keep_newest(struct growing *set, struct db *db, size_t wanted, struct error *err) {
    struct growing kept = {0};
    struct map newest = {0};
    if (set->set.count <= wanted) return 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/newest_first.sql"), err);
    if (row) db_bind_int(row, ":back", 0);
    int code = row ? 1 : -1;
    while (newest.count < wanted && code == 1 && (code = db_step(db, row, err)) == 1) {
        int64_t id = sqlite3_column_int64(row, 0);
        if (map_find(&set->members, &id, sizeof id)) map_put(&newest, &id, sizeof id, NULL);
    }
    if (row) sqlite3_reset(row);
    for (size_t i = 0; i < set->set.count; i++)
        if (map_find(&newest, &set->set.ids[i], sizeof *set->set.ids)) add(&kept, set->set.ids[i]);
    map_free(&newest);
    growing_free(set);
    *set = kept;
    return code < 0 ? -1 : 0;
}

static int add_last(struct growing *set, struct db *db, const char *text, struct error *err) {
    char *end;
    errno = 0;
    const char *number = text + strlen("last=");
    long wanted = strtol(number, &end, 10);
    if (*number < '0' || *number > '9' || *end || errno || wanted < 1)
        return error_usage(err, "'%s': N of last=N must be a whole number from 1", text);
    if (set->set.count == 0 && add_all(set, db, text, err) < 0) return -1;
    return keep_newest(set, db, (size_t)wanted, err);
}

static int add_one(struct growing *set, struct db *db, const char *text, struct error *err) {
    int64_t id;
    const char *dots = strstr(text, "..");
    if (strcmp(text, "all") == 0) return add_all(set, db, text, err);
    if (strncmp(text, "all:", strlen("all:")) == 0) return add_named(set, db, text, err);
    if (strncmp(text, "tag:", strlen("tag:")) == 0) return add_tagged(set, db, text + strlen("tag:"), text, err);
    if (strncmp(text, "last=", strlen("last=")) == 0) return add_last(set, db, text, err);
    if (dots) {
        /* a label may contain dots */
        struct error ignored = {0};
        if (select_run(db, text, &id, &ignored) < 0) return add_range(set, db, text, dots, err);
    } else if (select_run(db, text, &id, err) < 0) {
        return -1;
    }
    add(set, id);
    return 0;
}

int run_set_add(struct run_set *set, struct db *db, const char *text, struct error *err) {
    struct growing word = {0}, whole = {0}; /* last=N selects from this word only */
    if (db_want(db, text, err)) return -1;
    char *copy = xstrdup(text), *rest = copy, *one;
    int code = 0;
    while (code == 0 && (one = strsep(&rest, ",")))
        code = add_one(&word, db, one, err);
    free(copy);
    if (code == 0) {
        for (size_t i = 0; i < set->count; i++)
            add(&whole, set->ids[i]);
        for (size_t i = 0; i < word.set.count; i++)
            add(&whole, word.set.ids[i]);
        run_set_free(set);
        *set = whole.set;
        map_free(&whole.members);
    }
    growing_free(&word);
    return code;
}

void run_set_free(struct run_set *set) {
    free(set->ids);
    *set = (struct run_set){0};
}

bool run_list_has(const struct run_list *list, const struct run_item *item) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].db == item->db && list->items[i].id == item->id) return true;
    return false;
}

void run_list_add(struct run_list *list, struct db *db, int64_t id) {
    struct run_item item = {db, id};
    if (run_list_has(list, &item)) return;
    list->items = xrealloc(list->items, (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = item;
}

void run_list_remove(struct run_list *list, const struct run_list *other) {
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!run_list_has(other, &list->items[i])) list->items[left++] = list->items[i];
    list->count = left;
}

void run_list_free(struct run_list *list) {
    free(list->items);
    *list = (struct run_list){0};
}

char *run_title(struct db *db, int64_t run_id, size_t count, const char *kind) {
    struct error ignored = {0};
    if (count > 1) return xasprintf("%s of %zu runs", kind, count);
    sqlite3_stmt *row =
        db_prepare(db, "SELECT coalesce(nullif(command, ''), source) FROM runs WHERE id = :run", &ignored);
    if (!row) return xstrdup(kind);
    db_bind_int(row, ":run", run_id);
    bool found = db_step(db, row, &ignored) == 1;
    char *title = xasprintf("%s of run %lld: %.120s", kind, (long long)run_id, found ? db_text(row, 0) : "");
    sqlite3_reset(row);
    return title;
}
