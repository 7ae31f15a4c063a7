#include "ingest/shim/core/segment_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ingest/shim/core/control.h"

enum {
    SEGMENT_LEAST = 1 << 20,      /* with less room nothing is recorded */
    SEGMENT_STEP_MOST = 64 << 20, /* bytes that are mapped at once */
    SEGMENT_SHARE = 16,           /* the segment takes at most one part in so many of a limit of address space */
    POPULATE_FIRST = 64 << 10,
    POPULATE_SHARE = 8, /* ahead of its use is at most one part in so many */
    POPULATE_MOST = 1 << 20,
};

/* --- growth --------------------------------------------------------------------------------------------------- */

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

/* To find out that there is no room takes two system calls with the lock held, and a program may come here with each allocation: 8 threads with 20,000 stacks
 * in a /dev/shm of 12 MiB took 8 times as long as with room. What frees room is the end of other processes. */
bool segment_is_full(void) {
    uint64_t until = load_relaxed(&process->full_until_ns);
    return unlikely(until) && !is_sealed() && clock_monotonic_ns() < until; /* a clock may be a system call */
}

static bool note_full(void) {
    enum { PATIENCE_NS = 50000000 };
    store_relaxed(&process->full_until_ns, clock_monotonic_ns() + PATIENCE_NS);
    return false;
}

/* Gives memory to the segment up to `end`, ahead of its use. MADV_POPULATE_WRITE fails where a plain write to a full
 * file system would kill the program with SIGBUS. It needs no file descriptor, so programs that close them all or
 * change their user or root lose nothing. */
bool segment_populate(uint64_t end) {
    if (end <= process->populated) return true;
    uint64_t step = process->populated / POPULATE_SHARE / POPULATE_FIRST * POPULATE_FIRST;
    if (step < POPULATE_FIRST) step = POPULATE_FIRST;
    if (step > POPULATE_MOST) step = POPULATE_MOST;
    uint64_t wanted = (end + step - 1) / step * step;
    if (wanted > process->reserved) wanted = process->reserved;
    if (wanted < end || !process_open_locked() || segment_is_full()) return false;
    char *from = (char *)process->segment + process->populated;
    if (!map_more(wanted) || madvise(from, wanted - process->populated, MADV_POPULATE_WRITE) != 0) return note_full();
    process->populated = wanted;
    store_relaxed(&process->full_until_ns, 0);
    return true;
}

/* --- the file ------------------------------------------------------------------------------------------------- */

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

enum { SEGMENT_PATH_SIZE = CONTROL_DIRECTORY_SIZE + 64 };

/* DIRECTORY/PID-NANOSECONDS.seg; a pid can come again after exec, so the time tells images apart. */
static void segment_path(char *path, uint64_t now) {
    size_t length = strlen(control_directory());
    memcpy(path, control_directory(), length);
    char *at = path + length;
    *at++ = '/';
    at = append_number(at, (uint64_t)getpid());
    *at++ = '-';
    at = append_number(at, now);
    memcpy(at, ".seg", sizeof ".seg");
}

/* Far below the libraries, where a program that maps less than a TiB leaves the addresses above free for the segment
 * to grow. Where others have been taken, the whole segment is mapped at once. A process that is attached to again and again has what is left of
 * its earlier segments there (segment_leave), so each begins below all that the one before could have had. */
static void *map_first_piece(int fd) {
    enum { PLACES = 4, TURNS = 48 };
    static uint64_t turn; /* one segment is mapped at a time */
    uint64_t tib = UINT64_C(1) << 40, turns = tib / 2 / process->reserved < TURNS ? tib / 2 / process->reserved : TURNS;
    uint64_t base = ((uintptr_t)&process & ~(uint64_t)4095) - (turns ? turn++ % turns * process->reserved : 0);
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
    process->reserved = shared_control()->segment_max;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < process->reserved)
        process->reserved = limit.rlim_cur & ~(uint64_t)4095;
    while (process->reserved >= SEGMENT_LEAST && ftruncate(fd, (off_t)process->reserved) != 0)
        process->reserved /= 2;
    if (process->reserved < SEGMENT_LEAST || address_share() < SEGMENT_LEAST) return NULL;
    void *mapped = map_first_piece(fd);
    return mapped == MAP_FAILED ? NULL : mapped;
}

bool segment_map(uint64_t now) {
    char path[SEGMENT_PATH_SIZE];
    segment_path(path, now);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return false;
    process->populated = 0; /* of an earlier segment */
    process->segment = map_segment_file(fd);
    close(fd);
    bool is_safe = process->segment && madvise(process->segment, process->mapped, MADV_DONTFORK) == 0;
    if (is_safe && segment_populate(SEGMENT_HEADER_SIZE)) {
        madvise(process->segment, process->mapped, MADV_DONTDUMP);
        return true;
    }
    unlink(path);
    if (process->segment) munmap(process->segment, process->mapped);
    return false;
}

/* A thread may still have an address in what was used. The rest of the addresses is given back. */
void segment_leave(void) {
    if (!process->segment || !process->mapped) return;
    uint64_t kept = process->populated ? process->populated : SEGMENT_HEADER_SIZE;
    if (kept < process->mapped && munmap((char *)process->segment + kept, process->mapped - kept) == 0)
        process->mapped = kept;
    void *there = mmap(process->segment, process->mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (there == MAP_FAILED) return;
    madvise(there, process->mapped, MADV_DONTFORK);
    madvise(there, process->mapped, MADV_DONTDUMP);
}

/* --- chunks --------------------------------------------------------------------------------------------------- */

struct chunk *chunk_new(uint64_t body) {
    uint64_t at = load_relaxed(&process->segment->used);
    uint64_t size = sizeof(struct chunk) + ((body + SEGMENT_ALIGNMENT - 1) & ~(uint64_t)(SEGMENT_ALIGNMENT - 1));
    if (!segment_populate(at + size)) return NULL;
    struct chunk *chunk = (struct chunk *)((char *)process->segment + at);
    chunk->size = size;
    store_release(&process->segment->used, at + size);
    return chunk;
}

void chunk_publish(struct chunk *chunk, enum chunk_kind kind) {
    store_release(&chunk->kind, kind);
}

struct counters_shape {
    size_t size; /* of an entry */
    enum chunk_kind kind;
    uint32_t ids; /* of a chunk */
};

static void *counters_chunk(struct thread *thread, uint32_t id, struct counters_shape shape) {
    if (segment_is_full() || !process_lock_from(thread)) return NULL;
    struct chunk *chunk = chunk_new(shape.ids * shape.size);
    if (chunk) {
        chunk->first_id = id / shape.ids * shape.ids;
        chunk_publish(chunk, shape.kind);
    }
    process_unlock();
    return chunk ? chunk_body(chunk) : NULL;
}

/* The collector takes from the size of a chunk how many entries it has. */
#define X(name, type, chunk, id_max, ids)                                                                              \
    _Static_assert((ids) <= SEGMENT_COUNTER_IDS && (ids) * sizeof(type) % SEGMENT_ALIGNMENT == 0,                      \
                   "a chunk of " #name);                                                                               \
    COLD type *name##_counters_slowly(struct thread *thread, uint32_t id) {                                            \
        type *counters = counters_chunk(thread, id, (struct counters_shape){sizeof *counters, chunk, ids});            \
        if (!counters) return NULL;                                                                                    \
        thread->name[id / (ids)] = counters;                                                                           \
        return &counters[id % (ids)];                                                                                  \
    }
COUNTER_KINDS(X)
#undef X
