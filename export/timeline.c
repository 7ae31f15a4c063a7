#include "export/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

enum { KINDS_MAX = UINT8_MAX };

/* ---- kinds, threads ---- */

/* What the view event_kinds says of a kind. */
static int find_class(struct db *db, const char *kind, enum timeline_class *class, struct error *err) {
    static const struct timeline_kind classes[] = {
        {"wait", TIMELINE_WAIT}, {"release", TIMELINE_RELEASE}, {"hold", TIMELINE_HOLD}, {"sample", TIMELINE_SAMPLE}};
    sqlite3_stmt *row = db_prepare(db, "SELECT class FROM event_kinds WHERE kind = :kind", err);
    if (!row) return -1;
    db_bind_text(row, ":kind", kind);
    int code = db_step(db, row, err);
    *class = TIMELINE_SLICE;
    for (size_t i = 0; code == 1 && i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].name, db_text(row, 0)) == 0) *class = classes[i].class;
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static int find_kind(struct timeline *timeline, const char *name, uint8_t *kind, struct error *err) {
    bool added;
    struct map_entry *entry = map_put(&timeline->kind_index, name, strlen(name), &added);
    if (added) {
        if (timeline->kind_count == KINDS_MAX)
            return error_fail(err, "the events are of more than %d kinds", KINDS_MAX);
        struct timeline_kind new = {.name = arena_text(&timeline->texts, name, strlen(name))};
        if (find_class(timeline->db, name, &new.class, err)) return -1;
        entry->value = (int64_t)timeline->kind_count++;
        timeline->kinds = xrealloc(timeline->kinds, timeline->kind_count * sizeof *timeline->kinds);
        timeline->kinds[entry->value] = new;
    }
    *kind = (uint8_t)entry->value;
    return 0;
}

/* The thread, made if it is new: a release, or an owner, may be of a thread without a name. */
static uint32_t find_thread(struct timeline *timeline, int64_t tid, const char *name) {
    const uint32_t process = (uint32_t)timeline->process_count - 1;
    const int64_t key[] = {process, tid};
    bool added;
    struct map_entry *entry = map_put(&timeline->thread_index, key, sizeof key, &added);
    if (!added) return (uint32_t)entry->value;
    entry->value = (int64_t)timeline->thread_count++;
    timeline->threads = xrealloc(timeline->threads, timeline->thread_count * sizeof *timeline->threads);
    timeline->threads[entry->value] =
        (struct timeline_thread){process, tid, arena_text(&timeline->texts, name, strlen(name))};
    return (uint32_t)entry->value;
}

/* ---- rows ---- */

static int load_threads(struct timeline *timeline, struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/timeline/threads"), err);
    int code;
    if (!row) return -1;
    db_bind_int(row, ":process", timeline->processes[timeline->process_count - 1].id);
    while ((code = db_step(db, row, err)) == 1)
        find_thread(timeline, sqlite3_column_int64(row, 0), db_text(row, 1));
    return code;
}

static int add_event(struct timeline *timeline, sqlite3_stmt *row, struct error *err) {
    enum { ID, TID, START, DURATION, KIND, OBJECT, ADDRESS, TRACE, OWNER, IS_LATE, VALUE, IS_FLOW, IS_FIBER };
    if (timeline->event_count == timeline->event_capacity) {
        timeline->event_capacity = timeline->event_capacity ? 2 * timeline->event_capacity : 1024;
        timeline->events = xrealloc(timeline->events, timeline->event_capacity * sizeof *timeline->events);
    }
    if (timeline->event_count == TIMELINE_NONE) return error_fail(err, "the run has too many events for one file");
    struct timeline_event *event = &timeline->events[timeline->event_count++];
    *event = (struct timeline_event){.id = sqlite3_column_int64(row, ID),
                                     .start_ns = sqlite3_column_int64(row, START),
                                     .duration_ns = sqlite3_column_int64(row, DURATION),
                                     .object_id = sqlite3_column_int64(row, OBJECT),
                                     .address = sqlite3_column_int64(row, ADDRESS),
                                     .trace_id = sqlite3_column_int64(row, TRACE),
                                     .thread = find_thread(timeline, sqlite3_column_int64(row, TID), ""),
                                     .owner = TIMELINE_NONE,
                                     .release = TIMELINE_NONE,
                                     .next = TIMELINE_NONE,
                                     .value = sqlite3_column_int64(row, VALUE),
                                     .has_flow = sqlite3_column_int(row, IS_FLOW),
                                     .has_fiber = sqlite3_column_int(row, IS_FIBER),
                                     .is_late = sqlite3_column_int(row, IS_LATE)};
    if (sqlite3_column_type(row, OWNER) != SQLITE_NULL)
        event->owner = find_thread(timeline, sqlite3_column_int64(row, OWNER), "");
    return find_kind(timeline, db_text(row, KIND), &event->kind, err);
}

