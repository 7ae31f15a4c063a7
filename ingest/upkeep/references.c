#include "ingest/upkeep/references.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "schema/empty_file.h"
#include "schema/facts.h"
#include "schema/schema.h"

static void add(struct references *references, const char *table, const char *column) {
    references->items = xrealloc(references->items, (references->count + 1) * sizeof *references->items);
    references->items[references->count++] = (struct reference){xstrdup(table), xstrdup(column)};
}

int references_read(struct references *references, struct db *db, const char *target, struct error *err) {
    *references = (struct references){0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("upkeep/references.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":target", target);
    int code;
    while ((code = db_step(db, row, err)) == 1)
        add(references, db_text(row, 0), db_text(row, 1));
    return code;
}

void references_find_own(struct references *references, const char *target) {
    *references = (struct references){0};
    for (struct own_column own = {0}; own_columns_next(&own);)
        if (strcmp(own.target, target) == 0 && !facts_is_derived(own.table)) add(references, own.table, own.name);
}

void references_free(struct references *references) {
    for (size_t i = 0; i < references->count; i++) {
        free(references->items[i].table);
        free(references->items[i].column);
    }
    free(references->items);
    *references = (struct references){0};
}

static void add_name(struct buffer *sql, const char *name) {
    buffer_add_char(sql, '"');
    for (; *name; name++) {
        if (*name == '"') buffer_add_char(sql, '"');
        buffer_add_char(sql, *name);
    }
    buffer_add_char(sql, '"');
}

char *reference_sql(const char *text, const struct reference *reference) {
    static const char table[] = "{table}", column[] = "{column}";
    struct buffer sql = {0};
    while (*text) {
        if (strncmp(text, table, strlen(table)) == 0) {
            add_name(&sql, reference->table);
            text += strlen(table);
        } else if (strncmp(text, column, strlen(column)) == 0) {
            add_name(&sql, reference->column);
            text += strlen(column);
        } else {
            buffer_add_char(&sql, *text++);
        }
    }
    return buffer_take(&sql);
}
