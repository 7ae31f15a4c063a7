#include "ingest/shim/cfi.h"

#include <stddef.h>
#include <string.h>

#include "ingest/shim/atomic.h"

/* Pointer encodings of .eh_frame (DW_EH_PE_*) and the instructions (DW_CFA_*) and operators (DW_OP_*) that compilers emit. */
enum { PE_OMIT = 0xff, PE_INDIRECT = 0x80, PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_FORMAT = 0x0f, PE_BASE = 0x70 };
enum { PE_ABSPTR = 0, PE_UDATA2 = 2, PE_UDATA4 = 3, PE_UDATA8 = 4, PE_SDATA2 = 0xa, PE_SDATA4 = 0xb, PE_SDATA8 = 0xc };
enum { PE_TABLE = PE_DATAREL | PE_SDATA4 }; /* the sorted table that every linker writes */

enum { REG_BP = 6, REG_SP = 7, REG_RA = 16 };
enum { RED_ZONE = 128 }; /* bytes below sp that the ABI leaves alone */
enum { STATES_MAX = 8 }; /* depth of DW_CFA_remember_state; compilers nest to 2 */

struct reader {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t read_bytes(struct reader *reader, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->at) < size) {
        reader->bad = true;
        return 0;
    }
    memcpy(&value, reader->at, size);
    reader->at += size;
    return value;
}

static uint64_t read_uleb(struct reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = read_bytes(reader, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    reader->bad = true;
    return 0;
}

static int64_t read_sleb(struct reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = read_bytes(reader, 1);
        value |= (byte & 0x7f) << shift;
        if (byte & 0x80) continue;
        if (byte & 0x40 && shift + 7 < 64) value |= ~0ull << (shift + 7);
        return (int64_t)value;
    }
    reader->bad = true;
    return 0;
}

static uint64_t read_encoded(struct reader *reader, uint8_t encoding) {
    uint64_t place = (uintptr_t)reader->at, value;
    switch (encoding & PE_FORMAT) {
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8: value = read_bytes(reader, 8); break;
    case PE_UDATA4: value = read_bytes(reader, 4); break;
    case PE_SDATA4: value = (uint64_t)(int32_t)read_bytes(reader, 4); break;
    case PE_UDATA2: value = read_bytes(reader, 2); break;
    case PE_SDATA2: value = (uint64_t)(int16_t)read_bytes(reader, 2); break;
    default: reader->bad = true; return 0;
    }
    if ((encoding & PE_BASE) == PE_PCREL)
        value += place;
    else if (encoding & PE_BASE)
        reader->bad = true;
    if (encoding & PE_INDIRECT) reader->bad = true; /* only personalities are indirect, and those are skipped */
    return value;
}

/* A common information entry, and the function's own entry behind it. */
struct entry {
    uint64_t code_align, low, high;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool is_signal_frame, has_augmentation;
    struct reader initial, program; /* instructions: of the CIE, of the FDE */
};

static bool parse_augmentation(struct reader *reader, const char *augmentation, struct entry *entry) {
    entry->pointer_encoding = PE_ABSPTR;
    if (*augmentation == '\0') return true;
    if (*augmentation++ != 'z') return false;
    entry->has_augmentation = true;
    uint64_t length = read_uleb(reader);
    if (length > (size_t)(reader->end - reader->at)) return false;
    struct reader data = {.at = reader->at, .end = reader->at + length};
    reader->at += length;
    for (; *augmentation; augmentation++) {
        if (*augmentation == 'R') {
            entry->pointer_encoding = (uint8_t)read_bytes(&data, 1);
        } else if (*augmentation == 'L') {
            read_bytes(&data, 1);
        } else if (*augmentation == 'P') {
            uint8_t encoding = (uint8_t)read_bytes(&data, 1);
            read_encoded(&data, encoding & PE_FORMAT);
        } else if (*augmentation == 'S') {
            entry->is_signal_frame = true;
        } else if (*augmentation != 'B') {
            return false;
        }
    }
    return !data.bad;
}

/* The bytes of an entry behind its length and id field. */
static bool open_entry(const uint8_t *at, struct reader *body, uint32_t *id, const uint8_t **id_at) {
    uint32_t length;
    memcpy(&length, at, 4);
    if (length < 4 || length == 0xffffffff) return false; /* the 64-bit form is never emitted in .eh_frame */
    memcpy(id, at + 4, 4);
    *id_at = at + 4;
    *body = (struct reader){.at = at + 8, .end = at + 4 + length};
    return true;
}

