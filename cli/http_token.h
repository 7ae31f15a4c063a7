/* http_token.h: which token switches the recording of `clear profile --http`. */
#ifndef CLEAR_CLI_HTTP_TOKEN_H
#define CLEAR_CLI_HTTP_TOKEN_H

#include <stdbool.h>

#include "base/error.h"

/* In the environment; it is taken out of it, so that the program that is recorded does not get it. */
#define HTTP_TOKEN_VARIABLE "CLEAR_HTTP_TOKEN"

/* That of the first line of `file`, where one is named; else the environment's; else one that is
 * made now, which nobody knows yet (*is_new). free() it; NULL with the error set. */
char *http_token(const char *file, bool *is_new, struct error *err);

#endif
