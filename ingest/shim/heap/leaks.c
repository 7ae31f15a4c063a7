#include "ingest/shim/heap/leaks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ingest/shim/core/blocks.h"
#include "ingest/shim/core/control.h"
#include "ingest/shim/core/proc_lines.h"
#include "ingest/shim/core/smaps.h"
#include "ingest/shim/heap/kernel_kept.h"
#include "ingest/shim/heap/mappings.h"

/* BATCH: blocks that are searched in the order of their addresses, whatever they were found in; as indexes they take 1 MiB. */
enum { LEAST_BLOCKS = 100, MOST_BLOCKS = 65536, MOST_BYTES = 64 << 20 }; /* as leaks.h says */
enum { BUFFER_SIZE = 64 << 10, BATCH = 1 << 18, PAGE = 4096, ARENA_SIZE = 64 << 20, ARENAS_MAX = 4096 };

/* What was found of a block: the first two may still change. */
enum fate { UNREACHED = 0, POINTED_AT, REACHED, LOST, INDIRECT };

struct live_block {
    uintptr_t start;
    uint64_t size : 48, fate : 8;
    uint32_t id;
};

struct search {
    struct live_block *blocks; /* by address */
    size_t count, capacity;
    uint32_t *pending; /* indexes of blocks that are still to be searched */
    size_t pending_count;
    uint32_t *batch; /* those that are being searched */
    uint64_t *words; /* what was read last, for blocks: [words_low, words_high) of the memory */
    uintptr_t words_low, words_high;
    enum fate fate;      /* of the blocks that are found */
    uintptr_t low, high; /* of all blocks */
    uintptr_t stack;     /* of this thread: where what counts begins */
    uintptr_t *arenas;   /* of glibc's malloc, but for the first */
    size_t arena_count;
    int pagemap; /* /proc/self/pagemap; -1: cannot be read */
    pid_t pid;
    bool is_in_libc; /* what is searched now are the C library's own variables */
    bool has_failed;
};

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void add_block(void *context, uintptr_t address, struct heap_block block) {
    struct search *search = context;
    if (search->count < search->capacity)
        search->blocks[search->count] = (struct live_block){.start = address, .size = block.size, .id = block.id};
    search->count++;
}

static void sink(struct live_block *blocks, size_t at, size_t count) {
    struct live_block moved = blocks[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && blocks[child + 1].start > blocks[child].start) child++;
        if (blocks[child].start <= moved.start) break;
        blocks[at] = blocks[child];
    }
    blocks[at] = moved;
}

static void sink_index(uint32_t *indexes, size_t at, size_t count) {
    uint32_t moved = indexes[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && indexes[child + 1] > indexes[child]) child++;
        if (indexes[child] <= moved) break;
        indexes[at] = indexes[child];
    }
    indexes[at] = moved;
}

static void sort_indexes(uint32_t *indexes, size_t count) {
    for (size_t at = count / 2; at-- > 0;)
        sink_index(indexes, at, count);
    for (size_t end = count; end-- > 1;) {
        uint32_t last = indexes[end];
        indexes[end] = indexes[0];
        indexes[0] = last;
        sink_index(indexes, 0, end);
    }
}

/* Blocks of the side table come after the others. libc's qsort allocates. */
static void sort_blocks(struct live_block *blocks, size_t count) {
    size_t ordered = 1;
    while (ordered < count && blocks[ordered - 1].start <= blocks[ordered].start)
        ordered++;
    if (ordered >= count) return;
    for (size_t at = count / 2; at-- > 0;)
        sink(blocks, at, count);
    for (size_t end = count; end-- > 1;) {
        struct live_block last = blocks[end];
        blocks[end] = blocks[0];
        blocks[0] = last;
        sink(blocks, 0, end);
    }
}

/* The number of blocks that start at or below the address. Nobody can foretell what a word is: so there is no branch on it. */
static size_t blocks_up_to(const struct search *search, uintptr_t address) {
    size_t low = 0;
    for (size_t left = search->count, half; left; left -= half) {
        half = (left + 1) / 2;
        low += search->blocks[low + half - 1].start <= address ? half : 0;
    }
    return low;
}

static struct live_block *block_at(const struct search *search, uintptr_t address) {
    if (address < search->low || address >= search->high) return NULL;
    size_t index = blocks_up_to(search, address);
    struct live_block *block = index ? &search->blocks[index - 1] : NULL;
    return block && (address - block->start < block->size || address == block->start) ? block : NULL;
}

