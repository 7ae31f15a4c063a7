/* unpack.h: the bytes of a profile.proto as a profile in memory, merged as pprof merges what it reads. */
#ifndef CLEAR_EXPORT_UNPACK_H
#define CLEAR_EXPORT_UNPACK_H

#include "base/buffer.h"
#include "query/profile/model.h"

/* `bytes` are what export/pprof.h wrote, not compressed. `keeps_base` false: the samples of a base lose their mark. On failure
 * there is nothing to free. */
int profile_unpack(struct profile *profile, const struct buffer *bytes, bool keeps_base, struct error *err);

#endif
