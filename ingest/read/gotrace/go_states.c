/* go_states.c: goroutines by the events of the scheduler. A goroutine is a thread; a wait lasts until it runs again, as that of a thread does, and
 * who made it able to is its owner, with a release at that moment. */
#include <stdlib.h>
#include <string.h>

#include "ingest/read/gotrace/go_trace.h"
#include "ingest/read/trace/keyed_list.h"

enum { PROCESS = 1 /* as the main goroutine: what decided how long the program took is looked for from there */ };

static const uint64_t no_thread = UINT64_MAX;

struct goroutine *go_goroutine(struct go_reader *reader, uint64_t id) {
    size_t before = reader->goroutine_index.count;
    struct goroutine *goroutine = keyed_list_entry(&reader->goroutine_index, &id, sizeof id,
                                                   (void **)&reader->goroutines, sizeof *reader->goroutines);
    if (reader->goroutine_index.count > before) {
        goroutine->id = id;
        goroutine->thread = trace_thread(&reader->rows, PROCESS, (int64_t)(id & INT64_MAX));
        if (id == 1) trace_name_thread(&reader->rows, PROCESS, 1, "main.main");
    }
    return goroutine;
}

/* By the function that it began with; the first that is known counts. */
static void name_goroutine(struct go_reader *reader, struct goroutine *goroutine, const char *root) {
    const char *name = strcmp(root, "runtime.main") == 0 ? "main.main" : root;
    if (!*name || goroutine->is_named) return;
    goroutine->is_named = true;
    goroutine->is_runtime = strncmp(name, "runtime.", 8) == 0 || strncmp(name, "runtime/", 8) == 0;
    trace_name_thread(&reader->rows, PROCESS, (int64_t)(goroutine->id & INT64_MAX), name);
}

/* ---- waits ---- */

static const char *name_wait(struct go_reader *reader, const char *what, const char *place) {
    char *joined = *place ? xasprintf("%s in %s", what, place) : xasprintf("%s", what);
    const char *kept = trace_text(&reader->rows, joined, strlen(joined));
    free(joined);
    return kept;
}

