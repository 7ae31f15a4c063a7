#include "ingest/shim/stacks/python.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "ingest/shim/core/readable.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/stacks/python_read.h"
#include "ingest/shim/stacks/unwind.h"

static const struct python_layout layouts[] = {
    {.version = 3 << 8 | 11,
     .tss_key = 592,
     .finalizing = 24,
     .thread_id = 152,
     .cframe = 56,
     .cframe_frame = 8,
     .cframe_previous = 16,
     .is_entry = 68,
     .code = 32,
     .instruction = 56,
     .before = 48,
     .owner = 69,
     .first_line = 72,
     .file = 112,
     .name = 128,
     .lines = 136,
     .instructions = 184,
     .ascii_size = 48,
     .compact_size = 72},
    {.version = 3 << 8 | 12,
     .tss_key = 1544,
     .finalizing = 24,
     .thread_id = 136,
     .cframe = 56,
     .cframe_frame = 0,
     .cframe_previous = 8,
     .code = 0,
     .instruction = 56,
     .before = 8,
     .owner = 70,
     .first_line = 68,
     .file = 112,
     .name = 128,
     .lines = 136,
     .instructions = 192,
     .ascii_size = 40,
     .compact_size = 56},
    {.version = 3 << 8 | 13,
     .tss_key = 2160,
     .finalizing = 608,
     .thread_id = 152,
     .frame = 72,
     .code = 0,
     .instruction = 56,
     .before = 8,
     .owner = 70,
     .first_line = 68,
     .file = 112,
     .name = 128,
     .lines = 136,
     .instructions = 200,
     .ascii_size = 40,
     .compact_size = 56},
};

/* ---- finding the interpreter ------------------------------------------------------------------------------------- */

struct gnu_hash {
    uint32_t bucket_count, first_symbol, bloom_count, bloom_shift;
    uint64_t bloom[];
};
struct symbols {
    const ElfW(Sym) * symbols;
    const char *names;
    const struct gnu_hash *hash;
    uint64_t bias;
};

/* The loader made absolute addresses of these, but for the kernel's module. */
static const void *dynamic_address(const struct link_map *module, uint64_t value) {
    return (const void *)(uintptr_t)(value < module->l_addr ? value + module->l_addr : value);
}

static bool find_symbols(const struct link_map *module, struct symbols *found) {
    *found = (struct symbols){.bias = module->l_addr};
    for (const ElfW(Dyn) *entry = module->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB) found->symbols = dynamic_address(module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB) found->names = dynamic_address(module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_GNU_HASH) found->hash = dynamic_address(module, entry->d_un.d_ptr);
    }
    return found->symbols && found->names && found->hash && found->hash->bucket_count;
}

static uint32_t symbol_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* Not dlsym, which may wait for a thread that is loading a module and waits for us in its malloc. 0: there is none. */
static uint64_t symbol_address(const struct symbols *in, const char *name) {
    uint32_t wanted = symbol_hash(name);
    const uint32_t *buckets = (const uint32_t *)&in->hash->bloom[in->hash->bloom_count];
    const uint32_t *chain = buckets + in->hash->bucket_count;
    uint32_t index = buckets[wanted % in->hash->bucket_count];
    if (index < in->hash->first_symbol) return 0;
    for (;; index++) {
        uint32_t hash = chain[index - in->hash->first_symbol];
        const ElfW(Sym) *symbol = &in->symbols[index];
        if ((hash | 1) == (wanted | 1) && symbol->st_shndx != SHN_UNDEF &&
            strcmp(in->names + symbol->st_name, name) == 0)
            return in->bias + symbol->st_value;
        if (hash & 1) return 0;
    }
}

