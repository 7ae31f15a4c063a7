#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Eight bytes of plain ASCII without a NUL, which nearly all of them are. */
static bool is_plain(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t zero = (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
    return !(word & UINT64_C(0x8080808080808080)) && !zero;
}

size_t utf8_length(const char *text, size_t left) {
    const unsigned char *at = (const unsigned char *)text;
    if (left == 0) return 0;
    if (at[0] < 0x80) return 1;
    size_t size = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || size > left) return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if (at[0] == 0xe0 && at[1] < 0xa0) return 0;  /* overlong */
    if (at[0] == 0xed && at[1] >= 0xa0) return 0; /* surrogates */
    if (at[0] == 0xf0 && at[1] < 0x90) return 0;  /* overlong */
    if (at[0] == 0xf4 && at[1] >= 0x90) return 0; /* above U+10FFFF */
    return size;
}

bool utf8_is_control(const char *text, size_t left) {
    const unsigned char *at = (const unsigned char *)text;
    return at[0] < ' ' || at[0] == 0x7f || (at[0] == 0xc2 && left > 1 && at[1] >= 0x80 && at[1] < 0xa0);
}

size_t utf8_bad_byte(const char *text, size_t size) {
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;
    while (at < size) {
        if (size - at >= 8 && is_plain(bytes + at)) {
            at += 8;
            continue;
        }
        size_t step = utf8_length(text + at, size - at);
        if (!step || !text[at]) return at;
        at += step;
    }
    return size;
}

size_t utf8_count(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}
