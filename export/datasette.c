/* datasette.c: metadata.json for https://datasette.io: the saved queries as its canned queries, and what the SQL of the
 * schema says of tables, views and their columns. The database's name there is the file's without its suffix.
 *
 * The comments are read from sqlite_schema, so they are those of the very file:
 *     -- Text above the first column of a view describes it
 *     name TYPE ..., -- text behind a column of a table describes that */
#include <ctype.h>
#include <string.h>

#include "base/path.h"
#include "export/file.h"
#include "export/format.h"

static void add_text(struct buffer *out, const char *text, size_t size) {
    buffer_add_json_string(out, text, size);
}

static void add_key(struct buffer *out, const char *indent, const char *key, bool *first) {
    buffer_printf(out, "%s\n%s", *first ? "" : ",", indent);
    *first = false;
    add_text(out, key, strlen(key));
    buffer_add_text(out, ": ");
}

/* ---- comments in SQL ---- */

/* One line of a CREATE TABLE that is a column with a comment: "    name TYPE ..., -- text". */
static bool column_comment(const char *line, size_t size, const char **name, size_t *name_size, const char **text) {
    const char *end = line + size;
    while (line < end && isspace((unsigned char)*line))
        line++;
    *name = line;
    while (line < end && (isalnum((unsigned char)*line) || *line == '_'))
        line++;
    *name_size = (size_t)(line - *name);
    if (*name_size == 0 || !islower((unsigned char)**name)) return false; /* PRIMARY KEY, UNIQUE, CREATE */
    for (; line + 3 < end; line++)
        if (memcmp(line, "-- ", 3) == 0) {
            *text = line + 3;
            return true;
        }
    return false;
}

static void add_columns(struct buffer *out, const char *sql) {
    bool first = true;
    buffer_add_text(out, "\"columns\": {");
    for (const char *line = sql; *line;) {
        size_t size = strcspn(line, "\n"), name_size;
        const char *name, *text;
        if (column_comment(line, size, &name, &name_size, &text)) {
            buffer_printf(out, "%s\n            ", first ? "" : ",");
            add_text(out, name, name_size);
            buffer_add_text(out, ": ");
            add_text(out, text, (size_t)(line + size - text));
            first = false;
        }
        line += size + (line[size] == '\n');
    }
    buffer_add_text(out, first ? "}" : "\n          }");
}

/* The lines of comments at the head of a view, as one text. */
static void add_description(struct buffer *out, const char *sql) {
    struct buffer text = {0};
    const char *line = strstr(sql, "\n--");
    while (line && line[1] == '-' && line[2] == '-') {
        line += 3;
        size_t size = strcspn(line, "\n");
        const char *start = line + strspn(line, " ");
        if (text.size) buffer_add_char(&text, ' ');
        buffer_add(&text, start, (size_t)(line + size - start));
        line += size;
    }
    buffer_add_text(out, "\"description\": ");
    add_text(out, buffer_text(&text), text.size);
    buffer_free(&text);
}

/* ---- the parts ---- */

static int add_tables(struct db *db, struct buffer *out, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db,
                                    "SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view')"
                                    " AND name NOT GLOB 'sqlite_*' ORDER BY name",
                                    err);
    if (!rows) return -1;
    bool first = true;
    int code;
    buffer_add_text(out, "      \"tables\": {");
    while ((code = db_step(db, rows, err)) == 1) {
        add_key(out, "        ", db_text(rows, 0), &first);
        buffer_add_char(out, '{');
        if (strcmp(db_text(rows, 1), "view") == 0)
            add_description(out, db_text(rows, 2));
        else
            add_columns(out, db_text(rows, 2));
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "\n      },\n");
    return code;
}

static int add_queries(struct db *db, struct buffer *out, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db, "SELECT name, description, sql, params FROM queries ORDER BY name", err);
    if (!rows) return -1;
    bool first = true;
    int code;
    buffer_add_text(out, "      \"queries\": {");
    while ((code = db_step(db, rows, err)) == 1) {
        add_key(out, "        ", db_text(rows, 0), &first);
        buffer_add_text(out, "{\"title\": ");
        add_text(out, db_text(rows, 0), strlen(db_text(rows, 0)));
        buffer_add_text(out, ", \"description\": ");
        add_text(out, db_text(rows, 1), strlen(db_text(rows, 1)));
        buffer_add_text(out, ",\n          \"sql\": ");
        add_text(out, db_text(rows, 2), strlen(db_text(rows, 2)));
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "\n      }\n");
    return code;
}

/* Datasette calls a database by its file's name without the suffix. */
static void add_database_name(struct buffer *out, const char *path) {
    const char *name = path_base(path), *dot = strrchr(name, '.');
    add_text(out, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static int write_text(const struct buffer *text, const char *path, struct error *err) {
    struct file file;
    if (file_open(&file, path, false, err) < 0) return -1;
    if (file_write(&file, text->data, text->size, err) == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

int datasette_metadata(struct db *db, const char *path, struct error *err) {
    struct buffer out = {0};
    buffer_add_text(&out, "{\n  \"title\": \"clear: profiles of every run\",\n  \"databases\": {\n    ");
    add_database_name(&out, db->path);
    buffer_add_text(&out, ": {\n");
    int code = add_tables(db, &out, err);
    if (code == 0) code = add_queries(db, &out, err);
    buffer_add_text(&out, "    }\n  }\n}\n");
    if (code == 0) code = write_text(&out, path, err);
    buffer_free(&out);
    return code;
}
