/* A loop is looked for forwards: the first jump back to the address, or before it, closes it. Then it is followed from its head, in the order
 * of its instructions: what is read there must have been written before in the same turn, or not at all in the loop. Jumps forwards must
 * leave it, so that each turn runs through all of it. */
#include "ingest/symbols/spin_loop.h"

#include <string.h>

enum { INSTRUCTIONS_MAX = 24, SLOTS_MAX = 8, RAX = 0, RSP = 4, RBP = 5, NO_REGISTER = -1 };

enum shape { PLAIN, JUMP, BRANCH, CALL };

/* What an instruction does. Registers are bits; a slot is a place in the frame of the function, by its base and displacement. */
struct spin_instruction {
    size_t size;
    enum shape shape;
    int64_t target; /* of a jump, from the end of the instruction */
    uint32_t reads, writes;
    bool is_pause, loads;
    bool has_slot, stores_slot; /* it loads from a slot, or stores to it */
    bool is_fixed;              /* it loads from a fixed place of the file */
    int64_t asked; /* that place, from the end of the instruction; from the start of the code when it is decoded */
    int64_t slot;
};

/* Where the decoder is, and the prefixes that it met. */
struct cursor {
    const uint8_t *at, *end;
    uint8_t rex;
    bool is_narrow, is_repeated; /* 66, F3 */
};

/* The operand of a ModRM byte: a register, or memory by its base and index. */
struct operand {
    int reg, rm; /* rm: NO_REGISTER, it is memory */
    int extension;
    uint32_t bases;
    bool is_slot, is_relative; /* relative: to the end of the instruction */
    int64_t slot, displacement;
};

static bool take(struct cursor *cursor, size_t size, int64_t *value) {
    if ((size_t)(cursor->end - cursor->at) < size) return false;
    int8_t byte;
    int16_t word;
    int32_t wide;
    if (size == 1) memcpy(&byte, cursor->at, size), *value = byte;
    if (size == 2) memcpy(&word, cursor->at, size), *value = word;
    if (size == 4) memcpy(&wide, cursor->at, size), *value = wide;
    if (size == 8) memcpy(value, cursor->at, size);
    cursor->at += size;
    return true;
}

static bool take_byte(struct cursor *cursor, uint8_t *byte) {
    if (cursor->at == cursor->end) return false;
    *byte = *cursor->at++;
    return true;
}

/* A 4-byte index and scale behind a ModRM byte of memory. Returns the base, or NO_REGISTER. */
static bool take_sib(struct cursor *cursor, int mod, struct operand *operand, int *base, bool *has_index) {
    uint8_t sib;
    if (!take_byte(cursor, &sib)) return false;
    int index = (sib >> 3 & 7) | (cursor->rex & 2) << 2;
    *has_index = index != RSP;
    if (*has_index) operand->bases |= 1u << index;
    *base = (sib & 7) == RBP && mod == 0 ? NO_REGISTER : (sib & 7) | (cursor->rex & 1) << 3;
    return true;
}

static bool take_operand(struct cursor *cursor, struct operand *operand) {
    uint8_t modrm;
    if (!take_byte(cursor, &modrm)) return false;
    int mod = modrm >> 6, low = modrm & 7, base = low | (cursor->rex & 1) << 3;
    bool has_index = false;
    *operand =
        (struct operand){.reg = (modrm >> 3 & 7) | (cursor->rex & 4) << 1, .rm = base, .extension = modrm >> 3 & 7};
    if (mod == 3) return true;
    operand->rm = NO_REGISTER;
    if (low == RSP && !take_sib(cursor, mod, operand, &base, &has_index)) return false;
    bool is_fixed = mod == 0 && (low == RBP || base == NO_REGISTER); /* relative to the instruction, or absolute */
    int64_t displacement = 0;
    size_t size = mod == 1 ? 1 : mod == 2 || is_fixed ? 4 : 0;
    if (size && !take(cursor, size, &displacement)) return false;
    if (!is_fixed) operand->bases |= 1u << base;
    operand->is_relative = mod == 0 && low == RBP;
    operand->displacement = displacement;
    /* rbp may be any other pointer where the compiler keeps none to the frame: but then what lies below it is hardly asked for. */
    operand->is_slot = !is_fixed && !has_index && (base == RSP || (base == RBP && displacement < 0));
    operand->slot = displacement * 16 + base;
    return true;
}

