#include "ingest/shim/heap/probes.h"

#include <stddef.h>

#include "ingest/shim/core/blocks.h"
#include "ingest/shim/core/sample.h"

/* Beside the code, as <sys/sdt.h> puts semaphores: the kernel finds it by its place in the file. */
union heap_notes heap_notes __attribute__((section(".probes"), visibility("hidden"))) = {.any = 0};
_Static_assert(sizeof heap_notes == 8 && offsetof(union heap_notes, free_readers) == 2, "as the notes say");

/* A function with a probe is in the file once. clang does not know noclone, and makes no copies of a function that it does not inline. */
#ifdef __clang__
#define ONCE __attribute__((noinline))
#else
#define ONCE __attribute__((noinline, noclone))
#endif

/* The note that says where a probe is: owner stapsdt, type 3; place, base and semaphore; provider, name, arguments. As <sys/sdt.h> of SystemTap
 * writes it. ".stapsdt.base" tells a reader by how much prelink moved the rest. */
#define PROBE_NOTE(name, semaphore, arguments)                                                                         \
    "990: nop\n"                                                                                                       \
    ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                                                      \
    ".balign 4\n"                                                                                                      \
    ".4byte 992f-991f, 994f-993f, 3\n"                                                                                 \
    "991: .asciz \"stapsdt\"\n"                                                                                        \
    "992: .balign 4\n"                                                                                                 \
    "993: .8byte 990b\n"                                                                                               \
    ".8byte _.stapsdt.base\n"                                                                                          \
    ".8byte " semaphore "\n"                                                                                           \
    ".asciz \"otel_memory\"\n"                                                                                         \
    ".asciz \"" name "\"\n"                                                                                            \
    ".asciz \"" arguments "\"\n"                                                                                       \
    "994: .balign 4\n"                                                                                                 \
    ".popsection\n"                                                                                                    \
    ".ifndef _.stapsdt.base\n"                                                                                         \
    ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                                            \
    ".weak _.stapsdt.base\n"                                                                                           \
    ".hidden _.stapsdt.base\n"                                                                                         \
    "_.stapsdt.base: .space 1\n"                                                                                       \
    ".size _.stapsdt.base, 1\n"                                                                                        \
    ".popsection\n"                                                                                                    \
    ".endif\n"

static ONCE void tell_alloc(uintptr_t block, uint64_t size, uint64_t weight) {
    __asm__ volatile(PROBE_NOTE("alloc", "heap_notes", "8@%%rdi 8@%%rsi 8@%%rdx")
                     :
                     : "D"(block), "S"(size), "d"(weight)
                     : "memory");
}

static ONCE void tell_free(uintptr_t block) {
    __asm__ volatile(PROBE_NOTE("free", "heap_notes+2", "8@%%rdi") : : "D"(block) : "memory");
}

/* Blocks whose allocation was told and which live: at most PLACES_OF of those whose addresses fall together. A block for which there is no room is
 * not told. The pages are used when somebody reads. */
enum { TOLD_BITS = 16, PLACES_OF = 16 };
static uintptr_t told[(1 << TOLD_BITS) + 2 * PLACES_OF];

static uintptr_t *places_of(uintptr_t block) {
    return &told[(block >> 4) * 0x9e3779b97f4a7c15ull >> (64 - TOLD_BITS)];
}

static bool replace(uintptr_t *places, uintptr_t from, uintptr_t to) {
    for (int i = 0; i < PLACES_OF; i++) {
        uintptr_t seen = load_relaxed(&places[i]);
        if (seen == from &&
            __atomic_compare_exchange_n(&places[i], &seen, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

/* Blocks that were freed while nobody read. */
static bool replace_stale(uintptr_t *places, uintptr_t to) {
    for (int i = 0; i < PLACES_OF; i++) {
        uintptr_t seen = load_relaxed(&places[i]);
        if (!block_may_be_noted(seen) && replace(&places[i], seen, to)) return true;
    }
    return false;
}

COLD void probe_allocated(struct thread *thread, const void *block, uint64_t size, uint64_t weight, uint32_t level) {
    uint64_t bytes = weight * (size ? size : 1);
    if (!sample_is_by_bytes(level) && !(bytes = sample_thin(thread, bytes, PROBE_BYTES))) return;
    uintptr_t *places = places_of((uintptr_t)block);
    if (replace(places, 0, (uintptr_t)block) || replace_stale(places, (uintptr_t)block))
        tell_alloc((uintptr_t)block, size, bytes);
}

COLD void probe_freed(const void *block) {
    if (!alloc_is_read() && !free_is_read()) return;
    if (replace(places_of((uintptr_t)block), (uintptr_t)block, 0) && free_is_read()) tell_free((uintptr_t)block);
}
