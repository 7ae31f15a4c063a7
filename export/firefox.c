/* firefox.c: the events of a run as a processed profile of the Firefox Profiler, which https://profiler.firefox.com opens (preprocessedProfileVersion
 * 48). A thread is a thread there; each event is a marker of it, with the place and the stack as its cause, so that waits show in the marker
 * chart; CPU samples are its samples. Times are ms since the start of the run, with six digits for ns. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/file.h"
#include "export/format.h"
#include "export/timeline.h"
#include "schema/schema.h"

enum { FLUSH_BYTES = 1 << 16, VERSION = 48, GECKO_VERSION = 24, CATEGORY_OTHER = 0, CATEGORY_WAIT = 1 };

/* The tables of one thread: each has texts, frames and stacks of its own. */
struct firefox_thread {
    struct map texts, functions, frames, stacks; /* {text}; {name, file}; {function, line}; {prefix, frame} -> index */
    struct map traces;                           /* trace id -> index of its stack; -1: none */
};

struct firefox {
    struct file file;
    struct timeline timeline;
    struct buffer out;
    struct firefox_thread tables;
};

static int flush(struct firefox *firefox, struct error *err) {
    int code = file_write(&firefox->file, firefox->out.data, firefox->out.size, err);
    firefox->out.size = 0;
    return code;
}

/* ---- the tables of a thread ---- */

static int64_t index_of(struct map *map, const void *key, size_t size) {
    bool is_new;
    struct map_entry *entry = map_put(map, key, size, &is_new);
    if (is_new) entry->value = (int64_t)map->count - 1;
    return entry->value;
}

static int64_t text_index(struct firefox *firefox, const char *text) {
    return index_of(&firefox->tables.texts, text, strlen(text));
}

static int64_t frame_index(struct firefox *firefox, sqlite3_stmt *row) {
    enum { FUNCTION, SOURCE, LINE };
    struct firefox_thread *tables = &firefox->tables;
    const int64_t function[] = {text_index(firefox, db_text(row, FUNCTION)),
                                *db_text(row, SOURCE) ? text_index(firefox, db_text(row, SOURCE)) : -1};
    const int64_t frame[] = {index_of(&tables->functions, function, sizeof function), sqlite3_column_int64(row, LINE)};
    return index_of(&tables->frames, frame, sizeof frame);
}

/* A stack is a frame and the stack of its callers; -1 for none, below that an error. */
static int64_t load_stack(struct firefox *firefox, int64_t trace_id, struct error *err) {
    struct db *db = firefox->timeline.db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/trace_frames.sql"), err);
    int64_t *frames = NULL, stack = -1;
    size_t count = 0;
    int code;
    if (!row) return -2;
    db_bind_int(row, ":trace", trace_id);
    while ((code = db_step(db, row, err)) == 1) {
        frames = xrealloc(frames, (count + 1) * sizeof *frames);
        frames[count++] = frame_index(firefox, row);
    }
    while (count) {
        const int64_t key[] = {stack, frames[--count]};
        stack = index_of(&firefox->tables.stacks, key, sizeof key);
    }
    free(frames);
    return code < 0 ? -2 : stack;
}

static int64_t stack_index(struct firefox *firefox, int64_t trace_id, struct error *err) {
    bool is_new;
    if (!trace_id) return -1;
    struct map_entry *entry = map_put(&firefox->tables.traces, &trace_id, sizeof trace_id, &is_new);
    if (is_new) entry->value = load_stack(firefox, trace_id, err);
    return entry->value;
}

static void free_tables(struct firefox_thread *tables) {
    map_free(&tables->texts);
    map_free(&tables->functions);
    map_free(&tables->frames);
    map_free(&tables->stacks);
    map_free(&tables->traces);
    *tables = (struct firefox_thread){0};
}

/* ---- columns ---- */

static void add_index(struct buffer *out, int64_t index) {
    if (index < 0)
        buffer_add_text(out, "null");
    else
        buffer_printf(out, "%" PRId64, index);
}

/* A column of a table: the part at `place` of each key of the map; -1 is null. */
static void add_column(struct buffer *out, const char *name, const struct map *map, size_t place) {
    buffer_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < map->count; i++) {
        int64_t part;
        memcpy(&part, (const char *)map->entries[i].key + place * sizeof part, sizeof part);
        if (i) buffer_add_char(out, ',');
        add_index(out, part);
    }
    buffer_add_char(out, ']');
}

/* A column in which every row has the same. */
static void add_constant(struct buffer *out, const char *name, const char *value, size_t count) {
    buffer_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "%s%s", i ? "," : "", value);
    buffer_add_char(out, ']');
}

