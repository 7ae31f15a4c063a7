#include "query/diff/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/path.h"
#include "schema/schema.h"

/* What a query says of each run; of paths their last part. */
static int add_texts(const struct run_list *runs, const char *query, bool are_paths, struct map *texts,
                     struct error *err) {
    for (size_t i = 0; i < runs->count; i++) {
        struct db *db = runs->items[i].db;
        sqlite3_stmt *row = db_prepare(db, embedded_text(query), err);
        if (!row) return -1;
        db_bind_int(row, ":run", runs->items[i].id);
        int code;
        while ((code = db_step(db, row, err)) == 1) {
            const char *text = are_paths ? path_base(db_text(row, 0)) : db_text(row, 0);
            map_put(texts, text, strlen(text) + 1, NULL);
        }
        if (code < 0) return -1;
    }
    return 0;
}

/* The only name that the other side does not have; NULL: there is none, or more than one. */
static const char *only_here(const struct map *names, const struct map *others) {
    const char *found = NULL;
    for (size_t i = 0; i < names->count; i++) {
        const struct map_entry *entry = &names->entries[i];
        if (map_find(others, entry->key, entry->size)) continue;
        if (found) return NULL;
        found = entry->key;
    }
    return found;
}

int renamed_program_find(const struct diff_options *options, struct renamed_program *renamed, struct error *err) {
    struct map names[DIFF_SIDES] = {0};
    int code = 0;
    *renamed = (struct renamed_program){0};
    for (int side = 0; side < DIFF_SIDES && code == 0; side++)
        code = add_texts(&options->sides[side].runs, "diff/programs.sql", true, &names[side], err);
    const char *old = code == 0 ? only_here(&names[DIFF_OLD], &names[DIFF_NEW]) : NULL;
    const char *new = code == 0 ? only_here(&names[DIFF_NEW], &names[DIFF_OLD]) : NULL;
    if (old && new) *renamed = (struct renamed_program){xstrdup(old), xstrdup(new)};
    map_free(&names[DIFF_OLD]);
    map_free(&names[DIFF_NEW]);
    return code;
}

void renamed_program_free(struct renamed_program *renamed) {
    free(renamed->old);
    free(renamed->new);
    *renamed = (struct renamed_program){0};
}

void renamed_program_key(const struct renamed_program *renamed, const char *identity, struct buffer *key) {
    static const char symbol[] = "symbol:";
    size_t start = strlen(symbol), size = renamed->new ? strlen(renamed->new) : 0;
    bool is_renamed = size && strncmp(identity, symbol, start) == 0 &&
                      strncmp(identity + start, renamed->new, size) == 0 && identity[start + size] == ':';
    if (is_renamed)
        buffer_printf(key, "%s%s%s", symbol, renamed->old, identity + start + size);
    else
        buffer_add_text(key, identity);
}

int code_differs(const struct diff_options *options, bool *differs, struct error *err) {
    struct map codes[DIFF_SIDES] = {0};
    int code = 0;
    *differs = false;
    for (int side = 0; side < DIFF_SIDES && code == 0; side++)
        code = add_texts(&options->sides[side].runs, "diff/code.sql", false, &codes[side], err);
    for (int side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < codes[side].count; i++) {
            const struct map_entry *entry = &codes[side].entries[i];
            *differs |= !map_find(&codes[DIFF_SIDES - 1 - side], entry->key, entry->size);
        }
    map_free(&codes[DIFF_OLD]);
    map_free(&codes[DIFF_NEW]);
    return code;
}
