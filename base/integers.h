/* integers.h: the integers of a JSON array, which is how stacks (location ids) and further sample values are stored.
 *
 *     const char *at = integers_first(json);
 *     while (at && *at != ']') { at = integers_next(at, &value); ... }
 *     if (!integers_ended(at)) not an array of 64-bit integers
 *
 * Read by hand: strtoll was a third of the time of reading a profile. */
#ifndef CLEAR_BASE_INTEGERS_H
#define CLEAR_BASE_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline const char *integers_skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

/* At the first integer, or at the ']' of an empty array; NULL: it is no array. */
static inline const char *integers_first(const char *json) {
    json = integers_skip_blanks(json);
    return *json == '[' ? integers_skip_blanks(json + 1) : NULL;
}

/* Reads the integer at `at`. Gives the place of the next one, or of the ']'; NULL: it is no integer, or beyond 64 bits. */
static inline const char *integers_next(const char *at, int64_t *value) {
    bool is_negative = *at == '-';
    const char *digits = at + is_negative;
    uint64_t read = 0;
    for (at = digits; *at >= '0' && *at <= '9' && at - digits < 19; at++) /* 19 digits are within 64 bits */
        read = read * 10 + (uint64_t)(*at - '0');
    if (at == digits || read > (uint64_t)INT64_MAX + is_negative) return NULL;
    *value = (int64_t)(is_negative ? 0 - read : read);
    if (*at == ',' && at[1] >= '0' && at[1] <= '9') return at + 1;
    at = integers_skip_blanks(at);
    if (*at == ']') return at;
    if (*at != ',') return NULL;
    at = integers_skip_blanks(at + 1);
    return *at == ']' ? NULL : at;
}

/* Whether the array was one to its end. */
static inline bool integers_ended(const char *at) {
    return at && !*integers_skip_blanks(at + 1);
}

#endif
