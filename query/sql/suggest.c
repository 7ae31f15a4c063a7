#include "query/sql/suggest.h"

#include <ctype.h>
#include <string.h>

#include "base/nearest.h"
#include "schema/schema.h"

static bool is_word_letter(char letter) {
    return isalnum((unsigned char)letter) || letter == '_';
}

/* Does the SQL contain the name as a word of its own? */
static bool names(const char *sql, const char *name) {
    size_t size = strlen(name);
    for (const char *at = sql; *at; at++) {
        bool is_start = at == sql || !is_word_letter(at[-1]);
        if (is_start && strncasecmp(at, name, size) == 0 && !is_word_letter(at[size])) return true;
    }
    return false;
}

static void add_columns(struct db *db, const char *table, struct nearest *nearest, struct buffer *out) {
    struct error ignored = {0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("saved/columns.sql"), &ignored);
    if (!row) return;
    db_bind_text(row, ":table", table);
    int count = 0;
    for (; db_step(db, row, &ignored) == 1; count++) {
        nearest_offer(nearest, db_text(row, 0));
        if (count) buffer_add_text(out, ", ");
        if (!count) buffer_printf(out, "; %s has ", table);
        buffer_add_text(out, db_text(row, 0));
    }
    if (!count) buffer_printf(out, "; the view %s itself does not work", table);
    sqlite3_reset(row);
}

static void suggest_columns(struct db *db, const char *sql, const char *missing, struct buffer *out) {
    const char *dot = strrchr(missing, '.');
    struct nearest nearest = {.word = dot ? dot + 1 : missing};
    struct buffer columns = {0};
    struct error ignored = {0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("saved/tables.sql"), &ignored);
    while (row && db_step(db, row, &ignored) == 1) {
        if (names(sql, db_text(row, 0))) add_columns(db, db_text(row, 0), &nearest, &columns);
    }
    if (row) sqlite3_reset(row);
    if (*nearest.found) buffer_printf(out, "; did you mean %s?", nearest.found);
    buffer_add_text(out, buffer_text(&columns));
    buffer_free(&columns);
}

static void suggest_table(struct db *db, const char *missing, struct buffer *out) {
    struct nearest nearest = {.word = missing};
    struct error ignored = {0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("saved/tables.sql"), &ignored);
    while (row && db_step(db, row, &ignored) == 1)
        nearest_offer(&nearest, db_text(row, 0));
    if (row) sqlite3_reset(row);
    if (*nearest.found) buffer_printf(out, "; did you mean %s?", nearest.found);
    buffer_add_text(out, "; clear schema lists the tables and views");
}

void suggest_names(struct db *db, const char *sql, const char *message, struct buffer *out) {
    static const char column[] = "no such column: ", table[] = "no such table: ";
    if (strncmp(message, column, strlen(column)) == 0)
        suggest_columns(db, sql, message + strlen(column), out);
    else if (strncmp(message, table, strlen(table)) == 0)
        suggest_table(db, message + strlen(table), out);
}
