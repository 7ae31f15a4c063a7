#include "ingest/read/scan.h"

#include <string.h>

#include "base/utf8.h"

int span_shown(struct span span) {
    int size = 0;
    while (size < 40 && span.at + size < span.end && span.at[size] >= ' ' && span.at[size] < 0x7f)
        size++;
    return size;
}

char *span_copy(struct span span, struct arena *arena) {
    size_t size = span_size(span);
    char *text = arena_text(arena, size ? span.at : "", size);
    for (size_t i = 0; (i += utf8_bad_byte(text + i, size - i)) < size; i++)
        text[i] = '?';
    return text;
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

void span_skip_blanks(struct span *span) {
    while (span->at < span->end && is_blank(*span->at))
        span->at++;
}

struct span span_trim(struct span span) {
    span_skip_blanks(&span);
    while (span.end > span.at && is_blank(span.end[-1]))
        span.end--;
    return span;
}

bool span_starts(struct span span, const char *text) {
    size_t size = strlen(text);
    return span_size(span) >= size && memcmp(span.at, text, size) == 0;
}

bool span_is(struct span span, const char *text) {
    return span_size(span) == strlen(text) && span_starts(span, text);
}

const char *span_find(struct span span, const char *text) {
    return span_size(span) ? memmem(span.at, span_size(span), text, strlen(text)) : NULL;
}

bool span_take(struct span *span, const char *text) {
    if (!span_starts(*span, text)) return false;
    span->at += strlen(text);
    return true;
}

struct span span_word(struct span *span) {
    span_skip_blanks(span);
    struct span word = {span->at, span->at};
    while (word.end < span->end && !is_blank(*word.end))
        word.end++;
    span->at = word.end;
    return word;
}

bool span_field(struct span *span, char separator, struct span *field) {
    if (!span->at) return false;
    const char *stop = span_size(*span) ? memchr(span->at, separator, span_size(*span)) : NULL;
    *field = (struct span){span->at, stop ? stop : span->end};
    span->at = stop ? stop + 1 : NULL;
    return true;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

enum number span_unsigned(struct span *span, int base, uint64_t *value) {
    const char *start = span->at;
    uint64_t sum = 0;
    bool fits = true;
    for (int digit; span->at < span->end && (digit = digit_of(*span->at)) < base; span->at++)
        if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) || __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            fits = false;
    *value = sum;
    if (span->at == start) return NUMBER_NONE;
    return fits ? NUMBER_OK : NUMBER_TOO_BIG;
}

enum number span_signed(struct span *span, int64_t *value) {
    struct span digits = *span;
    uint64_t magnitude;
    bool negative = span_take(&digits, "-");
    enum number state = span_unsigned(&digits, 10, &magnitude);
    if (state == NUMBER_NONE) return state;
    span->at = digits.at;
    if (state == NUMBER_TOO_BIG || magnitude > (uint64_t)INT64_MAX + negative) return NUMBER_TOO_BIG;
    *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return NUMBER_OK;
}
