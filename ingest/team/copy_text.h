/* copy_text.h: rows in the text format of PostgreSQL's COPY, and texts that PostgreSQL would not take.
 *
 * PostgreSQL's texts are valid UTF-8; a file's may be any bytes. A byte that is no part of a valid character becomes the character
 * U+10FE00 + byte, and so does each byte of such a character that was in the text before, so that every text comes back as it was. */
#ifndef CLEAR_INGEST_TEAM_COPY_TEXT_H
#define CLEAR_INGEST_TEAM_COPY_TEXT_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/buffer.h"
#include "ingest/team/team_server.h"

/* Each adds one field; fields of a row are parted by copy_tab, rows end with copy_end. */
void copy_tab(struct buffer *rows);
void copy_end(struct buffer *rows);
void copy_null(struct buffer *rows);
void copy_int(struct buffer *rows, int64_t value);
void copy_real(struct buffer *rows, double value);
void copy_text(struct buffer *rows, const char *text);
void copy_ints(struct buffer *rows, const int64_t *values, size_t count); /* an array */

/* The literal of an array, element by element; begins empty. Add its text to a row with copy_array. */
void array_null(struct buffer *array);
void array_int(struct buffer *array, int64_t value);
void array_text(struct buffer *array, const char *text);
void copy_array(struct buffer *rows, const struct buffer *array);

/* A text as the store has it, and back. */
void store_text_add(struct buffer *out, const char *text);
void file_text_add(struct buffer *out, const char *text);
char *team_plain_text(const struct team_answer *answer, int row, int column); /* "" for NULL; free() it */
void file_text_bind(sqlite3_stmt *statement, int at, const char *text);

#endif
