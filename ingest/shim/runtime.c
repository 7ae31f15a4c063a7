#include "ingest/shim/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ingest/shim/blocks.h"
#include "ingest/shim/cpu.h"
#include "ingest/shim/cpu_time.h"
#include "ingest/shim/intern.h"
#include "ingest/shim/peak.h"
#include "ingest/shim/real.h"
#include "ingest/shim/sample.h"
#include "ingest/shim/stackrange.h"
#include "ingest/shim/threads.h"
#include "ingest/shim/trace.h"
#include "ingest/shim/unwind.h"
#include "ingest/shim/waits.h"

enum {
    SEGMENT_LEAST = 1 << 20,      /* with less room nothing is recorded */
    SEGMENT_STEP_MOST = 64 << 20, /* bytes that are mapped at once */
    SEGMENT_SHARE = 16,           /* the segment takes at most one part in so many of a limit of address space */
    POPULATE_FIRST = 64 << 10,
    POPULATE_MOST = 1 << 20,
    INDEX_FIRST = 1 << 12,
    SPINS = 100,
};

/* What `process` and `self` point at before the first hook. Zeros read as "not started" and "not initialised". */
static struct process no_process;
static struct thread no_thread;

struct process *process = &no_process;
uint32_t heap_mode = HEAP_EVERY;
uint32_t is_io_off;
static uint32_t never_paused;
uint32_t *paused = &never_paused;
__thread struct thread *volatile self = &no_thread;

/* These stay true across a fork. */
static char directory[256];
static struct control *control;
static pthread_key_t thread_end_key;
static uint32_t thread_end_key_made;

uint64_t clock_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_ticks_of(uint64_t ns) {
    if (!(process->features & FEATURE_TSC)) return ns;
    double elapsed_ns = (double)(clock_monotonic_ns() - process->segment->start_monotonic_ns);
    double elapsed_ticks = (double)(clock_ticks() - process->segment->start_ticks);
    return elapsed_ns > 0 ? (uint64_t)((double)ns * elapsed_ticks / elapsed_ns) : ns;
}

/* --- memory --------------------------------------------------------------------------------------------------- */

static void *map_memory(size_t size, int advice) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size, MADV_DONTDUMP);
    if (madvise(memory, size, advice) == 0) return memory;
    munmap(memory, size);
    return NULL;
}

/* A sealed process takes memory from the pool that was mapped when it was sealed. */
static void *pool_memory(size_t size) {
    uint64_t whole = (size + 63) & ~(uint64_t)63, at = fetch_add_relaxed(&process->pool_used, whole);
    return at + whole <= process->pool_size ? process->pool + at : NULL;
}

void *private_memory(size_t size) {
    return is_sealed() ? pool_memory(size) : map_memory(size, MADV_DONTFORK);
}

void private_memory_free(void *memory, size_t size) {
    if (!is_sealed()) munmap(memory, size);
}

/* --- the lock: a futex as in Drepper's "Futexes Are Tricky", after a short spin -------------------------------- */

static bool process_try_lock(void) {
    uint32_t expected = 0;
    return compare_exchange(&process->lock, &expected, 1);
}