/* What Go's scheduler says about a wait (runtime.traceBlockReasonStrings), as in events.kind; NULL: the stack says it. */
static const char *kind_of(const char *reason) {
    static const struct {
        const char *reason, *kind;
    } kinds[] = {{"chan send", "channel"},     {"chan receive", "channel"}, {"select", "channel"},
                 {"sleep", "sleep"},           {"network", "syscall"},      {"forever", "channel"},
                 {"sync.(*Cond).Wait", "cond"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(reason, kinds[i].reason) == 0) return kinds[i].kind;
    return NULL;
}

/* The goroutine begins to wait at the stack. `reason` may be empty. */
static int begin_wait(struct go_reader *reader, struct goroutine *goroutine, int64_t ns, const char *reason,
                      uint64_t stack_id, struct error *err) {
    const struct go_stack *stack = go_stack(reader, stack_id, err);
    if (!stack) return -1;
    name_goroutine(reader, goroutine, stack->root);
    const char *kind = kind_of(reason);
    bool is_told = kind || (*reason && strcmp(reason, "sync") != 0); /* by the reason */
    if (!kind) kind = is_told ? "futex" : stack->kind;
    const char *what = is_told ? reason : *stack->what ? stack->what : *reason ? reason : "wait";
    bool is_call = (strcmp(kind, "sleep") == 0 || strcmp(kind, "syscall") == 0) && *stack->call;
    goroutine->wait = (struct trace_slice){
        .start_ns = ns,
        .kind = kind,
        .category = "",
        .name = is_call ? stack->call : name_wait(reader, what, stack->place),
        .thread = goroutine->thread,
        .address = (int64_t)(goroutine->id & INT64_MAX),
        .stack = stack->id,
    };
    goroutine->is_waiting = true;
    return 0;
}

/* Who let it go on, at a stack; the wait goes on until the goroutine runs. `by` 0: the runtime. */
static int release_wait(struct go_reader *reader, struct goroutine *goroutine, uint64_t by, int64_t ns,
                        uint64_t stack_id, struct error *err) {
    if (!goroutine->is_waiting || !by || by == goroutine->id) return 0;
    const struct go_stack *stack = go_stack(reader, stack_id, err);
    if (!stack) return -1;
    goroutine->wait.has_owner = true;
    goroutine->wait.owner = (int64_t)(by & INT64_MAX);
    if (goroutine->is_runtime) return 0;
    struct trace_slice release = goroutine->wait;
    release.start_ns = ns;
    release.kind = "release";
    release.stack = stack->id;
    release.has_owner = false;
    release.thread = go_goroutine(reader, by)->thread; /* it may move them: `goroutine` is not used any more */
    return trace_add(&reader->rows, &release);
}

static void end_wait(struct go_reader *reader, struct goroutine *goroutine, int64_t ns, bool is_cut) {
    if (!goroutine->is_waiting) return;
    goroutine->is_waiting = false;
    if (goroutine->is_runtime && strcmp(goroutine->wait.kind, "syscall") != 0) return;
    goroutine->wait.duration_ns = ns - goroutine->wait.start_ns;
    goroutine->wait.is_cut = is_cut;
    (void)trace_add(&reader->rows, &goroutine->wait); /* clocks of two processors may not agree: then there is none */
}

static int begin_syscall(struct go_reader *reader, struct goroutine *goroutine, const struct go_event *event,
                         struct error *err) {
    const struct go_stack *stack = go_stack(reader, event->arguments[1], err);
    if (!stack) return -1;
    name_goroutine(reader, goroutine, stack->root);
    goroutine->wait = (struct trace_slice){.start_ns = event->ns,
                                           .kind = "syscall",
                                           .category = "",
                                           .name = *stack->call ? stack->call : "system call",
                                           .thread = goroutine->thread,
                                           .stack = stack->id};
    goroutine->is_waiting = true;
    goroutine->state = GO_IN_SYSCALL;
    return 0;
}

/* ---- births and deaths ---- */

static int add_moment(struct go_reader *reader, const char *kind, uint32_t thread, int64_t ns, int64_t stack,
                      uint64_t owner) {
    const struct trace_slice moment = {.start_ns = ns,
                                       .kind = kind,
                                       .category = "",
                                       .name = "",
                                       .thread = thread,
                                       .stack = stack,
                                       .has_owner = owner != 0,
                                       .owner = (int64_t)(owner & INT64_MAX)};
    return trace_add(&reader->rows, &moment);
}

/* [goroutine, its first stack, the stack that made it] */
static int create(struct go_reader *reader, const struct go_event *event, uint64_t by, struct error *err) {
    struct goroutine *made = go_goroutine(reader, event->arguments[0]);
    made->state = event->type == GO_CREATE_BLOCKED   ? GO_WAITING
                  : event->type == GO_CREATE_SYSCALL ? GO_IN_SYSCALL
                                                     : GO_RUNNABLE;
    made->generation = reader->generation.number;
    made->sequence = 0;
    if (event->type == GO_CREATE_SYSCALL) {
        reader->ms[event->m].goroutine = made->id;
        return add_moment(reader, "birth", made->thread, event->ns, 0, 0);
    }
    const struct go_stack *stack = go_stack(reader, event->arguments[1], err);
    if (!stack) return -1;
    made->is_named = false; /* the number of one that ended is not given again, but a broken trace may */
    name_goroutine(reader, made, stack->root);
    stack = go_stack(reader, event->arguments[2], err);
    return stack ? add_moment(reader, "birth", made->thread, event->ns, stack->id, by) : -1;
}

static int destroy(struct go_reader *reader, struct goroutine *goroutine, const struct go_event *event) {
    reader->ms[event->m].goroutine = 0;
    if (!goroutine) return 0;
    end_wait(reader, goroutine, event->ns, false);
    open_slices_cut_thread(&reader->open, goroutine->thread, event->ns);
    goroutine->state = GO_NEW;
    return add_moment(reader, "death", goroutine->thread, event->ns, 0, 0);
}

/* [goroutine, M, state, stack]: what it is when the generation begins, said at its first event there. */
static int take_status(struct go_reader *reader, const struct go_event *event, struct error *err) {
    struct goroutine *goroutine = go_goroutine(reader, event->arguments[0]);
    uint64_t status = event->arguments[2];
    bool is_new = goroutine->state == GO_NEW && goroutine->generation == 0;
    goroutine->generation = reader->generation.number;
    goroutine->sequence = 0;
    if (status >= GO_RUNNABLE && status <= GO_WAITING) goroutine->state = (enum go_state)status;
    if ((goroutine->state == GO_RUNNING || goroutine->state == GO_IN_SYSCALL) && event->arguments[1] != no_thread) {
        struct map_entry *entry = map_find(&reader->m_index, &event->arguments[1], sizeof event->arguments[1]);
        if (entry) reader->ms[entry->value].goroutine = goroutine->id;
    }
    if (!is_new || event->type != GO_STATUS_STACK) return 0;
    const struct go_stack *stack = go_stack(reader, event->arguments[3], err);
    if (!stack) return -1;
    name_goroutine(reader, goroutine, stack->root);
    bool is_off = goroutine->state == GO_WAITING || goroutine->state == GO_IN_SYSCALL;
    return is_off && !goroutine->is_waiting
               ? begin_wait(reader, goroutine, reader->first_ns, "", event->arguments[3], err)
               : 0;
}

/* ---- the scheduler ---- */

static int start(struct go_reader *reader, const struct go_event *event) {
    struct goroutine *goroutine = go_goroutine(reader, event->arguments[0]);
    end_wait(reader, goroutine, event->ns, false);
    goroutine->state = GO_RUNNING;
    goroutine->generation = reader->generation.number;
    goroutine->sequence = event->arguments[1];
    reader->ms[event->m].goroutine = goroutine->id;
    return 0;
}

static int unblock(struct go_reader *reader, const struct go_event *event, uint64_t by, struct error *err) {
    struct goroutine *goroutine = go_goroutine(reader, event->arguments[0]);
    goroutine->state = GO_RUNNABLE;
    goroutine->generation = reader->generation.number;
    goroutine->sequence = event->arguments[1];
    return release_wait(reader, goroutine, by, event->ns, event->arguments[2], err);
}

/* Coroutines (iter.Pull): the goroutine gives its thread to another one. */
static int switch_to(struct go_reader *reader, const struct go_event *event, struct goroutine *from,
                     struct error *err) {
    uint64_t by = from ? from->id : 0;
    if (event->type == GO_SWITCH_DESTROY) {
        if (destroy(reader, from, event)) return -1;
    } else if (from) {
        from->state = GO_WAITING;
        if (begin_wait(reader, from, event->ns, "coroutine", 0, err)) return -1;
    }
    struct goroutine *to = go_goroutine(reader, event->arguments[0]);
    if (release_wait(reader, to, by, event->ns, 0, err)) return -1;
    return start(reader, event);
}

static int stop(struct go_reader *reader, const struct go_event *event, struct goroutine *goroutine,
                struct error *err) {
    reader->ms[event->m].goroutine = 0;
    if (!goroutine) return 0;
    goroutine->state = event->type == GO_BLOCK ? GO_WAITING : GO_RUNNABLE;
    if (event->type != GO_BLOCK) return 0;
    return begin_wait(reader, goroutine, event->ns, go_string(reader, event->arguments[0]), event->arguments[1], err);
}

static int end_syscall(struct go_reader *reader, const struct go_event *event, struct goroutine *goroutine) {
    if (event->type == GO_SYSCALL_END_BLOCKED) reader->ms[event->m].goroutine = 0;
    if (!goroutine) return 0;
    end_wait(reader, goroutine, event->ns, false);
    goroutine->state = event->type == GO_SYSCALL_END ? GO_RUNNING : GO_RUNNABLE;
    return 0;
}

bool go_is_ready(struct go_reader *reader, const struct go_event *event, uint64_t *goroutine, uint64_t *sequence) {
    if (event->type != GO_START && event->type != GO_UNBLOCK && event->type != GO_SWITCH &&
        event->type != GO_SWITCH_DESTROY)
        return true;
    *goroutine = event->arguments[0];
    *sequence = event->arguments[1];
    const struct goroutine *known = go_goroutine(reader, *goroutine);
    return known->generation == reader->generation.number && known->sequence + 1 == *sequence &&
           known->state == (event->type == GO_START ? GO_RUNNABLE : GO_WAITING);
}

int go_take(struct go_reader *reader, const struct go_event *event, struct error *err) {
    uint64_t by = reader->ms[event->m].goroutine;
    struct goroutine *goroutine = by ? go_goroutine(reader, by) : NULL;
    switch (event->type) {
    case GO_CREATE:
    case GO_CREATE_SYSCALL:
    case GO_CREATE_BLOCKED: return create(reader, event, by, err);
    case GO_START: return start(reader, event);
    case GO_DESTROY:
    case GO_DESTROY_SYSCALL: return destroy(reader, goroutine, event);
    case GO_STOP:
    case GO_BLOCK: return stop(reader, event, goroutine, err);
    case GO_UNBLOCK: return unblock(reader, event, by, err);
    case GO_SYSCALL_BEGIN: return goroutine ? begin_syscall(reader, goroutine, event, err) : 0;
    case GO_SYSCALL_END:
    case GO_SYSCALL_END_BLOCKED: return end_syscall(reader, event, goroutine);
    case GO_STATUS:
    case GO_STATUS_STACK: return take_status(reader, event, err);
    case GO_SWITCH:
    case GO_SWITCH_DESTROY: return switch_to(reader, event, goroutine, err);
    }
    return go_take_mark(reader, event, goroutine, err);
}

void go_finish(struct go_reader *reader) {
    for (size_t i = 0; i < reader->goroutine_index.count; i++)
        end_wait(reader, &reader->goroutines[i], reader->last_ns, true);
    go_finish_marks(reader);
}