static void read_operand(struct spin_instruction *done, const struct operand *operand) {
    if (operand->rm != NO_REGISTER) {
        done->reads |= 1u << operand->rm;
        return;
    }
    done->reads |= operand->bases;
    done->loads = true;
    done->has_slot = operand->is_slot;
    done->slot = operand->slot;
    done->is_fixed = operand->is_relative;
    done->asked = operand->displacement;
}

/* Memory other than a slot of the frame is seen by other threads: then the loop does something. */
static bool write_operand(struct spin_instruction *done, const struct operand *operand) {
    if (operand->rm != NO_REGISTER) {
        done->writes |= 1u << operand->rm;
        return true;
    }
    done->reads |= operand->bases;
    done->stores_slot = true;
    done->slot = operand->slot;
    return operand->is_slot;
}

static bool take_immediate(struct cursor *cursor, bool is_byte) {
    int64_t unused;
    return take(cursor, is_byte ? 1 : cursor->is_narrow ? 2 : 4, &unused);
}

/* add, or, and, sub, xor, cmp: `kind` as in the opcode. adc and sbb are no part of such loops. */
enum { ADC = 2, SBB = 3, SUB = 5, XOR = 6, CMP = 7 };

static bool arithmetic(struct cursor *cursor, struct spin_instruction *done, uint8_t opcode) {
    int kind = opcode >> 3 & 7, form = opcode & 7;
    struct operand operand;
    if (kind == ADC || kind == SBB) return false;
    if (form >= 4) { /* of rax and a number */
        done->reads |= 1u << RAX;
        if (kind != CMP) done->writes |= 1u << RAX;
        return take_immediate(cursor, form == 4);
    }
    if (!take_operand(cursor, &operand)) return false;
    bool clears = (kind == XOR || kind == SUB) && operand.rm == operand.reg;
    if (!clears) {
        read_operand(done, &operand);
        done->reads |= 1u << operand.reg;
    }
    if (kind == CMP) return true;
    if (form < 2 && operand.rm == NO_REGISTER) return false;
    done->writes |= 1u << (form < 2 ? operand.rm : operand.reg);
    return true;
}

/* The same of an operand and a number, 80 to 83. */
static bool arithmetic_number(struct cursor *cursor, struct spin_instruction *done, uint8_t opcode) {
    struct operand operand;
    if (!take_operand(cursor, &operand) || operand.extension == ADC || operand.extension == SBB) return false;
    read_operand(done, &operand);
    if (operand.extension != CMP) {
        if (operand.rm == NO_REGISTER) return false;
        done->writes |= 1u << operand.rm;
    }
    return take_immediate(cursor, opcode != 0x81);
}

/* Shifts of a register by a number; not through the carry flag. */
static bool shift(struct cursor *cursor, struct spin_instruction *done, uint8_t opcode) {
    struct operand operand;
    if (!take_operand(cursor, &operand) || operand.rm == NO_REGISTER || operand.extension == 2 ||
        operand.extension == 3)
        return false;
    done->reads |= 1u << operand.rm;
    done->writes |= 1u << operand.rm;
    return opcode >= 0xd0 || take_immediate(cursor, true);
}

/* Reads the operand into the other register: mov, movzx, movsx. */
static bool load(struct cursor *cursor, struct spin_instruction *done) {
    struct operand operand;
    if (!take_operand(cursor, &operand)) return false;
    read_operand(done, &operand);
    done->writes |= 1u << operand.reg;
    return true;
}

