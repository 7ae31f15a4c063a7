/* resource_export.c: /api/export: a file of what is selected. */
#include <stdlib.h>
#include <string.h>

#include "export/format.h"
#include "serve/api/resource.h"

/* A name of a file of what is selected. A kind may be any text of a stranger's file. */
static char *file_name(const char *kind, const char *suffix) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    char *name = xasprintf("%.60s%s", kind, suffix ? suffix : "");
    for (char *c = name; *c; c++)
        if (*c != '.' && !strchr(plain, *c)) *c = '_';
    return name;
}

/* What of a flame graph is shown: root is the id of a node, as of /api/tree. */
static const struct api_parameter export_parameters[] = {
    {"format", API_OWN, NULL},      {"root", API_OPTION, "root"}, {"inverted", API_SWITCH, "inverted"},
    {"pivot", API_OPTION, "pivot"}, {"fold", API_SWITCH, "fold"}, {0}};

static int make_export(struct exchange *exchange, struct error *err) {
    const char *name = api_value(exchange, "format");
    const struct export_format *format = export_format_find(name ? name : "pprof", err);
    if (!format || api_command(exchange, "export", err)) return -1;
    char *kind = api_kind(exchange, err);
    if (!kind) return -1;
    const char *media = format->report.media;
    exchange->type = media ? media : "text/plain; charset=utf-8";
    exchange->filename = file_name(kind, format->report.suffix);
    exchange->job->output_max = (size_t)512 << 20;
    job_words_add(&exchange->job->words, "--format=%s", format->report.name);
    if (!api_value(exchange, "kind")) job_words_add(&exchange->job->words, "--kind=%s", kind);
    job_words_add(&exchange->job->words, "--output=-");
    free(kind);
    return api_add_selection(exchange, err);
}

const struct resource resource_export = {{api_runs, api_selection, api_filters, export_parameters}, make_export, NULL};
