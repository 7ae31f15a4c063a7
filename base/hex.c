#include "base/hex.h"

void hex_bytes(char *text, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *text++ = hex_digit(at[i] >> 4);
        *text++ = hex_digit(at[i]);
    }
    *text = '\0';
}

/* Not by snprintf: a dump of the 80,000 stacks of a compiler has 3,000,000 addresses. */
struct hex_text hex_address(uint64_t address) {
    struct hex_text hex = {"0x"};
    int digits = 1;
    while (digits < 16 && address >> 4 * digits)
        digits++;
    for (int i = 0; i < digits; i++)
        hex.text[2 + i] = hex_digit((unsigned)(address >> 4 * (digits - 1 - i)));
    return hex;
}
