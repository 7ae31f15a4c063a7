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

/* from=, to= and window= of this request. */
static int read_span(const struct exchange *exchange, struct timespan_request *span, struct error *err) {
    const char *from = api_value(exchange, "from"), *to = api_value(exchange, "to"),
               *window = api_value(exchange, "window");
    *span = (struct timespan_request){0};
    if (from && timespan_read_edge(&span->from, "from", from, err)) return -1;
    if (to && timespan_read_edge(&span->to, "to", to, err)) return -1;
    return window ? timespan_read_window(&span->window, "window", window, err) : 0;
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

static const struct api_parameter timeline_parameters[] = {
    {"of", API_OWN, NULL},      {"start", API_OWN, NULL}, {"end", API_OWN, NULL},   {"longest", API_OWN, NULL},
    {"process", API_OWN, NULL}, {"tid", API_OWN, NULL},   {"limit", API_OWN, NULL}, {0}};

enum { TIMELINE_EVENTS = 5000, TIMELINE_EVENTS_MAX = 100000 };

/* What a timeline is asked of: the statement that answers, and the numbers that it is bound to. */
static const struct timeline_part {
    const char *name, *statement, *numbers[5];
} timeline_parts[] = {
    {"events", "api/resource_objects/timeline_events", {"start", "end", "longest", "limit"}},
    {"threads", "api/resource_objects/timeline_threads", {0}},
    {"running", "api/resource_objects/timeline_running", {"start", "end", "limit"}},
    {"stacks", "api/resource_objects/timeline_stacks", {"start", "end", "process", "tid", "limit"}},
};
enum { TIMELINE_PARTS = sizeof timeline_parts / sizeof *timeline_parts, TIMELINE_NUMBERS = 5 };

static const struct timeline_part *timeline_part(const char *name, struct error *err) {
    for (size_t i = 0; i < TIMELINE_PARTS; i++)
        if (strcmp(name ? name : "events", timeline_parts[i].name) == 0) return &timeline_parts[i];
    error_usage(err, "of=%.40s: it is one of: events threads running stacks", name);
    return NULL;
}

static int add_number(struct exchange *exchange, const char *name, struct error *err) {
    bool is_limit = strcmp(name, "limit") == 0, is_first = strcmp(name, "start") == 0;
    int64_t number, preset = is_limit ? TIMELINE_EVENTS : is_first ? 0 : INT64_MAX;
    if (api_number(exchange, name, is_limit, is_limit ? TIMELINE_EVENTS_MAX : INT64_MAX, preset, &number, err))
        return -1;
    job_words_add(&exchange->job->words, "%s=%" PRId64, name, number);
    return 0;
}

static int make_timeline(struct exchange *exchange, struct error *err) {
    const struct timeline_part *part = timeline_part(api_value(exchange, "of"), err);
    if (!part) return -1;
    const char *sql = embedded_text(part->statement);
    int64_t run = api_one_run(exchange, "a timeline is that", err);
    if (run < 0 || api_query(exchange, "json", sql, strlen(sql), err)) return -1;
    job_words_add(&exchange->job->words, "run=%" PRId64, run);
    for (int i = 0; i < TIMELINE_NUMBERS && part->numbers[i]; i++)
        if (add_number(exchange, part->numbers[i], err)) return -1;
    return 0;
}

const struct resource resource_timeline = {{api_runs, timeline_parameters}, make_timeline, NULL};
