/* path.h: the parts of a file's path. */
#ifndef CLEAR_BASE_PATH_H
#define CLEAR_BASE_PATH_H

#include <string.h>

/* The base name: what stands behind the last '/'. A path without one, or that ends with one, is returned whole. The
 * result is part of `path`. */
static inline const char *path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

#endif
