#include "ingest/shim/stacks/crtstuff.h"

#include <link.h>
#include <stddef.h>

/* The instructions of that code: what they begin with, how long they are, and by how much they make the stack larger. */
struct crt_instruction {
    uint8_t fixed, length;
    int8_t push;
    uint8_t bytes[4];
};
static const struct crt_instruction instructions[] = {
    {4, 4, 0, {0xf3, 0x0f, 0x1e, 0xfa}},  /* endbr64 */
    {4, 4, 8, {0x48, 0x83, 0xec, 0x08}},  /* sub $8, %rsp */
    {4, 4, -8, {0x48, 0x83, 0xc4, 0x08}}, /* add $8, %rsp */
    {1, 1, 8, {0x55}},                    /* push %rbp */
    {1, 1, -8, {0x5d}},                   /* pop %rbp */
    {3, 3, 0, {0x48, 0x89, 0xe5}},        /* mov %rsp, %rbp */
    {3, 7, 0, {0x48, 0x8b, 0x05}},        /* mov of a global, %rax */
    {3, 7, 0, {0x48, 0x8b, 0x3d}},        /* %rdi */
    {3, 7, 0, {0x48, 0x8d, 0x05}},        /* lea, %rax */
    {3, 7, 0, {0x48, 0x8d, 0x35}},        /* %rsi */
    {3, 7, 0, {0x48, 0x8d, 0x3d}},        /* %rdi */
    {2, 7, 0, {0x80, 0x3d}},              /* cmpb $0, a global */
    {3, 8, 0, {0x48, 0x83, 0x3d}},        /* cmpq $0 */
    {2, 7, 0, {0xc6, 0x05}},              /* movb $1 */
    {1, 5, 0, {0xb8}},                    /* and in a program at fixed addresses: mov of an address, %eax */
    {1, 5, 0, {0xbe}},                    /* %esi */
    {1, 5, 0, {0xbf}},                    /* %edi */
    {2, 6, 0, {0x48, 0x3d}},              /* cmp of an address, %rax */
    {3, 7, 0, {0x48, 0x81, 0xee}},        /* sub of an address, %rsi */
    {3, 3, 0, {0x48, 0x85, 0xc0}},        /* test %rax, %rax */
    {3, 3, 0, {0x48, 0x39, 0xf8}},        /* cmp %rdi, %rax */
    {3, 3, 0, {0x48, 0x29, 0xfe}},        /* sub %rdi, %rsi */
    {3, 3, 0, {0x48, 0x89, 0xf0}},        /* mov %rsi, %rax */
    {3, 3, 0, {0x48, 0x01, 0xc6}},        /* add %rax, %rsi */
    {4, 4, 0, {0x48, 0xc1, 0xee, 0x3f}},  /* shr $63, %rsi */
    {4, 4, 0, {0x48, 0xc1, 0xf8, 0x03}},  /* sar $3, %rax */
    {3, 3, 0, {0x48, 0xd1, 0xfe}},        /* sar %rsi */
    {1, 2, 0, {0x74}},                    /* je */
    {1, 2, 0, {0x75}},                    /* jne */
    {1, 5, 0, {0xe8}},                    /* call */
    {2, 6, 0, {0xff, 0x15}},              /* call of a pointer */
    {2, 2, 0, {0xff, 0xd0}},              /* call *%rax */
    {2, 2, 0, {0xff, 0xe0}},              /* jmp *%rax */
    {1, 5, 0, {0xe9}},                    /* jmp */
    {1, 2, 0, {0xeb}},                    /* jmp, near */
    {1, 1, 0, {0xc3}},                    /* ret */
    {1, 1, 0, {0x90}},                    /* nop, of one byte and more */
    {2, 2, 0, {0x66, 0x90}},
    {3, 3, 0, {0x0f, 0x1f, 0x00}},
    {4, 4, 0, {0x0f, 0x1f, 0x40, 0x00}},
    {4, 5, 0, {0x0f, 0x1f, 0x44, 0x00}},
    {4, 6, 0, {0x66, 0x0f, 0x1f, 0x44}},
    {3, 7, 0, {0x0f, 0x1f, 0x80}},
    {4, 8, 0, {0x0f, 0x1f, 0x84, 0x00}},
    {4, 10, 0, {0x66, 0x2e, 0x0f, 0x1f}},
    {4, 11, 0, {0x66, 0x66, 0x2e, 0x0f}},
};
enum {
    INSTRUCTIONS = sizeof instructions / sizeof *instructions,
    FUNCTION_MAX = 0x70,   /* the longest function, of older compilers too; and as far are (de)register_tm_clones, */
    CLONES_BEFORE = 0x70,  /* which no table names, before __do_global_dtors_aux */
    BP_SAVED_AT_TOP = -16, /* push %rbp is the first that the stack takes */
};