/* ---- searching memory -------------------------------------------------------------------------------------------- */

/* The header of the block behind this one, which glibc's malloc points at, begins in the last 8 bytes that it gives to this one. */
static bool is_next_header(const struct live_block *block, uintptr_t word) {
    return word == block->start + ((block->size + 8 + 15) & ~(uint64_t)15) - 16;
}

static void find_word(struct search *search, uintptr_t word, const struct live_block *from) {
    struct live_block *block = block_at(search, word);
    if (block && search->is_in_libc && word != block->start && is_next_header(block, word)) return;
    if (!block || block == from || block->fate > POINTED_AT || block->fate >= search->fate) return;
    bool is_new = search->fate != POINTED_AT;
    block->fate = search->fate;
    if (is_new) search->pending[search->pending_count++] = (uint32_t)(block - search->blocks);
}

static size_t read_memory(struct search *search, uintptr_t from, size_t size) {
    search->words_low = search->words_high = 0;
    struct iovec local = {search->words, size}, remote = {(void *)from, size};
    ssize_t got = syscall(SYS_process_vm_readv, search->pid, &local, 1, &remote, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

/* Whether some page of BUFFER_SIZE bytes has memory, in RAM or swapped out: a mapping may be large and nearly empty. */
static bool has_pages(const struct search *search, uintptr_t low) {
    enum { PAGES = BUFFER_SIZE / PAGE };
    uint64_t pages[PAGES + 1], any = 0;
    if (search->pagemap < 0) return true;
    ssize_t got = pread(search->pagemap, pages, sizeof pages, (off_t)(low / PAGE * sizeof *pages));
    for (ssize_t i = 0; i < got / (ssize_t)sizeof *pages; i++)
        any |= pages[i] >> 62;
    return got <= 0 || any;
}

/* A page that cannot be read is skipped. `from`: the block that the range is in, or NULL. */
static void search_range(struct search *search, uintptr_t low, uintptr_t high, const struct live_block *from) {
    low = (low + 7) & ~(uintptr_t)7;
    while (low + 8 <= high) {
        size_t wanted = high - low < BUFFER_SIZE ? (high - low) & ~(size_t)7 : BUFFER_SIZE;
        if (!from && !has_pages(search, low)) {
            low = (low / PAGE + BUFFER_SIZE / PAGE) * PAGE;
            continue;
        }
        size_t got = read_memory(search, low, wanted) / 8;
        for (size_t i = 0; i < got; i++)
            find_word(search, search->words[i], from);
        low = got ? low + got * 8 : (low | (PAGE - 1)) + 1;
    }
}

/* The words from `low`, a multiple of 8, to `high`, in the pages around them, whose other blocks are likely to be next: a call for a
 * page and not for a block. NULL: they cannot be read at once. */
static const uint64_t *words_at(struct search *search, uintptr_t low, uintptr_t high) {
    if (low >= search->words_low && high <= search->words_high) return search->words + (low - search->words_low) / 8;
    uintptr_t from = low & ~(uintptr_t)(PAGE - 1), to = (high + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (high < low || to - from > BUFFER_SIZE) return NULL;
    size_t got = read_memory(search, from, to - from);
    search->words_low = from;
    search->words_high = from + got;
    return high <= from + got ? search->words + (low - from) / 8 : NULL;
}

static void search_block(struct search *search, const struct live_block *block) {
    uintptr_t low = (block->start + 7) & ~(uintptr_t)7, high = (block->start + block->size) & ~(uintptr_t)7;
    if (high <= low) return;
    const uint64_t *words = words_at(search, low, high);
    if (!words) return search_range(search, low, high, block);
    for (size_t i = 0; i < (high - low) / 8; i++)
        find_word(search, words[i], block);
}

static void search_pending(struct search *search) {
    while (search->pending_count) {
        size_t count = search->pending_count < BATCH ? search->pending_count : BATCH;
        search->pending_count -= count;
        memcpy(search->batch, &search->pending[search->pending_count], count * sizeof *search->batch);
        sort_indexes(search->batch, count);
        for (size_t i = 0; i < count; i++)
            search_block(search, &search->blocks[search->batch[i]]);
    }
}

/* ---- where it starts --------------------------------------------------------------------------------------------- */

/* Where what is to be searched begins. The kernel joins anonymous mappings that touch: what follows the runtime's own variables, or an
 * arena that is full, may be a part of the same mapping (where it was thread-local memory, what that points at was called lost). */
static uintptr_t behind_own_and_arenas(const struct search *search, uintptr_t low) {
    if (low >= process->own_low && low < process->own_high) low = process->own_high;
    for (size_t i = 0; i < search->arena_count; i++)
        if (low >= search->arenas[i] && low < search->arenas[i] + ARENA_SIZE) return search->arenas[i] + ARENA_SIZE;
    return low;
}

/* What lies between the live blocks of a mapping. */
static void search_gaps(struct search *search, uintptr_t low, uintptr_t high) {
    for (size_t next = blocks_up_to(search, low); low < high; next++) {
        struct live_block *before = next ? &search->blocks[next - 1] : NULL;
        if (before && before->start + before->size > low) low = before->start + before->size;
        uintptr_t end = next < search->count && search->blocks[next].start < high ? search->blocks[next].start : high;
        if (low < end) search_range(search, low, end, NULL);
        if (end > low) low = end;
        if (next >= search->count || search->blocks[next].start >= high) break;
    }
}

static void search_mapping(void *context, const struct mapping *mapping) {
    struct search *search = context;
    uintptr_t low = behind_own_and_arenas(search, mapping->low);
    if (!mapping->is_writable || mapping->is_device || !mapping->has_memory || mapping->is_ours) return;
    if (mapping->is_heap || low >= mapping->high) return;
    if (search->stack >= low && search->stack < mapping->high) low = search->stack;
    search->is_in_libc = mapping->is_libc;
    search_gaps(search, low, mapping->high);
    search->is_in_libc = false;
}

/* Whether the region begins as glibc's malloc begins one: with the arena that it belongs to, the region before it, its size, and how
 * much of it can be written. The first region of an arena has the arena itself right behind that. */
static bool begins_arena(struct search *search, uintptr_t region, uintptr_t block) {
    const uint64_t *head = words_at(search, region, region + 4 * sizeof *head);
    if (!head) return false;
    uint64_t arena = head[0], before = head[1], size = head[2], writable = head[3];
    if ((size | writable) % PAGE || size > writable || writable > ARENA_SIZE || block - region >= size) return false;
    return before ? !(before % ARENA_SIZE) && arena : arena > region && arena < region + PAGE;
}

/* glibc's malloc marks blocks of further arenas in the word before them. Of another allocator the word means nothing. jemalloc has no
 * such word, and its regions are among those of libraries: where its blocks were believed, the globals of libraries were not searched. */
static void find_arenas(struct search *search) {
    enum { NON_MAIN_ARENA = 4, IS_MAPPED = 2 };
    uintptr_t last = 0;
    for (size_t i = 0; i < search->count && search->arena_count < ARENAS_MAX; i++) {
        uintptr_t start = search->blocks[i].start, arena = start & ~(uintptr_t)(ARENA_SIZE - 1);
        const uint64_t *header = arena != last && !(start & 7) ? words_at(search, start - 8, start) : NULL;
        if (!header || (*header & (NON_MAIN_ARENA | IS_MAPPED)) != NON_MAIN_ARENA) continue;
        last = arena;
        if (begins_arena(search, arena, start)) search->arenas[search->arena_count++] = arena;
    }
}

/* ---- what is lost ------------------------------------------------------------------------------------------------ */

static void find_kept(void *search, uintptr_t word) {
    find_word(search, word, NULL);
}

static void find_reached(struct search *search, char *text) {
    search->fate = REACHED;
    search->has_failed |= !smaps_each(text, search_mapping, search);
    kernel_kept_each(text, find_kept, search);
    search_pending(search);
}

static void lose(struct search *search, struct live_block *block) {
    block->fate = LOST;
    search->pending[search->pending_count++] = (uint32_t)(block - search->blocks);
}

static void find_indirect(struct search *search) {
    search->fate = INDIRECT;
    search_pending(search);
}

/* Of blocks that were not reached, those that no other one points at are lost, and with them what they lead to. What is left then are
 * circles, of which the first block counts as lost. */
static void sort_lost(struct search *search) {
    search->fate = POINTED_AT;
    for (size_t i = 0; i < search->count; i++)
        if (search->blocks[i].fate <= POINTED_AT) search_block(search, &search->blocks[i]);
    for (size_t i = 0; i < search->count; i++)
        if (search->blocks[i].fate == UNREACHED) lose(search, &search->blocks[i]);
    find_indirect(search);
    for (size_t i = 0; i < search->count; i++) {
        if (search->blocks[i].fate != POINTED_AT) continue;
        lose(search, &search->blocks[i]);
        find_indirect(search);
    }
}

static void count_lost(struct search *search, struct thread *thread) {
    for (size_t i = 0; i < search->count; i++) {
        const struct live_block *block = &search->blocks[i];
        if (block->fate == REACHED) continue;
        struct leak_counters *counters = leak_counters_of(thread, block->id);
        if (!counters) continue;
        bool is_indirect = block->fate == INDIRECT;
        add_own(is_indirect ? &counters->indirect_count : &counters->lost_count, 1);
        add_own(is_indirect ? &counters->indirect_bytes : &counters->lost_bytes, block->size);
    }
    store_release(&process->segment->has_leaks, 1);
}

static bool has_other_threads(void) {
    return load_relaxed(&process->alone) == NULL;
}

static void search_all(struct search *search, struct thread *thread, char *text) {
    blocks_each(add_block, search);
    if (search->count > search->capacity) return; /* another thread allocates faster than it is counted */
    sort_blocks(search->blocks, search->count);
    if (search->count) {
        search->low = search->blocks[0].start;
        search->high = search->blocks[search->count - 1].start + search->blocks[search->count - 1].size + 1;
    }
    find_arenas(search);
    find_reached(search, text);
    if (has_other_threads()) find_reached(search, text);
    if (search->has_failed) return;
    sort_lost(search);
    count_lost(search, thread);
}

/* In /proc/self/statm: pages that are mapped, and those of them that are in memory. 0: not known. */
static uint64_t resident_bytes(void) {
    char text[64];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *resident = strchr(text, ' ');
    uint64_t pages = 0;
    for (const char *digit = resident ? resident + 1 : ""; *digit >= '0' && *digit <= '9'; digit++)
        pages = pages * 10 + (uint64_t)(*digit - '0');
    return pages * PAGE;
}

/* As leaks.h says. */
static bool is_worth_it(size_t blocks) {
    uint64_t seconds = (clock_monotonic_ns() - process->segment->start_monotonic_ns) / 1000000000;
    if (seconds < 1) seconds = 1;
    return blocks >= LEAST_BLOCKS && blocks <= seconds * MOST_BLOCKS && resident_bytes() <= seconds * MOST_BYTES &&
           !unmapped_lately();
}

/* `stack`: the lowest address of the caller's stack that counts. */
static void find_leaks(struct thread *thread, uintptr_t stack) {
    struct search search = {.stack = stack, .pid = getpid(), .pagemap = -1};
    blocks_each(add_block, &search);
    if (!(process->features & FEATURE_LEAKS_ALWAYS) && !is_worth_it(search.count)) return;
    search.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    search.capacity = search.count + search.count / 8 + 1024;
    search.count = 0;
    size_t blocks = search.capacity * sizeof *search.blocks, pending = search.capacity * sizeof *search.pending;
    size_t arenas = ARENAS_MAX * sizeof *search.arenas, batch = BATCH * sizeof *search.batch;
    size_t whole = blocks + BUFFER_SIZE + arenas + pending + batch + PROC_LINE;
    char *memory = private_memory(whole);
    if (!memory) goto done;
    search.blocks = (void *)memory;
    search.words = (void *)(memory + blocks);
    search.arenas = (void *)(memory + blocks + BUFFER_SIZE);
    search.pending = (void *)(memory + blocks + BUFFER_SIZE + arenas);
    search.batch = (void *)(memory + blocks + BUFFER_SIZE + arenas + pending);
    search_all(&search, thread, memory + blocks + BUFFER_SIZE + arenas + pending + batch);
    private_memory_free(memory, whole);
done:
    if (search.pagemap >= 0) close(search.pagemap);
}

/* ---- the end of the process -------------------------------------------------------------------------------------- */

/* The five registers that a caller may keep pointers in are saved right below the frame address, and count as stack. What this function
 * has below them does not: old values would be in it. Not in a child of vfork, which ends with its
 * parent's memory. */
__attribute__((noinline)) void leaks_at_end(void) {
    __builtin_unwind_init();
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0) - 5 * sizeof(uintptr_t);
    bool is_wanted = load_acquire(&process->state) == PROCESS_READY && process->features & FEATURE_LEAKS &&
                     !is_sealed() && process->segment->pid == getpid() && !process->segment->has_leaks;
    /* Of a budget: it needs every block. */
    if (is_wanted && process->has_budget) is_wanted = !load_relaxed(&shared_control()->sample_coarsest);
    struct thread *thread = is_wanted ? thread_enter() : NULL;
    if (!thread) return;
    RECORD(thread, find_leaks(thread, stack));
    thread_leave(thread);
}
