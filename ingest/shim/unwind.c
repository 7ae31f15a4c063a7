#include "ingest/shim/unwind.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "ingest/shim/cfi.h"
#include "ingest/shim/modules.h"
#include "ingest/shim/stackrange.h"

/* Return address -> rule. Open addressing; an entry's pc is stored last, so readers take no lock. */
struct rule_entry {
    uint64_t pc;
    struct rule rule;
};
struct rule_table {
    uint64_t mask, count;
    struct rule_entry entries[];
};

enum {
    RULE_GONE = 1, /* an address that no code has: the place of a forgotten rule */
    RULES_FIRST = 1 << 12,
    RULES_MAX = 1 << 21, /* 32 MiB: a JIT that never stops making code must not fill the memory */
};

/* Fibonacci hashing: the high bits of a product with 2^64 / golden ratio. */
static ALWAYS_INLINE uint64_t rule_slot(uint64_t pc, uint64_t mask) {
    return (pc * 0x9e3779b97f4a7c15ull >> 32) & mask;
}

static struct rule_table *table_new(uint64_t slots) {
    struct rule_table *table = private_memory(sizeof *table + slots * sizeof table->entries[0]);
    if (table) table->mask = slots - 1;
    return table;
}

static void table_add(struct rule_table *table, uint64_t pc, struct rule rule) {
    uint64_t slot = rule_slot(pc, table->mask);
    while (table->entries[slot].pc > RULE_GONE)
        slot = (slot + 1) & table->mask;
    if (table->entries[slot].pc != RULE_GONE) table->count++;
    table->entries[slot].rule = rule;
    store_release(&table->entries[slot].pc, pc);
}

/* Readers may still be inside the old table, so it is kept: all old ones together are as large as the new one. */
static bool table_grow(void) {
    struct rule_table *old = process->rules, *grown = table_new((old->mask + 1) * 2);
    if (!grown) return false;
    for (uint64_t i = 0; i <= old->mask; i++)
        if (old->entries[i].pc > RULE_GONE) table_add(grown, old->entries[i].pc, old->entries[i].rule);
    store_release(&process->rules, grown);
    return true;
}

bool rules_start(void) {
    struct rule_table *table = table_new(RULES_FIRST);
    if (table) store_release(&process->rules, table);
    return table != NULL;
}

/* Their places are used again. A walk that is inside such a place right now would be a walk through unloaded code. */
void rules_forget(uint64_t low, uint64_t high) {
    struct rule_table *table = process->rules;
    for (uint64_t i = 0; i <= table->mask; i++)
        if (table->entries[i].pc > low && table->entries[i].pc <= high) store_release(&table->entries[i].pc, RULE_GONE);
}

static const struct rule *table_find(const struct rule_table *table, uint64_t pc) {
    for (uint64_t slot = rule_slot(pc, table->mask);; slot = (slot + 1) & table->mask) {
        uint64_t found = load_acquire(&table->entries[slot].pc);
        if (found == pc) return &table->entries[slot].rule;
        if (found == 0) return NULL;
    }
}

/* The dynamic loader's entry runs the constructors, and its hand-written code has no call frame information: nothing is above it. */
static bool is_loader_entry(const struct dl_find_object *object, struct rule rule) {
    return rule.type == RULE_UNKNOWN && (uintptr_t)object->dlfo_map_start == getauxval(AT_BASE);
}

/* First meeting with an address: note its module and work out the rule. A few microseconds, once an address. */
static COLD struct rule rule_slowly(uint64_t pc) {
    struct dl_find_object object;
    struct rule rule = {.type = RULE_UNKNOWN};
    process_lock();
    const struct rule *known = table_find(process->rules, pc);
    if (known) {
        rule = *known;
    } else {
        /* Lock-free and safe in signal handlers (glibc 2.35): dl_iterate_phdr would wait for a thread inside dlopen,
         * which may itself be waiting for us in its malloc. */
        if (_dl_find_object((void *)(uintptr_t)(pc - 1), &object) == 0) {
            module_note(&object);
            rule = cfi_rule(object.dlfo_eh_frame, pc - 1);
            if (is_loader_entry(&object, rule)) rule.type = RULE_END;
        }
        bool room =
            process->rules->count * 2 < process->rules->mask || (process->rules->mask < RULES_MAX && table_grow());
        if (room) {
            table_add(process->rules, pc, rule);
            add_own(&process->segment->unwind_rules, 1);
        }
    }
    process_unlock();
    return rule;
}

static ALWAYS_INLINE struct rule rule_of(const struct rule_table *table, uint64_t pc) {
    for (uint64_t slot = rule_slot(pc, table->mask);; slot = (slot + 1) & table->mask) {
        uint64_t found = load_acquire(&table->entries[slot].pc);
        if (likely(found == pc)) return table->entries[slot].rule;
        if (found == 0) return rule_slowly(pc);
    }
}