static bool store(struct cursor *cursor, struct spin_instruction *done) {
    struct operand operand;
    if (!take_operand(cursor, &operand)) return false;
    done->reads |= 1u << operand.reg;
    return write_operand(done, &operand);
}

static bool test(struct cursor *cursor, struct spin_instruction *done) {
    struct operand operand;
    if (!take_operand(cursor, &operand)) return false;
    read_operand(done, &operand);
    done->reads |= 1u << operand.reg;
    return true;
}

/* F6, F7: only test has a number, and stores nothing. C6, C7: mov of a number. */
static bool number_group(struct cursor *cursor, struct spin_instruction *done, uint8_t opcode) {
    struct operand operand;
    if (!take_operand(cursor, &operand) || operand.extension != 0) return false;
    if (opcode >= 0xf6)
        read_operand(done, &operand);
    else if (!write_operand(done, &operand))
        return false;
    return take_immediate(cursor, opcode == 0xf6 || opcode == 0xc6);
}

static bool jump(struct cursor *cursor, struct spin_instruction *done, enum shape shape, size_t size) {
    done->shape = shape;
    return take(cursor, size, &done->target);
}

static bool bit_test(struct cursor *cursor, struct spin_instruction *done, uint8_t opcode) {
    struct operand operand;
    if (!take_operand(cursor, &operand)) return false;
    if (opcode == 0xba ? operand.extension != 4 : operand.rm == NO_REGISTER) return false;
    read_operand(done, &operand);
    if (opcode == 0xa3) done->reads |= 1u << operand.reg;
    return opcode != 0xba || take_immediate(cursor, true);
}

/* Behind 0F. */
static bool decode_two_bytes(struct cursor *cursor, struct spin_instruction *done) {
    uint8_t opcode;
    struct operand operand;
    if (cursor->is_repeated || !take_byte(cursor, &opcode)) return false;
    if (opcode >= 0x80 && opcode <= 0x8f) return jump(cursor, done, BRANCH, 4);
    switch (opcode) {
    case 0x1f: return take_operand(cursor, &operand); /* nop */
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf: return load(cursor, done);
    case 0xa3:
    case 0xba: return bit_test(cursor, done, opcode);
    case 0xae:
        return take_operand(cursor, &operand) && operand.rm != NO_REGISTER && operand.extension >= 5; /* fences */
    }
    if (opcode >= 0x90 && opcode <= 0x9f)
        return take_operand(cursor, &operand) && operand.rm != NO_REGISTER && write_operand(done, &operand);
    return false;
}

static bool decode_one_byte(struct cursor *cursor, struct spin_instruction *done, uint8_t opcode) {
    int64_t unused;
    if (cursor->is_repeated) return opcode == 0x90 && (done->is_pause = true);
    if (opcode < 0x40 && (opcode & 7) < 6) return arithmetic(cursor, done, opcode);
    if (opcode >= 0x70 && opcode <= 0x7f) return jump(cursor, done, BRANCH, 1);
    if (opcode >= 0xb8 && opcode <= 0xbf) {
        done->writes |= 1u << ((opcode & 7) | (cursor->rex & 1) << 3);
        return take(cursor, cursor->rex & 8 ? 8 : cursor->is_narrow ? 2 : 4, &unused);
    }
    switch (opcode) {
    case 0x63:
    case 0x8a:
    case 0x8b: return load(cursor, done);
    case 0x80:
    case 0x81:
    case 0x83: return arithmetic_number(cursor, done, opcode);
    case 0x84:
    case 0x85: return test(cursor, done);
    case 0x88:
    case 0x89: return store(cursor, done);
    case 0x90: return true;
    case 0xa8:
    case 0xa9: done->reads |= 1u << RAX; return take_immediate(cursor, opcode == 0xa8);
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1: return shift(cursor, done, opcode);
    case 0xc6:
    case 0xc7:
    case 0xf6:
    case 0xf7: return number_group(cursor, done, opcode);
    case 0xe9: return jump(cursor, done, JUMP, 4);
    case 0xeb: return jump(cursor, done, JUMP, 1);
    }
    return false;
}

