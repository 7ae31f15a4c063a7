/* The runtime's unwind rules against libdw's reading of the same call frame information, for every row of every function of
 * several system libraries: two programs that share no code must agree on where the frame, the return address and the caller's
 * bp are. The rules of code that has none are held against the processor, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/shim/stacks/cfi.c"
#include "ingest/shim/stacks/crtstuff.c"

/* The runtime may include libc alone, so its names for DWARF's numbers are its own: here they meet those of elfutils. */
#define SAME_CFA(ours, theirs) _Static_assert((int)CFA_##ours == (int)DW_CFA_##theirs, #theirs)
#define SAME_OP(ours, theirs)  _Static_assert((int)OP_##ours == (int)DW_OP_##theirs, #theirs)
#define SAME_PE(ours, theirs)  _Static_assert((int)PE_##ours == (int)DW_EH_PE_##theirs, #theirs)
SAME_CFA(ADVANCE_LOC, advance_loc);
SAME_CFA(OFFSET, offset);
SAME_CFA(RESTORE, restore);
SAME_CFA(NOP, nop);
SAME_CFA(SET_LOC, set_loc);
SAME_CFA(ADVANCE_LOC1, advance_loc1);
SAME_CFA(ADVANCE_LOC2, advance_loc2);
SAME_CFA(ADVANCE_LOC4, advance_loc4);
SAME_CFA(OFFSET_EXTENDED, offset_extended);
SAME_CFA(RESTORE_EXTENDED, restore_extended);
SAME_CFA(UNDEFINED, undefined);
SAME_CFA(SAME_VALUE, same_value);
SAME_CFA(REGISTER, register);
SAME_CFA(REMEMBER_STATE, remember_state);
SAME_CFA(RESTORE_STATE, restore_state);
SAME_CFA(DEF_CFA, def_cfa);
SAME_CFA(DEF_CFA_REGISTER, def_cfa_register);
SAME_CFA(DEF_CFA_OFFSET, def_cfa_offset);
SAME_CFA(DEF_CFA_EXPRESSION, def_cfa_expression);
SAME_CFA(EXPRESSION, expression);
SAME_CFA(OFFSET_EXTENDED_SF, offset_extended_sf);
SAME_CFA(DEF_CFA_SF, def_cfa_sf);
SAME_CFA(DEF_CFA_OFFSET_SF, def_cfa_offset_sf);
SAME_CFA(VAL_OFFSET, val_offset);
SAME_CFA(VAL_OFFSET_SF, val_offset_sf);
SAME_CFA(VAL_EXPRESSION, val_expression);
SAME_CFA(GNU_ARGS_SIZE, GNU_args_size);
SAME_CFA(GNU_NEGATIVE_OFFSET_EXTENDED, GNU_negative_offset_extended);
SAME_OP(DEREF, deref);
SAME_OP(AND, and);
SAME_OP(PLUS_UCONST, plus_uconst);
SAME_OP(LIT0, lit0);
SAME_OP(BREG0, breg0);
SAME_PE(ABSPTR, absptr);
SAME_PE(OMIT, omit);
SAME_PE(UDATA2, udata2);
SAME_PE(UDATA4, udata4);
SAME_PE(UDATA8, udata8);
SAME_PE(SDATA2, sdata2);
SAME_PE(SDATA4, sdata4);
SAME_PE(SDATA8, sdata8);
SAME_PE(PCREL, pcrel);
SAME_PE(DATAREL, datarel);
SAME_PE(INDIRECT, indirect);

struct row_counts {
    long rows, plain, realigned, ends, signals, unknown;
};

static void *frame_header(const char *library, uint64_t *bias) {
    void *handle = dlopen(library, RTLD_NOW);
    assert_non_null(handle);
    struct link_map *map;
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    struct dl_find_object found;
    assert_int_equal(_dl_find_object(map->l_ld, &found), 0);
    *bias = map->l_addr;
    assert_non_null(found.dlfo_eh_frame);
    return found.dlfo_eh_frame;
}

static bool is_saved_at(const Dwarf_Op *ops, size_t count, int64_t *offset) {
    if (count == 0 || ops[0].atom != DW_OP_call_frame_cfa) return false;
    *offset = count == 2 && ops[1].atom == DW_OP_plus_uconst ? (int64_t)ops[1].number : 0;
    return count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst);
}

static void check_bp(Dwarf_Frame *frame, struct rule rule) {
    Dwarf_Op memory[3], *ops;
    size_t count;
    int64_t offset;
    assert_int_equal(dwarf_frame_register(frame, REG_BP, memory, &ops, &count), 0);
    if (is_saved_at(ops, count, &offset)) {
        assert_int_equal(rule.bp_offset, offset);
    } else if (rule.type == RULE_BP_DEREF) {
        assert_int_equal(count, 1);
        assert_int_equal(ops[0].atom, DW_OP_breg6);
        assert_int_equal(ops[0].number, 0);
    } else {
        assert_int_equal(count, 0); /* unchanged or undefined */
        assert_int_equal(rule.bp_offset, 0);
    }
}