static bool parse_cie(const uint8_t *at, struct entry *entry) {
    struct reader body;
    const uint8_t *id_at;
    uint32_t id;
    if (!open_entry(at, &body, &id, &id_at) || id != 0) return false;
    uint8_t version = (uint8_t)read_bytes(&body, 1);
    const char *augmentation = (const char *)body.at;
    size_t length = strnlen(augmentation, (size_t)(body.end - body.at));
    if (body.at + length >= body.end) return false;
    body.at += length + 1;
    entry->code_align = read_uleb(&body);
    entry->data_align = read_sleb(&body);
    uint64_t return_register = version == 1 ? read_bytes(&body, 1) : read_uleb(&body);
    if (return_register != REG_RA || !parse_augmentation(&body, augmentation, entry)) return false;
    entry->initial = body;
    return !body.bad;
}

static bool parse_fde(const uint8_t *at, struct entry *entry) {
    struct reader body;
    const uint8_t *id_at;
    uint32_t id;
    if (!open_entry(at, &body, &id, &id_at) || id == 0) return false;
    if (!parse_cie(id_at - id, entry)) return false;
    entry->low = read_encoded(&body, entry->pointer_encoding);
    entry->high = entry->low + read_encoded(&body, entry->pointer_encoding & PE_FORMAT);
    if (entry->has_augmentation) {
        uint64_t skip = read_uleb(&body);
        if (skip > (size_t)(body.end - body.at)) return false;
        body.at += skip;
    }
    entry->program = body;
    return !body.bad;
}

