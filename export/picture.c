/* The call graph drawn by graphviz: svg, png, pdf, ps, gif. */
#include "export/graphviz.h"
#include "query/report/report.h"

int report_picture(struct report *report, struct buffer *out, struct error *err) {
    struct buffer dot = {0};
    int code = report_dot(report, &dot, err);
    if (code == 0) code = graphviz_draw(report->format->name, &dot, out, err);
    buffer_free(&dot);
    return code;
}
