#include "ingest/store/run_uuid.h"

#include <stdio.h>
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
