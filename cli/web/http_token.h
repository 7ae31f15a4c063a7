/* http_token.h: chooses the token that a client needs to switch the recording of `clear profile --http`. */
#ifndef CLEAR_CLI_HTTP_TOKEN_H
#define CLEAR_CLI_HTTP_TOKEN_H

#include <stdbool.h>

#include "base/error.h"

/* The environment variable; http_token removes it, so that the recorded program does not get it. */
#define HTTP_TOKEN_VARIABLE "CLEAR_HTTP_TOKEN"

/* The first line of `file` if that is not NULL, else the environment variable, else a new token (then *is_new is
 * true, and the caller must print it). free() it. NULL with the error set. */
char *http_token(const char *file, bool *is_new, struct error *err);

#endif
