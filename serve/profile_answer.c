#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "export/export.h"
#include "export/format.h"
#include "query/profile/load/series.h"
#include "query/runs/select.h"
#include "schema/kinds.h"
#include "schema/schema.h"
#include "serve/exchange.h"
#include "serve/job.h"

#define GRACE_NS     INT64_C(10000000000) /* how late the recorder of another process may flush */
#define GRACE_MAX_NS INT64_C(60000000000) /* the same for a recorder that flushes rarely */
#define DEAD_NS                                                                                                        \
    INT64_C(3600000000000) /* --interval is at most an hour: a recorder without a flush for so long is dead */

/* ---- the run ---- */

int run_state_read(const struct server *server, struct db *db, int64_t run_id, struct run_state *state,
                   struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("serve/run_state.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1)
        *state = (struct run_state){.run_id = run_id,
                                    .flushed_ns = sqlite3_column_int64(row, 0),
                                    .window_ns = sqlite3_column_int64(row, 2),
                                    .is_recording = sqlite3_column_int(row, 1),
                                    .is_ours = run_id == server->source.run_id};
    sqlite3_reset(row);
    if (code != 1) return code < 0 ? -1 : error_fail(err, "run %lld no longer exists", (long long)run_id);
    /* A recorder that was killed never flushes again. */
    if (state->is_ours)
        state->is_recording = !server->has_ended;
    else if (clock_realtime_ns() - state->flushed_ns > DEAD_NS)
        state->is_recording = false;
    return 0;
}

int profile_run(const struct exchange *exchange, struct db *db, int64_t *run_id, struct error *err) {
    const char *name = exchange->parameters.run;
    *run_id = exchange->server->source.run_id;
    return name || !*run_id ? select_run(db, name, run_id, err) : 0;
}

static int find_run(struct exchange *exchange, struct db *db, struct run_state *state, struct error *err) {
    int64_t run_id;
    if (profile_run(exchange, db, &run_id, err)) return -1;
    return run_state_read(exchange->server, db, run_id, state, err);
}

/* ---- the profile ---- */

static const char *kind_of(const struct exchange *exchange) {
    if (exchange->kind) return exchange->kind;
    return exchange->route->kind ? exchange->route->kind : exchange->path;
}

static const struct export_format *find_format(const struct parameters *parameters, struct error *err) {
    const char *name = parameters->format ? parameters->format : parameters->is_text ? "folded" : "pprof";
    const struct export_format *format = export_format_find(name, err);
    /* A request must not start another program. */
    if (format && (format->dump || format->about || format->report.is_drawn)) {
        error_usage(err, "the format %s cannot be served", name);
        return NULL;
    }
    return format;
}

/* The names of net/http/pprof; a browser saves a profile that is not text. */
static void describe(struct exchange *exchange, const struct export_format *format) {
    struct reply *reply = &exchange->reply;
    reply->status = MHD_HTTP_OK;
    reply->type = format->report.media ? format->report.media : "text/plain; charset=utf-8";
    if (format == export_formats)
        reply->filename = xasprintf("%s%s", exchange->route->path ? exchange->route->path : "profile",
                                    exchange->parameters.has_seconds && !exchange->route->seconds ? "-delta" : "");
    else if (format->report.write == flamegraph_write)
        reply->policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
}

/* The key of a request in the cache: a line for each thing that changes its profile, and what the database was when it was asked, for
 * another process may still be at work when it changes. Texts from a URL contain no line end. free() it. */
static char *key_of(const struct cache *cache, const struct export_request *request, const struct timespan *span) {
    const struct timespan_request *asked = &request->source.span;
    struct buffer key = {0};
    buffer_printf(&key, "%lld %lld\n%lld\n%s\n%s\n", (long long)cache->data_version, (long long)cache->changes,
                  (long long)request->source.runs.ids[0], request->source.kind, request->format->report.name);
    if (request->type) buffer_add_text(&key, request->type);
    if (span) buffer_printf(&key, "\nexactly %lld %lld", (long long)span->from_ns, (long long)span->to_ns);
    if (asked->from.text) buffer_printf(&key, "\nfrom %s", asked->from.text);
    if (asked->to.text) buffer_printf(&key, "\nto %s", asked->to.text);
    if (asked->window) buffer_printf(&key, "\nwindow %lld", (long long)asked->window);
    return buffer_take(&key);
}

/* Of the process that wrote it. */
static void finish_apart(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    reply->body = exchange->job->output;
    exchange->job->output = (struct buffer){0};
    reply->is_sized = true;
    describe(exchange, exchange->format);
    cache_keep(&exchange->server->cache, exchange->kept_as, &reply->body);
}

static int make(struct exchange *exchange, struct db *db, const struct export_request *request,
                const struct timespan *span, struct error *err) {
    struct cache *cache = &exchange->server->cache;
    if (request->series) return export_write(db, request, err); /* the answer is different each time */
    if (cache_check(cache, db, err)) return -1;
    char *key = key_of(cache, request, span);
    int code = 0;
    if (!cache_find(cache, key, request->bytes)) {
        if (apart_can(exchange->server, db, request)) {
            exchange->job = apart_job(exchange->server, db, request);
            exchange->kept_as = key;
            exchange->finish = finish_apart;
            exchange_wait(exchange);
            return 0;
        }
        code = export_write(db, request, err);
        if (code == 0) cache_keep(cache, key, request->bytes);
    }
    free(key);
    return code;
}

static int fill(struct exchange *exchange, struct db *db, const struct run_state *state, const struct timespan *span,
                struct profile_series *series, struct error *err) {
    int64_t run_id = state->run_id;
    const struct parameters *parameters = &exchange->parameters;
    struct export_request request = {
        .source = {.kind = kind_of(exchange), .span = parameters->span, .runs = {&run_id, 1}, .exact = span},
        .allows_none = true,
        .series = series,
        .type = parameters->type ? parameters->type : exchange->route->type,
        .format = exchange->format,
        .bytes = &exchange->reply.body};
    if (make(exchange, db, &request, span, err)) return -1;
    if (exchange->job) return 0;
    exchange->reply.is_sized = true;
    describe(exchange, exchange->format);
    return 0;
}

/* `span` NULL: the time of from=, to= and window=, else the whole run; an ingested profile is sent as it was. With a series, what
 * came since its mark. */
static void reply_span(struct exchange *exchange, struct db *db, const struct run_state *state,
                       const struct timespan *span, struct profile_series *series) {
    struct error err = {0};
    if (fill(exchange, db, state, span, series, &err)) exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
}

/* True if a run that is being recorded can still get the requested kind. */
static bool may_come(const struct exchange *exchange, const struct run_state *state) {
    const struct server_source *source = &exchange->server->source;
    if (!state->is_recording || !kind_find(kind_of(exchange))->name) return false;
    return !state->is_ours || source->records(source->context, kind_of(exchange));
}

/* What every Go program has, and a client of net/http/pprof therefore asks for: of a run that has nothing of it an empty profile that says
 * so. As text it is what Go writes. */
static void answer_none(struct exchange *exchange, struct db *db, int64_t run_id) {
    struct error err = {0};
    const char *type = exchange->route->none;
    bool is_goroutine = strcmp(type, "goroutine") == 0;
    const char *sql = is_goroutine ? "SELECT 0 AS \"goroutine/count\", 0 AS trace_id WHERE 0"
                                   : "SELECT 0 AS \"threadcreate/count\", 0 AS trace_id WHERE 0";
    char *comment = xasprintf("run %lld has no %s profile", (long long)run_id, type);
    struct export_request request = {
        .source = {.sql = sql, .comment = comment}, .format = exchange->format, .bytes = &exchange->reply.body};
    if (exchange->parameters.is_text)
        buffer_printf(&exchange->reply.body, "%s profile: total 0\n", type);
    else if (export_write(db, &request, &err))
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    free(comment);
    if (exchange->reply.status) return;
    exchange->reply.is_sized = true;
    describe(exchange, exchange->format);
}

/* A Go program's own profile, which was ingested, goes before what we record ourselves; true if the run has neither. */
static bool has_none(struct exchange *exchange, struct db *db, const struct run_state *state) {
    struct error ignored = {0};
    const struct route *route = exchange->route;
    if (!route->none) return false;
    if (export_check(db, state->run_id, route->none, &ignored) == 0) exchange->kind = route->none;
    return !may_come(exchange, state) && export_check(db, state->run_id, kind_of(exchange), &ignored) != 0;
}

/* Checks what can be checked before a profile is made and before a wait. */
static bool check(struct exchange *exchange, struct db *db, const struct run_state *state) {
    struct error err = {0};
    exchange->format = find_format(&exchange->parameters, &err);
    if (!exchange->format)
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    else if (!exchange->route->none && !may_come(exchange, state) &&
             export_check(db, state->run_id, kind_of(exchange), &err))
        exchange_error(exchange, MHD_HTTP_NOT_FOUND, "%s", err.message);
    return exchange->reply.status == 0;
}

/* ---- deltas ---- */

/* What the path has already sent of the run; empty at the first request. */
static struct profile_series *series_of(struct server *server, const struct route *route, int64_t run_id) {
    struct mark found = {.route = route, .run_id = run_id};
    size_t i = 0;
    while (i < server->mark_count && (server->marks[i].route != route || server->marks[i].run_id != run_id))
        i++;
    if (i < server->mark_count)
        found = server->marks[i];
    else
        found.series = profile_series_new();
    if (i == MARKS_MAX) { /* reuse the least recently used one */
        profile_series_free(server->marks[0].series);
        i = 0;
    }
    if (i < server->mark_count)
        memmove(server->marks + i, server->marks + i + 1, (--server->mark_count - i) * sizeof *server->marks);
    server->marks[server->mark_count++] = found;
    return found.series;
}

static void answer_delta(struct exchange *exchange, struct db *db, const struct run_state *state) {
    reply_span(exchange, db, state, NULL, series_of(exchange->server, exchange->route, state->run_id));
}

static void watch(struct exchange *exchange, struct db *db, const struct run_state *state, int64_t seconds_ns) {
    struct error err = {0};
    int64_t now_ns = clock_monotonic_ns(), real_ns = clock_realtime_ns(), age_ns = real_ns - state->flushed_ns;
    int64_t grace_ns = age_ns < 0 ? 0 : age_ns > GRACE_MAX_NS ? GRACE_MAX_NS : age_ns;
    exchange->wait = (struct wait){.run_id = state->run_id,
                                   .generation = exchange->server->generation,
                                   .series = profile_series_new(),
                                   .until_ns = real_ns + seconds_ns,
                                   .due_ns = now_ns + seconds_ns,
                                   .give_up_ns = now_ns + seconds_ns + GRACE_NS + grace_ns};
    if (profile_series_mark(exchange->wait.series, db, state->run_id, kind_of(exchange), &err))
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    else
        exchange_wait(exchange);
}

/* Of a run that has ended the last seconds; of a run that is being recorded the next ones. */
static void answer_seconds(struct exchange *exchange, struct db *db, const struct run_state *state,
                           int64_t seconds_ns) {
    if (state->is_recording) {
        watch(exchange, db, state, seconds_ns);
        return;
    }
    const struct timespan span = {.from_ns = state->window_ns - seconds_ns, .to_ns = state->window_ns};
    reply_span(exchange, db, state, &span, NULL);
}

static int read_run_state(struct exchange *exchange, struct db **db, struct run_state *state, int64_t now_ns,
                          struct error *err) {
    struct server *server = exchange->server;
    *db = warehouse_db(server, err);
    if (!*db) return -1;
    if (server->generation != exchange->wait.generation)
        return error_usage(err, "the file with this run was replaced by another one");
    if (now_ns >= exchange->wait.due_ns && !server->has_ended && warehouse_flush(server, exchange->wait.run_id, err))
        return -1;
    return run_state_read(server, *db, exchange->wait.run_id, state, err);
}

bool profile_answer_wait(struct exchange *exchange, int64_t now_ns) {
    const struct wait *wait = &exchange->wait;
    struct run_state state;
    struct db *db;
    struct error err = {0};
    if (read_run_state(exchange, &db, &state, now_ns, &err)) {
        exchange_failed(exchange, MHD_HTTP_NOT_FOUND, &err);
        return true;
    }
    bool is_due = state.is_ours ? now_ns >= wait->due_ns : state.flushed_ns >= wait->until_ns;
    if (state.is_recording && !is_due) {
        if (now_ns < wait->give_up_ns) return false;
        exchange_error(
            exchange, MHD_HTTP_SERVICE_UNAVAILABLE,
            "run %lld was not flushed for %lld seconds: its recorder was killed, or its --interval is longer",
            (long long)state.run_id, (long long)((clock_realtime_ns() - state.flushed_ns) / 1000000000));
        return true;
    }
    reply_span(exchange, db, &state, NULL, wait->series);
    return true;
}

/* ---- the paths ---- */

static void answer(struct exchange *exchange, struct db *db, const struct run_state *state) {
    const struct parameters *parameters = &exchange->parameters;
    const struct route *route = exchange->route;
    bool is_none = has_none(exchange, db, state);
    if (!check(exchange, db, state)) return;
    if (exchange->method == METHOD_HEAD) {
        exchange->reply.status = MHD_HTTP_OK;
        exchange->reply.type = "application/octet-stream";
    } else if (is_none) {
        answer_none(exchange, db, state->run_id);
    } else if (route->is_delta) {
        answer_delta(exchange, db, state);
    } else if (parameters->has_seconds) {
        answer_seconds(exchange, db, state, parameters->seconds_ns);
    } else if (route->seconds && state->is_recording && !timespan_is_wanted(&parameters->span)) {
        watch(exchange, db, state, route->seconds * INT64_C(1000000000));
    } else {
        reply_span(exchange, db, state, NULL, NULL);
    }
}

static bool needs_flush(const struct exchange *exchange, const struct run_state *state) {
    const struct parameters *parameters = &exchange->parameters;
    return state->is_recording && exchange->method != METHOD_HEAD &&
           (exchange->route->is_delta || exchange->route->seconds || parameters->has_seconds || state->window_ns == 0);
}

void profile_answer(struct exchange *exchange) {
    const struct parameters *parameters = &exchange->parameters;
    struct error err = {0};
    struct run_state state;
    if (exchange->route->is_delta && (parameters->has_seconds || timespan_is_wanted(&parameters->span))) {
        exchange_error(exchange, MHD_HTTP_BAD_REQUEST,
                       "%s shows what happened since its last request, so it takes no seconds=, from=, to= or window=",
                       exchange->route->path);
        return;
    }
    if (fetch_first(exchange, parameters->run)) return;
    struct db *db = warehouse_db(exchange->server, &err);
    if (!db) {
        exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "%s", err.message);
        return;
    }
    int code = find_run(exchange, db, &state, &err);
    if (code == 0 && needs_flush(exchange, &state)) {
        code = warehouse_flush(exchange->server, state.run_id, &err);
        if (code == 0) code = run_state_read(exchange->server, db, state.run_id, &state, &err);
    }
    if (code)
        exchange_failed(exchange, MHD_HTTP_NOT_FOUND, &err);
    else
        answer(exchange, db, &state);
}