/* What 3.13 says of itself, at the beginning of _PyRuntime: _Py_DebugOffsets, in words. */
enum {
    OFFSETS_VERSION = 1,
    OFFSETS_FREE_THREADED = 2,
    OFFSETS_FINALIZING = 4,
    OFFSETS_FRAME = 23,
    OFFSETS_THREAD_ID = 24,
    OFFSETS_BEFORE = 29,
    OFFSETS_CODE = 30,
    OFFSETS_INSTRUCTION = 31,
    OFFSETS_OWNER = 33,
    OFFSETS_FILE = 35,
    OFFSETS_NAME = 37,
    OFFSETS_LINES = 38,
    OFFSETS_FIRST_LINE = 39,
    OFFSETS_INSTRUCTIONS = 43,
};

static bool agrees(const struct python_layout *layout, const uint64_t *offsets) {
    if (layout->version < (3 << 8 | 13)) return true;
    return memcmp(offsets, "xdebugpy", 8) == 0 && offsets[OFFSETS_VERSION] >> 16 == layout->version &&
           !offsets[OFFSETS_FREE_THREADED] && offsets[OFFSETS_FINALIZING] == layout->finalizing &&
           offsets[OFFSETS_FRAME] == layout->frame && offsets[OFFSETS_THREAD_ID] == layout->thread_id &&
           offsets[OFFSETS_BEFORE] == layout->before && offsets[OFFSETS_CODE] == layout->code &&
           offsets[OFFSETS_INSTRUCTION] == layout->instruction && offsets[OFFSETS_OWNER] == layout->owner &&
           offsets[OFFSETS_FILE] == layout->file && offsets[OFFSETS_NAME] == layout->name &&
           offsets[OFFSETS_LINES] == layout->lines && offsets[OFFSETS_FIRST_LINE] == layout->first_line &&
           offsets[OFFSETS_INSTRUCTIONS] == layout->instructions;
}

/* Py_Version is there since 3.11; before, only the function that has it as a text. */
COLD void python_module(const struct link_map *module) {
    struct symbols symbols;
    if (process->python_known || !find_symbols(module, &symbols)) return;
    uint64_t runtime = symbol_address(&symbols, "_PyRuntime"), type = symbol_address(&symbols, "PyCode_Type");
    if (!runtime && !symbol_address(&symbols, "Py_GetVersion")) return;
    uint64_t version_at = symbol_address(&symbols, "Py_Version");
    uint32_t version = version_at ? (uint32_t)(*(const unsigned long *)(uintptr_t)version_at >> 16) : 0;
    store_relaxed(&process->segment->python, version ? version : 1u);
    if (!memory_is_readable(runtime)) return;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        const struct python_layout *layout = &layouts[i];
        if (layout->version != version || !type || !agrees(layout, (const uint64_t *)(uintptr_t)runtime)) continue;
        process->python_runtime = runtime;
        process->python_code_type = type;
        store_relaxed(&process->segment->has_python_frames, 1);
        process->python_known = layout;
        store_release(&process->python, layout);
        store_release(&process->rules_generation, process->rules_generation + 1); /* walks without these frames */
    }
}