/* false: it is none of those, or does not end in the code. */
static bool decode(const uint8_t *code, size_t size, size_t at, struct spin_instruction *done) {
    struct cursor cursor = {.at = code + at, .end = code + size};
    uint8_t byte;
    *done = (struct spin_instruction){0};
    do {
        if (!take_byte(&cursor, &byte)) return false;
        cursor.is_narrow |= byte == 0x66;
        cursor.is_repeated |= byte == 0xf3;
    } while (byte == 0x66 || byte == 0xf3 || byte == 0x2e); /* 2e: of a longer nop */
    if (byte >= 0x40 && byte <= 0x4f) {
        cursor.rex = byte;
        if (!take_byte(&cursor, &byte)) return false;
    }
    bool is_known = byte == 0x0f ? decode_two_bytes(&cursor, done) : decode_one_byte(&cursor, done, byte);
    done->size = (size_t)(cursor.at - code) - at;
    done->asked += cursor.at - code;
    return is_known;
}

static void note_asked(struct spin_loop *loop, const struct spin_instruction *done) {
    if (done->is_fixed && loop->asked_count < ASKED_MAX) loop->asked[loop->asked_count++] = done->asked;
}

/* What the loop has written: by its first instructions, or by all. */
struct spin_writes {
    uint32_t registers;
    int64_t slots[SLOTS_MAX];
    int slot_count;
    bool flags;
};

static bool has_slot(const struct spin_writes *state, int64_t slot) {
    for (int i = 0; i < state->slot_count; i++)
        if (state->slots[i] == slot) return true;
    return false;
}

static bool note_writes(struct spin_writes *state, const struct spin_instruction *done) {
    state->registers |= done->writes;
    if (!done->stores_slot || has_slot(state, done->slot)) return true;
    if (state->slot_count == SLOTS_MAX) return false;
    state->slots[state->slot_count++] = done->slot;
    return true;
}

/* Whether a turn is a function of what it loads alone. `all` is what the whole loop writes. */
static bool keeps_nothing(const struct spin_instruction *turn, int count, const struct spin_writes *all) {
    struct spin_writes so_far = {0};
    for (int i = 0; i < count; i++) {
        if (turn[i].reads & all->registers & ~so_far.registers) return false;
        if (turn[i].has_slot && has_slot(all, turn[i].slot) && !has_slot(&so_far, turn[i].slot)) return false;
        note_writes(&so_far, &turn[i]);
    }
    return true;
}

/* The instructions from `head` up to `end`, where the jump back ends. Returns their number; 0: they are no turn of such a loop, or
 * none of them begins at `at`. */
static int decode_turn(const uint8_t *code, size_t head, size_t end, size_t at, struct spin_instruction *turn) {
    int count = 0;
    bool is_met = false;
    for (size_t next = head; next < end; next += turn[count++].size) {
        is_met |= next == at;
        if (count == INSTRUCTIONS_MAX || !decode(code, end, next, &turn[count])) return 0;
        if (turn[count].shape == PLAIN || next + turn[count].size == end) continue;
        int64_t target = (int64_t)(next + turn[count].size) + turn[count].target;
        if (turn[count].shape == JUMP || (target > (int64_t)head && target < (int64_t)end)) return 0;
    }
    return is_met ? count : 0;
}

static bool is_spin(const uint8_t *code, size_t head, size_t end, size_t at, struct spin_loop *loop) {
    struct spin_instruction turn[INSTRUCTIONS_MAX];
    struct spin_writes all = {0};
    bool loads = false, may_leave = false;
    int count = decode_turn(code, head, end, at, turn);
    *loop = (struct spin_loop){.head = head, .instructions = count};
    for (int i = 0; i < count; i++) {
        if (!note_writes(&all, &turn[i])) return false;
        loads |= turn[i].loads;
        may_leave |= turn[i].shape == BRANCH;
        loop->has_pause |= turn[i].is_pause;
        note_asked(loop, &turn[i]);
    }
    /* A stack that moves has other slots in each turn. */
    return loads && may_leave && !(all.registers & (1u << RSP | 1u << RBP)) && keeps_nothing(turn, count, &all);
}

