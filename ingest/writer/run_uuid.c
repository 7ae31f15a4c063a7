#include "ingest/writer/run_uuid.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include "base/hex.h"

int run_uuid(char uuid[RUN_UUID_SIZE], struct error *err) {
    unsigned char bits[16];
    if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits) return error_fail(err, "no random bytes for a uuid");
    bits[6] = (bits[6] & 0x0f) | 0x40;
    bits[8] = (bits[8] & 0x3f) | 0x80;
    char hex[2 * sizeof bits + 1];
    hex_bytes(hex, bits, sizeof bits);
    snprintf(uuid, RUN_UUID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
    return 0;
}

bool run_uuid_read(char uuid[RUN_UUID_SIZE], const char *text) {
    if (strlen(text) != RUN_UUID_SIZE - 1) return false;
    for (size_t i = 0; i < RUN_UUID_SIZE - 1; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text[i] != '-' : !isxdigit((unsigned char)text[i])) return false;
        uuid[i] = (char)tolower((unsigned char)text[i]);
    }
    uuid[RUN_UUID_SIZE - 1] = '\0';
    return true;
}
