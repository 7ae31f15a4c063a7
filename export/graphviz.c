#include "export/graphviz.h"

#include <stdlib.h>
#include <string.h>

#include "base/child.h"

/* A graph that takes graphviz this long is not one that anybody could read. */
static const struct child_limits limits = {.output_max = (size_t)1 << 30, .seconds = 600};

int graphviz_draw(const char *format, const struct buffer *dot, struct buffer *out, struct error *err) {
    char *type = xasprintf("-T%s", format);
    const char *const arguments[] = {"dot", type, NULL};
    enum child_end end = child_read(arguments, dot, &limits, out, err);
    free(type);
    if (end == CHILD_MISSING) return error_fail(err, "%s needs graphviz (Debian: apt-get install graphviz)", format);
    return end == CHILD_DONE ? 0 : error_prefix(err, "the graph as %s: ", format);
}
