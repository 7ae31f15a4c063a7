/* token.h: the secret that a client must send to change something: Authorization: Bearer TOKEN. */
#ifndef CLEAR_SERVE_TOKEN_H
#define CLEAR_SERVE_TOKEN_H

#include <stdbool.h>

#include "base/error.h"

enum {
    TOKEN_LEAST = 16, /* characters: shorter ones can be guessed */
    TOKEN_MOST = 256,
    TOKEN_BITS = 128, /* of a token that clear makes */
};

/* Makes a random token of hexadecimal digits; free() it. NULL with the error set. */
char *token_make(struct error *err);
/* Checks that `token` is TOKEN_LEAST to TOKEN_MOST of the characters that RFC 6750 allows. The message of the usage error begins with
 * `where` and does not contain the token. */
int token_check(const char *token, const char *where, struct error *err);
/* Compares in constant time. */
bool token_is_equal(const char *token, const char *given);

#endif
