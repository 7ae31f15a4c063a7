#include "ingest/team/content_key.h"

#include <string.h>

/* Little-endian on every machine, because keys travel. */
static void add_number(struct content_hash *hash, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    sha256_update(&hash->sha, sizeof bytes, bytes);
}

static int64_t number_at(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return (int64_t)value;
}

void content_begin(struct content_hash *hash, const char *thing) {
    sha256_init(&hash->sha);
    content_text(hash, thing);
}

void content_int(struct content_hash *hash, int64_t value) {
    add_number(hash, (uint64_t)value);
}

/* With its length, so that ("ab", "c") is not ("a", "bc"). */
void content_text(struct content_hash *hash, const char *text) {
    size_t size = strlen(text);
    add_number(hash, size);
    sha256_update(&hash->sha, size, (const uint8_t *)text);
}

struct content_key content_end(struct content_hash *hash) {
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&hash->sha, sizeof digest, digest);
    return (struct content_key){number_at(digest), number_at(digest + 8)};
}

int64_t content_project(const char *name) {
    struct content_hash hash;
    content_begin(&hash, "project");
    content_text(&hash, name);
    return content_end(&hash).key;
}
