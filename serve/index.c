#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "schema/kinds.h"
#include "schema/schema.h"
#include "serve/exchange.h"

enum { RUNS_SHOWN = 100, COMMAND_SHOWN = 120 };
enum { ID, STARTED, DURATION, LABEL, COMMAND, RECORDING, KINDS };

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>clear</title>\n"
                           "<style>body{font:14px/1.5 sans-serif;margin:2em}table{border-collapse:collapse}"
                           "td,th{padding:.2em .8em;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}"
                           "td.n{text-align:right}code{font-size:13px}</style></head><body>\n";

/* The first `size` bytes of a text, escaped; a character that begins in them is kept whole. */
static void add_start(struct buffer *out, const char *text, size_t size) {
    for (size_t at = 0, step; at < size && (step = escape_xml_character(out, text + at)); at += step)
        continue;
}

static bool has_word(const char *list, const char *word) {
    size_t size = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += size)
        if ((at == list || at[-1] == ',') && (at[size] == ',' || !at[size])) return true;
    return false;
}

/* True if a run with profiles of these kinds has data for a path. */
static bool is_had(const char *list, const struct route *route) {
    const struct kind *kind = kind_find(route->kind);
    if (!kind->parts[0]) return has_word(list, route->kind);
    return has_word(list, kind->parts[0]) || (kind->parts[1] && has_word(list, kind->parts[1]));
}

static void add_kinds(struct buffer *out, int64_t run_id, const char *list) {
    for (const struct route *route = routes; route->path; route++)
        if (route->kind && !route->is_delta && is_had(list, route))
            buffer_printf(out, "<a href=\"%s?run=%lld\">%s</a> ", route->path, (long long)run_id, route->path);
    /* An ingested profile may be of any kind. */
    for (const char *at = list; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ",")) {
        char *kind = xasprintf("%.*s", (int)strcspn(at, ","), at);
        bool is_plain =
            strspn(kind, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(kind);
        if (is_plain && !kind_find(kind)->name && !kind_is_table(kind) && strcmp(kind, "goroutine") != 0)
            buffer_printf(out, "<a href=\"%s?run=%lld\">%s</a> ", kind, (long long)run_id, kind);
        free(kind);
    }
    if (has_word(list, "heap") || has_word(list, "cpu")) {
        const char *path = has_word(list, "cpu") ? "profile" : "heap";
        buffer_printf(out, "&middot; <a href=\"%s?run=%lld&amp;from=0&amp;format=flamegraph\">%s as a flame graph</a>",
                      path, (long long)run_id, path);
    }
}

static void add_run(struct buffer *out, sqlite3_stmt *row) {
    int64_t run_id = sqlite3_column_int64(row, ID);
    buffer_printf(out, "<tr><td class=n>%lld</td><td>%s</td><td class=n>%s%s</td><td>", (long long)run_id,
                  units_time(sqlite3_column_int64(row, STARTED)).text,
                  units_ns(sqlite3_column_int64(row, DURATION)).text,
                  sqlite3_column_int(row, RECORDING) ? ", unfinished" : "");
    add_start(out, db_text(row, LABEL), COMMAND_SHOWN);
    buffer_add_text(out, "</td><td><code>");
    add_start(out, db_text(row, COMMAND), COMMAND_SHOWN);
    buffer_add_text(out, "</code></td><td>");
    add_kinds(out, run_id, db_text(row, KINDS));
    buffer_add_text(out, "</td></tr>\n");
}

static void add_runs_title(struct buffer *out, const struct server_source *source) {
    buffer_add_text(out, "<h2>Runs</h2>\n<p>");
    if (source->store)
        buffer_add_text(out, "Of those that were fetched, the");
    else
        buffer_add_text(out, "The");
    buffer_printf(out, " newest %d; <code>?run=</code> takes any run of <code>clear runs</code>", RUNS_SHOWN);
    if (source->store) {
        buffer_add_text(out, ", and fetches it. The <a href=\"/?page=runs\">page of runs</a> lists those of ");
        add_start(out, source->name, COMMAND_SHOWN);
    }
    buffer_add_text(out, ".</p>\n");
}

static int add_runs(struct buffer *out, struct db *db, const struct server_source *source, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/index.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":limit", RUNS_SHOWN);
    add_runs_title(out, source);
    buffer_add_text(out, "<table><tr><th>run<th>started<th>duration<th>label<th>command<th>profiles</tr>\n");
    int code;
    while ((code = db_step(db, row, err)) == 1)
        add_run(out, row);
    buffer_add_text(out, "</table>\n");
    return code;
}

static void add_paths(struct buffer *out, const struct server *server) {
    buffer_printf(out,
                  "<p><a href=\"/\">The application</a>: flame graphs, tables, findings, "
                  "SQL.</p>\n<h1>%s</h1>\n<p>Without <code>?run=</code>: %s.</p>\n<table>\n",
                  ROUTES_PREFIX, server->source.run_id ? "the run that is being recorded" : "the latest run");
    for (const struct route *route = routes; route->path; route++)
        if (route->help)
            buffer_printf(out, "<tr><td><a href=\"%s\">%s</a><td>%s</tr>\n", route->path, route->path, route->help);
    buffer_add_text(
        out,
        "</table>\n<p><code>?seconds=N</code>: the next N seconds; <code>?from=10s&amp;to=20s</code>: that part of the "
        "run; <code>?debug=1</code>: as text; <code>?format=</code>: flamegraph, callgrind, speedscope, dot, samples, "
        "csv, "
        "json.</p>\n");
    buffer_printf(out, "<p><code>go tool pprof %sheap</code></p>\n", server->url);
    const struct server_control *control = &server->source.control;
    if (control->is_on)
        buffer_printf(out,
                      "<p>Recording is %s. To switch it, <code>POST</code> to <code>%stoggle</code> with the token in "
                      "<code>Authorization: Bearer</code>; <code>state=on</code> and <code>state=off</code> set it."
                      "</p>\n",
                      control->is_on(control->context) ? "on" : "off", ROUTES_PREFIX);
    if (control->store_events)
        buffer_printf(
            out,
            "<p>Events are kept. To store those that there are, <code>POST</code> to <code>%sdump</code> in the "
            "same way.</p>\n",
            ROUTES_PREFIX);
}

void index_answer(struct exchange *exchange) {
    struct error err = {0};
    struct buffer page = {0};
    struct db *db = warehouse_db(exchange->server, &err);
    buffer_add_text(&page, head);
    add_paths(&page, exchange->server);
    if (!db || add_runs(&page, db, &exchange->server->source, &err)) {
        buffer_free(&page);
        exchange_failed(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, &err);
        return;
    }
    buffer_add_text(&page, "</body></html>\n");
    exchange->reply = (struct reply){.status = MHD_HTTP_OK,
                                     .type = "text/html; charset=utf-8",
                                     .policy = "default-src 'none'; style-src 'unsafe-inline'",
                                     .is_sized = true,
                                     .body = page};
}
