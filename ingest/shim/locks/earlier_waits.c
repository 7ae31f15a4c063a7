#include "ingest/shim/locks/earlier_waits.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/shim/core/readable.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/locks/lock_trace.h"
#include "ingest/shim/locks/lockrecord.h"
#include "ingest/shim/locks/waits.h"
#include "ingest/shim/stacks/unwind.h"

struct earlier_wait {
    struct thread_counters *record; /* that tells of it; NULL: it is over */
    uintptr_t address;
    uint64_t since; /* ticks */
    int32_t tid;
    uint32_t object, kind; /* id; enum segment_object_kind */
    enum mode mode;
    bool in_hook;
};

/* They leave one by one. Zeros in a forked child, where none of these threads is. */
struct earlier_waits {
    uint32_t count;
    struct earlier_wait waits[ATTACH_WAITS_MOST];
};

static int32_t interrupted; /* the thread in which who attaches makes a call; 0: none */

static struct earlier_wait *find_wait(int32_t tid) {
    struct earlier_waits *earlier = load_acquire(&process->earlier_waits);
    for (uint32_t i = 0; earlier && i < earlier->count; i++)
        if (earlier->waits[i].tid == tid && earlier->waits[i].record) return &earlier->waits[i];
    return NULL;
}

/* --- their beginning ---------------------------------------------------------------------------------------------- */

/* PATH's end: a number. */
static void add_number(char *text, int number) {
    char digits[16], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    strncat(text, at, (size_t)(digits + sizeof digits - at));
}

/* The file, if it is a private one of this user and of our version; else NULL. */
static const struct attach_waits *map_waits(const char *directory, size_t *size) {
    char path[ATTACH_DIRECTORY_SIZE + 32] = "";
    struct stat status;
    strncat(path, directory, ATTACH_DIRECTORY_SIZE - 1);
    strcat(path, "/" ATTACH_WAITS_FILE);
    add_number(path, getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return NULL;
    bool is_private =
        fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 077);
    *size = is_private ? (size_t)status.st_size : 0;
    void *mapped = *size >= sizeof(struct attach_waits) ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (mapped == MAP_FAILED) return NULL;
    const struct attach_waits *found = mapped;
    bool is_ours = found->magic == SEGMENT_MAGIC && found->version == SEGMENT_VERSION &&
                   found->size == sizeof(struct attach_wait) && found->count <= ATTACH_WAITS_MOST &&
                   sizeof *found + found->count * sizeof(struct attach_wait) <= *size;
    if (is_ours) return found;
    munmap(mapped, *size);
    return NULL;
}

/* Whether the thread is in the system call in which it was seen: with the same arguments, at the same place of its stack. */
static bool still_waits(const struct attach_wait *wait) {
    char path[64] = "/proc/self/task/", call[ATTACH_WAIT_CALL] = "";
    add_number(path, wait->tid);
    strcat(path, "/syscall");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, call, sizeof call - 1);
    if (fd >= 0) close(fd);
    return size > 0 && memcmp(call, wait->call, sizeof call) == 0;
}

static bool is_lock(uint32_t kind) {
    return kind >= OBJECT_MUTEX && kind <= OBJECT_LOCK;
}

static uint32_t object_of(struct thread *thread, const struct attach_wait *wait) {
    struct walked_stack stack = {.pc = wait->pc, .depth = wait->depth, .flags = wait->flags};
    if (stack.depth > ATTACH_WAIT_FRAMES) stack.depth = ATTACH_WAIT_FRAMES;
    if (stack.depth > process->depth) {
        stack.depth = process->depth;
        stack.flags |= STACK_TRUNCATED;
    }
    struct object_key key = {.address = (uintptr_t)wait->object,
                             .class = is_lock(wait->kind) ? CLASS_LOCK : CLASS_WAIT};
    if (stack.depth && unwind_note_all(thread, &stack)) key.part = stack_intern(thread, &stack);
    return key.part ? object_intern(thread, key, (enum segment_object_kind)wait->kind) : 0;
}

/* A record of its own: the thread gets its usual one at its first call that is seen. */
static struct thread_counters *new_record(void) {
    process_lock();
    struct chunk *chunk = chunk_new(sizeof(struct thread_counters));
    if (chunk) chunk_publish(chunk, CHUNK_THREAD);
    process_unlock();
    return chunk ? chunk_body(chunk) : NULL;
}

/* Who has the lock, as it says itself; 0: it does not, or where it should lie is no memory. */
static int32_t owner_of(uintptr_t lock, uint32_t kind) {
    bool is_mutex = kind == OBJECT_MUTEX, is_rwlock = kind == OBJECT_RWLOCK;
    const void *object = (const void *)lock;
    if (is_mutex && memory_is_readable(lock + offsetof(pthread_mutex_t, __data.__owner))) return mutex_owner(object);
    if (is_rwlock && memory_is_readable(lock + offsetof(pthread_rwlock_t, __data.__cur_writer)))
        return rwlock_owner(object);
    return 0;
}