void python_go_on(void) {
    struct dl_find_object object;
    if (likely(!process->python_known) || process->python) return;
    if (_dl_find_object((void *)(uintptr_t)process->python_runtime, &object) != 0) process->python_known = NULL;
    store_release(&process->python, process->python_known);
    store_release(&process->rules_generation, process->rules_generation + 1);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

COLD bool python_has_page(struct python_reader *reader, uint64_t page) {
    uint64_t *known = &reader->space->pages[(page ^ page >> 8) % PYTHON_PAGES];
    if (!page || page >> (47 - PYTHON_PAGE_BITS)) return false;
    if (*known == page) return true;
    if (!memory_is_readable(page << PYTHON_PAGE_BITS)) return false;
    *known = page;
    return true;
}

bool python_read(struct python_reader *reader, uint64_t from, void *into, size_t size) {
    uint64_t last = (from + size - 1) >> PYTHON_PAGE_BITS;
    if (from + size < from) return false;
    for (uint64_t page = from >> PYTHON_PAGE_BITS; page <= last; page++)
        if (!python_has_page(reader, page)) return false;
    memcpy(into, (const void *)(uintptr_t)from, size);
    return true;
}

/* ---- the interpreter's end ----------------------------------------------------------------------------------------
 *
 * At its end the interpreter frees the states of threads that still run (daemon threads, which wait in C code), beginning with the memory of
 * their frames, by munmap. Who unmaps first after the end was noted waits for the walks that began before that; a walk that begins
 * later sees the end. A walk takes some microseconds; of a thread that stands still for longer nothing more can be waited for. */

static uint64_t finalizing(const struct python_layout *layout) {
    return load_acquire((const uint64_t *)(uintptr_t)(process->python_runtime + layout->finalizing));
}

static void wait_for_walks(void) {
    enum { YIELDS = 2000 };
    for (struct thread *thread = load_acquire(&process->all); thread; thread = thread->next_of_all)
        for (int i = 0; i < YIELDS && thread != self && __atomic_load_n(&thread->python_walks, __ATOMIC_SEQ_CST); i++)
            if (!is_sealed()) real_syscall(SYS_sched_yield);
}

void python_pause(void) {
    if (likely(!load_relaxed(&process->python))) return;
    __atomic_store_n(&process->python, NULL, __ATOMIC_SEQ_CST);
    wait_for_walks(); /* that read what may be unloaded */
}

COLD void python_unmaps_slowly(void) {
    const struct python_layout *layout = load_acquire(&process->python);
    int saved_errno = errno;
    __atomic_add_fetch(&process->python_unmaps, 1, __ATOMIC_SEQ_CST);
    if (layout && finalizing(layout) && !exchange_acq_rel(&process->python_is_over, 1)) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        wait_for_walks();
    }
    errno = saved_errno;
}

/* ---- the frames of a thread ---------------------------------------------------------------------------------------- */

/* Where the next call of the interpreter is to be found: towards the root. */
struct next_call {
    uint64_t cframe, frame; /* of a version with cframes the former, else the latter; 0: the end */
};

/* The functions that one call of the interpreter runs, leaf first. */
struct group {
    uint64_t place; /* of something in its native frame; 0: there is none */
    uint64_t *pc;
    uint32_t count, most;
};

enum { FRAMES_MAX = 1 << 16, FRAME_FLAGS = 64 /* the word of is_entry and owner */ };

static void add_frame(struct python_reader *reader, uint64_t frame, struct group *group) {
    const struct python_layout *layout = reader->layout;
    if (group->count == group->most) return;
    uint64_t code = python_word(reader, frame + layout->code);
    uint64_t first = code + layout->instructions, at = python_word(reader, frame + layout->instruction) - first + 2;
    /* One that has not begun stands before the first instruction. */
    uint64_t unit = at < 1u << 30 ? at / 2 : 0;
    uint32_t id = python_code_id(reader, code);
    group->pc[group->count++] = PYTHON_FRAME | (uint64_t)id << PYTHON_CODE_SHIFT | unit;
}

/* From `at` to the frame that C code called the interpreter for. Gives the frame behind it. */
static uint64_t add_frames(struct python_reader *reader, uint64_t at, struct group *group) {
    const struct python_layout *layout = reader->layout;
    for (int i = 0; at && i < FRAMES_MAX; i++) {
        uint64_t before = python_word(reader, at + layout->before), flags = python_word(reader, at + FRAME_FLAGS);
        if (!layout->is_entry && (uint8_t)(flags >> (layout->owner - FRAME_FLAGS) * 8) == PYTHON_ENTRY_OWNER) {
            if (!layout->cframe) group->place = at;
            return before;
        }
        add_frame(reader, at, group);
        if (layout->is_entry && (uint8_t)(flags >> (layout->is_entry - FRAME_FLAGS) * 8)) return before;
        if (layout->cframe && group->count == group->most) return 0;
        at = before;
    }
    return 0;
}

static void next_group(struct python_reader *reader, struct next_call *call, struct group *group) {
    const struct python_layout *layout = reader->layout;
    group->count = 0;
    group->place = call->cframe;
    if (!layout->cframe) {
        call->frame = add_frames(reader, call->frame, group);
    } else if (call->cframe) {
        uint64_t frame = python_word(reader, call->cframe + layout->cframe_frame);
        call->cframe = python_word(reader, call->cframe + layout->cframe_previous);
        add_frames(reader, frame, group);
    }
}

