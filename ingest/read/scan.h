/* scan.h: words and numbers in text that is not trusted.
 *
 * A span is two pointers into the caller's bytes, mostly a line of input_next_line. Nothing is copied, no NUL is
 * needed, and any byte may occur. A number that does not fit is reported, and never wraps. */
#ifndef CLEAR_INGEST_READ_SCAN_H
#define CLEAR_INGEST_READ_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "ingest/read/input.h"

struct span {
    const char *at, *end;
};

static inline struct span span_of_line(const struct input_lines *lines) {
    const char *line = lines->line ? lines->line : ""; /* NULL before the first one */
    return (struct span){line, line + lines->size};
}
/* The column of a position in the current line, for input_fail_line. */
static inline size_t span_column(const struct input_lines *lines, const char *place) {
    return (size_t)(place - lines->line) + 1;
}
/* The length of a span in a message ("%.*s"): long words are cut, and so are binary ones. */
int span_shown(struct span span);
/* A NUL-terminated copy in valid UTF-8: other bytes, and NULs, become '?'. */
char *span_copy(struct span span, struct arena *arena);

static inline size_t span_size(struct span span) {
    return (size_t)(span.end - span.at);
}

/* Blanks are space, tab, \r, \v, \f. */
struct span span_trim(struct span span);
void span_skip_blanks(struct span *span);
bool span_is(struct span span, const char *text);
bool span_starts(struct span span, const char *text);
/* The first occurrence of the text in the span, or NULL. */
const char *span_find(struct span span, const char *text);
/* Skips the text if the span starts with it. */
bool span_take(struct span *span, const char *text);
/* The next word (up to a blank), after any blanks; empty at the end. */
struct span span_word(struct span *span);
/* The next field, up to the separator or the end; the separator is skipped. False where no field is left. A separator
 * at the end is followed by an empty field. After the last field span->at is NULL. */
bool span_field(struct span *span, char separator, struct span *field);

enum number { NUMBER_NONE, NUMBER_OK, NUMBER_TOO_BIG };
/* Reads and skips the digits at the start of the span, without a sign or prefix. Base 10 or 16 (either case). */
enum number span_unsigned(struct span *span, int base, uint64_t *value);
/* Decimal with an optional '-'. */
enum number span_signed(struct span *span, int64_t *value);

#endif
