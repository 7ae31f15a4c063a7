#include "ingest/record/segment_view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a map that cannot kill us ----------------------------------------------------------------------------------- */

/* The map that is open now. A read of a page that the file does not have (it was truncated, or tmpfs is full) raises
 * SIGBUS; the handler maps a zero page there, and the read continues. */
static struct {
    volatile uintptr_t low, high;
    volatile sig_atomic_t patched;
    struct sigaction before;
} guard;

static void on_bus_error(int signal, siginfo_t *info, void *context) {
    (void)context;
    long page = sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)info->si_addr & ~((uintptr_t)page - 1);
    if (at >= guard.low && at < guard.high &&
        mmap((void *)at, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
        guard.patched = 1;
        return;
    }
    sigaction(signal, &guard.before,
              NULL); /* not in our map: the instruction runs again, with the handler from before */
}

static void guard_map(const void *bytes, size_t size) {
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    if (guard.low) bug("two segments are open at once");
    guard.low = (uintptr_t)bytes;
    guard.high = (uintptr_t)bytes + size;
    guard.patched = 0;
    sigaction(SIGBUS, &action, &guard.before);
}

static void unguard_map(void) {
    sigaction(SIGBUS, &guard.before, NULL);
    guard.low = guard.high = 0;
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

/* Reads the header and the size. 1: a segment, 0: not (yet) one. */
static int check_head(struct segment_view *view, const struct stat *status) {
    struct segment *head = &view->head;
    if (head->magic != SEGMENT_MAGIC || head->version != SEGMENT_VERSION || head->header_size != SEGMENT_HEADER_SIZE)
        return 0;
    head->executable[sizeof head->executable - 1] = '\0';
    uint64_t used = atomic_load_explicit(&head->used, memory_order_relaxed);
    if (used > (uint64_t)status->st_size) {
        view->corrupt = true;
        used = (uint64_t)status->st_size;
    }
    if (used < SEGMENT_HEADER_SIZE) {
        view->corrupt = used != 0;
        used = SEGMENT_HEADER_SIZE;
    }
    view->size = used;
    /* An id needs at least 16 bytes of memory. */
    view->id_max = (uint64_t)status->st_blocks * 512 / sizeof(struct segment_stack);
    return 1;
}

int segment_view_open(struct segment_view *view, int directory, const char *name, struct error *err) {
    *view = (struct segment_view){0};
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return error_fail(err, "%s: %s", name, strerror(errno));
    struct stat status;
    int found = 0;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        pread(file, &view->head, sizeof view->head, 0) == (ssize_t)sizeof view->head &&
        status.st_size >= SEGMENT_HEADER_SIZE)
        found = check_head(view, &status);
    if (found == 1) {
        void *map = mmap(NULL, view->size, PROT_READ, MAP_SHARED, file, 0);
        found = map == MAP_FAILED ? error_fail(err, "%s: mapping %zu bytes: %s", name, view->size, strerror(errno)) : 1;
        view->bytes = map == MAP_FAILED ? NULL : map;
    }
    close(file);
    if (found == 1) guard_map(view->bytes, view->mapped = view->size);
    return found;
}

void segment_view_close(struct segment_view *view) {
    if (!view->bytes) return;
    unguard_map();
    munmap((void *)(uintptr_t)view->bytes, view->mapped);
    view->bytes = NULL;
}