bool spin_loop_find(const uint8_t *code, size_t size, size_t at, struct spin_loop *loop) {
    struct spin_instruction next;
    size_t end = at;
    for (int i = 0; i < INSTRUCTIONS_MAX && end < size; i++) {
        if (!decode(code, size, end, &next)) return false;
        end += next.size;
        int64_t target = (int64_t)end + next.target;
        bool is_back = next.shape != PLAIN && target >= 0 && target <= (int64_t)at;
        if (is_back && is_spin(code, (size_t)target, end, at, loop)) return true;
        if (next.shape == JUMP) return false; /* a branch back may also be the way out of the loop, to code before it */
    }
    return false;
}

/* --- loops that sleep ------------------------------------------------------------------------------------------- */

/* Moves of vector registers: the compiler makes a struct timespec of constants so. Only slots of the frame may be stored to. */
static bool move_vector(struct cursor *cursor, struct spin_instruction *done) {
    uint8_t opcode;
    struct operand operand;
    if (!take_byte(cursor, &opcode) || opcode != 0x0f || !take_byte(cursor, &opcode)) return false;
    bool is_load = opcode == 0x10 || opcode == 0x28 || opcode == 0x6f,
         is_store = opcode == 0x11 || opcode == 0x29 || opcode == 0x7f;
    if ((!is_load && !is_store) || !take_operand(cursor, &operand) || operand.rm != NO_REGISTER) return false;
    if (is_store) return operand.is_slot;
    done->is_fixed = operand.is_relative;
    done->asked = operand.displacement;
    return true;
}

/* What such a loop has beyond those that decode() knows: calls, addresses, vectors. */
static bool decode_more(const uint8_t *code, size_t size, size_t at, struct spin_instruction *done) {
    struct cursor cursor = {.at = code + at, .end = code + size};
    struct operand operand;
    uint8_t byte;
    bool is_known = false;
    *done = (struct spin_instruction){0};
    while (cursor.at < cursor.end && (*cursor.at == 0x66 || *cursor.at == 0xf3 || *cursor.at == 0xf2))
        cursor.at++;
    if (cursor.at < cursor.end && (*cursor.at & 0xf0) == 0x40) cursor.rex = *cursor.at++;
    const uint8_t *opcode = cursor.at;
    if (move_vector(&cursor, done)) {
        is_known = true;
    } else if (cursor.at = opcode, take_byte(&cursor, &byte)) {
        if (byte == 0xe8) is_known = jump(&cursor, done, CALL, 4);
        if (byte == 0x8d && (is_known = take_operand(&cursor, &operand))) done->writes |= 1u << operand.reg;
        if (byte == 0xff) {
            is_known = take_operand(&cursor, &operand) && operand.extension == 2;
            done->shape = CALL;
        }
    }
    done->size = (size_t)(cursor.at - code) - at;
    done->asked += cursor.at - code;
    return is_known;
}

static bool decode_any(const uint8_t *code, size_t size, size_t at, struct spin_instruction *done) {
    return decode(code, size, at, done) || decode_more(code, size, at, done);
}

/* A turn from `head` up to `end`, with the call that ends at `end_of_call`. */
static bool is_nap(const uint8_t *code, size_t head, size_t end, size_t end_of_call, struct spin_loop *loop) {
    struct spin_instruction done;
    bool is_met = false, may_leave = false;
    *loop = (struct spin_loop){.head = head};
    for (size_t at = head; at < end; at += done.size, loop->instructions++) {
        if (!decode_any(code, end, at, &done)) return false;
        size_t next = at + done.size;
        may_leave |= done.shape == BRANCH;
        is_met |= done.shape == CALL && next == end_of_call;
        loop->has_pause |= done.is_pause;
        note_asked(loop, &done);
        if (done.shape != CALL || next == end_of_call) continue;
        if (loop->called || code[at] != 0xe8) return false;
        loop->called = (int64_t)next + done.target;
    }
    return is_met && may_leave && loop->asked_count > 0;
}

