#include "ingest/team/copy_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* U+10FE00 to U+10FEFF: F4 8F B8 80 to F4 8F BB BF. */
static bool is_stand_in(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    return at[0] == 0xf4 && at[1] == 0x8f && at[2] >= 0xb8 && at[2] <= 0xbb;
}

static void add_stand_in(struct buffer *out, unsigned char byte) {
    const char character[] = {(char)0xf4, (char)0x8f, (char)(0xb8 | byte >> 6), (char)(0x80 | (byte & 0x3f))};
    buffer_add(out, character, sizeof character);
}

void store_text_add(struct buffer *out, const char *text) {
    size_t left = strlen(text);
    while (left) {
        size_t length = utf8_length(text, left);
        bool is_whole = length && !(length == 4 && is_stand_in(text));
        if (is_whole)
            buffer_add(out, text, length);
        else
            add_stand_in(out, (unsigned char)*text);
        size_t step = is_whole ? length : 1;
        text += step;
        left -= step;
    }
}

void file_text_add(struct buffer *out, const char *text) {
    while (*text) {
        const char *end = strchr(text, 0xf4);
        size_t plain = end ? (size_t)(end - text) : strlen(text);
        buffer_add(out, text, plain);
        text += plain;
        if (!*text) return;
        if (!is_stand_in(text)) {
            buffer_add_char(out, *text++);
            continue;
        }
        buffer_add_char(out, (char)((text[2] & 3) << 6 | (text[3] & 0x3f)));
        text += 4;
    }
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

void copy_tab(struct buffer *rows) {
    buffer_add_char(rows, '\t');
}

void copy_end(struct buffer *rows) {
    buffer_add_char(rows, '\n');
}

void copy_null(struct buffer *rows) {
    buffer_add(rows, "\\N", 2);
}

void copy_int(struct buffer *rows, int64_t value) {
    buffer_printf(rows, "%" PRId64, value);
}

void copy_real(struct buffer *rows, double value) {
    buffer_printf(rows, "%.17g", value);
}

/* Control characters and the backslash, as COPY reads them. */
static void add_escaped(struct buffer *rows, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const char *found = strchr("\\\n\r\t", text[i]);
        if (found && *found) buffer_add_char(rows, '\\');
        buffer_add_char(rows, !found || !*found ? text[i] : "\\nrt"[strchr("\\\n\r\t", text[i]) - "\\\n\r\t"]);
    }
}

void copy_text(struct buffer *rows, const char *text) {
    struct buffer stored = {0};
    store_text_add(&stored, text);
    add_escaped(rows, buffer_text(&stored), stored.size);
    buffer_free(&stored);
}

void copy_ints(struct buffer *rows, const int64_t *values, size_t count) {
    struct buffer array = {0};
    for (size_t i = 0; i < count; i++)
        array_int(&array, values[i]);
    copy_array(rows, &array);
    buffer_free(&array);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static void next_element(struct buffer *array) {
    if (array->size) buffer_add_char(array, ',');
}

void array_null(struct buffer *array) {
    next_element(array);
    buffer_add_text(array, "NULL");
}

void array_int(struct buffer *array, int64_t value) {
    next_element(array);
    buffer_printf(array, "%" PRId64, value);
}

void array_text(struct buffer *array, const char *text) {
    struct buffer stored = {0};
    store_text_add(&stored, text);
    next_element(array);
    buffer_add_char(array, '"');
    for (const char *at = buffer_text(&stored); *at; at++) {
        if (*at == '"' || *at == '\\') buffer_add_char(array, '\\');
        buffer_add_char(array, *at);
    }
    buffer_add_char(array, '"');
    buffer_free(&stored);
}

void copy_array(struct buffer *rows, const struct buffer *array) {
    buffer_add_char(rows, '{');
    add_escaped(rows, buffer_text(array), array->size);
    buffer_add_char(rows, '}');
}

void file_text_bind(sqlite3_stmt *statement, int at, const char *text) {
    struct buffer plain = {0};
    file_text_add(&plain, text);
    sqlite3_bind_text(statement, at, buffer_text(&plain), -1, SQLITE_TRANSIENT);
    buffer_free(&plain);
}

char *team_plain_text(const struct team_answer *answer, int row, int column) {
    struct buffer text = {0};
    file_text_add(&text, team_word(answer, row, column));
    return text.data ? buffer_take(&text) : xstrdup("");
}
