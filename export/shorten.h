/* shorten.h: names of functions as pictures show them. */
#ifndef CLEAR_EXPORT_SHORTEN_H
#define CLEAR_EXPORT_SHORTEN_H

#include "base/buffer.h"

/* Appends a function's name without what says where it lives: the path of a Go package, the packages of a Java class, the
 * namespaces of a C++ class, "(anonymous namespace)::". Names of none of these shapes stay as they are. pprof's rules, so that
 * pictures agree. */
void shorten_function(struct buffer *out, const char *name);

/* Appends at most so many characters of a function's name, for a box that has room for no more. What says where it lives goes first,
 * because the last part tells functions apart: "\u2026Queue::push", "\u2026push", then "pu\u2026". Nothing below 3 characters.
 * export/flamegraph.js does the same when a box changes its size, with the parts that it is given. */
void shorten_to(struct buffer *out, const char *name, size_t letters);

#endif