bool nap_loop_find(const uint8_t *code, size_t size, size_t end_of_call, struct spin_loop *loop) {
    enum { BEHIND_MAX = 32 };
    struct spin_instruction next;
    size_t end = end_of_call;
    for (int i = 0; i < BEHIND_MAX && end < size; i++) {
        if (!decode_any(code, size, end, &next)) return false;
        end += next.size;
        int64_t target = (int64_t)end + next.target;
        if ((next.shape != JUMP && next.shape != BRANCH) || target < 0 || target >= (int64_t)end_of_call) continue;
        if (is_nap(code, (size_t)target, end, end_of_call, loop)) return true;
        if (next.shape == JUMP) return false;
    }
    return false;
}

/* --- loops that store to one place ------------------------------------------------------------------------------ */

/* Arithmetic of vector registers, and loads of them. */
static bool is_vector_work(uint8_t opcode) {
    static const uint8_t known[] = {0x10, 0x12, 0x28, 0x2e, 0x2f, 0x51, 0x54, 0x57, 0x58, 0x59,
                                    0x5a, 0x5c, 0x5d, 0x5e, 0x5f, 0x6f, 0xd4, 0xef, 0xfe};
    return memchr(known, opcode, sizeof known) != NULL;
}

static bool is_vector_store(uint8_t opcode) {
    return opcode == 0x11 || opcode == 0x13 || opcode == 0x17 || opcode == 0x29 || opcode == 0x7f || opcode == 0xd6;
}

/* An instruction that may store, of one or two bytes of opcode; `stored` is its operand, if that is memory. */
static bool decode_storing(struct cursor *cursor, struct spin_instruction *done, struct operand *stored, bool *stores) {
    uint8_t opcode, second = 0;
    size_t number = 0;
    if (!take_byte(cursor, &opcode) || (opcode == 0x0f && !take_byte(cursor, &second))) return false;
    if (opcode == 0x0f && is_vector_work(second)) return take_operand(cursor, stored);
    bool is_arithmetic = opcode < 0x38 && (opcode & 7) < 2;
    bool is_numbered = opcode == 0x80 || opcode == 0x81 || opcode == 0x83 || opcode == 0xc6 || opcode == 0xc7;
    bool swaps = opcode == 0x86 || opcode == 0x87 || second == 0xc0 || second == 0xc1;
    bool compares = second == 0xb0 || second == 0xb1;
    if (opcode == 0x0f ? !swaps && !compares && !is_vector_store(second)
                       : !is_arithmetic && !is_numbered && !swaps && opcode != 0x88 && opcode != 0x89 &&
                             opcode != 0xfe && opcode != 0xff)
        return false;
    if (!take_operand(cursor, stored)) return false;
    if ((opcode == 0xfe || opcode == 0xff) && stored->extension > 1) return false;
    if (is_numbered) number = opcode == 0x81 || opcode == 0xc7 ? cursor->is_narrow ? 2 : 4 : 1;
    bool is_compare = is_numbered && opcode < 0xc0 && stored->extension == CMP;
    *stores = stored->rm == NO_REGISTER && !is_compare;
    if (stored->rm != NO_REGISTER && !is_compare && !is_vector_store(second)) done->writes |= 1u << stored->rm;
    if (swaps) done->writes |= 1u << stored->reg;
    if (compares) done->writes |= 1u << RAX;
    int64_t unused;
    return !number || take(cursor, number, &unused);
}

