#include "ingest/store/run_uuid.h"

#include <sys/random.h>
#include <sys/types.h>

int run_uuid(char uuid[RUN_UUID_SIZE], struct error *err) {
    unsigned char bits[16];
    if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits) return error_fail(err, "no random bytes for a uuid");
    bits[6] = (bits[6] & 0x0f) | 0x40;
    bits[8] = (bits[8] & 0x3f) | 0x80;
    size_t at = 0;
    for (size_t i = 0; i < sizeof bits; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) uuid[at++] = '-';
        uuid[at++] = "0123456789abcdef"[bits[i] >> 4];
        uuid[at++] = "0123456789abcdef"[bits[i] & 15];
    }
    uuid[at] = '\0';
    return 0;
}
