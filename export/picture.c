/* The call graph drawn by graphviz: svg, png, pdf, ps, gif. */
#include "export/format.h"
#include "export/graphviz.h"

int picture_write(struct report *report, struct buffer *out, struct error *err) {
    struct buffer dot = {0};
    int code = dot_write(report, &dot, err);
    if (code == 0) code = graphviz_draw(report->format->name, &dot, out, err);
    buffer_free(&dot);
    return code;
}
