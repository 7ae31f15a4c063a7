/* otlp_identity.h: by what a mapping or location of a profile is known again when its attributes come back: the hash of what identifies
 * it, and not of its names, which may be found later. */
#ifndef CLEAR_BASE_OTLP_IDENTITY_H
#define CLEAR_BASE_OTLP_IDENTITY_H

#include "base/hash.h"

static inline uint64_t otlp_hash_text(uint64_t hash, const char *text) {
    return hash_combine(hash, hash_bytes(text, strlen(text)));
}

static inline uint64_t otlp_hash_mapping(const char *file, const char *build_id, uint64_t start, uint64_t limit,
                                         uint64_t offset) {
    uint64_t hash = otlp_hash_text(otlp_hash_text(0, file), build_id);
    return hash_combine(hash_combine(hash_combine(hash, start), limit), offset);
}

/* `mapping`: its hash, 0 for none. A location without an address goes on with otlp_hash_line for each of its lines. */
static inline uint64_t otlp_hash_location(uint64_t mapping, uint64_t address) {
    return hash_combine(mapping, address);
}

static inline uint64_t otlp_hash_line(uint64_t hash, const char *function, const char *file, int64_t line,
                                      int64_t column) {
    hash = otlp_hash_text(otlp_hash_text(hash, function), file);
    return hash_combine(hash_combine(hash, (uint64_t)line), (uint64_t)column);
}

#endif
