#include "schema/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* ---- tables ---- */

/* A table of tables.sql, and what the file has under its name. */
struct own_table {
    const char *name; /* its definition goes on behind it */
    size_t size;
    bool is_good;  /* an ordinary table, of which the look thinks well */
    bool is_other; /* something else than an ordinary table */
};

struct own_tables {
    struct own_table *items;
    size_t count;
};

static const char create_table[] = "CREATE TABLE ";

static void add_table(struct own_tables *own, const char *name, size_t size) {
    own->items = xrealloc(own->items, (own->count + 1) * sizeof *own->items);
    own->items[own->count++] = (struct own_table){.name = name, .size = size};
}

static size_t name_size(const char *name, const char *end) {
    const char *at = name;
    while (at < end && *at != ' ' && *at != '(')
        at++;
    return (size_t)(at - name);
}

/* Line by line: of strstr() and strcspn() a sanitizer asks that the whole rest of tables.sql is a string, for every table of it. By strcspn()
 * that was 3 % of a sanitized `clear runs`. */
static struct own_tables own_tables(void) {
    struct own_tables own = {0};
    const size_t size = strlen(create_table);
    const char *at = embedded_text("tables.sql"), *end = at + strlen(at);
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next + 1 : end;
        if ((size_t)(next - at) > size && memcmp(at, create_table, size) == 0)
            add_table(&own, at + size, name_size(at + size, next));
        at = next;
    }
    return own;
}

static void note_row(struct own_tables *own, sqlite3_stmt *row,
                     bool (*is_good)(const char *, const struct own_table *)) {
    const char *name = db_text(row, 0);
    bool is_table = sqlite3_column_int(row, 1);
    size_t size = strlen(name);
    for (size_t i = 0; i < own->count; i++) {
        struct own_table *table = &own->items[i];
        if (table->size != size || sqlite3_strnicmp(table->name, name, (int)size) != 0) continue;
        table->is_other |= !is_table;
        if (is_table && memcmp(table->name, name, size) == 0) table->is_good = is_good(db_text(row, 2), table);
    }
}

/* One pass over the schema: a question for each table would read all of it each time. */
static int look_at_tables(struct db *db, struct own_tables *own,
                          bool (*is_good)(const char *, const struct own_table *), struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/inspect/schema"), err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        note_row(own, row, is_good);
    return code;
}

/* "CREATE TABLE runs (" or, after a migration that renamed it, "CREATE TABLE "runs" (". */
static bool creates_table(const char *sql, const struct own_table *table) {
    if (strncmp(sql, create_table, strlen(create_table)) != 0) return false;
    const char *at = sql + strlen(create_table);
    bool is_quoted = *at == '"';
    at += is_quoted;
    if (strncmp(at, table->name, table->size) != 0) return false;
    at += table->size;
    return is_quoted ? *at == '"' : *at == ' ' || *at == '(';
}

/* A computed column runs an expression of the file where a value is read. */
static int check_columns(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/inspect/computed_column"), err);
    int code = row ? db_step(db, row, err) : -1;
    if (code == 1)
        error_fail(err, "%s: is damaged, or not made by clear: %s has a computed column", db->path, db_text(row, 0));
    if (row) sqlite3_reset(row);
    return code ? -1 : 0;
}

/* Those of facts are made anew where they are missing (schema/facts.h). */
static bool is_facts(const struct own_table *table) {
    static const char ending[] = "_facts", subjects[] = "subjects";
    size_t length = strlen(ending);
    return (table->size > length && memcmp(table->name + table->size - length, ending, length) == 0) ||
           (table->size == strlen(subjects) && memcmp(table->name, subjects, table->size) == 0);
}

static int check_tables(const struct db *db, const struct own_tables *own, bool may_lack, struct error *err) {
    for (size_t i = 0; i < own->count; i++) {
        const struct own_table *table = &own->items[i];
        bool may = may_lack || is_facts(table);
        if (may ? !table->is_other : table->is_good) continue;
        return error_fail(err, "%s: is damaged, or not made by clear: %.*s is not a table%s", db->path,
                          (int)table->size, table->name, may ? "" : " of its own");
    }
    return 0;
}

static int inspect(struct db *db, struct own_tables *own, bool may_lack, struct error *err) {
    int code = look_at_tables(db, own, creates_table, err);
    if (code == 0) code = check_tables(db, own, may_lack, err);
    free(own->items);
    return code ? -1 : check_columns(db, err);
}

int inspect_tables(struct db *db, struct error *err) {
    struct own_tables own = own_tables();
    return inspect(db, &own, false, err);
}

/* A table that only later versions have is not there. */
int inspect_older(struct db *db, int64_t version, struct error *err) {
    static const char sites[] = "sites"; /* a table in version 1 */
    struct own_tables own = own_tables();
    if (version == 1) add_table(&own, sites, strlen(sites));
    return inspect(db, &own, true, err);
}

/* ---- what computes while rows are written ---- */

struct token {
    const char *at;
    size_t size; /* 0: the end */
};