/* Binary search of .eh_frame_hdr's table: pairs of (function start, entry), both relative to the header. */
static bool find_entry(const uint8_t *hdr, uint64_t address, struct entry *entry) {
    if (hdr[0] != 1 || hdr[3] != PE_TABLE || hdr[2] == PE_OMIT) return false;
    struct reader reader = {.at = hdr + 4, .end = hdr + 4 + 16};
    read_encoded(&reader, hdr[1]);
    uint64_t count = read_encoded(&reader, hdr[2]);
    const int32_t(*table)[2] = (const void *)reader.at;
    int64_t wanted = (int64_t)(address - (uintptr_t)hdr);
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (table[middle][0] <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (reader.bad || low == 0) return false;
    *entry = (struct entry){0};
    return parse_fde(hdr + table[low - 1][1], entry) && address >= entry->low && address < entry->high;
}

/* How a register's old value is found. */
enum how { HOW_SAME = 0, HOW_UNDEFINED, HOW_AT_FRAME, HOW_AT_BP, HOW_OTHER };
struct saved {
    enum how how;
    int64_t offset;
};

struct state {
    uint64_t frame_register;
    int64_t frame_offset;
    struct reader expression; /* of the frame, where at is not NULL */
    struct saved bp, ra;
};

struct machine {
    const struct entry *entry;
    uint64_t location, target; /* the row of `target` is wanted */
    struct state now, initial, remembered[STATES_MAX];
    unsigned remembered_count;
};

static void set_saved(struct machine *machine, uint64_t reg, enum how how, int64_t offset) {
    if (reg == REG_BP) machine->now.bp = (struct saved){how, offset};
    if (reg == REG_RA) machine->now.ra = (struct saved){how, offset};
}

static void restore_register(struct machine *machine, uint64_t reg) {
    if (reg == REG_BP) machine->now.bp = machine->initial.bp;
    if (reg == REG_RA) machine->now.ra = machine->initial.ra;
}

static struct reader read_block(struct reader *reader) {
    uint64_t length = read_uleb(reader);
    if (length > (size_t)(reader->end - reader->at)) {
        reader->bad = true;
        length = 0;
    }
    struct reader block = {.at = reader->at, .end = reader->at + length};
    reader->at += length;
    return block;
}

/* "The register is saved at the address of this expression": GCC writes DW_OP_breg6 0 for bp in functions that realign. */
static void save_by_expression(struct machine *machine, uint64_t reg, struct reader expression) {
    enum { OP_BREG_BP = 0x70 + REG_BP };
    bool at_bp = read_bytes(&expression, 1) == OP_BREG_BP && read_sleb(&expression) == 0 && !expression.bad &&
                 expression.at == expression.end;
    set_saved(machine, reg, at_bp ? HOW_AT_BP : HOW_OTHER, 0);
}

static void define_frame(struct machine *machine, uint64_t reg, int64_t offset) {
    machine->now.frame_register = reg;
    machine->now.frame_offset = offset;
    machine->now.expression.at = NULL;
}

/* Instructions with their operand in the low six bits, and those that move the location. False: not one of them. */
static bool run_compact(struct machine *machine, struct reader *reader, uint8_t op) {
    uint64_t low = op & 0x3f, code_align = machine->entry->code_align;
    switch (op & 0xc0) {
    case 0x40: machine->location += low * code_align; return true;
    case 0x80:
        set_saved(machine, low, HOW_AT_FRAME, (int64_t)read_uleb(reader) * machine->entry->data_align);
        return true;
    case 0xc0: restore_register(machine, low); return true;
    }
    switch (op) {
    case 0x01: machine->location = read_encoded(reader, machine->entry->pointer_encoding); return true;
    case 0x02: machine->location += read_bytes(reader, 1) * code_align; return true;
    case 0x03: machine->location += read_bytes(reader, 2) * code_align; return true;
    case 0x04: machine->location += read_bytes(reader, 4) * code_align; return true;
    }
    return false;
}

static void run_extended(struct machine *machine, struct reader *reader, uint8_t op) {
    int64_t data_align = machine->entry->data_align;
    uint64_t reg;
    switch (op) {
    case 0x00: break; /* nop */
    case 0x05:
        reg = read_uleb(reader);
        set_saved(machine, reg, HOW_AT_FRAME, (int64_t)read_uleb(reader) * data_align);
        break;
    case 0x06: restore_register(machine, read_uleb(reader)); break;
    case 0x07: set_saved(machine, read_uleb(reader), HOW_UNDEFINED, 0); break;
    case 0x08: set_saved(machine, read_uleb(reader), HOW_SAME, 0); break;
    case 0x09:
        reg = read_uleb(reader);
        read_uleb(reader);
        set_saved(machine, reg, HOW_OTHER, 0);
        break;
    case 0x0a:
        if (machine->remembered_count == STATES_MAX)
            reader->bad = true;
        else
            machine->remembered[machine->remembered_count++] = machine->now;
        break;
    case 0x0b:
        if (machine->remembered_count == 0)
            reader->bad = true;
        else
            machine->now = machine->remembered[--machine->remembered_count];
        break;
    case 0x0c:
        reg = read_uleb(reader);
        define_frame(machine, reg, (int64_t)read_uleb(reader));
        break;
    case 0x0d: define_frame(machine, read_uleb(reader), machine->now.frame_offset); break;
    case 0x0e: define_frame(machine, machine->now.frame_register, (int64_t)read_uleb(reader)); break;
    case 0x0f: machine->now.expression = read_block(reader); break;
    case 0x10:
        reg = read_uleb(reader);
        save_by_expression(machine, reg, read_block(reader));
        break;
    case 0x11:
        reg = read_uleb(reader);
        set_saved(machine, reg, HOW_AT_FRAME, read_sleb(reader) * data_align);
        break;
    case 0x12:
        reg = read_uleb(reader);
        define_frame(machine, reg, read_sleb(reader) * data_align);
        break;
    case 0x13: define_frame(machine, machine->now.frame_register, read_sleb(reader) * data_align); break;
    case 0x14:
    case 0x15:
        reg = read_uleb(reader);
        read_sleb(reader);
        set_saved(machine, reg, HOW_OTHER, 0);
        break;
    case 0x16:
        reg = read_uleb(reader);
        read_block(reader);
        set_saved(machine, reg, HOW_OTHER, 0);
        break;
    case 0x2e: read_uleb(reader); break; /* GNU_args_size */
    case 0x2f:
        reg = read_uleb(reader);
        set_saved(machine, reg, HOW_AT_FRAME, -(int64_t)read_uleb(reader) * data_align);
        break;
    default: reader->bad = true;
    }
}

/* Runs instructions up to the row that holds the target. */
static bool run_program(struct machine *machine, struct reader program) {
    while (program.at < program.end && !program.bad) {
        uint8_t op = (uint8_t)read_bytes(&program, 1);
        if (!run_compact(machine, &program, op)) run_extended(machine, &program, op);
        if (machine->location > machine->target) break;
    }
    return !program.bad;
}

/* Expressions for the frame that are met in practice: a saved stack pointer at bp or sp plus a constant (realigned stacks), and
 * the linker's for PLT entries: sp + 8, and 8 more once the entry has pushed (from its 11th byte on). */
static struct rule expression_rule(struct reader expression, uint64_t address) {
    enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_BREG = 0x70 };
    static const uint8_t plt[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
    struct rule rule = {.type = RULE_UNKNOWN};
    size_t size = (size_t)(expression.end - expression.at);
    if (size > sizeof plt && memcmp(expression.at, plt, sizeof plt) == 0) {
        uint8_t threshold = expression.at[sizeof plt] - 0x30; /* DW_OP_lit10 or lit11 */
        return (struct rule){.type = RULE_SP, .offset = (address & 15) >= threshold ? 16 : 8};
    }
    uint64_t reg = read_bytes(&expression, 1) - OP_BREG;
    int64_t offset = read_sleb(&expression), addend = 0;
    if (read_bytes(&expression, 1) != OP_DEREF) return rule;
    if (expression.at < expression.end) {
        if (read_bytes(&expression, 1) != OP_PLUS_UCONST) return rule;
        addend = (int64_t)read_uleb(&expression);
    }
    if (expression.bad || expression.at != expression.end || addend > INT8_MAX || offset != (int32_t)offset)
        return rule;
    if (reg != REG_BP && reg != REG_SP) return rule;
    return (struct rule){
        .type = reg == REG_BP ? RULE_BP_DEREF : RULE_SP_DEREF, .offset = (int32_t)offset, .addend = (int8_t)addend};
}

static struct rule frame_rule(const struct state *state, uint64_t address) {
    if (state->expression.at) return expression_rule(state->expression, address);
    if (state->frame_offset != (int32_t)state->frame_offset) return (struct rule){.type = RULE_UNKNOWN};
    uint8_t type = state->frame_register == REG_SP ? RULE_SP : state->frame_register == REG_BP ? RULE_BP : RULE_UNKNOWN;
    return (struct rule){.type = type, .offset = (int32_t)state->frame_offset};
}

static struct rule state_rule(const struct state *state, uint64_t address) {
    static const struct rule unknown = {.type = RULE_UNKNOWN};
    if (state->ra.how == HOW_UNDEFINED) return (struct rule){.type = RULE_END};
    if (state->ra.how != HOW_AT_FRAME || state->ra.offset != -8) return unknown;
    struct rule rule = frame_rule(state, address);
    if ((rule.type == RULE_BP_DEREF) != (state->bp.how == HOW_AT_BP)) return unknown;
    if (state->bp.how == HOW_AT_FRAME) {
        /* In an epilogue the slot was popped already and lies just below sp, in the red zone. */
        bool is_inside = state->bp.offset < 0 && (rule.type != RULE_SP || -state->bp.offset <= rule.offset + RED_ZONE);
        if (!is_inside || state->bp.offset != (int16_t)state->bp.offset) return unknown;
        rule.bp_offset = (int16_t)state->bp.offset;
    } else if (state->bp.how != HOW_SAME && state->bp.how != HOW_AT_BP && state->bp.how != HOW_UNDEFINED) {
        return unknown;
    }
    if (rule.type == RULE_BP && rule.offset == 16 && rule.bp_offset == -16) rule.type = RULE_FRAME;
    return rule;
}

struct rule cfi_rule(const void *hdr, uint64_t address) {
    struct entry entry;
    if (!hdr || !find_entry(hdr, address, &entry)) return (struct rule){.type = RULE_UNKNOWN};
    if (entry.is_signal_frame) return (struct rule){.type = RULE_SIGNAL};
    struct machine machine = {.entry = &entry, .location = entry.low, .target = address};
    if (!run_program(&machine, entry.initial)) return (struct rule){.type = RULE_UNKNOWN};
    machine.initial = machine.now;
    if (!run_program(&machine, entry.program)) return (struct rule){.type = RULE_UNKNOWN};
    return state_rule(&machine.now, address);
}
