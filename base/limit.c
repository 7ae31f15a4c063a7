#include "base/limit.h"

#include "base/number.h"

enum { INFLATED_TIMES = 64, INFLATED_LEAST = 64 << 20, MIB = 1 << 20 };

static int64_t limit = LIMIT_DEFAULT;

void limit_set(int64_t bytes) {
    limit = bytes;
}

static bool allows(uint64_t bytes) {
    return !limit || bytes <= (uint64_t)limit;
}

static struct units_text in_bytes(uint64_t bytes) {
    return units_bytes(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

int limit_check(const char *what, uint64_t bytes, struct error *err) {
    if (allows(bytes)) return 0;
    return error_fail(err, "%s would take %s or more, and the limit is %s; raise it with --limit SIZE", what,
                      in_bytes(bytes).text, number_limit(limit).text);
}

uint64_t limit_inflated(uint64_t size) {
    uint64_t least = limit > LIMIT_DEFAULT ? (uint64_t)limit : INFLATED_LEAST;
    if (!limit || size > (INT64_MAX - MIB) / INFLATED_TIMES) return UINT64_MAX;
    uint64_t most = (size * INFLATED_TIMES + MIB - 1) / MIB * MIB; /* messages name it */
    return most > least ? most : least;
}

int limit_inflated_fail(const char *path, uint64_t size, struct error *err) {
    return error_fail(err, "%s: inflates to more than %s, which is not usual for a profile; --limit 4G allows it", path,
                      number_limit((int64_t)limit_inflated(size)).text);
}
