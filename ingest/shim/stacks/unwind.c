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

/* A polynomial of the mixed addresses, so that the sum of the frames behind one can be kept, and put behind others. */
static const uint64_t HASH_FACTOR = 0x9fb21c651e98df25ull;

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

static void hash_start(void) {
    process->hash_powers[0] = 1;
    for (int i = 1; i <= LAST_FRAMES; i++)
        process->hash_powers[i] = process->hash_powers[i - 1] * HASH_FACTOR;
}

bool rules_start(void) {
    struct rule_table *table = table_new(RULES_FIRST);
    hash_start();
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

/* --- trails: the words that a walk read ------------------------------------------------------------------------ */

static ALWAYS_INLINE void trail_slot(struct trail *trail, uint64_t address, uint64_t value) {
    uint64_t at = (address - trail->start) / 8;
    if (unlikely(trail->count == TRAIL_MOST || at > UINT16_MAX)) {
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

static ALWAYS_INLINE uint64_t mixed(uint64_t pc) {
    uint64_t product = pc * 0xff51afd7ed558ccdull;
    return product ^ product >> 32;
}

static ALWAYS_INLINE uint64_t add_hash(uint64_t hash, uint64_t pc) {
    return (hash + mixed(pc)) * HASH_FACTOR;
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
                                   uint64_t *sp) {
    const struct rule_table *table = load_acquire(&process->rules);
    uint32_t epoch = load_relaxed(&process->epoch);
    uint64_t hash = epoch, high = stack_range_of(thread, frame.sp).high;
    uint64_t *pc = likely(!thread->is_ticking) ? thread->pc : thread->tick_pc;
    uint32_t depth = 0, limit = process->depth, flags = STACK_INCOMPLETE, made = 0;
    for (;;) {
        if (sp) sp[depth] = frame.sp;
        pc[depth++] = frame.pc;
        hash = add_hash(hash, frame.pc);
        struct rule rule = rule_of(thread, table, frame.pc);
        if (likely(rule.type == RULE_FRAME)) {
            if (unlikely(!step((struct rule){.type = RULE_FRAME}, &frame, high, NULL))) break;
        } else if (likely(rule.type > RULE_FRAME && rule.type < RULE_SIGNAL)) {
            if (unlikely(!step(rule, &frame, high, NULL))) break;
        } else if (rule.type == RULE_SIGNAL && frame.sp + UCONTEXT_SIZE <= high) {
            frame = interrupted_frame(frame.sp);
            high = stack_range_of(thread, frame.sp).high;
        } else {
            struct frame next = is_made(rule, frame.pc) ? step_made(thread, frame, high) : (struct frame){0};
            if (!next.pc) {
                flags = rule.type == RULE_END ? made : STACK_INCOMPLETE;
                break;
            }
            frame = next;
            made = STACK_INCOMPLETE;
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

/* --- by the last walk ------------------------------------------------------------------------------------------- */

enum {
    PLAIN = 64,    /* plain walks behind one that this cannot make: it cannot make the next ones either, mostly */
    POOR = 4,      /* walks in a row that met less than half of their frames */
    PASSES = 1024, /* walks behind these that do not look for what they have in common */
};

/* Deep stacks of one thread differ in their innermost frames: an interpreter of expressions that calls itself has 53 frames, of which 5 change
 * from one allocation to the next. So a walk stops at the first frame at which the last one was too, with the same pc and sp, and bp
 * where that was used from there on, if all words that were read from there on are what they were: what follows is a function of these. */

/* The first word from that frame on that is not as it was; LAST_WORDS: none. Words below its sp are where bp came from, which is compared itself;
 * they may be no part of the stack any more. */
static ALWAYS_INLINE uint32_t changed_word(const struct last_walk *last, uint32_t frame, uint64_t sp) {
    uint32_t i = last->known.word[frame];
    while (i < LAST_WORDS && (last->at[i] < sp || word_at(last->at[i]) == last->value[i]))
        i++;
    return i;
}

/* The known frame, from *next on, at which the walk goes on as the last one did; LAST_FRAMES: this frame is none. *next is then where the next
 * frame of the walk is to be looked for. `room`: how many frames more are recorded. */
static ALWAYS_INLINE uint32_t known_frame(const struct last_walk *last, const struct frame *frame, uint32_t room,
                                          uint32_t *next) {
    uint32_t i = *next;
    const struct last_frames *known = &last->known;
    while (i < LAST_FRAMES && known->sp[i] < frame->sp)
        i++;
    *next = i;
    if (i == LAST_FRAMES || known->sp[i] != frame->sp || known->pc[i] != frame->pc) return LAST_FRAMES;
    if (known->uses_bp[i] && known->bp[i] != frame->bp) return LAST_FRAMES;
    uint32_t changed = changed_word(last, i, frame->sp);
    if (changed < LAST_WORDS)
        while (*next < LAST_FRAMES && known->word[*next] <= changed)
            ++*next;
    else if (last->is_cut && LAST_FRAMES - i < room)
        *next = LAST_FRAMES; /* behind what is known there is more */
    else
        return i;
    return LAST_FRAMES;
}

/* A rule may read below its frame, where the stack is free: such a word is no part of what the frames have in common. */
static ALWAYS_INLINE bool reads_above(struct rule rule, const struct frame *frame) {
    if (likely(rule.type < RULE_SP_DEREF)) return true;
    uint64_t base = rule.type == RULE_SP_DEREF ? frame->sp : frame->bp;
    return base >= frame->sp && base + (uint64_t)(int64_t)rule.offset >= frame->sp;
}

/* One step, of which is noted what it depends on. Of the frames from *used on it is not known yet whether bp is used behind them, as it is there. */
static ALWAYS_INLINE bool step_noting(struct rule rule, struct frame *frame, uint64_t high, struct last_walk *last,
                                      uint32_t depth, uint32_t *used) {
    struct trail *trail = &last->trail;
    uint64_t sp = frame->sp, bp_from = trail->bp_from;
    bool is_from_sp = rule.type == RULE_SP || rule.type == RULE_SP_DEREF, is_above = reads_above(rule, frame);
    if (!step(rule, frame, high, trail)) return false;
    if (!is_from_sp)
        while (*used < depth)
            last->fresh.uses_bp[(*used)++] = true;
    if (trail->bp_from > TRAIL_NOTED && trail->bp_from != bp_from) {
        *used = depth;
        is_above &= trail->bp_from >= sp;
    }
    if (unlikely(!is_above)) last->may_be_kept = false;
    return true;
}

/* Walks from the start to a frame at which the last walk was, which is *behind, or to the end. Returns the flags of the stack, of what was walked. */
static ALWAYS_INLINE uint32_t walk_fresh(struct thread *thread, struct frame *frame, uint32_t *depth_of_it,
                                         uint64_t *hash_of_it, uint32_t *behind) {
    const struct rule_table *table = load_acquire(&process->rules);
    struct last_walk *last = &thread->last;
    struct last_frames *fresh = &last->fresh;
    uint64_t hash = *hash_of_it, high = thread->stack.high;
    uint32_t depth = 0, limit = process->depth, used = 0, next = LAST_FRAMES - last->count, flags = 0;
    for (;;) {
        *behind = known_frame(last, frame, limit - depth, &next);
        if (*behind < LAST_FRAMES) {
            if (!last->known.uses_bp[*behind]) break;
            trail_bp(&last->trail, frame->bp);
            while (used < depth)
                fresh->uses_bp[used++] = true;
            break;
        }
        thread->pc[depth] = fresh->pc[depth] = frame->pc;
        fresh->sp[depth] = frame->sp;
        fresh->bp[depth] = frame->bp;
        fresh->word[depth] = (uint16_t)last->trail.count;
        fresh->uses_bp[depth++] = false;
        hash = add_hash(hash, frame->pc);
        struct rule rule = rule_of(thread, table, frame->pc);
        bool is_plain = rule.type >= RULE_FRAME && rule.type < RULE_SIGNAL;
        if (unlikely(!is_plain || !step_noting(rule, frame, high, last, depth, &used))) {
            flags = rule.type == RULE_END ? 0 : STACK_INCOMPLETE;
            break;
        }
        if (unlikely(frame->pc == 0)) break;
        if (unlikely(depth == limit || depth == LAST_FRAMES)) {
            flags = depth == limit ? STACK_TRUNCATED : STACK_INCOMPLETE;
            break;
        }
    }
    *depth_of_it = depth;
    *hash_of_it = hash;
    return flags;
}

/* Puts the frames of this walk before those behind it, which stay. */
static ALWAYS_INLINE void keep_walk(struct last_walk *last, uint32_t depth, uint32_t behind) {
    struct last_frames *known = &last->known, *fresh = &last->fresh;
    const struct trail *trail = &last->trail;
    uint32_t words = behind < LAST_FRAMES ? known->word[behind] : LAST_WORDS;
    last->count = 0;
    if (!last->may_be_kept || !trail->is_whole || depth > behind || trail->count > words) return;
    uint32_t first = behind - depth, first_word = words - trail->count;
    uint64_t sum = behind < LAST_FRAMES ? last->sum[behind] : 0;
    memcpy(known->pc + first, fresh->pc, depth * sizeof fresh->pc[0]);
    memcpy(known->sp + first, fresh->sp, depth * sizeof fresh->sp[0]);
    memcpy(known->bp + first, fresh->bp, depth * sizeof fresh->bp[0]);
    memcpy(known->uses_bp + first, fresh->uses_bp, depth * sizeof fresh->uses_bp[0]);
    for (uint32_t i = depth; i-- > 0;) {
        known->word[first + i] = (uint16_t)(first_word + fresh->word[i]);
        sum += mixed(fresh->pc[i]) * process->hash_powers[LAST_FRAMES - first - i];
        last->sum[first + i] = sum;
    }
    for (uint32_t i = 0; i < trail->count; i++) {
        last->at[first_word + i] = trail->start + 8ull * trail->at[i];
        last->value[first_word + i] = trail->value[i];
    }
    last->count = LAST_FRAMES - first;
}

/* For the cache of callstack.h: what the last walk read from that frame on. */
static ALWAYS_INLINE void note_behind(struct last_walk *last, uint32_t behind, uint64_t sp) {
    uint32_t first = last->known.word[behind];
    if (last->trail.count + LAST_WORDS - first > TRAIL_SLOTS) last->trail.is_whole = false;
    for (uint32_t i = first; i < LAST_WORDS && last->trail.is_whole; i++)
        if (last->at[i] >= sp) trail_slot(&last->trail, last->at[i], last->value[i]);
}

static void begin_trail(struct trail *trail, uint64_t sp) {
    trail->start = sp;
    trail->count = 0;
    trail->uses_bp = false;
    trail->is_whole = true;
    trail->bp_from = TRAIL_REGISTER;
}

/* Where stacks differ at their roots, such as those of one recursive function by many paths, walks do not go by the last one for a while. */
static ALWAYS_INLINE void count_poor(struct last_walk *last, uint32_t depth, uint32_t others) {
    last->poor = others > depth ? 0 : last->poor + 1;
    if (likely(last->poor < POOR)) return;
    last->poor = 0;
    last->count = 0;
    last->passes = PASSES;
}

/* As walk, on the thread's own stack. notes: the trail is to have all words. */
static ALWAYS_INLINE uint32_t walk_by_last(struct thread *thread, struct frame frame, struct walked_stack *stack,
                                           bool notes) {
    struct last_walk *last = &thread->last;
    uint32_t epoch = load_relaxed(&process->epoch), generation = load_relaxed(&process->rules_generation);
    uint32_t depth, behind, limit = process->depth;
    uint64_t hash = epoch, start = frame.sp;
    bool passes = last->passes;
    if (unlikely(last->generation != generation || last->high != thread->stack.high)) last->count = 0;
    if (passes) last->passes--;
    begin_trail(&last->trail, start);
    last->may_be_kept = true;
    uint32_t flags = walk_fresh(thread, &frame, &depth, &hash, &behind);
    if (unlikely(flags & STACK_INCOMPLETE)) { /* or interrupted by a signal, through code that was made, or too deep */
        last->count = 0;
        last->plain = PLAIN;
        last->trail.is_whole = false;
        return walk(thread, (struct frame){.pc = thread->pc[0], .sp = start, .bp = last->fresh.bp[0]}, stack, NULL);
    }
    uint32_t others = LAST_FRAMES - behind, kept = depth + others < limit ? others : limit - depth;
    memcpy(thread->pc + depth, last->known.pc + behind, kept * sizeof thread->pc[0]);
    if (unlikely(kept < others || (others && last->is_cut))) flags = STACK_TRUNCATED;
    bool is_cut = others ? last->is_cut : flags != 0;
    hash = hash * process->hash_powers[kept] + (others ? last->sum[behind] : 0);
    *stack = (struct walked_stack){
        .pc = thread->pc, .depth = depth + kept, .flags = flags, .hash = finish_hash(hash, flags)};
    if (unlikely(kept < others || load_relaxed(&process->epoch) != epoch)) unwind_changed(stack);
    stack_expect(stack->hash);
    uint64_t sp = frame.sp;
    if (likely(!passes)) {
        keep_walk(last, depth, behind);
        last->is_cut = is_cut;
        last->high = thread->stack.high;
        last->generation = generation;
        count_poor(last, depth, others);
    }
    if (notes && others) note_behind(last, behind, sp);
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
    walk(thread, frame, stack, sp);
    python_merge(thread, stack, sp);
    count_flags(thread, stack->flags);
}

static ALWAYS_INLINE bool is_on_own_stack(const struct thread *thread, const struct frame *frame) {
    return frame->sp >= thread->stack.low && frame->sp < thread->stack.high;
}

/* A tick may come in the middle of the other walk. */
static ALWAYS_INLINE bool goes_by_last(struct thread *thread, const struct frame *frame) {
    struct last_walk *last = &thread->last;
    if (thread->is_ticking || !is_on_own_stack(thread, frame)) return false;
    if (likely(!(last->plain | last->passes))) return true;
    if (last->plain)
        last->plain--;
    else
        last->passes--;
    return false;
}

void unwind(struct thread *thread, struct frame frame, struct walked_stack *stack) {
    if (unlikely(load_relaxed(&process->python))) return unwind_python(thread, frame, stack);
    uint32_t flags =
        goes_by_last(thread, &frame) ? walk_by_last(thread, frame, stack, false) : walk(thread, frame, stack, NULL);
    if (unlikely(flags)) count_flags(thread, flags);
}

COLD void unwind_places(struct thread *thread, struct frame frame, struct walked_stack *stack, uint64_t *sp) {
    walk(thread, frame, stack, sp);
}

const struct trail *unwind_noting(struct thread *thread, struct frame frame, struct walked_stack *stack) {
    struct last_walk *last = &thread->last;
    bool is_plain = last->plain || !is_on_own_stack(thread, &frame);
    if (last->plain) last->plain--;
    uint32_t flags = unlikely(is_plain) ? walk(thread, frame, stack, NULL) : walk_by_last(thread, frame, stack, true);
    if (unlikely(flags)) count_flags(thread, flags);
    if (unlikely(flags || is_plain)) last->trail.is_whole = false;
    return &last->trail;
}
