/* shorten.h: names of functions as pictures show them. */
#ifndef CLEAR_EXPORT_SHORTEN_H
#define CLEAR_EXPORT_SHORTEN_H

#include "base/buffer.h"

/* Appends a function's name without what says where it lives: the path of a Go package, the packages of a Java class, the
 * namespaces of a C++ class, "(anonymous namespace)::". Names of none of these shapes stay as they are. pprof's rules, so that
 * pictures agree. */
void shorten_function(struct buffer *out, const char *name);

#endif
