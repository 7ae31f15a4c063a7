/* ingest/symbols/spin_loop.h: machine code, as compilers write it, and whether it is a loop that only asks memory again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/symbols/spin_loop.h"

enum { CODE_MAX = 64, NONE = -1 };

struct code_case {
    const char *why, *code; /* in hex, instructions apart by blanks */
    int head, end;          /* of the loop: each instruction in it says so, and none outside; NONE: there is none */
    int instructions;
    bool has_pause;
};

static const struct code_case cases[] = {
    {"while (!flag): mov, test, je", "8b05c02e0000 85c0 74f6 c3", 0, 10, 3, false},
    {"with a pause, closed by a jump", "f390 488b07 4885c0 7502 ebf4 c3", 0, 12, 5, true},
    {"cmp of memory, behind the end of another function", "c3 803d0000000000 74f7 c3", 1, 10, 2, false},
    {"movzx, and of a register", "0fb607 83e001 84c0 75f6", 0, 10, 4, false},
    {"a pointer that is read anew in each turn", "488b07 8b4008 85c0 74f6", 0, 10, 4, false},
    {"without optimization: the flag goes through the frame", "488b45e8 8b00 8945fc 837dfc00 74f1", 0, 15, 5, false},
    {"a lock that is tried: it stores", "87 07 85c0 75fa", NONE, 0, 0, false},
    {"a locked compare and exchange", "f00fb10f 75fa", NONE, 0, 0, false},
    {"a count down to the end", "8b07 85c0 7404 ffc9 75f6", NONE, 0, 0, false},
    {"a count up, as in an adaptive lock", "f390 83c001 8b17 85d2 75f5", NONE, 0, 0, false},
    {"a search: the pointer goes on", "4883c001 803800 75f7", NONE, 0, 0, false},
    {"a list: each element names the next", "488b00 4885c0 75f8", NONE, 0, 0, false},
    {"a list, through the frame", "488b45f8 488b00 488945f8 48837df800 75ee", NONE, 0, 0, false},
    {"a sum", "0307 83f90a 75f9", NONE, 0, 0, false},
    {"a call", "e800000000 85c0 74f7", NONE, 0, 0, false},
    {"a store to memory that others may read", "8b07 8906 85c0 74f8", NONE, 0, 0, false},
    {"a store below another pointer", "8b07 894508 85c0 74f7", NONE, 0, 0, false},
    {"a push moves the frame", "50 8b07 85c0 74f9", NONE, 0, 0, false},
    {"it never leaves", "8b07 ebfc", NONE, 0, 0, false},
    {"it loads nothing", "85c0 74fc", NONE, 0, 0, false},
    {"a way around a part of it", "8b07 85c0 7402 8b0e 85c9 74f4", NONE, 0, 0, false},
    {"a vector instruction", "f30f6f07 85c0 74f8", NONE, 0, 0, false},
    {"the way out leads back to code before it", "c3 488b07 4c39f0 77f7 f390 ebf4", 1, 13, 5, true},
    {"a jump back to behind the address", "90 8b07 85c0 74fa c3", 1, 7, 3, false},
};

static size_t read_code(const char *hex, uint8_t *code, size_t *starts, size_t *count) {
    size_t size = 0;
    bool begins = true;
    for (*count = 0; *hex; hex++) {
        if (*hex == ' ') {
            begins = true;
            continue;
        }
        if (begins) starts[(*count)++] = size;
        char byte[3] = {hex[0], *++hex, 0};
        code[size++] = (uint8_t)strtoul(byte, NULL, 16);
        begins = false;
    }
    return size;
}

static void loops_are_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct code_case *wanted = &cases[i];
        uint8_t code[CODE_MAX];
        size_t starts[CODE_MAX], count, size = read_code(wanted->code, code, starts, &count);
        for (size_t j = 0; j < count; j++) {
            struct spin_loop loop = {0};
            bool is_in = wanted->head != NONE && (int)starts[j] >= wanted->head && (int)starts[j] < wanted->end;
            if (spin_loop_find(code, size, starts[j], &loop) != is_in)
                fail_msg("%s: instruction %zu is %sin a loop", wanted->why, j + 1, is_in ? "" : "not ");
            if (is_in && ((int)loop.head != wanted->head || loop.instructions != wanted->instructions ||
                          loop.has_pause != wanted->has_pause))
                fail_msg("%s: head %zu, %d instructions", wanted->why, loop.head, loop.instructions);
        }
    }
}

/* Any bytes: nothing is read beyond them (the sanitizers say so), and what is found begins within. */
static void any_bytes_are_taken(void **state) {
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t size = 1 + random % CODE_MAX, at = (random >> 8) % size;
        uint8_t *code = malloc(size);
        for (size_t j = 0; j < size; j++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            static const uint8_t usual[] = {0x8b, 0x85, 0x74, 0xf0, 0x48, 0x0f, 0xb6, 0x66,
                                            0x07, 0xc0, 0xeb, 0xf3, 0x90, 0x83, 0x3d, 0x04};
            code[j] = random & 1 ? usual[(random >> 4) % sizeof usual] : (uint8_t)(random >> 8);
        }
        struct spin_loop loop;
        if (spin_loop_find(code, size, at, &loop)) assert_true(loop.head <= at && loop.instructions > 0);
        if (store_loop_find(code, size, at, &loop)) assert_true(loop.head <= at && loop.instructions > 0);
        if (nap_loop_find(code, size, at, &loop)) assert_true(loop.head < at && loop.instructions > 0);
        free(code);
    }
}