static ALWAYS_INLINE uint64_t word_at(uint64_t address) {
    return *(const uint64_t *)(uintptr_t)address;
}

/* Offsets in the kernel's ucontext of x86-64: uc_mcontext.gregs[REG_RBP, REG_RSP, REG_RIP]. */
enum { UCONTEXT_BP = 120, UCONTEXT_SP = 160, UCONTEXT_PC = 168, UCONTEXT_SIZE = 176 };

/* The registers that a signal interrupted, from the ucontext that the kernel left at sp. */
static COLD struct frame interrupted_frame(uint64_t sp) {
    return (struct frame){
        .pc = word_at(sp + UCONTEXT_PC) + 1, .sp = word_at(sp + UCONTEXT_SP), .bp = word_at(sp + UCONTEXT_BP)};
}

/* The frame that a rule leads to. 0 where it leads out of the stack. */
static ALWAYS_INLINE uint64_t next_frame(struct rule rule, const struct frame *frame, uint64_t high) {
    uint64_t at;
    switch (rule.type) {
    case RULE_FRAME: at = frame->bp + 16; break;
    case RULE_SP: at = frame->sp + (uint64_t)(int64_t)rule.offset; break;
    case RULE_BP: at = frame->bp + (uint64_t)(int64_t)rule.offset; break;
    case RULE_SP_DEREF:
    case RULE_BP_DEREF:
        at = (rule.type == RULE_SP_DEREF ? frame->sp : frame->bp) + (uint64_t)(int64_t)rule.offset;
        if (at < frame->sp - 128 || at + 8 > high || at & 7) return 0;
        if (rule.type == RULE_BP_DEREF && (frame->bp < frame->sp - 128 || frame->bp + 8 > high)) return 0;
        at = word_at(at) + (uint64_t)(int64_t)rule.addend;
        break;
    default: return 0;
    }
    return likely(at > frame->sp && at <= high && !(at & 7)) ? at : 0;
}

struct walk {
    uint32_t depth;
    uint32_t flags;
};

/* 13 frames by frame pointers cost about 20 ns, by other rules about 40 ns: the chain of loads through bp does not wait for the
 * rules, which only confirm what the branch predictor already went on with. */
static ALWAYS_INLINE struct walk walk_stack(struct thread *thread, struct frame frame, uint64_t *hash_out) {
    const struct rule_table *table = load_acquire(&process->rules);
    struct stack_range range = stack_range_of(thread, frame.sp);
    uint64_t hash = process->epoch, high = range.high;
    uint32_t depth = 0, limit = process->depth;
    uint64_t *pc = thread->pc;
    for (;;) {
        pc[depth++] = frame.pc;
        hash = (hash ^ frame.pc) * 0x9fb21c651e98df25ull;
        struct rule rule = rule_of(table, frame.pc);
        uint64_t at;
        if (likely(rule.type == RULE_FRAME)) {
            at = frame.bp + 16;
            if (unlikely(at <= frame.sp || at > high || at & 7)) break;
            frame = (struct frame){.pc = word_at(at - 8), .sp = at, .bp = word_at(at - 16)};
        } else if (likely(rule.type >= RULE_SP && rule.type <= RULE_BP_DEREF)) {
            at = next_frame(rule, &frame, high);
            if (unlikely(!at)) break;
            if (rule.type == RULE_BP_DEREF)
                frame.bp = word_at(frame.bp);
            else if (rule.bp_offset)
                frame.bp = word_at(at + (uint64_t)(int64_t)rule.bp_offset);
            frame.pc = word_at(at - 8);
            frame.sp = at;
        } else if (rule.type == RULE_SIGNAL && frame.sp + UCONTEXT_SIZE <= high) {
            frame = interrupted_frame(frame.sp);
            high = stack_range_of(thread, frame.sp).high;
        } else {
            *hash_out = hash;
            return (struct walk){depth, rule.type == RULE_END ? 0 : STACK_INCOMPLETE};
        }
        if (unlikely(frame.pc == 0)) {
            *hash_out = hash;
            return (struct walk){depth, 0};
        }
        if (unlikely(depth == limit)) {
            *hash_out = hash;
            return (struct walk){depth, STACK_TRUNCATED};
        }
    }
    *hash_out = hash;
    return (struct walk){depth, STACK_INCOMPLETE};
}

void unwind(struct thread *thread, struct frame frame, struct stack *stack) {
    uint64_t hash;
    struct walk walk = walk_stack(thread, frame, &hash);
    if (unlikely(walk.flags)) {
        if (walk.flags & STACK_TRUNCATED) add_own(&thread->counters->truncated, 1);
        if (walk.flags & STACK_INCOMPLETE) add_own(&thread->counters->incomplete, 1);
    }
    hash ^= hash >> 32;
    *stack = (struct stack){
        .pc = thread->pc, .depth = walk.depth, .flags = walk.flags, .hash = (hash ^ walk.flags) | 1ull << 63};
}
