/* graphviz.h: pictures of a graph in DOT, made by graphviz's own program. */
#ifndef CLEAR_EXPORT_GRAPHVIZ_H
#define CLEAR_EXPORT_GRAPHVIZ_H

#include "base/buffer.h"
#include "base/error.h"

/* Appends what `dot -Tformat` (svg, png, pdf, ps, gif) makes of `dot`, whose texts may hold anything: what graphviz does not take is made
 * visible, or cut behind 4,000 bytes. Without graphviz a failure that says how to get it. */
int graphviz_draw(const char *format, const struct buffer *dot, struct buffer *out, struct error *err);

#endif
