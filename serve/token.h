/* token.h: the secret that whoever changes something through a server must send: Authorization: Bearer TOKEN. */
#ifndef CLEAR_SERVE_TOKEN_H
#define CLEAR_SERVE_TOKEN_H

#include <stdbool.h>

#include "base/error.h"

enum {
    TOKEN_LEAST = 16, /* characters: shorter ones can be guessed */
    TOKEN_MOST = 256,
    TOKEN_BITS = 128, /* of one that is made */
};

/* One that nobody can guess, in hexadecimal digits; free() it. NULL with the error set. */
char *token_make(struct error *err);
/* Whether `token` can be one: TOKEN_LEAST to TOKEN_MOST of the characters that RFC 6750 allows. `where` it is from begins the
 * message of the usage error, which does not have the token. */
int token_check(const char *token, const char *where, struct error *err);
/* Takes the same time whatever of them is equal. */
bool token_is_equal(const char *token, const char *given);

#endif
