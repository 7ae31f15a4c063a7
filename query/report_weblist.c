#include "query/report.h"
int report_weblist(struct report *report, struct buffer *out, struct error *err) {
    (void)report; (void)out;
    return error_fail(err, "soon");
}
