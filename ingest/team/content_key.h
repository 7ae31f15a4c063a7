/* content_key.h: the key of a name in a store: SHA-256 of what defines it, bottom-up (a stack's is made of the keys of its locations), so
 * that it is the same from every machine and file. 64 bits are the key, the next 64 bits tell two definitions with one key apart. */
#ifndef CLEAR_INGEST_TEAM_CONTENT_KEY_H
#define CLEAR_INGEST_TEAM_CONTENT_KEY_H

#include <nettle/sha2.h>
#include <stdint.h>

struct content_key {
    int64_t key, check;
};

struct content_hash {
    struct sha256_ctx sha;
};

/* `thing`: what is keyed, "function": a function and a text never share a key by their bytes. */
void content_begin(struct content_hash *hash, const char *thing);
void content_int(struct content_hash *hash, int64_t value);
void content_text(struct content_hash *hash, const char *text);
struct content_key content_end(struct content_hash *hash);

/* The key of a project's name. */
int64_t content_project(const char *name);

#endif