/* The interpreter's state of the calling thread; 0: it has none. */
static uint64_t thread_state(struct python_reader *reader) {
    struct {
        int is_made;
        uint32_t key;
    } tss;
    memcpy(&tss, (const void *)(uintptr_t)(process->python_runtime + reader->layout->tss_key), sizeof tss);
    uint64_t state = tss.is_made ? (uintptr_t)pthread_getspecific(tss.key) : 0;
    if (!state || python_word(reader, state + reader->layout->thread_id) != (uintptr_t)pthread_self()) return 0;
    uint64_t end = finalizing(reader->layout);
    return !load_acquire(&process->python_is_over) && (!end || end == state) ? state : 0;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

static bool is_in_frame(uint64_t place, const uint64_t *sp, uint32_t i) {
    return place && place >= sp[i] && place < sp[i + 1];
}

static bool is_known(const struct group *group) {
    for (uint32_t i = 0; i < group->count; i++)
        if (!(group->pc[i] >> PYTHON_CODE_SHIFT & PYTHON_CODE_MAX)) return false;
    return group->count;
}

static void merge(struct python_reader *reader, struct next_call call, struct walked_stack *stack, const uint64_t *sp) {
    uint64_t *pc = reader->space->pc;
    uint32_t depth = 0, most = process->depth;
    struct group group = {.pc = reader->space->group, .most = most};
    next_group(reader, &call, &group);
    for (uint32_t i = 0; i < stack->depth && depth < most; i++) {
        if (!is_in_frame(group.place, sp, i) || !is_known(&group)) {
            pc[depth++] = stack->pc[i];
        } else {
            for (uint32_t from = 0; from < group.count && depth < most; from++)
                pc[depth++] = group.pc[from];
            if (depth == most) stack->flags |= STACK_TRUNCATED;
        }
        if (is_in_frame(group.place, sp, i)) next_group(reader, &call, &group);
        if (depth == most && i + 1 < stack->depth) stack->flags |= STACK_TRUNCATED;
    }
    stack->pc = pc;
    stack->depth = depth;
    unwind_changed(stack);
}

/* Pages that a hook found stay known until something is unmapped; in the handler of the timer the thread may be anywhere, also in the
 * middle of taking away a frame, and every page is asked for again. */
static void begin_pages(struct python_space *space, bool is_ticking) {
    uint32_t unmaps = __atomic_load_n(&process->python_unmaps, __ATOMIC_SEQ_CST);
    if (!is_ticking && space->unmaps == unmaps) return;
    memset(space->pages, 0, sizeof space->pages);
    space->unmaps = unmaps;
}

static void merge_frames(struct python_reader *reader, struct walked_stack *stack, const uint64_t *sp) {
    uint64_t state = thread_state(reader);
    struct next_call call = {0};
    if (!state) return;
    if (reader->layout->cframe)
        call.cframe = python_word(reader, state + reader->layout->cframe);
    else
        call.frame = python_word(reader, state + reader->layout->frame);
    if (call.cframe || call.frame) merge(reader, call, stack, sp);
}

/* It is said first that a walk goes on, then looked whether there is an interpreter: see wait_for_walks. */
void python_merge(struct thread *thread, struct walked_stack *stack, const uint64_t *sp) {
    bool is_ticking = thread->is_ticking;
    struct python_reader reader = {.thread = thread, .space = &thread->python[is_ticking]};
    if (is_sealed()) return;
    __atomic_add_fetch(&thread->python_walks, 1, __ATOMIC_SEQ_CST);
    reader.layout = __atomic_load_n(&process->python, __ATOMIC_SEQ_CST);
    if (reader.layout) {
        begin_pages(reader.space, is_ticking);
        merge_frames(&reader, stack, sp);
    }
    __atomic_sub_fetch(&thread->python_walks, 1, __ATOMIC_SEQ_CST);
}