int segment_is_written(int directory, const char *name) {
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return errno == ENOENT ? 0 : -1;
    /* A read lease is refused while anyone has the file open for writing; a shared writable map counts as that. */
    int written = fcntl(file, F_SETLEASE, F_RDLCK) == 0 ? 0 : errno == EAGAIN ? 1 : -1;
    if (written == 0) fcntl(file, F_SETLEASE, F_UNLCK);
    close(file);
    return written;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static bool is_id(const struct segment_view *view, uint64_t id) {
    return id >= 1 && id <= view->id_max;
}

/* The number of entries of a list that fit in its chunk. */
static size_t clamp_count(struct segment_view *view, uint64_t count, size_t room, size_t each) {
    if (count <= room / each) return count;
    view->corrupt = true;
    return room / each;
}

/* Whether an entry of a list can be what the program wrote. Texts are ended. */

static bool module_is_sound(const struct segment_view *view, struct segment_module *module) {
    (void)view;
    module->path[sizeof module->path - 1] = '\0';
    return module->build_id_size <= SEGMENT_BUILD_ID_MAX && module->low <= module->high;
}

static bool object_is_sound(const struct segment_view *view, struct segment_object *object) {
    object->name[sizeof object->name - 1] = '\0';
    return is_id(view, object->id) && object->kind >= OBJECT_MUTEX && object->kind <= OBJECT_NAME;
}

static bool named_thread_is_sound(const struct segment_view *view, struct segment_thread *thread) {
    thread->name[sizeof thread->name - 1] = '\0';
    return is_id(view, thread->id);
}

static bool cpu_is_sound(const struct segment_view *view, struct segment_cpu *entry) {
    return is_id(view, entry->stack);
}

static bool io_is_sound(const struct segment_view *view, struct segment_io *entry) {
    return is_id(view, entry->stack) && entry->call && entry->call < IO_CALLS;
}

static bool mapping_is_sound(const struct segment_view *view, struct segment_mapping *entry) {
    return is_id(view, entry->stack) && entry->use && entry->use < MAPPING_USES;
}

static bool tally_is_sound(const struct segment_view *view, struct segment_tally *tally) {
    uint32_t histogram = tally->part >> TALLY_BUCKET_BITS, bucket = tally->part & ((1 << TALLY_BUCKET_BITS) - 1);
    return is_id(view, tally->stack) && histogram && histogram < HISTOGRAMS && bucket < 64;
}

static bool event_is_sound(const struct segment_view *view, struct segment_event *event) {
    if (!event->kind || event->kind >= EVENT_KINDS || event->end < event->begin) return false;
    if (event->kind == EVENT_THREAD) return true;
    bool has_object = event->kind < EVENT_ALLOC || event->kind > EVENT_DEATH;
    return (!has_object || is_id(view, event->object)) && (!event->stack || is_id(view, event->stack));
}

/* walk_LIST: gives each entry of a chunk's list to the visitor; a copy, because the program may be writing. */
#define WALKER(list, type)                                                                                             \
    static void walk_##list(struct segment_view *view, const unsigned char *body, size_t room, uint64_t count,         \
                            const struct segment_visitor *visitor, void *context) {                                    \
        count = clamp_count(view, count, room, sizeof(struct type));                                                   \
        for (size_t i = 0; i < count && visitor->list; i++) {                                                          \
            struct type entry;                                                                                         \
            memcpy(&entry, body + i * sizeof entry, sizeof entry);                                                     \
            if (!list##_is_sound(view, &entry)) {                                                                      \
                view->corrupt = true;                                                                                  \
                return;                                                                                                \
            }                                                                                                          \
            visitor->list(context, &entry);                                                                            \
        }                                                                                                              \
    }

WALKER(module, segment_module)
WALKER(object, segment_object)
WALKER(named_thread, segment_thread)
WALKER(cpu, segment_cpu)
WALKER(io, segment_io)
WALKER(mapping, segment_mapping)
WALKER(tally, segment_tally)

static uint64_t turn_of(const struct chunk *chunk) {
    return __atomic_load_n(&chunk->first_id, __ATOMIC_ACQUIRE);
}

/* The count must be of the turn: one that changes meanwhile has 0, and is read at the next flush. */
static void walk_events(struct segment_view *view, size_t at, size_t room, const struct segment_visitor *visitor,
                        void *context) {
    const struct chunk *chunk = (const void *)(view->bytes + at);
    uint64_t turn = turn_of(chunk), count = atomic_load_explicit(&chunk->count, memory_order_acquire);
    size_t most = SEGMENT_EVENTS * sizeof(struct segment_event); /* readers make room for as many */
    count =
        turn_of(chunk) == turn ? clamp_count(view, count, room < most ? room : most, sizeof(struct segment_event)) : 0;
    if (visitor->event_chunk) visitor->event_chunk(context, at, turn, count);
}

size_t segment_view_events(struct segment_view *view, size_t offset, uint64_t turn, size_t from, size_t count,
                           struct segment_event *events) {
    const struct chunk *chunk = (const void *)(view->bytes + offset);
    const unsigned char *first = (const unsigned char *)(chunk + 1) + from * sizeof *events;
    size_t found = 0;
    if (offset > view->size || first > view->bytes + view->size ||
        (size_t)(view->bytes + view->size - first) / sizeof *events < count)
        return 0;
    memcpy(events, first, count * sizeof *events);
    atomic_thread_fence(memory_order_acquire); /* pairs with that of empty_oldest in ingest/shim/events/trace.c */
    if (turn_of(chunk) != turn) return 0;
    while (found < count && event_is_sound(view, &events[found]))
        found++;
    if (found < count) view->corrupt = true;
    return found;
}

const uint64_t *segment_view_stack(const struct segment_view *view, size_t offset, struct segment_stack *stack) {
    if (offset % 8 || offset > view->size || view->size - offset < sizeof *stack) return NULL;
    memcpy(stack, view->bytes + offset, sizeof *stack);
    atomic_signal_fence(memory_order_seq_cst); /* the compiler must check the copy, not the map */
    if (!is_id(view, stack->id) || stack->depth > SEGMENT_DEPTH_MAX) return NULL;
    if ((view->size - offset - sizeof *stack) / sizeof(uint64_t) < stack->depth) return NULL;
    return (const uint64_t *)(const void *)(view->bytes + offset + sizeof *stack);
}

static void walk_stacks(struct segment_view *view, size_t at, size_t end, uint64_t count,
                        const struct segment_visitor *visitor, void *context) {
    if (!visitor->stack || (visitor->wants_stacks && !visitor->wants_stacks(context, at, count))) return;
    for (uint64_t i = 0; i < count; i++) {
        struct segment_stack stack;
        const uint64_t *pcs = segment_view_stack(view, at, &stack);
        size_t size = pcs ? sizeof stack + stack.depth * sizeof(uint64_t) : 0;
        if (!pcs || size > end - at) {
            view->corrupt = true;
            return;
        }
        visitor->stack(context, &stack, at);
        at += size;
    }
}