static int load_events(struct timeline *timeline, struct db *db, int64_t first, int64_t last, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/timeline/events"), err);
    int code;
    if (!row) return -1;
    db_bind_int(row, ":process", timeline->processes[timeline->process_count - 1].id);
    db_bind_int(row, ":first", first);
    db_bind_int(row, ":last", last);
    while ((code = db_step(db, row, err)) == 1) {
        if (add_event(timeline, row, err) == 0) continue;
        sqlite3_reset(row);
        return -1;
    }
    return code;
}

static int load_process(struct timeline *timeline, struct db *db, sqlite3_stmt *row, struct error *err) {
    enum { ID, PID, EXECUTABLE, FIRST, LAST };
    const char *executable = db_text(row, EXECUTABLE);
    timeline->processes = xrealloc(timeline->processes, (timeline->process_count + 1) * sizeof *timeline->processes);
    timeline->processes[timeline->process_count++] =
        (struct timeline_process){sqlite3_column_int64(row, ID), sqlite3_column_int64(row, PID),
                                  arena_text(&timeline->texts, executable, strlen(executable))};
    if (load_threads(timeline, db, err) < 0) return -1;
    return load_events(timeline, db, sqlite3_column_int64(row, FIRST), sqlite3_column_int64(row, LAST), err);
}

/* ---- order ---- */

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* A slice that contains another one comes before it. */
static int by_thread(const void *left, const void *right) {
    const struct timeline_event *a = left, *b = right;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    if (a->start_ns != b->start_ns) return compare(a->start_ns, b->start_ns);
    if (a->duration_ns != b->duration_ns) return compare(b->duration_ns, a->duration_ns);
    return compare(a->id, b->id);
}

/* The order in which releases can end waits: by the end of each; at one moment the release comes first. */
static int by_end(const void *left, const void *right, void *context) {
    const struct timeline *timeline = context;
    const struct timeline_event *a = &timeline->events[*(const uint32_t *)left],
                                *b = &timeline->events[*(const uint32_t *)right];
    if (timeline_end(a) != timeline_end(b)) return compare(timeline_end(a), timeline_end(b));
    bool a_waits = timeline_class(timeline, a) == TIMELINE_WAIT, b_waits = timeline_class(timeline, b) == TIMELINE_WAIT;
    return a_waits != b_waits ? a_waits - b_waits : compare(a->id, b->id);
}

static int by_object(const void *left, const void *right, void *context) {
    const struct timeline *timeline = context;
    const struct timeline_event *a = &timeline->events[*(const uint32_t *)left],
                                *b = &timeline->events[*(const uint32_t *)right];
    uint32_t a_process = timeline->threads[a->thread].process, b_process = timeline->threads[b->thread].process;
    if (a_process != b_process) return a_process < b_process ? -1 : 1;
    if (a->object_id != b->object_id) return compare(a->object_id, b->object_id);
    if (a->address != b->address) return compare(a->address, b->address);
    return a->start_ns != b->start_ns ? compare(a->start_ns, b->start_ns) : compare(a->id, b->id);
}

uint32_t *timeline_by_object(const struct timeline *timeline, enum timeline_class class, size_t *count) {
    uint32_t *order = xcalloc(timeline->event_count + 1, sizeof *order);
    *count = 0;
    for (size_t i = 0; i < timeline->event_count; i++)
        if (timeline_class(timeline, &timeline->events[i]) == class) order[(*count)++] = (uint32_t)i;
    qsort_r(order, *count, sizeof *order, by_object, (void *)timeline);
    return order;
}

/* ---- releases ---- */

static void link_release(struct timeline *timeline, uint32_t wait, uint32_t release) {
    struct timeline_event *ended = &timeline->events[wait], *by = &timeline->events[release];
    if (by->start_ns < ended->start_ns) return;
    ended->release = release;
    ended->next = by->release;
    by->release = wait;
}

static bool is_of_kind(const struct timeline *timeline, const struct timeline_event *event, const char *name) {
    return strcmp(timeline->kinds[event->kind].name, name) == 0;
}

