#include "serve/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hex.h"

char *token_make(struct error *err) {
    unsigned char bytes[TOKEN_BITS / 8];
    ssize_t size = getrandom(bytes, sizeof bytes, 0);
    if (size != sizeof bytes) { /* so few bytes are read in one piece, or not at all */
        error_fail(err, "cannot make a token for --http: getrandom: %s", strerror(size < 0 ? errno : EIO));
        return NULL;
    }
    char *token = xcalloc(2 * sizeof bytes + 1, 1);
    hex_bytes(token, bytes, sizeof bytes);
    return token;
}

int token_check(const char *token, const char *where, struct error *err) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/";
    size_t size = strlen(token), body = strspn(token, allowed);
    if (!body || body + strspn(token + body, "=") != size)
        return error_usage(err, "%s: a token consists of letters, digits and -._~+/, and may end with =", where);
    if (size < TOKEN_LEAST || size > TOKEN_MOST)
        return error_usage(
            err, "%s: a token has %d to %d characters, and this one has %zu: make one with openssl rand -hex 16", where,
            TOKEN_LEAST, TOKEN_MOST, size);
    return 0;
}

bool token_is_equal(const char *token, const char *given) {
    size_t size = strlen(token), given_size = strlen(given);
    volatile unsigned char difference = size != given_size;
    for (size_t i = 0; i < given_size; i++)
        difference |= (unsigned char)(token[i % size] ^ given[i]);
    return !difference;
}