/* The frame as libdw gives it: reg + offset, or the operators of an expression. */
static void check_frame(Dwarf_Frame *frame, uint64_t address, struct rule rule, struct row_counts *counts) {
    Dwarf_Op *ops;
    size_t count;
    assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
    if (count == 1 && ops[0].atom == DW_OP_bregx) {
        assert_int_equal(ops[0].number, rule.type == RULE_SP ? REG_SP : REG_BP);
        assert_int_equal((int64_t)ops[0].number2, rule.type == RULE_FRAME ? 16 : rule.offset);
        counts->plain++;
    } else if (rule.type == RULE_SP) { /* the linker's expression for PLT entries: sp + 8 + ((pc & 15) >= limit) * 8 */
        assert_int_equal(ops[0].atom, DW_OP_breg7);
        assert_int_equal(ops[3].atom, DW_OP_and);
        int64_t limit = ops[4].atom - DW_OP_lit0;
        assert_int_equal(rule.offset, (int64_t)(address & 15) >= limit ? 16 : 8);
        counts->plain++;
    } else {
        assert_true(rule.type == RULE_BP_DEREF || rule.type == RULE_SP_DEREF);
        assert_int_equal(ops[0].atom, rule.type == RULE_BP_DEREF ? DW_OP_breg6 : DW_OP_breg7);
        assert_int_equal((int64_t)ops[0].number, rule.offset);
        assert_int_equal(ops[1].atom, DW_OP_deref);
        assert_int_equal(rule.addend, count == 3 ? (int64_t)ops[2].number : 0);
        counts->realigned++;
    }
}

static void check_row(Dwarf_Frame *frame, uint64_t address, bool is_signal, struct rule rule,
                      struct row_counts *counts) {
    Dwarf_Op memory[3], *ops;
    size_t count;
    int64_t offset;
    counts->rows++;
    if (is_signal) {
        assert_int_equal(rule.type, RULE_SIGNAL);
        counts->signals++;
        return;
    }
    assert_int_equal(dwarf_frame_register(frame, REG_RA, memory, &ops, &count), 0);
    bool is_at_frame = is_saved_at(ops, count, &offset) && offset == -8;
    if (count == 0 && ops == memory) {
        assert_int_equal(rule.type, RULE_END);
        counts->ends++;
    } else if (rule.type == RULE_UNKNOWN) {
        counts->unknown++;
    } else {
        assert_true(is_at_frame);
        check_frame(frame, address, rule, counts);
        check_bp(frame, rule);
    }
}

static struct row_counts check_library(const char *library, const char *path) {
    struct row_counts counts = {0};
    uint64_t bias;
    const void *hdr = frame_header(library, &bias);
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    assert_non_null(cfi);
    const int32_t *table = (const int32_t *)((const char *)hdr + 12);
    uint32_t functions = *(const uint32_t *)((const char *)hdr + 8);
    for (uint32_t i = 0; i < functions; i++) {
        uint64_t address = (uintptr_t)hdr - bias + (uint64_t)(int64_t)table[2 * i];
        for (Dwarf_Frame *frame; dwarf_cfi_addrframe(cfi, address, &frame) == 0;) {
            Dwarf_Addr start, end;
            bool is_signal;
            assert_true(dwarf_frame_info(frame, &start, &end, &is_signal) >= 0);
            check_row(frame, address, is_signal, cfi_rule(hdr, bias + address), &counts);
            free(frame);
            bool is_last = dwarf_cfi_addrframe(cfi, end, &frame) != 0;
            if (is_last) break;
            free(frame);
            if (i + 1 < functions && end >= (uintptr_t)hdr - bias + (uint64_t)(int64_t)table[2 * i + 2]) break;
            address = end;
        }
    }
    dwarf_cfi_end(cfi);
    elf_end(elf);
    close(fd);
    print_message("%s: %ld rows, %ld plain, %ld realigned, %ld ends, %ld signal, %ld unknown\n", library, counts.rows,
                  counts.plain, counts.realigned, counts.ends, counts.signals, counts.unknown);
    return counts;
}

static void agrees_with_libdw(void **state) {
    (void)state;
    static const char *const libraries[] = {"libc.so.6", "libdw.so.1", "libcrypto.so.3", "libsqlite3.so.0",
                                            "libstdc++.so.6"};
    struct row_counts whole = {0};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *handle = dlopen(libraries[i], RTLD_NOW);
        struct link_map *map;
        if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) continue;
        struct row_counts counts = check_library(libraries[i], map->l_name);
        whole.rows += counts.rows;
        whole.unknown += counts.unknown;
        whole.realigned += counts.realigned;
        whole.signals += counts.signals;
        whole.ends += counts.ends;
    }
    assert_true(whole.rows > 50000);  /* libc and libstdc++ alone have more */
    assert_true(whole.signals >= 1);  /* __restore_rt */
    assert_true(whole.ends >= 1);     /* clone3 */
    assert_true(whole.realigned > 0); /* the resolver's trampolines, libcrypto's assembly */
    /* libcrypto's assembly keeps its frame in registers that we do not follow; compilers never do. */
    assert_true(whole.unknown * 100 < whole.rows);
}

