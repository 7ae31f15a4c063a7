/* hash.h: a well-mixed 64-bit hash for tables, trace hashes and signatures. Stable: values are stored in the warehouse
 * (traces.hash, traces.signature), so the function must never change. Not cryptographic; hashes of content are SHA-256
 * (nettle). */
#ifndef CLEAR_BASE_HASH_H
#define CLEAR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finaliser of MurmurHash3 (Appleby, public domain): every input bit changes every output bit with p = 1/2. */
static inline uint64_t hash_mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static inline uint64_t hash_combine(uint64_t seed, uint64_t value) {
    return hash_mix(seed * 0x9e3779b97f4a7c15ull + value + 1);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t hash = size * 0x9e3779b97f4a7c15ull, word;
    for (; size >= 8; at += 8, size -= 8) {
        memcpy(&word, at, 8);
        hash = hash_combine(hash, word);
    }
    word = 0;
    if (size) memcpy(&word, at, size); /* nothing may be given as NULL */
    return hash_combine(hash, word);
}

#endif
