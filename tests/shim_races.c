/* shim_races DIRECTORY: the runtime's own tables under eight threads, as a normal program that a race detector can watch. tests/races.sh
 * links it with the objects of ingest/shim, whose hooks are renamed to hooked_NAME, so that the detector keeps its own malloc and locks.
 * Each thread interns stacks, locks, cells and channels that the others intern too, frees what others allocated, and ends so that
 * a later one takes over its memory. Prints what the segment then holds, which must be what was done. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/clear.h"
#include "ingest/segment.h"

enum { THREADS = 8, GENERATIONS = 3, ROUNDS = 400, SHARED = 64, LOCKS = 300 };

void *hooked_malloc(size_t size);
void *hooked_realloc(void *block, size_t size);
void hooked_free(void *block);
int hooked_pthread_mutex_lock(pthread_mutex_t *mutex);
int hooked_pthread_mutex_unlock(pthread_mutex_t *mutex);
int hooked_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int hooked_pthread_rwlock_unlock(pthread_rwlock_t *lock);

static pthread_mutex_t mutexes[LOCKS];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_uintptr_t shared[SHARED];
static int cells[SHARED], channels[SHARED];
static char arenas[THREADS], arena_blocks[THREADS][16][16];
static atomic_ullong fibers;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* What the collector does before it starts a program. */
static void write_control(const char *directory) {
    static const struct control control = {
        .magic = SEGMENT_MAGIC,
        .version = SEGMENT_VERSION,
        .size = sizeof control,
        .features =
            FEATURE_HEAP | FEATURE_LOCKS | FEATURE_CELLS | FEATURE_CHANNELS | FEATURE_FIBERS | FEATURE_SYNC_STACKS,
        .depth = 32,
        .segment_max = 1 << 30,
    };
    char path[4096];
    snprintf(path, sizeof path, "%s/control", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, &control, sizeof control) != sizeof control || close(fd) != 0) fail(path);
    setenv(CLEAR_RT_DIR_VARIABLE, directory, 1);
}

/* Many stacks, the same in all threads: depth picks the path. */
__attribute__((noipa)) static void *allocate(unsigned path, size_t size) {
    void *block = path == 0  ? hooked_malloc(size)
                  : path & 1 ? allocate(path >> 1, size)
                             : (allocate)(path >> 1, size + 0);
    __asm__ volatile("" : "+r"(block));
    return block;
}

static void use_api(unsigned thread, unsigned i) {
    int *cell = &cells[i % SHARED], *channel = &channels[i % SHARED];
    clear_cell_read(cell);
    clear_cell_update(cell, 64, 1, CLEAR_COMMITTED);
    clear_channel_push(channel, i % 7, 0);
    clear_channel_pop(channel, 0);
    clear_lock_acquired(&cells[0], CLEAR_SHARED, 0, 0);
    clear_lock_released(&cells[0], CLEAR_SHARED);
    uint64_t fiber = atomic_fetch_add(&fibers, 1) + 1;
    clear_fiber_spawn(fiber, i % 5);
    clear_fiber_run(fiber, thread % 2);
    clear_fiber_exit(fiber);
    if (i % 50) return;
    for (int k = 0; k < 16; k++)
        clear_alloc(&arenas[thread], arena_blocks[thread][k], 8);
    clear_free_all(&arenas[thread]);
}

static void *work(void *argument) {
    unsigned thread = (unsigned)(uintptr_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        void *mine = allocate(i % 4096, i + 1);
        mine = hooked_realloc(mine, i + 2);
        hooked_free((void *)atomic_exchange(&shared[(i * 7 + thread) % SHARED], (uintptr_t)mine));
        pthread_mutex_t *mutex = &mutexes[i % LOCKS];
        hooked_pthread_mutex_lock(mutex);
        hooked_pthread_mutex_unlock(mutex);
        hooked_pthread_rwlock_rdlock(&rwlock);
        hooked_pthread_rwlock_unlock(&rwlock);
        use_api(thread, i);
    }
    return NULL;
}

