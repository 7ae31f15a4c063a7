/* encode.h: a profile in memory (query/profile/model.h) as profile.proto. */
#ifndef CLEAR_EXPORT_ENCODE_H
#define CLEAR_EXPORT_ENCODE_H

#include "base/buffer.h"
#include "query/profile/model.h"

/* Appends it, gzipped; on failure `out` is emptied. Samples, locations, functions and mappings keep their order. */
int encode_profile(const struct profile *profile, struct buffer *out, struct error *err);

#endif