void process_lock(void) {
    for (int i = 0; i < SPINS; i++) {
        if (process_try_lock()) return;
        __builtin_ia32_pause();
    }
    while (exchange_acq_rel(&process->lock, 2)) {
        if (is_sealed())
            __builtin_ia32_pause();
        else
            syscall(SYS_futex, &process->lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    }
}

bool process_lock_from(const struct thread *thread) {
    if (unlikely(thread->is_ticking == TICK_INSIDE)) return process_try_lock();
    process_lock();
    return true;
}

void process_unlock(void) {
    if (exchange_acq_rel(&process->lock, 0) != 2 || is_sealed()) return;
    syscall(SYS_futex, &process->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* --- chunks --------------------------------------------------------------------------------------------------- */

/* The most addresses that the segment may have under the limit of address space (ulimit -v) as it is now. */
static uint64_t address_share(void) {
    struct rlimit limit;
    bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? limit.rlim_cur / SEGMENT_SHARE & ~(uint64_t)4095 : UINT64_MAX;
}

/* Gives addresses to the segment up to `end`. It grows where it is and in pieces, as it needs them: a program may limit
 * its address space at any time, and mlockall gives memory to all that is mapped. */
static bool map_more(uint64_t end) {
    if (end <= process->mapped) return true;
    uint64_t step = process->mapped < SEGMENT_STEP_MOST ? process->mapped : SEGMENT_STEP_MOST, most = address_share();
    uint64_t wanted = (end + step - 1) / step * step;
    if (wanted > process->reserved) wanted = process->reserved;
    if (wanted > most) wanted = most;
    if (wanted < end || mremap(process->segment, process->mapped, wanted, 0) == MAP_FAILED) return false;
    process->mapped = wanted;
    return true;
}

/* Gives memory to the segment up to `end`, ahead of its use. MADV_POPULATE_WRITE fails where a plain write to a full
 * file system would kill the program with SIGBUS. It needs no file descriptor, so programs that close them all or
 * change their user or root lose nothing. */
static bool populate(uint64_t end) {
    if (end <= process->populated) return true;
    uint64_t step = process->populated < POPULATE_FIRST ? POPULATE_FIRST : process->populated;
    if (step > POPULATE_MOST) step = POPULATE_MOST;
    uint64_t wanted = (end + step - 1) / step * step;
    if (wanted > process->reserved) wanted = process->reserved;
    if (wanted < end || is_sealed() || !map_more(wanted)) return false;
    if (madvise((char *)process->segment + process->populated, wanted - process->populated, MADV_POPULATE_WRITE) != 0)
        return false;
    process->populated = wanted;
    return true;
}

void process_seal(void) {
    enum { SEGMENT_READY = 2 << 20, POOL_SIZE = 256 << 20 }; /* the pool takes memory only as it is used */
    process_lock();
    if (!is_sealed()) {
        populate(process->populated + SEGMENT_READY);
        process->pool = map_memory(POOL_SIZE, MADV_DONTFORK);
        process->pool_size = process->pool ? POOL_SIZE : 0;
        cpu_stop();
        store_release(&process->is_sealed, 1);
    }
    process_unlock();
}

struct chunk *chunk_new(uint64_t body) {
    uint64_t at = load_relaxed(&process->segment->used);
    uint64_t size = sizeof(struct chunk) + ((body + SEGMENT_ALIGNMENT - 1) & ~(uint64_t)(SEGMENT_ALIGNMENT - 1));
    if (!populate(at + size)) return NULL;
    struct chunk *chunk = (struct chunk *)((char *)process->segment + at);
    chunk->size = size;
    store_release(&process->segment->used, at + size);
    return chunk;
}

void chunk_publish(struct chunk *chunk, enum chunk_kind kind) {
    store_release(&chunk->kind, kind);
}

static void *counters_chunk(struct thread *thread, uint32_t id, size_t entry_size, enum chunk_kind kind) {
    if (!process_lock_from(thread)) return NULL;
    struct chunk *chunk = chunk_new(SEGMENT_COUNTER_IDS * entry_size);
    if (chunk) {
        chunk->first_id = id / SEGMENT_COUNTER_IDS * SEGMENT_COUNTER_IDS;
        chunk_publish(chunk, kind);
    }
    process_unlock();
    return chunk ? chunk_body(chunk) : NULL;
}

#define X(name, type, chunk, chunks)                                                                                   \
    COLD type *name##_counters_slowly(struct thread *thread, uint32_t id) {                                            \
        type *counters = counters_chunk(thread, id, sizeof *counters, chunk);                                          \
        if (!counters) return NULL;                                                                                    \
        thread->name[id / SEGMENT_COUNTER_IDS] = counters;                                                             \
        return &counters[id % SEGMENT_COUNTER_IDS];                                                                    \
    }
COUNTER_KINDS(X)
#undef X

/* --- starting a process --------------------------------------------------------------------------------------- */

/* The control file, if it is a private file of this user and of our version; else NULL. */
static struct control *map_control(void) {
    char path[sizeof directory + 16];
    struct stat status;
    size_t length = strlen(directory);
    memcpy(path, directory, length);
    memcpy(path + length, "/control", sizeof "/control");
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return NULL;
    void *mapped = MAP_FAILED;
    bool is_private = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                      (status.st_mode & 077) == 0 && (size_t)status.st_size >= sizeof(struct control);
    if (is_private) mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) return NULL;
    struct control *found = mapped;
    bool is_ours = found->magic == SEGMENT_MAGIC && found->version == SEGMENT_VERSION && found->size == sizeof *found &&
                   found->depth >= 1 && found->depth <= SEGMENT_DEPTH_MAX;
    if (is_ours) return found;
    munmap(mapped, sizeof(struct control));
    return NULL;
}

static bool find_control(void) {
    if (control) return true;
    const char *named = secure_getenv(CLEAR_RT_DIR_VARIABLE);
    if (!named || *named != '/' || strlen(named) >= sizeof directory) return false;
    strcpy(directory, named);
    control = map_control();
    if (control) paused = (uint32_t *)&control->is_paused;
    return control != NULL;
}

struct control *shared_control(void) {
    return control;
}

static char *append_number(char *at, uint64_t number) {
    char digits[24];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        *at++ = digits[--count];
    return at;
}

enum { SEGMENT_PATH_SIZE = sizeof directory + 64 };

/* DIRECTORY/PID-NANOSECONDS.seg; a pid can come again after exec, so the time tells images apart. */
static void segment_path(char *path, uint64_t now) {
    size_t length = strlen(directory);
    memcpy(path, directory, length);
    char *at = path + length;
    *at++ = '/';
    at = append_number(at, (uint64_t)getpid());
    *at++ = '-';
    at = append_number(at, now);
    memcpy(at, ".seg", sizeof ".seg");
}

/* Far below the libraries, where a program that maps less than a TiB leaves the addresses above free for the segment
 * to grow. Where others have been taken, the whole segment is mapped at once. */
static void *map_first_piece(int fd) {
    enum { PLACES = 4 };
    uint64_t tib = UINT64_C(1) << 40, base = (uintptr_t)&no_process & ~(uint64_t)4095;
    process->mapped = SEGMENT_LEAST;
    for (uint64_t i = 1; i <= PLACES && i * tib < base; i++) {
        void *place = (void *)(base - i * tib);
        void *mapped = mmap(place, SEGMENT_LEAST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (mapped == place) return mapped;
        if (mapped != MAP_FAILED) munmap(mapped, SEGMENT_LEAST);
    }
    process->mapped = process->reserved < address_share() ? process->reserved : address_share();
    return mmap(NULL, process->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
}

/* A sparse file as large as segment_max. Growing past the limit of file sizes (ulimit -f) would send SIGXFSZ, so that
 * limit is read first. */
static void *map_segment_file(int fd) {
    struct rlimit limit;
    process->reserved = control->segment_max;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < process->reserved)
        process->reserved = limit.rlim_cur & ~(uint64_t)4095;
    while (process->reserved >= SEGMENT_LEAST && ftruncate(fd, (off_t)process->reserved) != 0)
        process->reserved /= 2;
    if (process->reserved < SEGMENT_LEAST || address_share() < SEGMENT_LEAST) return NULL;
    void *mapped = map_first_piece(fd);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static bool map_segment(uint64_t now) {
    char path[SEGMENT_PATH_SIZE];
    segment_path(path, now);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return false;
    process->segment = map_segment_file(fd);
    close(fd);
    bool is_safe = process->segment && madvise(process->segment, process->mapped, MADV_DONTFORK) == 0;
    if (is_safe && populate(SEGMENT_HEADER_SIZE)) {
        madvise(process->segment, process->mapped, MADV_DONTDUMP);
        return true;
    }
    unlink(path);
    if (process->segment) munmap(process->segment, process->mapped);
    return false;
}

/* A program may bring its own allocator, linked in or preloaded before us. Then the hooks of the heap are never called,
 * and the segment must not say that the heap was recorded. */
static bool is_heap_hooked(void) {
    return dlsym(RTLD_DEFAULT, "malloc") == (void *)malloc;
}

static void fill_header(uint64_t now) {
    struct segment *segment = process->segment;
    segment->version = SEGMENT_VERSION;
    segment->header_size = SEGMENT_HEADER_SIZE;
    segment->features = process->features;
    segment->pid = getpid();
    segment->ppid = getppid();
    segment->start_realtime_ns = now;
    segment->start_monotonic_ns = clock_monotonic_ns();
    segment->start_ticks = clock_ticks();
    segment->depth = process->depth;
    segment->cpu_hz = process->cpu_hz;
    ssize_t length = readlink("/proc/self/exe", segment->executable, sizeof segment->executable - 1);
    segment->executable[length > 0 ? length : 0] = '\0';
    store_relaxed(&segment->used, SEGMENT_HEADER_SIZE);
    store_release(&segment->magic, SEGMENT_MAGIC);
}

static bool start_tables(void) {
    process->stacks = index_new(INDEX_FIRST);
    process->objects = index_new(INDEX_FIRST);
    return process->stacks && process->objects && rules_start() && blocks_start();
}

static bool is_followed(void) {
    return !(control->features & FEATURE_NO_CHILDREN) || getpid() == control->first_pid;
}

static uint64_t clock_realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- files of a program that dumps by itself ------------------------------------------------------------------- */

static void write_digits(char *at, size_t size, uint64_t number) {
    while (size--) {
        at[size] = (char)('0' + number % 10);
        number /= 10;
    }
}

/* The ID in a value that begins with "DIRECTORY/ID."; NULL where it does not, because the user has set it. */
static char *dump_id(char *value) {
    size_t length = strlen(directory);
    if (strncmp(value, directory, length) != 0 || value[length] != '/') return NULL;
    char *id = value + length + 1;
    size_t digits = strspn(id, "0123456789");
    if (digits != SEGMENT_DUMP_PID || id[digits] != '-') return NULL;
    return strspn(id + digits + 1, "0123456789") == SEGMENT_DUMP_ID - SEGMENT_DUMP_PID - 1 && id[SEGMENT_DUMP_ID] == '.'
               ? id
               : NULL;
}

/* Writes this process's ID into the variables that name its dumps (SEGMENT_NO_DUMP_ID). It runs before main or in a
 * forked child, so in one thread. The lengths of the values stay, so nothing is allocated. */
static void name_dumps(uint64_t now) {
    for (char **variable = environ; *variable; variable++) {
        if (strncmp(*variable, "CLEAR_", strlen("CLEAR_")) != 0) continue;
        char *value = strchr(*variable, '='), *id = value ? dump_id(value + 1) : NULL;
        if (!id) continue;
        write_digits(id, SEGMENT_DUMP_PID, (uint64_t)getpid());
        write_digits(id + SEGMENT_DUMP_PID + 1, SEGMENT_DUMP_ID - SEGMENT_DUMP_PID - 1, now);
    }
}

static bool start_recording(uint64_t now_ns) {
    process->features = control->features;
    if (!is_heap_hooked()) process->features &= ~(uint32_t)FEATURE_HEAP;
    process->depth = control->depth;
    process->ids_max = control->ids_max;
    process->sample_bytes = control->sample_bytes;
    process->sample_n = control->sample_n;
    store_relaxed(&process->cpu_hz, process->features & FEATURE_CPU ? control->cpu_hz : 0);
    if (!start_tables() || !map_segment(now_ns)) {
        fetch_add_relaxed(&control->unrecorded_processes, 1);
        return false;
    }
    if (process->cpu_hz && !cpu_start()) store_relaxed(&process->cpu_hz, 0);
    fill_header(now_ns);
    cpu_time_start();
    return true;
}

static void thread_ended(void *thread);

static void begin_trace(uint32_t kinds) {
    if (kinds & TRACE_ALLOC && process->features & FEATURE_HEAP) process->features |= FEATURE_ALLOC_EVENTS;
    store_relaxed(&trace_kinds, kinds);
}

/* The first hook of a process. One thread starts it; what others do meanwhile is not recorded. libc is ready once
 * `environ` is set; before that (allocations of the dynamic loader) nothing is decided. */
static COLD bool process_start(void) {
    uint32_t state = load_acquire(&process->state);
    if (state == PROCESS_READY) return true;
    if (state != PROCESS_NEW || !environ) return false;
    if (process == &no_process) {
        struct process *memory = map_memory(sizeof *memory, MADV_WIPEONFORK);
        if (!memory) return false;
        struct process *expected = &no_process;
        if (!compare_exchange(&process, &expected, memory)) private_memory_free(memory, sizeof *memory);
    }
    uint32_t expected = PROCESS_NEW;
    if (!compare_exchange(&process->state, &expected, PROCESS_STARTING)) return false;
    bool is_key_made = thread_end_key_made || pthread_key_create(&thread_end_key, thread_ended) == 0;
    thread_end_key_made = is_key_made;
    bool is_controlled = is_key_made && find_control();
    uint64_t now_ns = clock_realtime_ns();
    if (is_controlled)
        name_dumps(now_ns); /* also in a child that is not recorded: it must not overwrite its parent's */
    bool is_recording = is_controlled && is_followed() && start_recording(now_ns);
    if (!is_recording || !(process->features & FEATURE_HEAP))
        store_relaxed(&heap_mode, HEAP_OFF);
    else if (process->sample_n > 1 || process->sample_bytes > 1)
        store_relaxed(&heap_mode, HEAP_SAMPLED);
    if (!is_recording || !(process->features & FEATURE_IO)) store_relaxed(&is_io_off, 1);
    if (is_recording && process->features & FEATURE_TRACE) begin_trace(shared_control()->trace_kinds);
    store_release(&process->state, is_recording ? PROCESS_READY : PROCESS_OFF);
    return is_recording;
}

/* --- threads -------------------------------------------------------------------------------------------------- */

static struct thread *new_thread(void) {
    struct thread *thread = map_memory(sizeof *thread, MADV_WIPEONFORK);
    if (!thread) return NULL;
    process_lock();
    struct chunk *chunk = chunk_new(sizeof(struct thread_counters));
    if (chunk) chunk_publish(chunk, CHUNK_THREAD);
    process_unlock();
    if (!chunk) {
        private_memory_free(thread, sizeof *thread);
        return NULL;
    }
    thread->counters = chunk_body(chunk);
    peak_begin(thread);
    return thread;
}

/* A thread that ended leaves its counters to the next one: they are sums. */
static struct thread *take_thread(void) {
    process_lock();
    struct thread *thread = process->free_threads;
    if (thread) process->free_threads = thread->next_free;
    process_unlock();
    return thread ? thread : new_thread();
}

static void give_thread(struct thread *thread) {
    process_lock();
    thread->next_free = process->free_threads;
    process->free_threads = thread;
    process_unlock();
}

static void make_orphan(void) {
    struct thread *orphan = new_thread();
    if (!orphan) return;
    orphan->orphan = 1;
    process_lock();
    bool is_first = !process->orphan;
    if (is_first) store_release(&process->orphan, orphan);
    process_unlock();
    if (is_first) return;
    orphan->orphan = 0; /* two threads ended at once: the next thread gets this one */
    give_thread(orphan);
}

static void begin_thread(struct thread *thread) {
    thread->errno_at = &errno;
    thread->held_count = 0;
    thread->light = NULL;
    thread->light_since = 0;
    thread->exit_rounds = 0;
    thread->birth_number = 0;
    thread->tid = 0;
    thread->traced_object = 0;
    thread->region_count = 0;
    stack_range_start(thread);
    sample_start(thread);
    pthread_setspecific(thread_end_key, thread);
    life_begins(thread);
    if (load_relaxed(&process->cpu_hz)) cpu_begin(thread);
}

/* `self` points at the first while a thread begins, and at the second in a thread that there was no room for: each of
 * its events is counted as dropped. Their states are set at run time, because initialised data would add a megabyte to
 * the file for each. */
static struct thread busy_thread, unrecorded_thread;

/* The first hook of a thread: from here on it is recorded. Hooks that are called inside this function are not. */
static COLD struct thread *thread_start(void) {
    int saved_errno = errno;
    struct thread *before = self, *thread = NULL;
    store_relaxed(&busy_thread.state, THREAD_BUSY);
    self = &busy_thread;
    bool is_recording = process_start();
    if (is_recording && !is_sealed()) thread = take_thread();
    if (thread) {
        begin_thread(thread);
        thread->state = THREAD_BUSY;
        self = thread;
    } else if (is_recording) { /* no room: this thread stays unrecorded, and does not try again */
        store_relaxed(&unrecorded_thread.state, THREAD_BUSY);
        self = &unrecorded_thread;
        fetch_add_relaxed(&process->segment->dropped_heap, 1);
    } else {
        self = before;
    }
    errno = saved_errno;
    return thread;
}

/* A thread still frees after its end was noted (its TLS, destructors of other keys). That is recorded in the orphan, a
 * struct thread which all such threads share. */
static COLD struct thread *enter_orphan(void) {
    struct thread *orphan = load_acquire(&process->orphan);
    self = &busy_thread;
    while (exchange_acq_rel(&process->orphan_lock, 1))
        __builtin_ia32_pause();
    orphan->errno_at = &errno;
    orphan->held_count = 0;
    orphan->stack = (struct stack_range){0, 0}; /* of any thread: looked up when a stack is walked */
    return orphan;
}

void thread_leave_orphan(struct thread *thread) {
    store_release(&process->orphan_lock, 0);
    self = thread;
}

COLD struct thread *thread_enter_slowly(void) {
    struct thread *thread = self;
    uint32_t state = load_acquire(&process->state);
    if (thread == &unrecorded_thread && state == PROCESS_READY) {
        fetch_add_relaxed(&process->segment->dropped_heap, 1);
        return NULL;
    }
    bool is_busy = thread->state == THREAD_BUSY && thread != &unrecorded_thread;
    if (is_busy || thread == &busy_thread) return NULL;
    if (state == PROCESS_OFF || state == PROCESS_STARTING) return NULL;
    if (state == PROCESS_READY && thread->orphan) return enter_orphan();
    return thread_start();
}

/* The destructor of our thread-specific key. It puts itself off to the last round of destructors, so that what the
 * others free is still recorded as the thread's own. */
static void thread_ended(void *value) {
    struct thread *thread = value;
    if (load_acquire(&process->state) != PROCESS_READY || self != thread) return;
    if (++thread->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(thread_end_key, thread);
        return;
    }
    int saved_errno = errno;
    thread->state = THREAD_BUSY;
    cpu_end(thread);
    wait_abandoned(thread);
    if (traces(TRACE_THREAD)) trace_moment(thread, EVENT_DEATH, NULL);
    life_ends(thread);
    if (!load_acquire(&process->orphan)) make_orphan();
    struct thread *orphan = load_acquire(&process->orphan);
    self = orphan ? orphan : &busy_thread;
    give_thread(thread);
    errno = saved_errno;
}

/* At load: a program that neither allocates nor locks gets a segment too, and with it its row in the warehouse. */
__attribute__((constructor)) static void process_loaded(void) {
    real_resolve(); /* before there are threads to see the pointers change */
    struct thread *thread = thread_enter();
    if (thread) thread_leave(thread);
}