static uint32_t owner_to_tell(const struct attach_wait *wait) {
    int32_t owner = owner_of((uintptr_t)wait->object, wait->kind);
    return owner > 0 ? (uint32_t)owner : is_lock(wait->kind) ? WAIT_OWNER_UNKNOWN : WAIT_NO_LOCK;
}

/* As wait_publish does for a thread that tells of itself. */
static bool begins(struct thread *thread, const struct attach_wait *wait, struct earlier_wait *begun) {
    uint32_t object = object_of(thread, wait);
    struct thread_counters *record = object ? new_record() : NULL;
    if (!record) return false;
    *begun = (struct earlier_wait){.record = record,
                                   .address = (uintptr_t)wait->object,
                                   .since = clock_ticks(),
                                   .tid = wait->tid,
                                   .object = object,
                                   .kind = wait->kind,
                                   .mode = wait->is_shared ? SHARED : EXCLUSIVE,
                                   .in_hook = wait->in_hook};
    store_relaxed(&record->tid, (uint32_t)wait->tid);
    store_relaxed(&record->wait_owner, owner_to_tell(wait));
    if (is_lock(wait->kind)) store_relaxed(&record->wait_lock, wait->object);
    store_relaxed(&record->wait_object, object);
    store_relaxed(&record->wait_weight, 1);
    store_relaxed(&record->wait_shared, wait->is_shared);
    store_release(&record->wait_since, begun->since);
    return true;
}

void earlier_waits_begin(struct thread *thread, const char *directory) {
    size_t size;
    const struct attach_waits *found = thread && process->features & FEATURE_LOCKS ? map_waits(directory, &size) : NULL;
    if (!found) return;
    const struct attach_wait *wait = (const void *)(found + 1);
    struct earlier_waits *earlier = wiped_memory(sizeof *earlier);
    for (uint32_t i = 0; earlier && i < found->count; i++, wait++)
        if (wait->tid == interrupted || still_waits(wait))
            earlier->count += begins(thread, wait, &earlier->waits[earlier->count]);
    munmap((void *)(uintptr_t)found, size);
    if (earlier && earlier->count) store_release(&process->earlier_waits, earlier);
}

void earlier_wait_interrupted(void) {
    store_relaxed(&interrupted, trace_own_tid());
}

void earlier_wait_goes_on(void) {
    struct thread *thread = self;
    if (thread->state == THREAD_IDLE && !thread->orphan && find_wait(interrupted)) thread->state = THREAD_WAITS;
    store_relaxed(&interrupted, 0);
}

/* --- their end ---------------------------------------------------------------------------------------------------- */

/* What is neither a mutex nor has a writer does not say who has it. A mutex that was taken and given back unseen may be gone. A hook that the thread is
 * in notes the hold itself. */
static bool is_held(const struct earlier_wait *wait) {
    return !wait->in_hook && wait->kind == OBJECT_MUTEX && owner_of(wait->address, OBJECT_MUTEX) == wait->tid;
}

static void lock_wait_ends(struct thread *thread, const struct earlier_wait *wait, uint64_t now) {
    struct lock_counters *counters = lock_counters_of(thread, wait->object);
    struct attempt attempt = {.counters = counters, .weight = 1, .holds = 1, .kind = wait->kind, .asked = now};
    uint64_t took = now > wait->since ? now - wait->since : 0;
    if (!counters) return;
    if (wait->mode == SHARED || is_held(wait)) {
        lock_got_waiting(thread, (void *)wait->address, attempt, wait->mode, took);
        return;
    }
    add_own(&counters->acquires, 1);
    add_own(&counters->contended, 1);
    count_wait(attempt, EXCLUSIVE, took);
}

static void other_wait_ends(struct thread *thread, const struct earlier_wait *wait, uint64_t now) {
    struct wait_counters *counters = wait_counters_of(thread, wait->object);
    uint64_t took = now > wait->since ? now - wait->since : 0;
    if (!counters) return;
    if (wait->kind == OBJECT_COND) thread->earlier_holds = 0; /* it has a mutex again, and which is not known */
    *waited_for(thread, (const void *)wait->address) = (const void *)wait->address;
    add_own(&counters->passes, 1);
    add_own(&counters->waited, 1);
    add_own(&counters->wait, took);
    max_own(&counters->wait_max, took);
}

void earlier_wait_ends_slowly(struct thread *thread) {
    int32_t own = trace_own_tid();
    struct earlier_wait *wait = own == load_relaxed(&interrupted) ? NULL : find_wait(own);
    if (!wait) return;
    uint64_t now = clock_ticks();
    store_relaxed(&wait->record->waited_until, now);
    store_release(&wait->record->wait_since, 0); /* before it is counted: the collector must not see it twice */
    wait->record = NULL;
    if (is_lock(wait->kind))
        lock_wait_ends(thread, wait, now);
    else
        other_wait_ends(thread, wait, now);
}
