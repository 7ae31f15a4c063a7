#include "ingest/shim/stacks/unwind.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

#include "ingest/shim/core/readable.h"
#include "ingest/shim/stacks/cfi.h"
#include "ingest/shim/stacks/crtstuff.h"
#include "ingest/shim/stacks/modules.h"
#include "ingest/shim/stacks/python.h"
#include "ingest/shim/stacks/stackrange.h"

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
    RULES_FIRST = 1 << 9,
    RULES_MAX =
        1
        << 22, /* slots, 64 MiB, and as much for all smaller tables: a limit for programs whose JIT makes code without end */
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

/* Needs process->lock. The entries are used again. A reader that is at such an entry right now would be walking through
 * unloaded code. */
void rules_forget(uint64_t low, uint64_t high) {
    struct rule_table *table = process->rules;
    store_release(&process->rules_generation, process->rules_generation + 1);
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

/* The dynamic loader's entry point calls the constructors. It has no call frame information, and nothing called it. */
static bool is_loader_entry(const struct dl_find_object *object) {
    return (uintptr_t)object->dlfo_map_start == getauxval(AT_BASE);
}

/* _dl_find_object (glibc 2.35) is lock-free and safe in signal handlers. dl_iterate_phdr would wait for a thread inside
 * dlopen, which may be waiting for us in its malloc. */
static struct rule rule_of_object(const struct dl_find_object *object, uint64_t pc) {
    struct rule rule = cfi_rule(object->dlfo_eh_frame, pc - 1);
    if (rule.type != RULE_UNKNOWN) return rule;
    return is_loader_entry(object) ? (struct rule){.type = RULE_END} : crtstuff_rule(object, pc);
}

/* Whether a call stands before an address that is in no module: so it can be a return address into code that a JIT compiler made. What
 * this thread returns to stays there. */
static bool is_behind_call(uint64_t pc) {
    uint8_t code[8];
    uint64_t at = pc - sizeof code;
    if (pc <= sizeof code || pc >= 1ull << 47 || !memory_is_readable(at)) return false;
    memcpy(code, (const void *)(uintptr_t)at, sizeof code);
    if (code[3] == 0xe8) return true; /* call rel32 */
    for (int size = 2; size <= 7; size++)
        if (code[8 - size] == 0xff && (code[9 - size] >> 3 & 7) == 2) return true; /* call *operand */
    return false;
}

/* The rule of an address, once its module is noted. Needs process->lock. */
static struct rule rule_learn(uint64_t pc) {
    struct dl_find_object object;
    const struct rule *known = table_find(process->rules, pc);
    if (known) return *known;
    struct rule rule = {.type = RULE_UNKNOWN};
    if (_dl_find_object((void *)(uintptr_t)(pc - 1), &object) == 0) {
        module_note(&object);
        rule = rule_of_object(&object, pc);
    } else if (is_behind_call(pc)) {
        rule.type = RULE_MADE;
        store_relaxed(&process->has_made_code, 1);
    }
    bool room =
        process->rules->count * 2 < process->rules->mask || (process->rules->mask + 1 < RULES_MAX && table_grow());
    if (room) {
        table_add(process->rules, pc, rule);
        add_own(&process->segment->unwind_rules, 1);
    }
    return rule;
}

/* The first time that an address is met: a few microseconds. A tick that met the runtime with its lock taken goes by the rule
 * all the same, and has its stack's modules noted before that is stored (unwind_note_all). */
static COLD struct rule rule_slowly(struct thread *thread, uint64_t pc) {
    struct dl_find_object object;
    if (!process_lock_from(thread)) {
        bool is_code = _dl_find_object((void *)(uintptr_t)(pc - 1), &object) == 0;
        return is_code ? rule_of_object(&object, pc) : (struct rule){.type = RULE_UNKNOWN};
    }
    struct rule rule = rule_learn(pc);
    process_unlock();
    return rule;
}

static ALWAYS_INLINE struct rule rule_of(struct thread *thread, const struct rule_table *table, uint64_t pc) {
    for (uint64_t slot = rule_slot(pc, table->mask);; slot = (slot + 1) & table->mask) {
        uint64_t found = load_acquire(&table->entries[slot].pc);
        if (likely(found == pc)) return table->entries[slot].rule;
        if (found == 0) return rule_slowly(thread, pc);
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

/* --- trails: the words that a walk read, for the cache of callstack.h ------------------------------------------- */

static ALWAYS_INLINE void trail_slot(struct trail *trail, uint64_t address, uint64_t value) {
    uint64_t at = (address - trail->start) / 8;
    if (unlikely(trail->count == TRAIL_SLOTS || at > UINT16_MAX)) {
        trail->is_whole = false;
        return;
    }
    trail->at[trail->count] = (uint16_t)at;
    trail->value[trail->count++] = value;
}

/* A rule uses bp: then what it was read from belongs to the trail, a slot of the stack or the register itself. */
static ALWAYS_INLINE void trail_bp(struct trail *trail, uint64_t bp) {
    if (trail->bp_from == TRAIL_REGISTER)
        trail->uses_bp = true;
    else if (trail->bp_from != TRAIL_NOTED)
        trail_slot(trail, trail->bp_from, bp);
    trail->bp_from = TRAIL_NOTED;
}

/* --- walking -------------------------------------------------------------------------------------------------- */

static ALWAYS_INLINE bool is_slot(uint64_t at, const struct frame *frame, uint64_t high) {
    return at >= frame->sp - 128 && at + 8 <= high && !(at & 7);
}

/* The canonical frame address by a rule; 0 where that is not further up on this stack. */
static ALWAYS_INLINE uint64_t frame_address(struct rule rule, const struct frame *frame, uint64_t high,
                                            struct trail *trail) {
    bool is_from_sp = rule.type == RULE_SP || rule.type == RULE_SP_DEREF;
    if (!is_from_sp && trail) trail_bp(trail, frame->bp);
    uint64_t at = (is_from_sp ? frame->sp : frame->bp) + (uint64_t)(int64_t)rule.offset;
    if (unlikely(rule.type >= RULE_SP_DEREF)) {
        if (!is_slot(at, frame, high)) return 0;
        if (rule.type == RULE_BP_DEREF && !is_slot(frame->bp, frame, high)) return 0;
        uint64_t saved = word_at(at);
        if (trail) trail_slot(trail, at, saved);
        at = saved + (uint64_t)(int64_t)rule.addend;
    }
    return likely(at > frame->sp && at <= high && !(at & 7)) ? at : 0;
}

static ALWAYS_INLINE bool step(struct rule rule, struct frame *frame, uint64_t high, struct trail *trail) {
    if (rule.type == RULE_FRAME) rule = (struct rule){.type = RULE_BP, .offset = 16, .bp_offset = -16};
    uint64_t at = frame_address(rule, frame, high, trail);
    if (unlikely(!at)) return false;
    uint64_t bp_at = rule.type == RULE_BP_DEREF ? frame->bp : at + (uint64_t)(int64_t)rule.bp_offset;
    frame->pc = word_at(at - 8);
    frame->sp = at;
    if (trail) trail_slot(trail, at - 8, frame->pc);
    if (bp_at != at) {
        frame->bp = word_at(bp_at);
        if (trail) trail->bp_from = bp_at;
    }
    return true;
}

/* Code of a JIT compiler, and what a runtime brings of the same kind in its file without call frame information (V8's builtins): left by the frame
 * pointer, where that is one. It must point up on this stack, to a return address that is code with a rule, or that a call stands
 * before. A function that has not made its frame yet is left together with its caller, so such a stack stays marked as incomplete. By
 * value, and pc 0 where it is none: the frame of the walk stays in registers, or each step of every walk is a quarter longer. */
static COLD struct frame step_made(struct thread *thread, struct frame frame, uint64_t high) {
    struct dl_find_object object;
    const struct frame none = {0};
    uint64_t bp = frame.bp;
    if (bp < frame.sp || high < 16 || bp > high - 16 || bp & 7) return none;
    uint64_t pc = word_at(bp + 8);
    if (pc <= RULE_GONE) return none;
    uint8_t type = rule_of(thread, load_acquire(&process->rules), pc).type;
    if (type == RULE_UNKNOWN && _dl_find_object((void *)(uintptr_t)(pc - 1), &object) != 0) return none;
    return (struct frame){.pc = pc, .sp = bp + 16, .bp = word_at(bp)};
}

/* Whether the interrupted instruction, or the one before a return address, is such code. */
static COLD bool is_made(struct rule rule, uint64_t pc) {
    struct dl_find_object object;
    if (rule.type == RULE_END || rule.type == RULE_SIGNAL) return false;
    if (rule.type == RULE_MADE || load_relaxed(&process->has_made_code)) return true;
    return _dl_find_object((void *)(uintptr_t)(pc - 1), &object) != 0;
}

static ALWAYS_INLINE uint64_t add_hash(uint64_t hash, uint64_t pc) {
    return (hash ^ pc) * 0x9fb21c651e98df25ull;
}

static ALWAYS_INLINE uint64_t finish_hash(uint64_t hash, uint32_t flags) {
    return (hash ^ hash >> 32 ^ flags) | 1ull << 63;
}

void unwind_changed(struct walked_stack *stack) {
    uint64_t hash = load_relaxed(&process->epoch);
    for (uint32_t i = 0; i < stack->depth; i++)
        hash = add_hash(hash, stack->pc[i]);
    stack->hash = finish_hash(hash, stack->flags);
}

/* The cost is the chain of loads from frame to frame. With plain frame pointers the next step needs bp alone, and the
 * branch predictor runs ahead while the rule is still being looked up: 13 frames take about 20 ns. Other rules must be
 * loaded before the next frame is known: about 6 ns a frame. */
static ALWAYS_INLINE uint32_t walk(struct thread *thread, struct frame frame, struct walked_stack *stack,
                                   struct trail *trail, uint64_t *sp) {
    const struct rule_table *table = load_acquire(&process->rules);
    uint32_t epoch = load_relaxed(&process->epoch);
    uint64_t hash = epoch, high = stack_range_of(thread, frame.sp).high;
    uint64_t *pc = trail || likely(!thread->is_ticking) ? thread->pc : thread->tick_pc;
    uint32_t depth = 0, limit = process->depth, flags = STACK_INCOMPLETE, made = 0;
    for (;;) {
        if (sp) sp[depth] = frame.sp;
        pc[depth++] = frame.pc;
        hash = add_hash(hash, frame.pc);
        struct rule rule = rule_of(thread, table, frame.pc);
        if (likely(rule.type == RULE_FRAME)) {
            if (unlikely(!step((struct rule){.type = RULE_FRAME}, &frame, high, trail))) break;
        } else if (likely(rule.type > RULE_FRAME && rule.type < RULE_SIGNAL)) {
            if (unlikely(!step(rule, &frame, high, trail))) break;
        } else if (rule.type == RULE_SIGNAL && frame.sp + UCONTEXT_SIZE <= high) {
            frame = interrupted_frame(frame.sp);
            high = stack_range_of(thread, frame.sp).high;
            if (trail) trail->is_whole = false;
        } else {
            struct frame next = is_made(rule, frame.pc) ? step_made(thread, frame, high) : (struct frame){0};
            if (!next.pc) {
                flags = rule.type == RULE_END ? made : STACK_INCOMPLETE;
                break;
            }
            frame = next;
            made = STACK_INCOMPLETE;
            if (trail) trail->is_whole = false;
        }
        if (unlikely(frame.pc == 0)) {
            flags = made;
            break;
        }
        if (unlikely(depth == limit)) {
            flags = STACK_TRUNCATED | made;
            break;
        }
    }
    if (sp) sp[depth] = frame.sp;
    *stack = (struct walked_stack){.pc = pc, .depth = depth, .flags = flags, .hash = finish_hash(hash, flags)};
    if (unlikely(load_relaxed(&process->epoch) != epoch))
        unwind_changed(stack); /* by a module that was met on the way */
    return flags;
}

/* No rule is learned: the code may be unloaded by now, and the rule of no code would stand there for what is loaded next. */
static void note_module_of(uint64_t pc) {
    struct dl_find_object object;
    if (pc <= LEAF_UNSAMPLED || pc & PYTHON_FRAME || table_find(process->rules, pc)) return;
    if (_dl_find_object((void *)(uintptr_t)(pc - 1), &object) == 0) module_note(&object);
}

void unwind_note(struct thread *thread, uint64_t pc) {
    if (!process_lock_from(thread)) return;
    note_module_of(pc);
    process_unlock();
}

bool unwind_note_all(struct thread *thread, struct walked_stack *stack) {
    if (!process_lock_from(thread)) return false;
    for (uint32_t i = 0; i < stack->depth; i++)
        note_module_of(stack->pc[i]);
    process_unlock();
    unwind_changed(stack);
    return true;
}

bool unwind_is_signal(struct thread *thread, uint64_t pc) {
    return rule_of(thread, load_acquire(&process->rules), pc).type == RULE_SIGNAL;
}

static COLD void count_flags(struct thread *thread, uint32_t flags) {
    if (flags & STACK_TRUNCATED) add_own(&thread->counters->truncated, 1);
    if (flags & STACK_INCOMPLETE) add_own(&thread->counters->incomplete, 1);
}

/* Of a thread of a process that has a Python interpreter. */
static COLD void unwind_python(struct thread *thread, struct frame frame, struct walked_stack *stack) {
    uint64_t *sp = thread->python[thread->is_ticking != TICK_NONE].sp;
    walk(thread, frame, stack, NULL, sp);
    python_merge(thread, stack, sp);
    count_flags(thread, stack->flags);
}

void unwind(struct thread *thread, struct frame frame, struct walked_stack *stack) {
    if (unlikely(load_relaxed(&process->python))) return unwind_python(thread, frame, stack);
    uint32_t flags = walk(thread, frame, stack, NULL, NULL);
    if (unlikely(flags)) count_flags(thread, flags);
}

COLD void unwind_places(struct thread *thread, struct frame frame, struct walked_stack *stack, uint64_t *sp) {
    walk(thread, frame, stack, NULL, sp);
}

void unwind_noting(struct thread *thread, struct frame frame, struct walked_stack *stack, struct trail *trail) {
    bool is_own_stack = frame.sp >= thread->stack.low && frame.sp < thread->stack.high;
    trail->start = frame.sp;
    trail->count = 0;
    trail->uses_bp = false;
    trail->is_whole = is_own_stack;
    trail->bp_from = TRAIL_REGISTER;
    uint32_t flags = walk(thread, frame, stack, trail, NULL);
    if (unlikely(flags)) {
        count_flags(thread, flags);
        trail->is_whole = false;
    }
}
