/* go_marks.c: regions, tasks and logs of the program (runtime/trace), the collector of garbage, and samples of CPU time. */
#include <stdlib.h>
#include <string.h>

#include "ingest/read/gotrace/go_trace.h"
#include "ingest/read/trace/keyed_list.h"

enum { PROCESS = 1 };

/* ---- the program ---- */

static int begin_region(struct go_reader *reader, const struct go_event *event, struct goroutine *goroutine,
                        struct error *err) {
    const struct go_stack *stack = go_stack(reader, event->arguments[2], err);
    if (!stack) return -1;
    const struct trace_slice region = {.start_ns = event->ns,
                                       .kind = "region",
                                       .category = "",
                                       .name = go_string(reader, event->arguments[1]),
                                       .thread = goroutine->thread,
                                       .stack = stack->id,
                                       .has_value = event->arguments[0] != 0,
                                       .value = (int64_t)event->arguments[0]};
    open_slices_begin(&reader->open, &region);
    return 0;
}

static int add_log(struct go_reader *reader, const struct go_event *event, struct goroutine *goroutine,
                   struct error *err) {
    const struct go_stack *stack = go_stack(reader, event->arguments[3], err);
    if (!stack) return -1;
    const char *key = go_string(reader, event->arguments[1]), *value = go_string(reader, event->arguments[2]);
    char *name = xasprintf("%s%s%s", key, *key ? ": " : "", value);
    const struct trace_slice mark = {.start_ns = event->ns,
                                     .kind = "mark",
                                     .category = "",
                                     .name = trace_text(&reader->rows, name, strlen(name)),
                                     .thread = goroutine->thread,
                                     .stack = stack->id,
                                     .has_value = event->arguments[0] != 0,
                                     .value = (int64_t)event->arguments[0]};
    free(name);
    return trace_add(&reader->rows, &mark);
}

/* Tasks overlap: each has a track among those of its name for as long as it lasts. */
static uint32_t take_lane(struct go_reader *reader, const char *name) {
    struct map_entry *first = map_put(&reader->lane_index, name, strlen(name), NULL);
    if (first->value) {
        uint32_t lane = (uint32_t)first->value;
        first->value = reader->lanes[lane - 1].next_free;
        return lane;
    }
    if ((reader->lane_count & (reader->lane_count - 1)) == 0)
        reader->lanes =
            xrealloc(reader->lanes, (reader->lane_count ? 2 * reader->lane_count : 1) * sizeof *reader->lanes);
    char *key = xasprintf("task %zu", reader->lane_count), *title = xasprintf("task %s", name);
    uint32_t thread = trace_track(&reader->rows, PROCESS, key, trace_text(&reader->rows, title, strlen(title)));
    free(key);
    free(title);
    reader->lanes[reader->lane_count++] = (struct go_lane){.thread = thread, .name = name};
    return (uint32_t)reader->lane_count;
}

static struct go_task *task_of(struct go_reader *reader, uint64_t id) {
    return keyed_list_entry(&reader->task_index, &id, sizeof id, (void **)&reader->tasks, sizeof *reader->tasks);
}

static void end_task(struct go_reader *reader, uint64_t id, int64_t ns, bool is_cut) {
    struct go_task *task = task_of(reader, id);
    if (!task->lane) return; /* it began before the trace */
    struct go_lane *lane = &reader->lanes[task->lane - 1];
    const struct trace_slice slice = {.start_ns = task->start_ns,
                                      .duration_ns = ns - task->start_ns,
                                      .kind = "region",
                                      .category = "",
                                      .name = lane->name,
                                      .thread = lane->thread,
                                      .is_cut = is_cut,
                                      .stack = task->stack,
                                      .has_value = true,
                                      .value = (int64_t)id};
    (void)trace_add(&reader->rows, &slice);
    struct map_entry *first = map_put(&reader->lane_index, lane->name, strlen(lane->name), NULL);
    lane->next_free = (uint32_t)first->value;
    first->value = task->lane;
    task->lane = 0;
}

/* [task, parent, name, stack] */
static int begin_task(struct go_reader *reader, const struct go_event *event, struct error *err) {
    const struct go_stack *stack = go_stack(reader, event->arguments[3], err);
    if (!stack) return -1;
    end_task(reader, event->arguments[0], event->ns, true); /* the number was given twice */
    uint32_t lane = take_lane(reader, go_string(reader, event->arguments[2]));
    *task_of(reader, event->arguments[0]) = (struct go_task){lane, event->ns, stack->id};
    return 0;
}

/* ---- the collector ---- */

