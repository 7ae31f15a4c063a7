#include "query/report/report_runs.h"

#include <stdlib.h>
#include <string.h>

static bool is_given(const char *text) {
    return text && *text;
}

static int check(const struct report_format *format, const struct report_options *options, struct error *err) {
    bool has_history = is_given(options->history);
    const char *name = options->over_runs ? "over_runs" : has_history ? "history" : "by_tag";
    if (options->over_runs + has_history + is_given(options->by_tag) > 1)
        return error_usage(err, "over_runs, by_tag and history exclude each other");
    if (format->table == REPORT_NO_TABLE)
        return error_usage(err, "%s makes a table: top or json, not %s", name, format->name);
    if (has_history && format->table != REPORT_TABLE_JSON) return error_usage(err, "history is for json");
    if (is_given(options->root)) return error_usage(err, "root and %s exclude each other", name);
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
    if (code == 0 && is_given(options->history))
        code = report_history(&asked, format, options, out, note, context, err);
    else if (code == 0)
        code =
            (options->over_runs ? report_over_runs : report_by_tag)(&asked, format, options, out, note, context, err);
    gather_end(runs->runs);
    free(kind);
    return code;
}
