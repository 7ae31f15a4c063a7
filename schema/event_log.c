#include "schema/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

enum event_class event_class_of(const char *kind) {
    static const struct {
        const char *kind;
        enum event_class class;
    } classes[] = {
        {"mutex", EVENT_LOCK},    {"release", EVENT_RELEASE}, {"region", EVENT_REGION}, {"hold", EVENT_HOLD},
        {"syscall", EVENT_BLOCK}, {"cond", EVENT_WAIT},       {"sleep", EVENT_BLOCK},   {"futex", EVENT_WAIT},
        {"rwlock", EVENT_LOCK},   {"read", EVENT_LOCK},       {"spin", EVENT_LOCK},     {"own", EVENT_LOCK},
        {"sem", EVENT_WAIT},      {"barrier", EVENT_WAIT},    {"join", EVENT_WAIT},     {"channel", EVENT_WAIT}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].kind, kind) == 0) return classes[i].class;
    return EVENT_LEFT_OUT;
}

void *event_grown(void *items, size_t count, size_t size) {
    return count & (count - 1) ? items : xrealloc(items, (count ? 2 * count : 1) * size);
}

static uint32_t number_of(struct map *map, int64_t key) {
    bool added;
    struct map_entry *entry = map_put(map, &key, sizeof key, &added);
    if (added) entry->value = (int64_t)map->count - 1;
    return (uint32_t)entry->value;
}

static int64_t end_of(int64_t start_ns, int64_t duration_ns) {
    int64_t end_ns;
    if (duration_ns <= 0) return start_ns;
    return __builtin_add_overflow(start_ns, duration_ns, &end_ns) ? INT64_MAX : end_ns;
}

/* The columns of event_facts/events.sql. */
static void add_event(struct event_log *log, sqlite3_stmt *row) {
    enum event_class class = event_class_of(db_text(row, 4));
    if (class == EVENT_LEFT_OUT || log->count == UINT32_MAX - 1) return;
    log->events = event_grown(log->events, log->count, sizeof *log->events);
    struct event *event = &log->events[log->count++];
    *event = (struct event){.id = sqlite3_column_int64(row, 0),
                            .tid = sqlite3_column_int64(row, 1),
                            .start_ns = sqlite3_column_int64(row, 2),
                            .object_id = sqlite3_column_int64(row, 5),
                            .address = sqlite3_column_int64(row, 6),
                            .trace_id = sqlite3_column_int64(row, 7),
                            .class = class};
    event->end_ns = end_of(event->start_ns, sqlite3_column_int64(row, 3));
    bool is_same = log->count > 1 && event[-1].tid == event->tid;
    event->thread = is_same ? event[-1].thread : number_of(&log->threads, event->tid);
    if (class == EVENT_LOCK || class == EVENT_HOLD || class == EVENT_RELEASE)
        event->lock = number_of(&log->locks, event->address);
    if (class == EVENT_LOCK && sqlite3_column_type(row, 8) != SQLITE_NULL)
        event->owner = number_of(&log->threads, sqlite3_column_int64(row, 8)) + 1;
}

int event_log_read(struct event_log *log, struct db *db, int64_t process_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("event_facts/events.sql"), err);
    *log = (struct event_log){0};
    if (!row) return -1;
    db_bind_int(row, ":process", process_id);
    int code;
    while ((code = db_step(db, row, err)) == 1)
        add_event(log, row);
    return code;
}

void event_log_free(struct event_log *log) {
    free(log->events);
    map_free(&log->threads);
    map_free(&log->locks);
    *log = (struct event_log){0};
}

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void sort_by_digit(const struct event_point *from, struct event_point *to, size_t count, unsigned shift) {
    size_t places[DIGITS + 1] = {0};
    for (size_t i = 0; i < count; i++)
        places[(from[i].at >> shift) % DIGITS + 1]++;
    for (size_t i = 1; i < DIGITS; i++)
        places[i] += places[i - 1];
    for (size_t i = 0; i < count; i++)
        to[places[(from[i].at >> shift) % DIGITS]++] = from[i];
}

/* From the lowest digit up, each pass keeping the order of the ones before: nanoseconds of a run of an hour are four digits. */
void event_points_sort(struct event_point *points, size_t count) {
    struct event_point *from = points, *to = xmalloc((count + 1) * sizeof *to), *other = to;
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        most |= points[i].at;
    for (unsigned shift = 0; shift < 64 && most >> shift; shift += DIGIT_BITS) {
        sort_by_digit(from, to, count, shift);
        struct event_point *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != points) memcpy(points, from, count * sizeof *points);
    free(other);
}
