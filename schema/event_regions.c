#include "schema/event_regions.h"

#include <stdlib.h>

#include "base/sum.h"
#include "schema/schema.h"

static void add_region(struct regions *regions, const struct event *event, int64_t process_id) {
    bool added;
    int64_t ns = event->end_ns - event->start_ns;
    size_t count = regions->numbers.count;
    struct map_entry *entry = map_put(&regions->numbers, &event->object_id, sizeof event->object_id, &added);
    if (added) {
        regions->regions = event_grown(regions->regions, count, sizeof *regions->regions);
        regions->regions[count] = (struct region_sum){.object_id = event->object_id, .min_ns = ns};
        entry->value = (int64_t)count;
    }
    struct region_sum *region = &regions->regions[entry->value];
    int64_t longest_ns = region->longest.end_ns - region->longest.start_ns;
    region->count++;
    sum_add_capped(&region->time_ns, ns);
    if (ns < region->min_ns) region->min_ns = ns;
    if (!region->longest.id || ns > longest_ns || (ns == longest_ns && event->id > region->longest.id)) {
        region->longest = *event;
        region->process_id = process_id;
    }
    regions->times = event_grown(regions->times, regions->time_count, sizeof *regions->times);
    regions->times[regions->time_count++] = (struct event_point){(uint64_t)ns, (uint32_t)entry->value, 0};
}

/* Time off the CPU of the events before each, and which was the longest among 2^k neighbours, 1 + its index, 0: none. A region that lasts
 * long has many events, and one around it has them again: so they are not gone through for each. */
struct off_times {
    const struct event *events;
    size_t count;
    int64_t *before;   /* [count + 1] */
    uint32_t *longest; /* [2 * count]: of 2 i and 2 i + 1; from count on of each event itself */
};

static bool is_off(const struct event *event) {
    return event->class == EVENT_LOCK || event->class == EVENT_WAIT || event->class == EVENT_BLOCK;
}

/* Of two events, each + 1, the one that is off for longer; of two alike the one with the smaller id. */
static uint32_t longer(const struct event *events, uint32_t a, uint32_t b) {
    if (!a || !b) return a ? a : b;
    const struct event *first = &events[a - 1], *second = &events[b - 1];
    int64_t first_ns = first->end_ns - first->start_ns, second_ns = second->end_ns - second->start_ns;
    if (first_ns != second_ns) return first_ns > second_ns ? a : b;
    return first->id < second->id ? a : b;
}

static void make_off_times(struct off_times *off, const struct event_log *log) {
    *off = (struct off_times){.events = log->events, .count = log->count};
    off->before = xcalloc(log->count + 1, sizeof *off->before);
    off->longest = xcalloc(2 * log->count + 2, sizeof *off->longest);
    for (size_t i = 0; i < log->count; i++) {
        const struct event *event = &log->events[i];
        off->before[i + 1] = off->before[i];
        if (!is_off(event)) continue;
        sum_add_capped(&off->before[i + 1], event->end_ns - event->start_ns);
        off->longest[log->count + i] = (uint32_t)i + 1;
    }
    for (size_t i = log->count; i-- > 1;)
        off->longest[i] = longer(log->events, off->longest[2 * i], off->longest[2 * i + 1]);
}

/* The longest event off the CPU, + 1, from index `from` to before `to`. */
static uint32_t longest_off(const struct off_times *off, size_t from, size_t to) {
    uint32_t longest = 0;
    for (from += off->count, to += off->count; from < to; from /= 2, to /= 2) {
        if (from % 2) longest = longer(off->events, longest, off->longest[from++]);
        if (to % 2) longest = longer(off->events, longest, off->longest[--to]);
    }
    return longest;
}

/* The first event of the thread that starts at `start_ns` or later, or behind `start_ns`; those of a thread are together, by start. */
static size_t find_start(const struct off_times *off, const struct event *of, int64_t start_ns, bool is_behind) {
    size_t low = 0, high = off->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct event *event = &off->events[middle];
        bool is_before = is_behind ? event->start_ns <= start_ns : event->start_ns < start_ns;
        if (event->tid == of->tid ? is_before : event->tid < of->tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_off_time(struct region_sum *region, const struct off_times *off) {
    const struct event *longest = &region->longest;
    size_t from = find_start(off, longest, longest->start_ns, false),
           to = find_start(off, longest, longest->end_ns, true);
    uint32_t wait = longest_off(off, from, to);
    region->off_ns = off->before[to] - off->before[from];
    region->off_trace_id = wait ? off->events[wait - 1].trace_id : 0;
}

void regions_add(struct regions *regions, const struct event_log *log, int64_t process_id) {
    struct off_times off;
    size_t before = regions->time_count;
    for (size_t i = 0; i < log->count; i++)
        if (log->events[i].class == EVENT_REGION) add_region(regions, &log->events[i], process_id);
    if (regions->time_count == before) return;
    make_off_times(&off, log);
    for (size_t i = 0; i < regions->numbers.count; i++)
        if (regions->regions[i].process_id == process_id) add_off_time(&regions->regions[i], &off);
    free(off.before);
    free(off.longest);
}

/* The nearest rank: the smallest time that so many of 1,000 do not exceed. */
static void add_time(struct region_sum *region, int64_t ns) {
    const struct {
        int64_t *value, of_1000;
    } percentiles[] = {{&region->p50_ns, 500}, {&region->p90_ns, 900}, {&region->p99_ns, 990}, {&region->p999_ns, 999}};
    region->rank++;
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
        if (region->rank == (region->count * percentiles[i].of_1000 + 999) / 1000) *percentiles[i].value = ns;
    region->max_ns = ns;
}

static int put_region(struct db *db, int64_t run_id, const struct region_sum *region, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("event_facts/put_region.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_int(row, ":object", region->object_id);
    db_bind_int(row, ":count", region->count);
    db_bind_int(row, ":time", region->time_ns);
    db_bind_int(row, ":min", region->min_ns);
    db_bind_int(row, ":p50", region->p50_ns);
    db_bind_int(row, ":p90", region->p90_ns);
    db_bind_int(row, ":p99", region->p99_ns);
    db_bind_int(row, ":p999", region->p999_ns);
    db_bind_int(row, ":max", region->max_ns);
    db_bind_int(row, ":process", region->process_id);
    db_bind_int(row, ":tid", region->longest.tid);
    db_bind_int(row, ":start", region->longest.start_ns);
    db_bind_int(row, ":trace", region->longest.trace_id);
    db_bind_int(row, ":off", region->off_ns);
    db_bind_int(row, ":off_trace", region->off_trace_id);
    return db_run(db, row, err);
}

int regions_put(struct regions *regions, struct db *db, int64_t run_id, struct error *err) {
    event_points_sort(regions->times, regions->time_count);
    for (size_t i = 0; i < regions->time_count; i++)
        add_time(&regions->regions[regions->times[i].event], (int64_t)regions->times[i].at);
    for (size_t i = 0; i < regions->numbers.count; i++)
        if (put_region(db, run_id, &regions->regions[i], err)) return -1;
    return 0;
}

void regions_free(struct regions *regions) {
    map_free(&regions->numbers);
    free(regions->regions);
    free(regions->times);
    *regions = (struct regions){0};
}
