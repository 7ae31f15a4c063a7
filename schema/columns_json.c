#include "schema/columns_json.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* ---- texts ---- */

/* These two in loops: with strict_string_checks the sanitizers measure for strspn() and strcspn() all of the text that follows. */
static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static const char *next_line(const char *at) {
    while (*at && *at != '\n')
        at++;
    return *at ? at + 1 : at;
}

/* A comment that fills its line, from its first word on; else NULL. */
static const char *comment_of(const char *line) {
    line = skip_blanks(line);
    if (strncmp(line, "--", 2) != 0) return NULL;
    return skip_blanks(line + 2);
}

static void add_words(struct buffer *text, const char *words) {
    size_t size = strcspn(words, "\n");
    while (size && words[size - 1] == ' ')
        size--;
    if (text->size && size) buffer_add_char(text, ' ');
    buffer_add(text, words, size);
}

/* "NAME [unit]: text" in the header of a view; its words, or NULL. *unit is where the unit begins. */
static const char *view_column(const char *comment, const char *name, const char **unit) {
    size_t size = strlen(name);
    if (!comment || strncmp(comment, name, size) != 0 || strncmp(comment + size, " [", 2) != 0) return NULL;
    *unit = comment + size + 2;
    const char *end = *unit + strcspn(*unit, "]\n");
    return strncmp(end, "]:", 2) == 0 ? skip_blanks(end + 2) : NULL;
}

/* "NAME TYPE ..., -- [unit] text" in a table. */
static const char *table_column(const char *line, const char *name, const char **unit) {
    size_t size = strlen(name);
    line = skip_blanks(line);
    if (strncmp(line, name, size) != 0 || line[size] != ' ') return NULL;
    size_t width = strcspn(line, "\n");
    const char *comment = strstr(line, "-- [");
    if (!comment || comment > line + width) return NULL;
    *unit = comment + 4;
    const char *end = *unit + strcspn(*unit, "]\n");
    return *end == ']' ? skip_blanks(end + 1) : NULL;
}

/* Does a comment begin something else: another column, or another part of a header? */
static bool begins(const char *comment) {
    size_t word = strcspn(comment, " :[\n");
    return comment[word] == ':' || strncmp(comment + word, " [", 2) == 0 || strncmp(comment, "Known false", 11) == 0;
}

/* The words of a comment and of the lines that go on with it. */
static void add_comment(struct buffer *text, const char *words) {
    add_words(text, words);
    for (const char *line = next_line(words), *comment; (comment = comment_of(line)) && !begins(comment);
         line = next_line(line))
        add_words(text, comment);
}

static void find_column(const char *sql, bool is_table, const char *name, struct buffer *unit, struct buffer *text) {
    for (const char *line = sql; *line; line = next_line(line)) {
        const char *at, *words = is_table ? table_column(line, name, &at) : view_column(comment_of(line), name, &at);
        if (!words) continue;
        buffer_add(unit, at, strcspn(at, "]"));
        add_comment(text, words);
        return;
    }
}

/* The objects whose columns a view takes over, and those that these take theirs from. */
struct column_sources {
    char *texts[8]; /* free() them */
    size_t count;
};
enum { SOURCES_MAX = sizeof((struct column_sources *)0)->texts / sizeof(char *) };

static void add_source(struct db *db, const char *name, size_t size, struct column_sources *sources) {
    struct error ignored = {0};
    sqlite3_stmt *row = db_prepare(db, "SELECT sql FROM main.sqlite_schema WHERE name = :name", &ignored);
    char *object = xasprintf("%.*s", (int)size, name);
    if (row) db_bind_text(row, ":name", object);
    if (row && sources->count < SOURCES_MAX && db_step(db, row, &ignored) == 1)
        sources->texts[sources->count++] = xstrdup(db_text(row, 0));
    if (row) sqlite3_reset(row);
    free(object);
}

/* "Columns: those of doctor, those of lock_facts, and". */
static void add_sources(struct db *db, const char *sql, struct column_sources *sources) {
    static const char heading[] = "-- Columns: ", words[] = "those of ";
    const char *at = strstr(sql, heading), *end = at ? at + strcspn(at, "\n") : NULL;
    while (at && (at = strstr(at, words)) && at < end) {
        at += strlen(words);
        add_source(db, at, strcspn(at, " ,.;:\n"), sources);
    }
}

static void find_sources(struct db *db, const char *sql, struct column_sources *sources) {
    *sources = (struct column_sources){0};
    add_sources(db, sql, sources);
    for (size_t i = 0; i < sources->count; i++)
        add_sources(db, sources->texts[i], sources);
}

static bool makes_table(const char *sql) {
    return strncmp(sql, "CREATE TABLE ", 13) == 0;
}

/* The first comment: what a row of a table is, or the question that a view answers. */
static void find_comment(const char *sql, struct buffer *text) {
    for (const char *line = sql; *line; line = next_line(line)) {
        const char *comment = comment_of(line);
        if (!comment) continue;
        if (strncmp(comment, "Question:", 9) == 0) comment = skip_blanks(comment + 9);
        add_comment(text, comment);
        return;
    }
}

/* ---- JSON ---- */

static int add_columns(struct db *db, const char *object, const char *sql, bool is_table, struct buffer *json,
                       struct error *err) {
    struct column_sources sources = {0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/columns_json/columns"), err);
    bool any = false;
    int code = -1;
    if (!is_table) find_sources(db, sql, &sources);
    if (row) db_bind_text(row, ":name", object);
    while (row && (code = db_step(db, row, err)) == 1) {
        struct buffer unit = {0}, text = {0};
        find_column(sql, is_table, db_text(row, 0), &unit, &text);
        for (size_t i = 0; !text.size && i < sources.count; i++)
            find_column(sources.texts[i], makes_table(sources.texts[i]), db_text(row, 0), &unit, &text);
        buffer_add_text(json, any ? ",{" : "{");
        buffer_add_json_field(json, "name", db_text(row, 0));
        buffer_add_char(json, ',');
        buffer_add_json_field(json, "unit", buffer_text(&unit));
        buffer_add_char(json, ',');
        buffer_add_json_field(json, "comment", buffer_text(&text));
        buffer_add_char(json, '}');
        buffer_free(&unit);
        buffer_free(&text);
        any = true;
    }
    for (size_t i = 0; i < sources.count; i++)
        free(sources.texts[i]);
    return code;
}

static int add_object(struct db *db, sqlite3_stmt *row, struct buffer *json, struct error *err) {
    char *name = xstrdup(db_text(row, 0)), *sql = xstrdup(db_text(row, 2));
    bool is_table = strcmp(db_text(row, 1), "table") == 0;
    struct buffer comment = {0};
    find_comment(sql, &comment);
    buffer_add_json_field(json, "name", name);
    buffer_printf(json, ",\"type\":\"%s\",", is_table ? "table" : "view");
    buffer_add_json_field(json, "comment", buffer_text(&comment));
    buffer_add_text(json, ",\"columns\":[");
    int code = add_columns(db, name, sql, is_table, json, err);
    buffer_add_text(json, "]");
    buffer_free(&comment);
    free(name);
    free(sql);
    return code;
}

int columns_json(struct db *db, struct buffer *json, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/columns_json/objects"), err);
    bool any = false;
    int code;
    if (!row) return -1;
    while ((code = db_step(db, row, err)) == 1) {
        buffer_add_text(json, any ? ",\n{" : "[{");
        if (add_object(db, row, json, err)) return -1;
        buffer_add_char(json, '}');
        any = true;
    }
    buffer_add_text(json, any ? "]\n" : "[]\n");
    return code;
}