/* Addresses outside of any function have no rule, and a header of another shape is refused rather than misread. */
static void refuses_what_it_does_not_know(void **state) {
    (void)state;
    uint64_t bias;
    uint8_t *hdr = frame_header("libc.so.6", &bias), copy[64];
    assert_int_equal(cfi_rule(NULL, 1).type, RULE_UNKNOWN);
    assert_int_equal(cfi_rule(hdr, bias).type, RULE_UNKNOWN); /* the ELF header is no function */
    assert_int_equal(cfi_rule(hdr, ~0ull).type, RULE_UNKNOWN);
    memcpy(copy, hdr, sizeof copy);
    copy[0] = 2;
    assert_int_equal(cfi_rule(copy, bias + 0x30000).type, RULE_UNKNOWN);
    copy[0] = 1;
    copy[3] = PE_OMIT;
    assert_int_equal(cfi_rule(copy, bias + 0x30000).type, RULE_UNKNOWN);
}

/* Of crtstuff.c and crti.S, linked into this program. */
typedef void (*function)(void);
extern void _init(void), _fini(void);
extern const function __init_array_start[], __init_array_end[], __fini_array_start[], __fini_array_end[];

/* The first of the functions that has no call frame information: a sanitizer has its own before it. */
static function first_without(const function *at, const function *end) {
    struct dl_find_object found;
    assert_int_equal(_dl_find_object((void *)(uintptr_t)*at, &found), 0);
    while (at < end && cfi_rule(found.dlfo_eh_frame, (uintptr_t)*at).type != RULE_UNKNOWN)
        at++;
    assert_true(at < end);
    return *at;
}

static void run_startup_code(void) {
    function start = first_without(__init_array_start, __init_array_end);
    function end = first_without(__fini_array_start, __fini_array_end);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    _init();
    start();
    end();
    _fini();
    _exit(0);
}

static uint64_t word_of(pid_t child, uint64_t address) {
    return (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)address, NULL);
}

/* The calls that are open: where each has its return address, which every step inside of it must find, and its caller's bp. */
struct open_calls {
    uint64_t at[64], to[64], bp[64];
    int count;
    long checked;
};

/* After a step: a call pushed a return address, or a return took the last away. */
static void follow(pid_t child, struct open_calls *calls, const struct user_regs_struct *before,
                   const struct user_regs_struct *now) {
    while (calls->count > 0 && now->rsp > calls->at[calls->count - 1])
        calls->count--;
    bool is_call = now->rsp == before->rsp - 8 && word_of(child, now->rsp) > before->rip &&
                   word_of(child, now->rsp) <= before->rip + 8;
    if (!is_call) return;
    assert_true(calls->count < 64);
    calls->at[calls->count] = now->rsp;
    calls->bp[calls->count] = now->rbp;
    calls->to[calls->count++] = word_of(child, now->rsp);
}

/* What the code of this program without call frame information has for a rule, where the processor is. */
static void check_step(pid_t child, struct open_calls *calls, const struct user_regs_struct *now) {
    struct dl_find_object found;
    if (calls->count == 0 || _dl_find_object((void *)(uintptr_t)now->rip, &found) != 0) return;
    if (found.dlfo_link_map->l_name[0] || cfi_rule(found.dlfo_eh_frame, now->rip).type != RULE_UNKNOWN) return;
    struct rule rule = crtstuff_rule(&found, now->rip + 1);
    assert_int_equal(rule.type, RULE_SP);
    uint64_t frame = now->rsp + (uint64_t)(int64_t)rule.offset;
    assert_int_equal(frame - 8, calls->at[calls->count - 1]);
    assert_int_equal(word_of(child, frame - 8), calls->to[calls->count - 1]);
    uint64_t bp = rule.bp_offset ? word_of(child, frame + (uint64_t)(int64_t)rule.bp_offset) : now->rbp;
    assert_int_equal(bp, calls->bp[calls->count - 1]);
    calls->checked++;
}

/* The processor itself tells: a child runs the code step by step, and at each the return address of the call that it is in must be
 * where the rule says. */
static void knows_the_code_that_has_no_information(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) run_startup_code();
    struct open_calls calls = {.count = 0};
    struct user_regs_struct before, now;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &before), 0);
    for (;; before = now) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) break;
        assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &now), 0);
        follow(child, &calls, &before, &now);
        check_step(child, &calls, &now);
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    print_message("%ld steps in code without call frame information\n", calls.checked);
    assert_true(calls.checked >= 20); /* 7 in _init and 3 in _fini, the rest in crtstuff.c */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_libdw),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(knows_the_code_that_has_no_information),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