static const struct crt_instruction *instruction_at(const uint8_t *code) {
    for (size_t i = 0; i < INSTRUCTIONS; i++) {
        uint32_t same = 0;
        while (same < instructions[i].fixed && code[same] == instructions[i].bytes[same])
            same++;
        if (same == instructions[i].fixed) return &instructions[i];
    }
    return NULL;
}

/* The rule of the instruction that pc - 1 is in, where all from `function` on are known. */
static struct rule rule_within(uint64_t function, uint64_t pc) {
    struct rule unknown = {.type = RULE_UNKNOWN}, rule = {.type = RULE_SP, .offset = 8};
    if (pc <= function || pc - function > FUNCTION_MAX + CLONES_BEFORE) return unknown;
    for (uint64_t at = function;;) {
        const struct crt_instruction *instruction = instruction_at((const uint8_t *)(uintptr_t)at);
        if (!instruction) return unknown;
        at += instruction->length;
        if (at >= pc) return rule;
        rule.offset += instruction->push;
        if (instruction->bytes[0] == 0x55) rule.bp_offset = BP_SAVED_AT_TOP;
        if (instruction->bytes[0] == 0x5d) rule.bp_offset = 0;
    }
}

/* What the dynamic section says of the code to run at the module's start and end. */
struct module_ends {
    uint64_t init, fini;
    const uint64_t *starts, *ends; /* functions */
    uint64_t start_count, end_count;
};

static struct module_ends ends_of(const struct link_map *map) {
    struct module_ends ends = {0};
    for (const ElfW(Dyn) *entry = map ? map->l_ld : NULL; entry && entry->d_tag != DT_NULL; entry++) {
        uint64_t address = map->l_addr + entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_INIT: ends.init = address; break;
        case DT_FINI: ends.fini = address; break;
        case DT_INIT_ARRAY: ends.starts = (const uint64_t *)(uintptr_t)address; break;
        case DT_FINI_ARRAY: ends.ends = (const uint64_t *)(uintptr_t)address; break;
        case DT_INIT_ARRAYSZ: ends.start_count = entry->d_un.d_val / sizeof *ends.starts; break;
        case DT_FINI_ARRAYSZ: ends.end_count = entry->d_un.d_val / sizeof *ends.ends; break;
        default: break;
        }
    }
    return ends;
}

/* __do_global_dtors_aux asks first whether it ran already. */
static bool is_destructors(uint64_t function) {
    const struct crt_instruction *first = instruction_at((const uint8_t *)(uintptr_t)function);
    if (first && first->bytes[0] == 0xf3) first = instruction_at((const uint8_t *)(uintptr_t)function + first->length);
    return first && first->bytes[0] == 0x80;
}

static struct rule rule_of_any(const uint64_t *functions, uint64_t count, uint64_t pc) {
    struct rule rule = {.type = RULE_UNKNOWN};
    for (uint64_t i = 0; functions && i < count && rule.type == RULE_UNKNOWN; i++) {
        bool is_before = pc <= functions[i] && functions[i] - pc < CLONES_BEFORE;
        if (!is_before)
            rule = rule_within(functions[i], pc);
        else if (is_destructors(functions[i]))
            rule = rule_within(functions[i] - CLONES_BEFORE, pc);
    }
    return rule;
}

struct rule crtstuff_rule(const struct dl_find_object *object, uint64_t pc) {
    struct module_ends ends = ends_of(object->dlfo_link_map);
    struct rule rule = rule_of_any(&ends.init, ends.init != 0, pc);
    if (rule.type == RULE_UNKNOWN) rule = rule_of_any(&ends.fini, ends.fini != 0, pc);
    if (rule.type == RULE_UNKNOWN) rule = rule_of_any(ends.ends, ends.end_count, pc);
    if (rule.type == RULE_UNKNOWN) rule = rule_of_any(ends.starts, ends.start_count, pc);
    return rule;
}
