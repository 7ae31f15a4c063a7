/* base64.h: bytes as text of letters, digits, + and /, with = at the end (RFC 4648). */
#ifndef CLEAR_BASE_BASE64_H
#define CLEAR_BASE_BASE64_H

#include <stdbool.h>

#include "base/buffer.h"

void base64_add(struct buffer *out, const void *bytes, size_t size);
/* Adds the bytes of a text. False where it is none; then what was added up to there stays. */
bool base64_decode(struct buffer *out, const char *text);

#endif