static void add_tables(struct firefox *firefox) {
    struct firefox_thread *tables = &firefox->tables;
    struct buffer *out = &firefox->out;
    size_t stacks = tables->stacks.count, frames = tables->frames.count, functions = tables->functions.count;
    buffer_printf(out, ",\"stackTable\":{\"length\":%zu", stacks);
    add_column(out, "prefix", &tables->stacks, 0);
    add_column(out, "frame", &tables->stacks, 1);
    add_constant(out, "category", "0", stacks);
    add_constant(out, "subcategory", "0", stacks);
    buffer_printf(out, "},\"frameTable\":{\"length\":%zu", frames);
    add_column(out, "func", &tables->frames, 0);
    add_column(out, "line", &tables->frames, 1);
    add_constant(out, "address", "-1", frames);
    add_constant(out, "inlineDepth", "0", frames);
    static const char *const unknown[] = {"category",       "subcategory", "nativeSymbol", "innerWindowID",
                                          "implementation", "column",      "optimizations"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        add_constant(out, unknown[i], "null", frames);
    buffer_printf(out, "},\"funcTable\":{\"length\":%zu", functions);
    add_column(out, "name", &tables->functions, 0);
    add_column(out, "fileName", &tables->functions, 1);
    add_constant(out, "isJS", "false", functions);
    add_constant(out, "relevantForJS", "false", functions);
    add_constant(out, "resource", "-1", functions);
    add_constant(out, "lineNumber", "null", functions);
    add_constant(out, "columnNumber", "null", functions);
    buffer_add_text(out, "},\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},"
                         "\"nativeSymbols\":{\"length\":0,"
                         "\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},\"stringArray\":[");
    for (size_t i = 0; i < tables->texts.count; i++) {
        if (i) buffer_add_char(out, ',');
        buffer_add_json_string(out, tables->texts.entries[i].key, tables->texts.entries[i].size);
    }
    buffer_add_char(out, ']');
}

static void add_ms(struct buffer *out, int64_t ns) {
    buffer_printf(out, "%" PRId64 ".%06d", ns / 1000000, (int)(ns % 1000000));
}

/* ---- threads ---- */

struct events_of {
    const struct timeline_event *events;
    size_t count;
};

static bool is_sample(const struct firefox *firefox, const struct timeline_event *event) {
    return timeline_class(&firefox->timeline, event) == TIMELINE_SAMPLE;
}

static int add_samples(struct firefox *firefox, const struct events_of *of, struct error *err) {
    struct buffer *out = &firefox->out, times = {0};
    size_t count = 0;
    buffer_add_text(out, ",\"samples\":{\"weightType\":\"samples\",\"weight\":null,\"stack\":[");
    for (size_t i = 0; i < of->count; i++) {
        if (!is_sample(firefox, &of->events[i])) continue;
        int64_t stack = stack_index(firefox, of->events[i].trace_id, err);
        if (count) buffer_add_char(out, ','), buffer_add_char(&times, ',');
        if (stack < -1) break;
        add_index(out, stack);
        add_ms(&times, of->events[i].start_ns);
        count++;
    }
    buffer_printf(out, "],\"time\":[%s],\"length\":%zu}", buffer_text(&times), count);
    buffer_free(&times);
    return err->status == ERROR_NONE ? 0 : -1;
}

static int add_marker_data(struct firefox *firefox, const struct timeline_event *event, struct error *err) {
    const struct timeline *timeline = &firefox->timeline;
    struct buffer *out = &firefox->out;
    int64_t stack = stack_index(firefox, event->trace_id, err);
    if (stack < -1) return -1;
    buffer_add_text(out, "{\"type\":\"event\",");
    buffer_add_json_field(out, "kind", timeline->kinds[event->kind].name);
    if (event->owner != TIMELINE_NONE) {
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "owner", timeline->threads[event->owner].name);
    }
    if (timeline_class(timeline, event) == TIMELINE_WAIT && event->release != TIMELINE_NONE) {
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "releasedBy", timeline->threads[timeline->events[event->release].thread].name);
    }
    if (stack >= 0) {
        buffer_add_text(out, ",\"cause\":{\"time\":");
        add_ms(out, event->start_ns);
        buffer_printf(out, ",\"stack\":%" PRId64 "}", stack);
    }
    buffer_add_char(out, '}');
    return 0;
}