/* Any instruction of such a loop. */
static bool decode_stores(const uint8_t *code, size_t size, size_t at, struct spin_instruction *done,
                          struct operand *stored, bool *stores) {
    struct cursor cursor = {.at = code + at, .end = code + size};
    *done = (struct spin_instruction){0};
    *stores = false;
    for (; cursor.at < cursor.end && memchr("\x66\xf0\xf2\xf3", *cursor.at, 4); cursor.at++)
        cursor.is_narrow |= *cursor.at == 0x66;
    if (cursor.at < cursor.end && (*cursor.at & 0xf0) == 0x40) cursor.rex = *cursor.at++;
    if (decode_storing(&cursor, done, stored, stores)) {
        done->size = (size_t)(cursor.at - code) - at;
        return true;
    }
    *stores = false;
    return decode_any(code, size, at, done) && done->shape != CALL;
}

/* A turn from `head` up to `end`. */
static bool stores_in_place(const uint8_t *code, size_t head, size_t end, size_t at, struct spin_loop *loop) {
    uint32_t writes = 0, stored_by[INSTRUCTIONS_MAX];
    int count = 0;
    bool is_met = false;
    *loop = (struct spin_loop){.head = head};
    for (size_t next = head; next < end; loop->instructions++) {
        struct spin_instruction done;
        struct operand stored;
        bool stores;
        if (loop->instructions == INSTRUCTIONS_MAX || !decode_stores(code, end, next, &done, &stored, &stores))
            return false;
        is_met |= next == at;
        writes |= done.writes;
        if (stores && !stored.is_slot && !(stored.bases & 1u << RSP)) stored_by[count++] = stored.bases;
        next += done.size;
    }
    for (int i = 0; i < count; i++)
        if (!(stored_by[i] & writes)) return is_met;
    return false;
}

bool store_loop_find(const uint8_t *code, size_t size, size_t at, struct spin_loop *loop) {
    struct spin_instruction next;
    struct operand stored;
    bool stores;
    size_t end = at;
    for (int i = 0; i < INSTRUCTIONS_MAX && end < size; i++) {
        if (!decode_stores(code, size, end, &next, &stored, &stores)) return false;
        end += next.size;
        int64_t target = (int64_t)end + next.target;
        if (next.shape != PLAIN && target < (int64_t)end)
            return target >= 0 && target <= (int64_t)at && stores_in_place(code, (size_t)target, end, at, loop);
        if (next.shape == JUMP) return false;
    }
    return false;
}

/* --- who stores ------------------------------------------------------------------------------------------------- */

/* add, or, and, sub, xor of a register, mov, xchg; behind 0F: cmpxchg, xadd, setcc, vectors. */
static bool stores_register(uint8_t before, uint8_t opcode, int extension) {
    if (before == 0x0f)
        return opcode == 0xb0 || opcode == 0xb1 || opcode == 0xc0 || opcode == 0xc1 || (opcode & 0xf0) == 0x90 ||
               opcode == 0x11 || opcode == 0x29 || opcode == 0x7f || opcode == 0xd6;
    if (opcode == 0xfe || opcode == 0xff) return extension < 2; /* inc, dec */
    if (opcode >= 0x86 && opcode <= 0x89) return true;
    int kind = opcode >> 3;
    return opcode < 0x38 && (opcode & 7) < 2 && kind != ADC && kind != SBB;
}

bool is_store_relative(const uint8_t *code, size_t at, size_t number) {
    if (at < 3 || (code[at - 1] & 0xc7) != 0x05) return false;
    int extension = code[at - 1] >> 3 & 7;
    uint8_t opcode = code[at - 2];
    switch (number) {
    case 0: return stores_register(code[at - 3], opcode, extension);
    case 1: return (opcode == 0xc6 && extension == 0) || ((opcode == 0x80 || opcode == 0x83) && extension != CMP);
    case 2:
    case 4: return (opcode == 0xc7 && extension == 0) || (opcode == 0x81 && extension != CMP);
    }
    return false;
}