/* The end of a thread lets joins go on. */
static bool is_release(const struct timeline *timeline, const struct timeline_event *event) {
    return timeline_class(timeline, event) == TIMELINE_RELEASE || is_of_kind(timeline, event, "death");
}

static bool may_be_released(const struct timeline *timeline, const struct timeline_event *event) {
    return timeline_class(timeline, event) == TIMELINE_WAIT && !event->is_late &&
           (event->owner != TIMELINE_NONE || !is_of_kind(timeline, event, "join"));
}

/* What both have in common: the address in the process; of joins the thread. */
struct release_key {
    int64_t is_thread, process, address;
};

static struct release_key release_key(const struct timeline *timeline, const struct timeline_event *event) {
    if (is_of_kind(timeline, event, "death")) return (struct release_key){1, 0, event->thread};
    if (is_of_kind(timeline, event, "join")) return (struct release_key){1, 0, event->owner};
    return (struct release_key){0, timeline->threads[event->thread].process, event->address};
}

/* Finds the last release of what was waited for before the end of the wait: one pass in the order of ends. */
static void link_releases(struct timeline *timeline) {
    uint32_t *order = xcalloc(timeline->event_count + 1, sizeof *order);
    struct map latest = {0};
    size_t count = 0;
    for (size_t i = 0; i < timeline->event_count; i++)
        if (is_release(timeline, &timeline->events[i]) || may_be_released(timeline, &timeline->events[i]))
            order[count++] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, by_end, timeline);
    for (size_t i = 0; i < count; i++) {
        const struct timeline_event *event = &timeline->events[order[i]];
        const struct release_key key = release_key(timeline, event);
        struct map_entry *entry;
        if (is_release(timeline, event))
            map_put(&latest, &key, sizeof key, NULL)->value = order[i];
        else if ((entry = map_find(&latest, &key, sizeof key)))
            link_release(timeline, order[i], (uint32_t)entry->value);
    }
    map_free(&latest);
    free(order);
}

/* ---- names ---- */

static const char *load_object(struct timeline *timeline, int64_t object_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(timeline->db, "SELECT name FROM objects WHERE id = :object", err);
    if (!row) return NULL;
    db_bind_int(row, ":object", object_id);
    int code = db_step(timeline->db, row, err);
    const char *name = code == 1 ? db_text(row, 0) : "";
    name = code < 0 ? NULL : arena_text(&timeline->texts, name, strlen(name));
    sqlite3_reset(row);
    return name;
}

const char *timeline_object(struct timeline *timeline, int64_t object_id, struct error *err) {
    bool is_new;
    struct map_entry *entry = map_put(&timeline->objects, &object_id, sizeof object_id, &is_new);
    if (is_new) entry->value = (int64_t)(intptr_t)load_object(timeline, object_id, err);
    return (const char *)(intptr_t)entry->value;
}

char *timeline_name(struct timeline *timeline, const struct timeline_event *event, struct error *err) {
    const struct timeline_kind *kind = &timeline->kinds[event->kind];
    const char *object = timeline_object(timeline, event->object_id, err);
    if (!object) return NULL;
    if (!*object) return xstrdup(kind->name);
    if (strcmp(kind->name, "region") == 0 || strcmp(kind->name, "mark") == 0) return xstrdup(object);
    return kind->class == TIMELINE_WAIT ? xasprintf("wait for %s", object) : xasprintf("%s %s", kind->name, object);
}

/* ---- all of it ---- */

int timeline_load(struct timeline *timeline, struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/timeline/processes"), err);
    int code;
    *timeline = (struct timeline){.db = db};
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    while ((code = db_step(db, row, err)) == 1) {
        if (load_process(timeline, db, row, err) == 0) continue;
        sqlite3_reset(row);
        code = -1;
        break;
    }
    if (code == 0 && !timeline->event_count)
        code = error_fail(err, "run %lld has no waits: record it with clear profile --trace", (long long)run_id);
    if (code < 0) {
        timeline_free(timeline);
        return -1;
    }
    qsort(timeline->events, timeline->event_count, sizeof *timeline->events, by_thread);
    link_releases(timeline);
    return 0;
}

void timeline_free(struct timeline *timeline) {
    free(timeline->processes);
    free(timeline->threads);
    free(timeline->kinds);
    free(timeline->events);
    arena_free(&timeline->texts);
    map_free(&timeline->thread_index);
    map_free(&timeline->kind_index);
    map_free(&timeline->objects);
    *timeline = (struct timeline){0};
}
