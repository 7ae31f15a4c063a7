#include "ingest/shim/stacks/cfi.h"

#include <stddef.h>
#include <string.h>

#include "ingest/shim/core/atomic.h"

/* Pointer encodings of .eh_frame (DW_EH_PE_*). */
enum { PE_OMIT = 0xff, PE_INDIRECT = 0x80, PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_FORMAT = 0x0f, PE_BASE = 0x70 };
enum { PE_ABSPTR = 0, PE_UDATA2 = 2, PE_UDATA4 = 3, PE_UDATA8 = 4, PE_SDATA2 = 0xa, PE_SDATA4 = 0xb, PE_SDATA8 = 0xc };
enum { PE_TABLE = PE_DATAREL | PE_SDATA4 }; /* the sorted table that every linker writes */

/* Instructions (DW_CFA_*). The first three have an operand in their low six bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};
enum { CFA_OPCODE = 0xc0, CFA_OPERAND = 0x3f };

/* Operators of expressions (DW_OP_*). LIT0 + n pushes n, BREG0 + n pushes the value of register n plus an offset. */
enum { OP_DEREF = 0x06, OP_AND = 0x1a, OP_PLUS_UCONST = 0x23, OP_LIT0 = 0x30, OP_BREG0 = 0x70 };

enum { REG_BP = 6, REG_SP = 7, REG_RA = 16 };
enum { RED_ZONE = 128 };   /* bytes below sp that the ABI leaves alone */
enum { REMEMBER_MAX = 8 }; /* depth of CFA_REMEMBER_STATE; compilers nest to 2 */

struct cfi_reader {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t read_bytes(struct cfi_reader *reader, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->at) < size) {
        reader->bad = true;
        return 0;
    }
    memcpy(&value, reader->at, size);
    reader->at += size;
    return value;
}