/* By hand: of strspn() and strcspn() a sanitizer asks that the whole rest of tables.sql is a string, for every word of it. */
static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *skip_blanks(const char *at) {
    for (;;) {
        while (is_blank(*at))
            at++;
        if (at[0] == '-' && at[1] == '-') {
            while (*at && *at != '\n')
                at++;
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

/* To the end of a text or name in quotation marks, in which a doubled one stands for itself. */
static size_t quoted_size(const char *at) {
    char end = *at == '[' ? ']' : *at;
    size_t size = 1;
    while (at[size] && (at[size] != end || (end != ']' && at[size + 1] == end)))
        size += at[size] == end ? 2 : 1;
    return at[size] ? size + 1 : size;
}

/* A word, a text or name in quotation marks, or one other character. A semicolon ends what is read. */
static struct token next_token(const char **at) {
    struct token token = {skip_blanks(*at), 0};
    if (*token.at && strchr("'\"`[", *token.at)) {
        token.size = quoted_size(token.at);
    } else if (*token.at && *token.at != ';') {
        while (is_of_word(token.at[token.size]))
            token.size++;
        token.size += !token.size;
    }
    *at = token.at + token.size;
    /* a migration that renamed the table left its name in quotation marks */
    if (token.size > 2 && *token.at == '"') token = (struct token){token.at + 1, token.size - 2};
    return token;
}

static bool is_same(struct token a, struct token b) {
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* True if `stored` is clear's `own` definition, with nothing added that computes: that needs a parenthesis. */
static bool adds_nothing_computed(const char *stored, const char *own) {
    static const struct token opening = {"(", 1};
    struct token wanted = next_token(&own), token;
    while ((token = next_token(&stored)).size) {
        if (is_same(token, wanted))
            wanted = next_token(&own);
        else if (is_same(token, opening))
            return false;
    }
    return !wanted.size;
}

static bool has_own_constraints(const char *sql, const struct own_table *table) {
    return adds_nothing_computed(sql, table->name - strlen(create_table));
}

static int check_constraints(struct db *db, struct error *err) {
    struct own_tables own = own_tables();
    int code = look_at_tables(db, &own, has_own_constraints, err);
    for (size_t i = 0; code == 0 && i < own.count; i++)
        if (!own.items[i].is_good)
            code = error_fail(err, "%s: is damaged, or not made by clear: %.*s has other constraints or default values",
                              db->path, (int)own.items[i].size, own.items[i].name);
    free(own.items);
    return code;
}

/* The definition in tables.sql from `words` and `name` on: of "CREATE INDEX " and "runs_label". NULL: there is none. */
static const char *own_definition(const char *words, const char *name) {
    char *start = xasprintf("\n%s%s ", words, name);
    const char *found = strstr(embedded_text("tables.sql"), start);
    free(start);
    return found ? found + 1 : NULL;
}

/* "ON runs(host, label DESC)" has one parenthesis; a call in an expression, or in the condition of a partial index, needs another. */
static bool is_of_columns(const char *sql) {
    static const struct token opening = {"(", 1};
    struct token token;
    size_t count = 0;
    while ((token = next_token(&sql)).size)
        count += is_same(token, opening);
    return count <= 1;
}

static bool is_own_index(const char *name, const char *sql) {
    const char *own = own_definition("CREATE INDEX ", name);
    if (!own) own = own_definition("CREATE UNIQUE INDEX ", name);
    return own && adds_nothing_computed(sql, own);
}

static int check_indexes(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/inspect/indexes"), err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        const char *table = db_text(row, 0), *name = db_text(row, 1), *sql = db_text(row, 2);
        if (is_of_columns(sql) || !own_definition(create_table, table) || is_own_index(name, sql)) continue;
        code = error_fail(err,
                          "%s: the index %s on %s computes an expression, which clear does not run: remove it first "
                          "(DROP INDEX)",
                          db->path, name, table);
        break;
    }
    if (row) sqlite3_reset(row);
    return code;
}

int inspect_computing(struct db *db, struct error *err) {
    return check_constraints(db, err) ? -1 : check_indexes(db, err);
}

/* ---- all of it ---- */

int inspect_write(struct db *db, struct buffer *schema, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/inspect/all"), err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        for (int i = 0; i < sqlite3_column_count(row); i++) {
            int size = sqlite3_column_bytes(row, i);
            buffer_add(schema, &size, sizeof size);
            if (size) buffer_add(schema, sqlite3_column_text(row, i), (size_t)size);
        }
    return code;
}

/* ---- views ---- */

/* SQLite stores a view from CREATE up to its semicolon. */
static bool is_text_of(const char *stored, const char *own) {
    static const char create[] = "CREATE VIEW ";
    if (strncmp(stored, create, strlen(create)) != 0) return false;
    stored += strlen(create);
    size_t size = strlen(stored);
    return strncmp(own, stored, size) == 0 && (own[size] == ';' || !own[size]);
}

int inspect_views(struct db *db, bool *own, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'", err);
    char *sites = schema_sites_text();
    size_t same = 0;
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        const char *name = db_text(row, 0);
        const char *text = strcmp(name, "sites") == 0 ? sites : schema_view_text(name);
        same += text && is_text_of(db_text(row, 1), text);
    }
    free(sites);
    *own = same == schema_view_count() + 1;
    return code;
}
