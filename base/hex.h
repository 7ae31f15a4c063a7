/* hex.h: bytes and addresses as hexadecimal text, in lower case. */
#ifndef CLEAR_BASE_HEX_H
#define CLEAR_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

static inline char hex_digit(unsigned nibble) {
    return "0123456789abcdef"[nibble & 15];
}

/* Writes two digits a byte, and a NUL: `text` has room for 2 * size + 1 characters. */
void hex_bytes(char *text, const void *bytes, size_t size);

/* An address as it stands in names and reports: 0x401234. By value, so that a call can stand in an argument list:
 * printf("%s", hex_address(pc).text). */
struct hex_text {
    char text[19];
};
struct hex_text hex_address(uint64_t address);

#endif
