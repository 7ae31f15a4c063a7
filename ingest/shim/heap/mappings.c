/* The hooks of mmap, munmap, mremap, brk and sbrk: mappings that the program makes itself. The C library's own (malloc's, the
 * stacks of its threads, libraries) do not come here.
 *
 * Known mappings are ranges in order of address, under a spin lock: a program makes few of them, and the kernel lets one thread
 * at a time change them. What is unmapped is credited to the stack that mapped it. It leaves the list before the real call,
 * because right after that another thread may get the addresses, and comes back where the call fails. A child of fork
 * begins with an empty list. */
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/heap/mappings.h"
#include "ingest/shim/stacks/callstack.h"
#include "ingest/shim/stacks/entries.h"
#include "ingest/shim/stacks/python.h"
#include "ingest/shim/stacks/unwind.h"

enum { MAPPED_FIRST = 256, PIECES = 16, ENTRIES_PER_CHUNK = 64, PAGE = 4096 };
enum { SLOT_SHIFT = 27, LATE_BYTES = 1 << 20 }; /* slots of 2^27 ns, 0.13 s; the rest as mappings.h says */

struct mapped {
    uint64_t low, high;
    uint32_t stack, use; /* use: enum segment_mapping_use */
    uint64_t is_extra;   /* 1: what lies behind a hole in its mapping; its end is not the mapping's */
};

/* What is being unmapped. More than PIECES at once are counted at once. */
struct taken_pieces {
    struct mapped pieces[PIECES];
    uint32_t count;
};

static void lock(void) {
    while (exchange_acq_rel(&process->mapped_lock, 1))
        __builtin_ia32_pause();
}

static void unlock(void) {
    store_release(&process->mapped_lock, 0);
}

static COLD void dropped(void) {
    fetch_add_relaxed(&process->segment->dropped_mappings, 1);
}

/* --- counting --------------------------------------------------------------------------------------------------- */

static struct mapping_counters *counters_of(struct thread *thread, uint32_t stack, uint32_t use) {
    static const struct entry_shape shape = {CHUNK_MAPPING, sizeof(struct segment_mapping), ENTRIES_PER_CHUNK};
    struct entry_key key = {.stack = stack, .part = use};
    struct segment_mapping *entry = entry_of(thread, &thread->mappings, key, shape);
    return entry ? &entry->counters : NULL;
}

static void count_unmapped(struct thread *thread, const struct mapped *piece, bool is_whole) {
    struct mapping_counters *counters = counters_of(thread, piece->stack, piece->use);
    if (!counters) return dropped();
    add_own(&counters->unmap_count, is_whole && !piece->is_extra);
    add_own(&counters->unmap_bytes, piece->high - piece->low);
}

/* --- the list; under the lock ------------------------------------------------------------------------------------- */