struct nap_case {
    const char *why, *code;
    int end_of_call; /* offset */
    int head;        /* NONE: no loop that only sleeps and asks */
    int asked, called;
};

/* Displacements are from the end of the instruction. */
static const struct nap_case naps[] = {
    {"while (flag < n) usleep(1000)", "bfe8030000 e8000000ff 488b05100c0000 4839d8 7cea", 10, 0, 17 + 0xc10, 0},
    {"by nanosleep, again where a signal ends it",
     "4889e6 4889e7 e8000000ff 83f8ff 750a e800010000 833804 74e6 803d0001000000 74dd", 11, 0, 33 + 0x100, 21 + 0x100},
    {"a call of the program's own beside the sleep: told by who looks at `called`",
     "e8000000ff e811000000 803d0001000000 74ed", 5, 0, 17 + 0x100, 10 + 0x11},
    {"two more calls", "e8000000ff e811000000 e822000000 803d0001000000 74e8", 5, NONE, 0, 0},
    {"a flag behind a pointer", "e8000000ff 803f00 74f6", 5, NONE, 0, 0},
    {"a pace: each turn stores", "ff0500010000 e8000000ff 803d0001000000 74ec", 11, NONE, 0, 0},
    {"without an end", "e8000000ff 8b0500010000 ebf3", 5, NONE, 0, 0},
};

static void sleeping_loops_are_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof naps / sizeof *naps; i++) {
        uint8_t code[CODE_MAX];
        size_t starts[CODE_MAX], count, size = read_code(naps[i].code, code, starts, &count);
        struct spin_loop loop = {0};
        bool is_found = nap_loop_find(code, size, (size_t)naps[i].end_of_call, &loop);
        if (is_found != (naps[i].head != NONE)) fail_msg("%s: %sfound", naps[i].why, is_found ? "" : "not ");
        if (!is_found) continue;
        if ((int)loop.head != naps[i].head || loop.asked[0] != naps[i].asked || loop.called != naps[i].called)
            fail_msg("%s: head %zu asks %d, calls %d", naps[i].why, loop.head, (int)loop.asked[0], (int)loop.called);
    }
}

static void loops_that_store_are_told(void **state) {
    (void)state;
    static const struct {
        const char *why, *code;
        bool is_one;
    } loops[] = {
        {"a counter of the thread, by registers that stay", "488b04f9 4883c001 488904f9 4883ea01 75ee", true},
        {"an atomic one", "f0480107 83ea01 75f7", true},
        {"a sum of doubles in memory", "f20f1006 f20f5801 f20f1106 83ea01 75ef", true},
        {"an array is filled", "488907 4883c708 83ea01 75f4", false},
        {"by an index that goes on", "488904f9 4883c701 4839d7 75f3", false},
        {"only in the frame", "4889442408 83ea01 75f6", false},
        {"a sum in a register", "f20f5807 4883c708 4839fa 75f3", false},
        {"with a call", "488907 e800000000 83ea01 75f3", false},
        {"only compared", "833f05 83ea01 75f8", false},
    };
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        uint8_t code[CODE_MAX];
        size_t starts[CODE_MAX], count, size = read_code(loops[i].code, code, starts, &count);
        struct spin_loop loop;
        for (size_t j = 0; j < count; j++)
            if (store_loop_find(code, size, starts[j], &loop) != loops[i].is_one)
                fail_msg("%s: instruction %zu is %sin one", loops[i].why, j + 1, loops[i].is_one ? "not " : "");
    }
}

static void stores_are_told(void **state) {
    (void)state;
    static const struct {
        const char *code;
        int at, number; /* of the displacement; bytes behind it */
        bool stores;
    } stores[] = {
        {"90 890500000000", 3, 0, true},    {"48 890500000000", 3, 0, true},         {"48 870500000000", 3, 0, true},
        {"90 8b0500000000", 3, 0, false},   {"90 3b0500000000", 3, 0, false},        {"90 c6050000000001", 3, 1, true},
        {"90 803d0000000001", 3, 1, false}, {"90 c7050000000001000000", 3, 4, true}, {"f0 0fc10500000000", 4, 0, true},
        {"90 0fb60500000000", 4, 0, false}, {"f0 ff0500000000", 3, 0, true},         {"90 ff1500000000", 3, 0, false},
        {"90 8d0500000000", 3, 0, false},   {"f0 0fb13500000000", 4, 0, true},       {"90 890400000000", 3, 0, false},
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        uint8_t code[CODE_MAX];
        size_t starts[CODE_MAX], count;
        read_code(stores[i].code, code, starts, &count);
        if (is_store_relative(code, (size_t)stores[i].at, (size_t)stores[i].number) != stores[i].stores)
            fail_msg("%s is %sa store", stores[i].code, stores[i].stores ? "" : "not ");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_are_told), cmocka_unit_test(sleeping_loops_are_told),
                                       cmocka_unit_test(loops_that_store_are_told), cmocka_unit_test(stores_are_told),
                                       cmocka_unit_test(any_bytes_are_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