static uint64_t read_long_uleb(struct cfi_reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = read_bytes(reader, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    reader->bad = true;
    return 0;
}

static ALWAYS_INLINE uint64_t read_uleb(struct cfi_reader *reader) {
    if (likely(reader->at < reader->end && *reader->at < 0x80)) return *reader->at++;
    return read_long_uleb(reader);
}

static int64_t read_sleb(struct cfi_reader *reader) {
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

static uint64_t read_encoded(struct cfi_reader *reader, uint8_t encoding) {
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
    struct cfi_reader initial, program; /* instructions: of the CIE, of the FDE */
};

static bool parse_augmentation(struct cfi_reader *reader, const char *augmentation, struct entry *entry) {
    entry->pointer_encoding = PE_ABSPTR;
    if (*augmentation == '\0') return true;
    if (*augmentation++ != 'z') return false;
    entry->has_augmentation = true;
    uint64_t length = read_uleb(reader);
    if (length > (size_t)(reader->end - reader->at)) return false;
    struct cfi_reader data = {.at = reader->at, .end = reader->at + length};
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
static bool open_entry(const uint8_t *at, struct cfi_reader *body, uint32_t *id, const uint8_t **id_at) {
    uint32_t length;
    memcpy(&length, at, 4);
    if (length < 4 || length == 0xffffffff) return false; /* the 64-bit form is never emitted in .eh_frame */
    memcpy(id, at + 4, 4);
    *id_at = at + 4;
    *body = (struct cfi_reader){.at = at + 8, .end = at + 4 + length};
    return true;
}

static bool parse_cie(const uint8_t *at, struct entry *entry) {
    struct cfi_reader body;
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
    struct cfi_reader body;
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
    struct cfi_reader reader = {.at = hdr + 4, .end = hdr + 4 + 16};
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

/* How a register's value in the caller is found. */
enum how { HOW_SAME = 0, HOW_UNDEFINED, HOW_AT_FRAME, HOW_AT_BP, HOW_OTHER };
struct saved {
    enum how how;
    int64_t offset;
};

/* A row of the table that the instructions describe: the rules of one location. */
struct cfi_row {
    uint64_t frame_register;
    int64_t frame_offset;
    struct cfi_reader expression; /* of the frame, where at is not NULL */
    struct saved bp, ra;
};

struct machine {
    const struct entry *entry;
    uint64_t location, target; /* the row of `target` is wanted */
    struct cfi_row now, initial, remembered[REMEMBER_MAX];
    unsigned remembered_count;
};

static void set_saved(struct machine *machine, uint64_t reg, enum how how, int64_t offset) {
    if (reg == REG_BP) machine->now.bp = (struct saved){how, offset};
    if (reg == REG_RA) machine->now.ra = (struct saved){how, offset};
}

/* `factor` is the signed operand of the instruction; its unit is the entry's data alignment. */
static void set_saved_at(struct machine *machine, uint64_t reg, int64_t factor) {
    set_saved(machine, reg, HOW_AT_FRAME, factor * machine->entry->data_align);
}

static void restore_register(struct machine *machine, uint64_t reg) {
    if (reg == REG_BP) machine->now.bp = machine->initial.bp;
    if (reg == REG_RA) machine->now.ra = machine->initial.ra;
}

static struct cfi_reader read_block(struct cfi_reader *reader) {
    uint64_t length = read_uleb(reader);
    if (length > (size_t)(reader->end - reader->at)) {
        reader->bad = true;
        length = 0;
    }
    struct cfi_reader block = {.at = reader->at, .end = reader->at + length};
    reader->at += length;
    return block;
}

/* "The register is saved at the address of this expression": GCC writes DW_OP_breg6 0 for bp in functions that
 * realign. */
static void save_by_expression(struct machine *machine, uint64_t reg, struct cfi_reader expression) {
    bool at_bp = read_bytes(&expression, 1) == OP_BREG0 + REG_BP && read_sleb(&expression) == 0 && !expression.bad &&
                 expression.at == expression.end;
    set_saved(machine, reg, at_bp ? HOW_AT_BP : HOW_OTHER, 0);
}

static void define_frame(struct machine *machine, uint64_t reg, int64_t offset) {
    machine->now.frame_register = reg;
    machine->now.frame_offset = offset;
    machine->now.expression.at = NULL;
}

/* --- instructions: each function runs those of one kind, and returns false for any other ------------------------ */

static bool run_location(struct machine *machine, struct cfi_reader *reader, uint8_t op) {
    uint64_t code_align = machine->entry->code_align;
    switch (op) {
    case CFA_SET_LOC: machine->location = read_encoded(reader, machine->entry->pointer_encoding); return true;
    case CFA_ADVANCE_LOC1: machine->location += read_bytes(reader, 1) * code_align; return true;
    case CFA_ADVANCE_LOC2: machine->location += read_bytes(reader, 2) * code_align; return true;
    case CFA_ADVANCE_LOC4: machine->location += read_bytes(reader, 4) * code_align; return true;
    default: return false;
    }
}

static bool run_frame(struct machine *machine, struct cfi_reader *reader, uint8_t op) {
    int64_t data_align = machine->entry->data_align;
    uint64_t reg = machine->now.frame_register;
    switch (op) {
    case CFA_DEF_CFA:
        reg = read_uleb(reader);
        define_frame(machine, reg, (int64_t)read_uleb(reader));
        return true;
    case CFA_DEF_CFA_SF:
        reg = read_uleb(reader);
        define_frame(machine, reg, read_sleb(reader) * data_align);
        return true;
    case CFA_DEF_CFA_REGISTER: define_frame(machine, read_uleb(reader), machine->now.frame_offset); return true;
    case CFA_DEF_CFA_OFFSET: define_frame(machine, reg, (int64_t)read_uleb(reader)); return true;
    case CFA_DEF_CFA_OFFSET_SF: define_frame(machine, reg, read_sleb(reader) * data_align); return true;
    case CFA_DEF_CFA_EXPRESSION: machine->now.expression = read_block(reader); return true;
    default: return false;
    }
}

/* Those that change no row that we keep, and the stack of rows. */
static bool run_state(struct machine *machine, struct cfi_reader *reader, uint8_t op) {
    switch (op) {
    case CFA_NOP: return true;
    case CFA_GNU_ARGS_SIZE: read_uleb(reader); return true;
    case CFA_REMEMBER_STATE:
        if (machine->remembered_count == REMEMBER_MAX)
            reader->bad = true;
        else
            machine->remembered[machine->remembered_count++] = machine->now;
        return true;
    case CFA_RESTORE_STATE:
        if (machine->remembered_count == 0)
            reader->bad = true;
        else
            machine->now = machine->remembered[--machine->remembered_count];
        return true;
    default: return false;
    }
}

/* All of these begin with the number of a register. */
static bool run_register(struct machine *machine, struct cfi_reader *reader, uint8_t op) {
    uint64_t reg = read_uleb(reader);
    switch (op) {
    case CFA_OFFSET_EXTENDED: set_saved_at(machine, reg, (int64_t)read_uleb(reader)); return true;
    case CFA_OFFSET_EXTENDED_SF: set_saved_at(machine, reg, read_sleb(reader)); return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED: set_saved_at(machine, reg, -(int64_t)read_uleb(reader)); return true;
    case CFA_RESTORE_EXTENDED: restore_register(machine, reg); return true;
    case CFA_UNDEFINED: set_saved(machine, reg, HOW_UNDEFINED, 0); return true;
    case CFA_SAME_VALUE: set_saved(machine, reg, HOW_SAME, 0); return true;
    case CFA_EXPRESSION: save_by_expression(machine, reg, read_block(reader)); return true;
    case CFA_REGISTER: read_uleb(reader); break;
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF: read_sleb(reader); break;
    case CFA_VAL_EXPRESSION: read_block(reader); break;
    default: return false;
    }
    set_saved(machine, reg, HOW_OTHER, 0);
    return true;
}

static bool run_other(struct machine *machine, struct cfi_reader *reader, uint8_t op) {
    return run_state(machine, reader, op) || run_frame(machine, reader, op) || run_location(machine, reader, op) ||
           run_register(machine, reader, op);
}

/* Runs instructions up to the row that holds the target. Most have their operand in themselves; of a function with many ways out there are
 * hundreds, and a compiler of one line meets 2,300 addresses. */
static bool run_program(struct machine *machine, struct cfi_reader program) {
    while (program.at < program.end && !program.bad && machine->location <= machine->target) {
        uint8_t op = *program.at++, operand = op & CFA_OPERAND;
        switch (op & CFA_OPCODE) {
        case CFA_ADVANCE_LOC: machine->location += operand * machine->entry->code_align; break;
        case CFA_OFFSET: set_saved_at(machine, operand, (int64_t)read_uleb(&program)); break;
        case CFA_RESTORE: restore_register(machine, operand); break;
        default:
            if (!run_other(machine, &program, op)) return false;
        }
    }
    return !program.bad;
}

/* The start of the linker's expression for PLT entries: sp + 8 + (((ra & 15) >= N) << 3), because an entry pushes a word before its Nth byte. DW_OP_lit10 or lit11 for N follows. */
static const uint8_t plt_expression[] = {OP_BREG0 + REG_SP, 8, OP_BREG0 + REG_RA, 0, OP_LIT0 + 15, OP_AND};

static bool is_plt(const struct cfi_reader *expression) {
    return (size_t)(expression->end - expression->at) > sizeof plt_expression &&
           memcmp(expression->at, plt_expression, sizeof plt_expression) == 0;
}

/* Expressions for the frame that are met in practice: the linker's, and a saved stack pointer at bp or sp plus a
 * constant (realigned stacks). */
static struct rule expression_rule(struct cfi_reader expression, uint64_t address) {
    struct rule rule = {.type = RULE_UNKNOWN};
    if (is_plt(&expression)) {
        uint8_t threshold = expression.at[sizeof plt_expression] - OP_LIT0;
        return (struct rule){.type = RULE_SP, .offset = (address & 15) >= threshold ? 16 : 8};
    }
    uint64_t reg = read_bytes(&expression, 1) - OP_BREG0;
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

static struct rule frame_rule(const struct cfi_row *row, uint64_t address) {
    if (row->expression.at) return expression_rule(row->expression, address);
    if (row->frame_offset != (int32_t)row->frame_offset) return (struct rule){.type = RULE_UNKNOWN};
    uint8_t type = row->frame_register == REG_SP ? RULE_SP : row->frame_register == REG_BP ? RULE_BP : RULE_UNKNOWN;
    return (struct rule){.type = type, .offset = (int32_t)row->frame_offset};
}

static struct rule row_rule(const struct cfi_row *row, uint64_t address) {
    static const struct rule unknown = {.type = RULE_UNKNOWN};
    if (row->ra.how == HOW_UNDEFINED) return (struct rule){.type = RULE_END};
    if (row->ra.how != HOW_AT_FRAME || row->ra.offset != -8) return unknown;
    struct rule rule = frame_rule(row, address);
    if ((rule.type == RULE_BP_DEREF) != (row->bp.how == HOW_AT_BP)) return unknown;
    if (row->bp.how == HOW_AT_FRAME) {
        /* In an epilogue the slot was popped already and lies just below sp, in the red zone. */
        bool is_inside = row->bp.offset < 0 && (rule.type != RULE_SP || -row->bp.offset <= rule.offset + RED_ZONE);
        if (!is_inside || row->bp.offset != (int16_t)row->bp.offset) return unknown;
        rule.bp_offset = (int16_t)row->bp.offset;
    } else if (row->bp.how != HOW_SAME && row->bp.how != HOW_AT_BP && row->bp.how != HOW_UNDEFINED) {
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
    return row_rule(&machine.now, address);
}

uint64_t cfi_function(const void *hdr, uint64_t address) {
    struct entry entry;
    return hdr && find_entry(hdr, address, &entry) ? entry.low : 0;
}
