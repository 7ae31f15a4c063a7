#include "query/report/report_runs.h"

#include <stdlib.h>
#include <string.h>

static int check(const struct report_format *format, const struct report_options *options, struct error *err) {
    const char *name = options->over_runs ? "over_runs" : "by_tag";
    if (options->over_runs && options->by_tag && *options->by_tag)
        return error_usage(err, "over_runs and by_tag exclude each other");
    if (format->table == REPORT_NO_TABLE)
        return error_usage(err, "%s makes a table: top or json, not %s", name, format->name);
    if (options->columns < 1) return error_usage(err, "columns must be 1 or more");
    return report_options_check(options, err);
}

int report_runs_write(const struct report_runs *runs, const struct report_format *format,
                      const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                      struct error *err) {
    struct report_runs asked = *runs;
    char *kind = NULL;
    if (check(format, options, err) < 0) return -1;
    int code = gather_begin(runs->runs, err);
    if (code == 0 && !asked.kind) code = gather_kind(runs->runs, &kind, NULL, err);
    if (!asked.kind) asked.kind = kind;
    if (code == 0)
        code =
            (options->over_runs ? report_over_runs : report_by_tag)(&asked, format, options, out, note, context, err);
    gather_end(runs->runs);
    free(kind);
    return code;
}
