/* datasette.c: metadata.json for https://datasette.io: the saved queries as its canned queries, and what the SQL of the
 * schema says of tables, views and their columns. The database's name there is the file's without its suffix.
 *
 * The comments are read from sqlite_schema, so they are those of the very file:
 *     name TYPE ..., -- [unit] meaning      a column of a table; lines with nothing but a comment go on with it
 *     --   name [unit]: meaning             a column in the header of a view
 * All other comments before the first column, and in the header of a view, describe the table or view. */
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

/* What the comments of one table or view say: its own description, and as the members of a JSON object its columns. */
struct comments {
    struct buffer description, columns;
    struct buffer name, text; /* of the column that is under way */
};

static void add_words(struct buffer *out, const char *text, size_t size) {
    while (size && text[0] == ' ')
        text++, size--;
    if (out->size && size) buffer_add_char(out, ' ');
    buffer_add(out, text, size);
}

static void end_column(struct comments *comments) {
    if (!comments->name.size) return;
    buffer_add_text(&comments->columns, comments->columns.size ? ",\n            " : "\n            ");
    add_text(&comments->columns, comments->name.data, comments->name.size);
    buffer_add_text(&comments->columns, ": ");
    add_text(&comments->columns, buffer_text(&comments->text), comments->text.size);
    buffer_clear(&comments->name);
    buffer_clear(&comments->text);
}

static void start_column(struct comments *comments, const char *name, size_t name_size, const char *text, size_t size) {
    end_column(comments);
    buffer_add(&comments->name, name, name_size);
    add_words(&comments->text, text, size);
}

static size_t name_size_of(const char *text) {
    size_t size = 0;
    while (islower((unsigned char)text[size]) || isdigit((unsigned char)text[size]) || text[size] == '_')
        size++;
    return size;
}

/* A comment that has its line for itself. "  name [unit]: meaning" begins a column of a view; deeper lines go on with it, as all
 * lines do that stand behind a column of a table. */
static void take_comment(struct comments *comments, bool is_view, const char *text, size_t size) {
    size_t indent = strspn(text, " "), name_size = name_size_of(text + indent);
    const char *unit = text + indent + name_size, *end = memchr(text, ']', size);
    if (is_view && indent == 3 && name_size && strncmp(unit, " [", 2) == 0 && end && end[1] == ':') {
        start_column(comments, text + indent, name_size, unit, (size_t)(end + 1 - unit));
        add_words(&comments->text, end + 2, size - (size_t)(end + 2 - text));
    } else if (comments->name.size && (!is_view || indent > 3)) {
        add_words(&comments->text, text, size);
    } else {
        end_column(comments);
        add_words(&comments->description, text, size);
    }
}

/* "    name TYPE ..., -- text" of a table. False: the line has no comment. */
static bool take_line(struct comments *comments, bool is_view, const char *line, size_t size) {
    const char *at = line + strspn(line, " "), *comment = at;
    while (comment + 3 < line + size && memcmp(comment, "-- ", 3) != 0)
        comment++;
    if (comment + 3 >= line + size) return false;
    const char *text = comment + 2;
    size_t text_size = (size_t)(line + size - text);
    if (comment == at)
        take_comment(comments, is_view, text, text_size);
    else if (!is_view && name_size_of(at))
        start_column(comments, at, name_size_of(at), text, text_size);
    return true;
}

/* The comments of the text of a table, or those at the head of a view. */
static void take_comments(struct comments *comments, bool is_view, const char *sql) {
    const char *line = strchr(sql, '\n');
    while (line) {
        size_t size = strcspn(++line, "\n");
        if (!take_line(comments, is_view, line, size) && is_view) break;
        line = strchr(line, '\n');
    }
    end_column(comments);
}

static void add_comments(struct buffer *out, bool is_view, const char *sql) {
    struct comments comments = {0};
    take_comments(&comments, is_view, sql);
    buffer_add_text(out, "\"description\": ");
    add_text(out, buffer_text(&comments.description), comments.description.size);
    buffer_printf(out, ",\n          \"columns\": {%s%s}", buffer_text(&comments.columns),
                  comments.columns.size ? "\n          " : "");
    buffer_free(&comments.description);
    buffer_free(&comments.columns);
    buffer_free(&comments.name);
    buffer_free(&comments.text);
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
        add_comments(out, strcmp(db_text(rows, 1), "view") == 0, db_text(rows, 2));
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
