#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buffer *out, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    buffer_reserve(out, (size + 2) / 3 * 4);
    for (size_t i = 0; i < size; i += 3) {
        unsigned left = size - i > 2 ? 3 : (unsigned)(size - i);
        unsigned group = (unsigned)at[i] << 16 | (left > 1 ? (unsigned)at[i + 1] << 8 : 0) | (left > 2 ? at[i + 2] : 0);
        for (unsigned digit = 0; digit < 4; digit++)
            buffer_add_char(out, digit <= left ? digits[group >> (18 - 6 * digit) & 63] : '=');
    }
}

static int digit_of(char c) {
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool base64_decode(struct buffer *out, const char *text) {
    unsigned bits = 0;
    int count = 0;
    for (; *text && *text != '='; text++) {
        int digit = digit_of(*text);
        if (digit < 0) return false;
        bits = bits << 6 | (unsigned)digit;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        buffer_add_char(out, (char)(bits >> count & 0xff));
    }
    return !text[strspn(text, "=")];
}
