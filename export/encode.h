/* encode.h: a profile in memory (query/profile/model.h) as a file that pprof reads. */
#ifndef CLEAR_EXPORT_ENCODE_H
#define CLEAR_EXPORT_ENCODE_H

#include "query/profile/model.h"

/* Written whole or not at all, gzipped; "-" is standard output. Samples, locations, functions and mappings keep their order. */
int encode_write(const struct profile *profile, const char *path, struct error *err);

#endif
