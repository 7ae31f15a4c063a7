#include "export/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "export/dumps.h"

#define ROW(name_, suffix_, help_, ...)                                                                                \
    { .name = name_, .suffix = suffix_, .help = help_, __VA_ARGS__ }
#define ENCODER(name, suffix, help, ...)                                                                               \
    { .report = ROW(name, suffix, help, __VA_ARGS__) }
#define PICTURE(name, media_, help)                                                                                    \
    ENCODER(name, "." name, help, .media = media_, .write = picture_write, .is_visual = true, .is_binary = true,       \
            .is_drawn = true)

/* Of several with one suffix, the first is what a file of that name gets. */
const struct export_format export_formats[] = {
    ENCODER("pprof", ".pb.gz", "the profile as it is stored: profile.proto, gzipped (default)",
            .media = "application/octet-stream", .is_binary = true),
    ENCODER("proto", ".pb.gz", "the profile as pprof -proto writes it: filtered, gzipped",
            .media = "application/octet-stream", .write = proto_write, .is_whole = true, .is_raw = true,
            .is_binary = true),
    ENCODER("topproto", ".pb.gz", "the list of top as a profile", .media = "application/octet-stream",
            .write = topproto_write, .nodes = REPORT_NODES_ALL, .is_binary = true),
    ENCODER("folded", ".folded", "one line a stack, root first, and its value: for flame graph tools",
            .write = folded_write, .is_whole = true, .keeps_places = true, .has_sides = true, .has_values_only = true),
    ENCODER("flamegraph", ".svg",
            "a picture for the browser, with zoom, search and all sample types; coloured by change with a base",
            .media = "image/svg+xml", .write = flamegraph_write, .is_whole = true, .is_binary = true,
            .keeps_places = true, .has_sides = true),
    ENCODER("speedscope", ".speedscope.json", "for https://www.speedscope.app, every sample type",
            .media = "application/json", .write = speedscope_write, .spread = REPORT_SPREADS_NUMBERS, .is_whole = true,
            .is_binary = true, .keeps_places = true, .has_sides = true),
    ENCODER("callgrind", ".callgrind", "for kcachegrind; with all_types, for callgrind_annotate as well",
            .write = callgrind_write, .is_whole = true, .is_raw = true, .object_names = true, .has_whole_units = true,
            .has_events = true),
    ENCODER("dot", ".dot", "the call graph for graphviz", .write = dot_write, .is_visual = true),
    PICTURE("svg", "image/svg+xml", "the call graph as a picture, drawn by graphviz; png, pdf, ps, gif likewise"),
    PICTURE("png", "image/png", "the call graph as a picture"),
    PICTURE("pdf", "application/pdf", "the call graph as a document"),
    PICTURE("ps", "application/postscript", "the call graph as PostScript"),
    PICTURE("gif", "image/gif", "the call graph as a picture"),
    ENCODER("json", ".json", "the call graph for programs, every number exact", .media = "application/json",
            .write = json_write, .nodes = REPORT_NODES_ALL, .table = REPORT_TABLE_JSON),
    ENCODER("samples", ".samples.json", "every sample with all its values and labels, as JSON",
            .media = "application/json", .write = samples_write, .spread = REPORT_SPREADS_NUMBERS, .is_whole = true,
            .keeps_places = true, .has_sides = true),
    ENCODER("csv", ".csv", "every sample with all its values and labels, one line each",
            .media = "text/csv; charset=utf-8", .write = csv_write, .spread = REPORT_SPREADS_NAMES, .is_whole = true,
            .keeps_places = true, .has_sides = true),
    ENCODER("packed", ".packed", "the call tree as bytes, from which clear serve cuts flame graphs",
            .media = "application/octet-stream", .write = pack_write, .is_whole = true, .is_binary = true,
            .keeps_places = true, .has_sides = true, .has_values_only = true),
    {.report = ROW("otlp", ".otlp", "the profiles as they are stored, for OpenTelemetry (OTLP): all kinds of a run",
                   .media = "application/x-protobuf", .is_binary = true),
     .stored = otlp_write},
    {.report = ROW("dump", ".txt", "CLEAR's own text dump of a kind: alloc.txt, locks.txt, ..."), .dump = dump_run},
    {.report = ROW("datasette-metadata", ".json", "metadata for Datasette: saved queries, descriptions of columns"),
     .about = datasette_metadata},
    {.report = ROW("memory", ".svg", "a picture of live bytes over time, with the sites at the peak"),
     .dump = memory_write,
     .kind = "heap"},
    {.report = ROW("chrome", ".trace.json", "the waits of clear profile --trace, for https://ui.perfetto.dev"),
     .dump = chrome_write,
     .kind = "lock"},
    {.report =
         ROW("perfetto", ".perfetto-trace", "the same as Google's trace processor reads it, with counters and stacks"),
     .dump = perfetto_write,
     .kind = "lock"},
    {.report = ROW("firefox", ".firefox.json",
                   "the same for https://profiler.firefox.com: events as markers with their stacks"),
     .dump = firefox_write,
     .kind = "lock"},
    {.report = {.name = NULL}},
};

const struct export_format *export_format_find(const char *name, struct error *err) {
    const struct export_format *format = export_formats;
    while (format->report.name && strcmp(format->report.name, name) != 0)
        format++;
    if (format->report.name) return format;
    struct buffer known = {0};
    for (format = export_formats; format->report.name; format++)
        buffer_printf(&known, "%s%s", known.size ? ", " : "", format->report.name);
    error_usage(err, "no format is called '%s': %s", name, buffer_text(&known));
    buffer_free(&known);
    return NULL;
}

/* ---- reports ---- */

const struct report_format *report_format_at(size_t index) {
    for (const struct report_format *format = report_formats; format->name; format++)
        if (index-- == 0) return format;
    for (const struct export_format *format = export_formats; format->report.name; format++)
        if (format->report.write && index-- == 0) return &format->report;
    return NULL;
}

const struct report_format *report_format_named(const char *name) {
    const struct report_format *format;
    for (size_t i = 0; (format = report_format_at(i)) && strcmp(format->name, name) != 0;)
        i++;
    return format;
}

static const struct report_format *no_such_report(const char *name, struct error *err) {
    struct buffer known = {0};
    struct nearest nearest = {.word = name};
    const struct report_format *format;
    for (size_t i = 0; (format = report_format_at(i)); i++) {
        buffer_printf(&known, "%s%s%s", i ? ", " : "", format->name, format->takes_pattern ? "=RE" : "");
        nearest_offer(&nearest, format->name);
    }
    if (*nearest.found)
        error_usage(err, "no report is called '%s'; did you mean %s?", name, nearest.found);
    else
        error_usage(err, "no report is called '%s'; there are %s", name, buffer_text(&known));
    buffer_free(&known);
    return NULL;
}

const struct report_format *report_format_find(const char *text, const char **symbol, struct error *err) {
    size_t size = strcspn(text, "=");
    char *name = xstrdup(text);
    name[size] = '\0';
    *symbol = text[size] && text[size + 1] ? text + size + 1 : NULL;
    const struct report_format *format = report_format_named(name);
    if (!format)
        format = no_such_report(name, err);
    else if (format->takes_pattern && !*symbol)
        error_usage(err, "%s needs a pattern, as in %s=main", name, name);
    else if (!format->takes_pattern && text[size])
        error_usage(err, "%s takes no value", name);
    free(name);
    return err->status == ERROR_NONE ? format : NULL;
}
