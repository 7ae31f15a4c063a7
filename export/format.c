#include "export/format.h"

#include <string.h>

#include "export/dumps.h"

const struct export_format export_formats[] = {
    {"pprof", ".pb.gz", "profile.proto, gzipped, for pprof and all that read it (default)", .render = NULL},
    {"folded", ".folded", "one line a stack, root first, and its value", .render = folded_render},
    {"flamegraph", ".svg", "a picture for the browser, with zoom and search; coloured by change with --base",
     .render = flamegraph_render},
    {"callgrind", ".callgrind", "for kcachegrind and callgrind_annotate", .render = callgrind_render},
    {"speedscope", ".speedscope.json", "for https://www.speedscope.app", .render = speedscope_render},
    {"dot", ".dot", "the call graph, for graphviz", .render = dot_render},
    {"csv", ".csv", "one line a sample: stack, labels, all values", .render = csv_render},
    {"json", ".json", "the whole profile, names spelled out", .render = json_render},
    {"dump", ".txt", "CLEAR's own text dump of a kind: alloc.txt, locks.txt, ...", .dump = dump_run},
    {"datasette-metadata", ".json", "what Datasette wants to know of the file: queries, columns",
     .about = datasette_metadata},
    {0},
};

const struct export_format *export_format_find(const char *name, struct error *err) {
    const struct export_format *format = export_formats;
    while (format->name && strcmp(format->name, name) != 0)
        format++;
    if (format->name) return format;
    struct buffer known = {0};
    for (format = export_formats; format->name; format++)
        buffer_printf(&known, "%s%s", known.size ? ", " : "", format->name);
    error_usage(err, "no format is called '%s': %s", name, buffer_text(&known));
    buffer_free(&known);
    return NULL;
}

int format_write(const struct export_format *format, const struct model *model, const char *title, struct buffer *out,
                 struct error *err) {
    const struct drawing drawing = {.model = model, .title = title, .out = out};
    return format->render(&drawing, err);
}