/* What stands on a track of its own, or, where `thread` is not NULL, on that of a goroutine. */
static void end_work(struct go_reader *reader, const uint32_t *thread, const char *name, int64_t *start_ns, int64_t ns,
                     bool is_cut) {
    if (!*start_ns) return;
    const char *track = strncmp(name, "GC", 2) == 0 ? "GC" : "stop the world";
    const struct trace_slice slice = {.start_ns = *start_ns,
                                      .duration_ns = ns - *start_ns,
                                      .kind = "region",
                                      .category = "",
                                      .name = name,
                                      .thread = thread ? *thread : trace_track(&reader->rows, PROCESS, track, track),
                                      .is_cut = is_cut};
    *start_ns = 0;
    (void)trace_add(&reader->rows, &slice);
}

static int take_collector(struct go_reader *reader, const struct go_event *event, struct goroutine *goroutine) {
    switch (event->type) {
    case GO_GC_ACTIVE:
    case GO_GC_BEGIN:
        if (!reader->gc_ns) reader->gc_ns = event->ns;
        return 1;
    case GO_GC_END: end_work(reader, NULL, "GC", &reader->gc_ns, event->ns, false); return 1;
    case GO_STW_BEGIN: {
        char *name = xasprintf("stop the world: %s", go_string(reader, event->arguments[0]));
        reader->stw_name = trace_text(&reader->rows, name, strlen(name));
        reader->stw_ns = event->ns;
        free(name);
        return 1;
    }
    case GO_STW_END: end_work(reader, NULL, reader->stw_name, &reader->stw_ns, event->ns, false); return 1;
    case GO_SWEEP_BEGIN:
    case GO_SWEEP_ACTIVE:
        if (goroutine) goroutine->sweep_ns = event->ns;
        return 1;
    case GO_SWEEP_END:
        if (goroutine) end_work(reader, &goroutine->thread, "GC sweep", &goroutine->sweep_ns, event->ns, false);
        return 1;
    case GO_ASSIST_ACTIVE:
    case GO_ASSIST_BEGIN:
        if (event->type == GO_ASSIST_ACTIVE) goroutine = go_goroutine(reader, event->arguments[0]);
        if (goroutine && !goroutine->assist_ns) goroutine->assist_ns = event->ns;
        return 1;
    case GO_ASSIST_END:
        if (goroutine) end_work(reader, &goroutine->thread, "GC mark assist", &goroutine->assist_ns, event->ns, false);
        return 1;
    }
    return 0;
}

int go_take_mark(struct go_reader *reader, const struct go_event *event, struct goroutine *goroutine,
                 struct error *err) {
    switch (event->type) {
    case GO_TASK_BEGIN: return begin_task(reader, event, err);
    case GO_TASK_END: end_task(reader, event->arguments[0], event->ns, false); return 0;
    case GO_REGION_BEGIN: return goroutine ? begin_region(reader, event, goroutine, err) : 0;
    case GO_REGION_END:
        if (goroutine) open_slices_end(&reader->open, goroutine->thread, event->ns);
        return 0;
    case GO_LOG: return goroutine ? add_log(reader, event, goroutine, err) : 0;
    }
    (void)take_collector(reader, event, goroutine);
    return 0; /* processors and sizes of the heap are left out */
}

void go_finish_marks(struct go_reader *reader) {
    for (size_t i = 0; i < reader->task_index.count; i++) {
        uint64_t id;
        memcpy(&id, reader->task_index.entries[i].key, sizeof id);
        end_task(reader, id, reader->last_ns, true);
    }
    end_work(reader, NULL, "GC", &reader->gc_ns, reader->last_ns, true);
    end_work(reader, NULL, reader->stw_name, &reader->stw_ns, reader->last_ns, true);
    open_slices_cut(&reader->open);
}

/* ---- samples of CPU time ---- */

static void count_sample(struct go_reader *reader, int64_t stack) {
    bool is_new;
    struct map_entry *entry = map_put(&reader->cpu_index, &stack, sizeof stack, &is_new);
    if (is_new) entry->value = (int64_t)reader->cpu_index.count - 1;
    if (is_new && (entry->value & (entry->value - 1)) == 0)
        reader->cpu = xrealloc(reader->cpu, (size_t)(entry->value ? 2 * entry->value : 1) * sizeof *reader->cpu);
    if (is_new) reader->cpu[entry->value] = (struct go_cpu){.stack = stack};
    reader->cpu[entry->value].count++;
}

int go_take_samples(struct go_reader *reader, struct error *err) {
    for (size_t i = 0; i < reader->generation.sample_count; i++) {
        const struct go_sample sample = reader->generation.samples[i];
        int64_t ns = go_time(reader, sample.ticks, err);
        const struct go_stack *stack = ns < 0 ? NULL : go_stack(reader, sample.stack, err);
        if (!stack) return -1;
        count_sample(reader, stack->id);
        if (!sample.goroutine) continue;
        const struct trace_slice event = {.start_ns = ns,
                                          .kind = "cpu",
                                          .category = "",
                                          .name = "",
                                          .thread = go_goroutine(reader, sample.goroutine)->thread,
                                          .stack = stack->id};
        if (trace_add(&reader->rows, &event)) return -1;
    }
    return 0;
}
