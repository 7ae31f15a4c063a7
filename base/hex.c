#include "base/hex.h"

#include <inttypes.h>
#include <stdio.h>

void hex_bytes(char *text, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *text++ = hex_digit(at[i] >> 4);
        *text++ = hex_digit(at[i]);
    }
    *text = '\0';
}

struct hex_text hex_address(uint64_t address) {
    struct hex_text hex;
    snprintf(hex.text, sizeof hex.text, "0x%" PRIx64, address);
    return hex;
}
