/* scan.h: words and numbers in text that may be hostile.
 *
 * Nothing is copied and nothing need end in a NUL: a span is two pointers into the caller's bytes (a line of
 * input_next_line, mostly). Any byte may stand in it. Numbers are checked: what does not fit is reported, never wrapped. */
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
/* The column of a place in the current line, for input_fail_line. */
static inline size_t span_column(const struct input_lines *lines, const char *place) {
    return (size_t)(place - lines->line) + 1;
}
/* How much of a span a message shows: "%.*s" wants the two. Long or binary words would make messages unreadable. */
int span_shown(struct span span);
/* A NUL-terminated copy that is valid UTF-8: bytes that are not, and NULs, become '?'. */
char *span_copy(struct span span, struct arena *arena);

static inline size_t span_size(struct span span) {
    return (size_t)(span.end - span.at);
}

/* Blanks are space, tab, \r, \v, \f. */
struct span span_trim(struct span span);
void span_skip_blanks(struct span *span);
bool span_is(struct span span, const char *text);
bool span_starts(struct span span, const char *text);
/* Where the text stands in the span, or NULL. */
const char *span_find(struct span span, const char *text);
/* Steps over the text where the span starts with it. */
bool span_take(struct span *span, const char *text);
/* The next word (up to a blank), after any blanks; empty at the end. */
struct span span_word(struct span *span);
/* The next field up to the separator or the end, which is stepped over; false where nothing is left (a separator at the very
 * end is followed by an empty field). `*span` of a finished line has at == NULL. */
bool span_field(struct span *span, char separator, struct span *field);

enum number { NUMBER_NONE, NUMBER_OK, NUMBER_TOO_BIG };
/* Digits at the start of the span, stepped over; no sign, no prefix. Base 10 or 16 (either case). */
enum number span_unsigned(struct span *span, int base, uint64_t *value);
/* Decimal with an optional '-'. */
enum number span_signed(struct span *span, int64_t *value);

#endif