/* The index of the first range that ends above the address. */
static uint64_t find(uint64_t address) {
    uint64_t low = 0, high = process->mapped_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (process->mapped_ranges[middle].high > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool reserve(void) {
    uint64_t capacity = process->mapped_capacity;
    if (process->mapped_count < capacity) return true;
    struct mapped *grown = private_memory((capacity ? capacity * 2 : MAPPED_FIRST) * sizeof *grown);
    if (!grown) return false;
    if (capacity) memcpy(grown, process->mapped_ranges, capacity * sizeof *grown);
    if (capacity) private_memory_free(process->mapped_ranges, capacity * sizeof *grown);
    process->mapped_ranges = grown;
    process->mapped_capacity = capacity ? capacity * 2 : MAPPED_FIRST;
    return true;
}

static bool insert(uint64_t at, const struct mapped *range) {
    if (!reserve()) return false;
    struct mapped *ranges = process->mapped_ranges;
    memmove(&ranges[at + 1], &ranges[at], (process->mapped_count - at) * sizeof *ranges);
    ranges[at] = *range;
    process->mapped_count++;
    return true;
}

static void erase(uint64_t at) {
    struct mapped *ranges = process->mapped_ranges;
    process->mapped_count--;
    memmove(&ranges[at], &ranges[at + 1], (process->mapped_count - at) * sizeof *ranges);
}

static void keep_piece(struct thread *thread, struct taken_pieces *taken, struct mapped piece, bool is_whole) {
    if (!is_whole) piece.is_extra = 1;
    if (taken->count < PIECES)
        taken->pieces[taken->count++] = piece;
    else
        count_unmapped(thread, &piece, is_whole);
}

/* Takes [low, high) out of the range at an index. Returns how many ranges are there now: 0 to 2. */
static uint64_t cut(struct thread *thread, uint64_t at, uint64_t low, uint64_t high, struct taken_pieces *taken) {
    struct mapped *range = &process->mapped_ranges[at], piece = *range, behind = *range;
    if (piece.low < low) piece.low = low;
    if (piece.high > high) piece.high = high;
    bool has_before = range->low<piece.low, has_behind = range->high> piece.high;
    keep_piece(thread, taken, piece, !has_before && !has_behind);
    if (has_before && has_behind) {
        range->high = piece.low;
        behind.low = piece.high;
        behind.is_extra = 1;
        if (!insert(at + 1, &behind)) dropped();
        return 2;
    }
    if (has_before) range->high = piece.low;
    if (has_behind) range->low = piece.high;
    if (!has_before && !has_behind) erase(at);
    return has_before || has_behind;
}

static void take(struct thread *thread, uint64_t low, uint64_t high, struct taken_pieces *taken) {
    lock();
    for (uint64_t at = find(low); at < process->mapped_count && process->mapped_ranges[at].low < high;)
        at += cut(thread, at, low, high, taken);
    unlock();
}

static void put(const struct mapped *range) {
    lock();
    bool is_in = insert(find(range->low), range);
    unlock();
    if (!is_in) dropped();
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void taken_end(struct thread *thread, const struct taken_pieces *taken, bool is_done) {
    for (uint32_t i = 0; i < taken->count; i++)
        if (is_done)
            count_unmapped(thread, &taken->pieces[i], !taken->pieces[i].is_extra);
        else
            put(&taken->pieces[i]);
}

static void unmapped(struct thread *thread, uint64_t low, uint64_t high) {
    struct taken_pieces taken = {.count = 0};
    take(thread, low, high, &taken);
    taken_end(thread, &taken, true);
}

/* What was known there is replaced. */
static void mapped(struct thread *thread, uint64_t low, uint64_t size, uint32_t use, struct frame frame) {
    struct mapped range = {.low = low, .high = low + size, .stack = callstack(thread, frame), .use = use};
    unmapped(thread, range.low, range.high);
    struct mapping_counters *counters = range.stack ? counters_of(thread, range.stack, use) : NULL;
    if (!counters) return dropped();
    add_own(&counters->map_count, 1);
    add_own(&counters->map_bytes, size);
    put(&range);
}

static uint64_t whole_pages(uint64_t size) {
    return (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static uint32_t use_of(int protection, int flags) {
    if (flags & (MAP_STACK | MAP_GROWSDOWN)) return MAPPING_STACK;
    if (protection == PROT_NONE) return MAPPING_RESERVED;
    if ((flags & MAP_TYPE) != MAP_PRIVATE) return MAPPING_SHARED;
    return flags & MAP_ANONYMOUS ? MAPPING_ANONYMOUS : MAPPING_FILE;
}

/* ---- memory that is given back ----------------------------------------------------------------------------------- */

/* Whole mappings: parts are cut off to align what was mapped, or to shrink it. */
static void give_back(const struct taken_pieces *taken) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < taken->count; i++)
        if (taken->pieces[i].use == MAPPING_ANONYMOUS && !taken->pieces[i].is_extra)
            bytes += taken->pieces[i].high - taken->pieces[i].low;
    if (!bytes) return;
    uint64_t slot = clock_monotonic_ns() >> SLOT_SHIFT;
    lock();
    if (slot != process->given_back.slot) {
        process->given_back.before_bytes = slot - process->given_back.slot == 1 ? process->given_back.now_bytes : 0;
        process->given_back.now_bytes = 0;
        process->given_back.slot = slot;
    }
    process->given_back.now_bytes += bytes;
    process->given_back.bytes += bytes;
    unlock();
}

bool unmapped_lately(void) {
    uint64_t age = (clock_monotonic_ns() >> SLOT_SHIFT) - process->given_back.slot;
    uint64_t late = age == 0   ? process->given_back.now_bytes + process->given_back.before_bytes
                    : age == 1 ? process->given_back.now_bytes
                               : 0;
    return late >= LATE_BYTES && late >= process->given_back.bytes / 2;
}

static struct thread *mapping_enter(void) {
    return process->features & FEATURE_MMAP ? thread_enter() : NULL;
}

/* --- hooks -------------------------------------------------------------------------------------------------------- */

#define MAP(call)                                                                                                      \
    struct thread *thread = is_paused() ? NULL : mapping_enter();                                                      \
    void *place = call;                                                                                                \
    if (!thread) return place;                                                                                         \
    if (place != MAP_FAILED)                                                                                           \
        RECORD(thread,                                                                                                 \
               mapped(thread, (uintptr_t)place, whole_pages(size), use_of(protection, flags), CALLER_FRAME()));        \
    thread_leave(thread);                                                                                              \
    return place

HOOK void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    MAP(real.mmap(address, size, protection, flags, file, offset));
}

HOOK void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) {
    MAP(real.mmap64(address, size, protection, flags, file, offset));
}

HOOK int munmap(void *address, size_t size) {
    python_unmaps();
    struct thread *thread = mapping_enter();
    struct taken_pieces taken;
    if (!thread) return real.munmap(address, size);
    taken.count = 0;
    take(thread, (uintptr_t)address, (uintptr_t)address + whole_pages(size), &taken);
    int result = real.munmap(address, size);
    RECORD(thread, taken_end(thread, &taken, result == 0));
    if (result == 0) give_back(&taken);
    thread_leave(thread);
    return result;
}

/* As a realloc: the mapping is the caller's from here on, with the use that it had. */
static void remapped(struct thread *thread, const struct taken_pieces *taken, void *place, size_t size, int flags,
                     struct frame frame) {
    bool is_moved = place != MAP_FAILED;
    uint32_t use = taken->count ? taken->pieces[0].use : (uint32_t)MAPPING_SHARED;
    taken_end(thread, taken, is_moved && !(flags & MREMAP_DONTUNMAP));
    if (is_moved && !is_paused()) mapped(thread, (uintptr_t)place, whole_pages(size), use, frame);
}

/* A mapping that is not known is moved as it is. Of size 0 it is not taken away: the pages get a second place. */
HOOK void *mremap(void *address, size_t old_size, size_t size, int flags, ...) {
    python_unmaps();
    va_list list;
    va_start(list, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
    va_end(list);
    struct thread *thread = mapping_enter();
    struct taken_pieces taken;
    if (!thread) return real.mremap(address, old_size, size, flags, wanted);
    taken.count = 0;
    take(thread, (uintptr_t)address, (uintptr_t)address + whole_pages(old_size), &taken);
    void *place = real.mremap(address, old_size, size, flags, wanted);
    if (taken.count || !old_size) RECORD(thread, remapped(thread, &taken, place, size, flags, CALLER_FRAME()));
    thread_leave(thread);
    return place;
}

/* The break went from one place to another. */
static void break_moved(struct thread *thread, uint64_t before, uint64_t after, struct frame frame) {
    if (after < before) return unmapped(thread, after, before);
    if (after > before && !is_paused()) mapped(thread, before, after - before, MAPPING_BREAK, frame);
}

HOOK void *sbrk(intptr_t change) {
    struct thread *thread = change ? mapping_enter() : NULL;
    void *before = real.sbrk(change);
    if (!thread) return before;
    if (before != (void *)-1)
        RECORD(thread, break_moved(thread, (uintptr_t)before, (uintptr_t)before + (uintptr_t)change, CALLER_FRAME()));
    thread_leave(thread);
    return before;
}

HOOK int brk(void *address) {
    struct thread *thread = mapping_enter();
    if (!thread) return real.brk(address);
    void *before = real.sbrk(0);
    int result = real.brk(address);
    if (result == 0) RECORD(thread, break_moved(thread, (uintptr_t)before, (uintptr_t)address, CALLER_FRAME()));
    thread_leave(thread);
    return result;
}