/* The copy is of the fixed part, and what it says of the texts is checked: the program may be writing. */
static void walk_codes(struct segment_view *view, const unsigned char *body, size_t room, uint64_t count,
                       const struct segment_visitor *visitor, void *context) {
    size_t at = 0;
    for (uint64_t i = 0; i < count && visitor->code; i++) {
        struct segment_code head;
        uint64_t size = sizeof head;
        bool is_there = room - at >= sizeof head;
        if (is_there) {
            memcpy(&head, body + at, sizeof head);
            atomic_signal_fence(memory_order_seq_cst);
            size += (uint64_t)head.name_size + head.file_size + head.lines_size;
        }
        if (!is_there || size > room - at || !head.id || head.id > PYTHON_CODE_MAX || !is_id(view, head.id)) {
            view->corrupt = true;
            return;
        }
        struct segment_code *code = xrealloc(NULL, size);
        memcpy(code, &head, sizeof head);
        memcpy(code->texts, body + at + sizeof head, size - sizeof head);
        visitor->code(context, code);
        free(code);
        at += (size + 7) & ~7ull;
        if (at > room) at = room;
    }
}

/* Bytes of one id's counters; 0 for a kind that holds none. */
static size_t counter_size(uint32_t kind) {
    switch (kind) {
    case CHUNK_HEAP: return sizeof(struct heap_counters);
    case CHUNK_LEAK: return sizeof(struct leak_counters);
    case CHUNK_HEAP_DETAILS: return sizeof(struct heap_details);
    case CHUNK_LOCK: return sizeof(struct lock_counters);
    case CHUNK_CELL: return sizeof(struct cell_counters);
    case CHUNK_CHANNEL: return sizeof(struct channel_counters);
    case CHUNK_TASK: return sizeof(struct task_counters);
    case CHUNK_SPIN: return sizeof(struct spin_counters);
    case CHUNK_START: return sizeof(struct start_counters);
    case CHUNK_WAIT: return sizeof(struct wait_counters);
    default: return 0;
    }
}

/* The number of entries whose ids are valid. */
static void walk_counters(struct segment_view *view, uint32_t kind, uint64_t first_id, const unsigned char *body,
                          size_t room, const struct segment_visitor *visitor, void *context) {
    size_t each = counter_size(kind), count = room / each;
    if (count > SEGMENT_COUNTER_IDS) count = SEGMENT_COUNTER_IDS;
    if (first_id > view->id_max) return;
    if (count > view->id_max - first_id + 1) count = (size_t)(view->id_max - first_id + 1);
    if (visitor->counters && count)
        visitor->counters(context, kind, first_id, (const void *)body, each / sizeof(uint64_t), count);
}

void segment_view_walk(struct segment_view *view, const struct segment_visitor *visitor, void *context) {
    size_t at = SEGMENT_HEADER_SIZE;
    while (view->size - at >= sizeof(struct chunk)) {
        const struct chunk *chunk = (const void *)(view->bytes + at);
        uint32_t kind = atomic_load_explicit(&chunk->kind, memory_order_acquire);
        uint64_t count = atomic_load_explicit(&chunk->count, memory_order_acquire), size = chunk->size;
        if (!kind && !size) break; /* reserved, and not yet filled */
        if (size < sizeof *chunk || size % SEGMENT_ALIGNMENT || size > view->size - at) {
            view->corrupt = true;
            break;
        }
        const unsigned char *body = (const unsigned char *)(chunk + 1);
        size_t room = size - sizeof *chunk;
        switch (kind) {
        case CHUNK_NONE: break; /* not published yet */
        case CHUNK_MODULES: walk_module(view, body, room, count, visitor, context); break;
        case CHUNK_STACKS: walk_stacks(view, at + sizeof *chunk, at + size, count, visitor, context); break;
        case CHUNK_CODES: walk_codes(view, body, room, count, visitor, context); break;
        case CHUNK_CPU: walk_cpu(view, body, room, count, visitor, context); break;
        case CHUNK_IO: walk_io(view, body, room, count, visitor, context); break;
        case CHUNK_TALLY: walk_tally(view, body, room, count, visitor, context); break;
        case CHUNK_EVENTS: walk_events(view, at, room, visitor, context); break;
        case CHUNK_MAPPING: walk_mapping(view, body, room, count, visitor, context); break;
        case CHUNK_THREADS: walk_named_thread(view, body, room, count, visitor, context); break;
        case CHUNK_OBJECTS: walk_object(view, body, room, count, visitor, context); break;
        case CHUNK_THREAD:
            if (clamp_count(view, 1, room, sizeof(struct thread_counters)) && visitor->thread)
                visitor->thread(context, (const void *)body);
            break;
        default:
            if (counter_size(kind))
                walk_counters(view, kind, chunk->first_id, body, room, visitor, context);
            else
                view->corrupt = true;
        }
        at += size;
    }
    if (guard.patched) view->corrupt = true;
}
