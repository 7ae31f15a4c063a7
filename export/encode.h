/* encode.h: a profile (query/profile/model.h) as a gzipped profile.proto: the one place where these bytes are made. Samples,
 * locations and functions have the order of the samples that first need them, mappings their own; so a profile that is in memory
 * and the same one that is streamed give the same bytes. */
#ifndef CLEAR_EXPORT_ENCODE_H
#define CLEAR_EXPORT_ENCODE_H

#include "base/buffer.h"
#include "query/profile/stream.h"

struct pprof_writer;

/* Where it goes. */
struct encode_target {
    const char *path;     /* written whole or not at all; "-" is standard output */
    struct buffer *bytes; /* not NULL: it is added here, and `path` is not used */
    int level;            /* gzip's, 1 to 9; 0 is the default */
};

struct encoder {
    struct profile_stream stream; /* for profile_load: what goes there is encoded as it comes */
    struct encode_target target;
    struct pprof_writer *writer; /* NULL: nothing was written yet */
    const struct profile *profile;
    uint32_t *functions, *locations; /* [index]: id in the file, 0 not yet; NULL where they are streamed */
    uint64_t *ids;                   /* scratch: the locations of a stack */
    struct profile_line *lines;      /* scratch: of a location */
    size_t id_room, line_room;
};

/* `encoder` may not move before it is finished or abandoned. */
void encode_open(struct encoder *encoder, const struct encode_target *target);
/* Writes what of `profile` was not streamed, and publishes the file. */
int encode_finish(struct encoder *encoder, const struct profile *profile, struct error *err);
/* Gives up: nothing is left on disk. */
void encode_abandon(struct encoder *encoder);

/* All of it at once. */
int encode_write(const struct profile *profile, const struct encode_target *target, struct error *err);

#endif
