/* resource_objects.c: /api/objects, /api/windows, /api/live and /api/timeline: locks and so on, the windows of a run, its events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "query/runs/timespan.h"
#include "schema/kinds.h"
#include "schema/schema.h"
#include "serve/api/resource.h"

static const struct {
    const char *of, *kind, *file;
} objects_of[] = {
    {"lock", "lock", "api/resource_objects/lock_objects"},      {"wait", "wait", "api/resource_objects/lock_objects"},
    {"channels", NULL, "api/resource_objects/channel_objects"}, {"mvcc", NULL, "api/resource_objects/cell_objects"},
    {"fibers", NULL, "api/resource_objects/fiber_sites"},
};

static void take_edge(struct timespan_edge *edge, const char *text) {
    struct error not_that = {0};
    edge->text = text;
    edge->is_moment = text && number_duration("", text, 0, INT64_MAX, &edge->offset_ns, &not_that) != 0;
}

/* from=, to= and window= of this request. */
static int read_span(const struct exchange *exchange, struct timespan_request *span, struct error *err) {
    *span = (struct timespan_request){0};
    take_edge(&span->from, api_value(exchange, "from"));
    take_edge(&span->to, api_value(exchange, "to"));
    return api_number(exchange, "window", INT32_MIN, INT32_MAX, 0, &span->window, err);
}

/* spans=[[run, from, to], ...] */
static int add_spans(struct exchange *exchange, const char *kind, struct error *err) {
    struct db *db = warehouse_db(exchange->server, err);
    struct timespan_request asked;
    struct buffer json = {0};
    const struct run_set *runs = db ? api_run_set(exchange, err) : NULL;
    int code = runs ? read_span(exchange, &asked, err) : -1;
    for (size_t i = 0; code == 0 && i < runs->count; i++) {
        struct timespan span;
        code = timespan_find(db, runs->ids[i], kind, &asked, &span, err);
        buffer_printf(&json, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 "]", i ? "," : "", runs->ids[i], span.from_ns,
                      span.to_ns);
    }
    if (code == 0) job_words_add(&exchange->job->words, "spans=[%s]", buffer_text(&json));
    buffer_free(&json);
    return code;
}

static const struct api_parameter objects_parameters[] = {{"of", API_OWN, NULL}, {0}};

static int make_objects(struct exchange *exchange, struct error *err) {
    const char *of = api_value(exchange, "of");
    size_t i = 0, count = sizeof objects_of / sizeof *objects_of;
    while (i < count && (!of || strcmp(objects_of[i].of, of) != 0))
        i++;
    if (i == count) return error_usage(err, "of=%.40s: it is one of: lock wait channels mvcc fibers", of ? of : "");
    const char *sql = embedded_text(objects_of[i].file);
    if (api_query(exchange, "json", sql, strlen(sql), err) || add_spans(exchange, objects_of[i].of, err)) return -1;
    if (objects_of[i].kind) job_words_add(&exchange->job->words, "kind=%s", objects_of[i].kind);
    return 0;
}

const struct resource resource_objects = {
    {api_runs, api_selection, api_filters, objects_parameters}, make_objects, NULL};

static int make_windows(struct exchange *exchange, struct error *err) {
    const char *sql = embedded_text("api/resource_objects/windows");
    char *kind = api_kind(exchange, err);
    int64_t run = kind ? api_one_run(exchange, "windows are those", err) : -1;
    int code = run >= 0 ? api_query(exchange, "json", sql, strlen(sql), err) : -1;
    if (code == 0) {
        job_words_add(&exchange->job->words, "run=%" PRId64, run);
        job_words_add(&exchange->job->words, "kind=%s", kind_stored(kind));
    }
    free(kind);
    return code;
}

const struct resource resource_windows = {{api_runs, api_selection, api_filters}, make_windows, NULL};

static int make_live(struct exchange *exchange, struct error *err) {
    int64_t run = api_one_run(exchange, "live events are those", err);
    if (run < 0 || live_begin(exchange, run, err)) return -1;
    exchange_stream(exchange, "text/event-stream");
    return 0;
}

const struct resource resource_live = {{api_runs, api_selection, api_filters}, make_live, NULL};

static const struct api_parameter timeline_parameters[] = {{"of", API_OWN, NULL},    {"start", API_OWN, NULL},
                                                           {"end", API_OWN, NULL},   {"longest", API_OWN, NULL},
                                                           {"limit", API_OWN, NULL}, {0}};

enum { TIMELINE_EVENTS = 5000, TIMELINE_EVENTS_MAX = 100000 };

static int add_timeline(struct exchange *exchange, struct error *err) {
    int64_t start, end, longest, limit;
    if (api_number(exchange, "start", 0, INT64_MAX, 0, &start, err) ||
        api_number(exchange, "end", 0, INT64_MAX, INT64_MAX, &end, err) ||
        api_number(exchange, "longest", 0, INT64_MAX, INT64_MAX, &longest, err) ||
        api_number(exchange, "limit", 1, TIMELINE_EVENTS_MAX, TIMELINE_EVENTS, &limit, err))
        return -1;
    job_words_add(&exchange->job->words, "start=%" PRId64, start);
    job_words_add(&exchange->job->words, "end=%" PRId64, end);
    job_words_add(&exchange->job->words, "longest=%" PRId64, longest);
    job_words_add(&exchange->job->words, "limit=%" PRId64, limit);
    return 0;
}

static int make_timeline(struct exchange *exchange, struct error *err) {
    const char *of = api_value(exchange, "of");
    bool is_threads = of && strcmp(of, "threads") == 0;
    if (of && !is_threads && strcmp(of, "events") != 0)
        return error_usage(err, "of=%.40s: it is one of: events threads", of);
    const char *sql =
        embedded_text(is_threads ? "api/resource_objects/timeline_threads" : "api/resource_objects/timeline_events");
    int64_t run = api_one_run(exchange, "a timeline is that", err);
    if (run < 0 || api_query(exchange, "json", sql, strlen(sql), err)) return -1;
    job_words_add(&exchange->job->words, "run=%" PRId64, run);
    return is_threads ? 0 : add_timeline(exchange, err);
}

const struct resource resource_timeline = {{api_runs, timeline_parameters}, make_timeline, NULL};