struct sums {
    unsigned long long allocs, frees, acquires, read_acquires, reads, commits, pushes, pops, spawns, exits;
};

static void add_chunk(const struct chunk *chunk, struct sums *sums) {
    static const size_t sizes[] = {[CHUNK_HEAP] = sizeof(struct heap_counters),
                                   [CHUNK_LOCK] = sizeof(struct lock_counters),
                                   [CHUNK_CELL] = sizeof(struct cell_counters),
                                   [CHUNK_CHANNEL] = sizeof(struct channel_counters),
                                   [CHUNK_TASK] = sizeof(struct task_counters)};
    size_t each = chunk->kind < sizeof sizes / sizeof sizes[0] ? sizes[chunk->kind] : 0;
    for (size_t i = 0; each && i < (chunk->size - sizeof *chunk) / each; i++) {
        switch (chunk->kind) {
        case CHUNK_HEAP:
            sums->allocs += ((const struct heap_counters *)(chunk + 1))[i].alloc_count;
            sums->frees += ((const struct heap_counters *)(chunk + 1))[i].free_count;
            break;
        case CHUNK_LOCK:
            sums->acquires += ((const struct lock_counters *)(chunk + 1))[i].acquires;
            sums->read_acquires += ((const struct lock_counters *)(chunk + 1))[i].read_acquires;
            break;
        case CHUNK_CELL:
            sums->reads += ((const struct cell_counters *)(chunk + 1))[i].reads;
            sums->commits += ((const struct cell_counters *)(chunk + 1))[i].commits;
            break;
        case CHUNK_CHANNEL:
            sums->pushes += ((const struct channel_counters *)(chunk + 1))[i].pushes;
            sums->pops += ((const struct channel_counters *)(chunk + 1))[i].pops;
            break;
        case CHUNK_TASK:
            sums->spawns += ((const struct task_counters *)(chunk + 1))[i].spawns;
            sums->exits += ((const struct task_counters *)(chunk + 1))[i].exits;
            break;
        default: return;
        }
    }
}

/* All chunks of the one segment in the directory, which the caller names. */
static struct sums read_segment(const char *path) {
    struct sums sums = {0};
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0) fail(path);
    const char *base = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) fail(path);
    const struct segment *segment = (const struct segment *)base;
    for (uint64_t at = SEGMENT_HEADER_SIZE; at < segment->used;) {
        const struct chunk *chunk = (const struct chunk *)(base + at);
        add_chunk(chunk, &sums);
        at += chunk->size;
    }
    if (segment->dropped_heap || segment->dropped_locks || segment->dropped_cells || segment->dropped_channels)
        fprintf(stderr, "dropped\n");
    return sums;
}

int main(int argc, char **argv) {
    if (argc > 2) {
        struct sums s = read_segment(argv[2]);
        printf("allocs %llu frees %llu acquires %llu read_acquires %llu reads %llu commits %llu pushes %llu pops %llu "
               "spawns %llu exits %llu\n",
               s.allocs, s.frees, s.acquires, s.read_acquires, s.reads, s.commits, s.pushes, s.pops, s.spawns, s.exits);
        return 0;
    }
    if (argc < 2) return 2;
    if (!getenv(CLEAR_RT_DIR_VARIABLE)) { /* the runtime looks for it before main */
        write_control(argv[1]);
        execv(argv[0], argv); /* under valgrind /proc/self/exe is valgrind */
        fail("exec");
    }
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    for (int generation = 0; generation < GENERATIONS; generation++) {
        pthread_t threads[THREADS];
        for (uintptr_t i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)i)) fail("pthread_create");
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < SHARED; i++)
        hooked_free((void *)atomic_load(&shared[i]));
    unsigned long long all = (unsigned long long)GENERATIONS * THREADS * ROUNDS, arena = all / 50 * 16;
    printf("allocs %llu frees %llu acquires %llu read_acquires %llu reads %llu commits %llu pushes %llu pops %llu "
           "spawns %llu exits %llu\n",
           2 * all + arena, 2 * all + arena, all, 2 * all, all, all, all, all, all, all);
    return 0;
}