/* A table of markers is columns, so each is one pass over the events. */
static int add_markers(struct firefox *firefox, const struct events_of *of, struct error *err) {
    static const char *const columns[] = {"name", "startTime", "endTime", "phase", "category", "data"};
    enum { NAME, START, END, PHASE, CATEGORY, DATA, COLUMNS };
    struct buffer *out = &firefox->out;
    size_t count = 0;
    buffer_add_text(out, ",\"markers\":{");
    for (int column = 0; column < COLUMNS; column++) {
        buffer_printf(out, "%s\"%s\":[", column ? "]," : "", columns[column]);
        count = 0;
        for (size_t i = 0; i < of->count; i++) {
            const struct timeline_event *event = &of->events[i];
            if (is_sample(firefox, event)) continue;
            if (count++) buffer_add_char(out, ',');
            if (column == NAME) {
                char *name = timeline_name(&firefox->timeline, event, err);
                if (!name) return -1;
                add_index(out, text_index(firefox, name));
                free(name);
            } else if (column == START)
                add_ms(out, event->start_ns);
            else if (column == END)
                event->duration_ns ? add_ms(out, timeline_end(event)) : buffer_add_text(out, "null");
            else if (column == PHASE) /* 0: a moment, 1: a span */
                buffer_add_char(out, event->duration_ns ? '1' : '0');
            else if (column == CATEGORY)
                add_index(out,
                          timeline_class(&firefox->timeline, event) == TIMELINE_WAIT ? CATEGORY_WAIT : CATEGORY_OTHER);
            else if (add_marker_data(firefox, event, err))
                return -1;
            if (out->size >= FLUSH_BYTES && flush(firefox, err)) return -1;
        }
    }
    buffer_printf(out, "],\"length\":%zu}", count);
    return 0;
}

static int add_thread(struct firefox *firefox, uint32_t index, const struct events_of *of, struct error *err) {
    const struct timeline_thread *thread = &firefox->timeline.threads[index];
    const struct timeline_process *process = &firefox->timeline.processes[thread->process];
    struct buffer *out = &firefox->out;
    bool is_main = thread->tid == process->pid;
    buffer_printf(
        out,
        "%s\n{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
        "\"unregisterTime\":null,\"pausedRanges\":[],\"isMainThread\":%s,\"pid\":\"%" PRId64 "\",\"tid\":%" PRId64 ",",
        index ? "," : "", is_main ? "true" : "false", process->pid, thread->tid);
    buffer_add_json_field(out, "name", *thread->name ? thread->name : "(no name)");
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "processName", process->executable);
    int code = add_samples(firefox, of, err);
    if (code == 0) code = add_markers(firefox, of, err);
    if (code == 0) add_tables(firefox); /* after what fills them */
    buffer_add_char(out, '}');
    free_tables(&firefox->tables);
    return code;
}

static int add_threads(struct firefox *firefox, struct error *err) {
    const struct timeline *timeline = &firefox->timeline;
    size_t at = 0;
    for (uint32_t i = 0; i < timeline->thread_count; i++) {
        struct events_of of = {timeline->events + at, 0};
        while (at < timeline->event_count && timeline->events[at].thread == i)
            at++, of.count++;
        if (add_thread(firefox, i, &of, err)) return -1;
    }
    return 0;
}

static int add_meta(struct firefox *firefox, int64_t run_id, struct error *err) {
    struct db *db = firefox->timeline.db;
    struct buffer *out = &firefox->out;
    sqlite3_stmt *row = db_prepare(db, "SELECT started_ns, command FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) < 0) return -1;
    buffer_add_text(out, "{\"meta\":{\"startTime\":");
    add_ms(out, sqlite3_column_int64(row, 0));
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "product", db_text(row, 1));
    sqlite3_reset(row);
    buffer_printf(
        out,
        ",\"version\":%d,\"preprocessedProfileVersion\":%d,\"interval\":10,\"processType\":0,\"stackwalk\":1,\"debug\":"
        "false,"
        "\"gcpoison\":false,\"asyncstack\":false,\"symbolicated\":true,\"platform\":\"\",\"oscpu\":\"\",\"misc\":\"\","
        "\"abi\":\"\","
        "\"toolkit\":\"\",\"appBuildID\":\"\",\"extensions\":{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]},"
        "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Wait\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],"
        "\"markerSchema\":[{\"name\":\"event\",\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.name}\","
        "\"chartLabel\":\"{marker.name}\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
        "\"data\":[{\"key\":\"kind\",\"label\":\"Kind\",\"format\":\"string\"},"
        "{\"key\":\"owner\",\"label\":\"Owner\",\"format\":\"string\"},"
        "{\"key\":\"releasedBy\",\"label\":\"Released by\",\"format\":\"string\"}]}]},"
        "\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[",
        GECKO_VERSION, VERSION);
    return 0;
}

static int write_file(struct firefox *firefox, int64_t run_id, const char *path, struct error *err) {
    if (file_open(&firefox->file, path, false, err)) return -1;
    int code = add_meta(firefox, run_id, err);
    if (code == 0) code = add_threads(firefox, err);
    buffer_add_text(&firefox->out, "\n]}\n");
    if (code == 0) code = flush(firefox, err);
    if (code == 0) return file_publish(&firefox->file, err);
    file_abandon(&firefox->file);
    return -1;
}

int firefox_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                  struct error *err) {
    struct firefox firefox = {0};
    (void)span, (void)kind;
    if (timeline_load(&firefox.timeline, db, run_id, err)) return -1;
    int code = write_file(&firefox, run_id, path, err);
    free_tables(&firefox.tables);
    buffer_free(&firefox.out);
    timeline_free(&firefox.timeline);
    return code;
}
