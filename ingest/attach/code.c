#include "ingest/attach/code.h"

#include <string.h>

extern const uint8_t attach_passage[], attach_passage_end[], attach_passage_out[];

/* Every name here is an offset of struct passage; the assertions below hold them together. rbx is where it is. */
#define OFFSET_TEXT_(number) #number
#define OFFSET_TEXT(number)  OFFSET_TEXT_(number)
#define BACK_R15             0
#define BACK_R14             8
#define BACK_R13             16
#define BACK_R12             24
#define BACK_RBP             32
#define BACK_RBX             40
#define BACK_R10             56
#define BACK_R9              64
#define BACK_R8              72
#define BACK_RAX             80
#define BACK_RDX             96
#define BACK_RSI             104
#define BACK_RDI             112
#define BACK_RIP             128
#define BACK_FLAGS           144
#define BACK_RSP             152
#define MASK                 216
#define ALL                  224
#define DLOPEN               232
#define DLSYM                240
#define DLERROR              248
#define ERRNO_LOCATION       256
#define FUNCTION             264
#define FILE_AT              272
#define HANDLE               280
#define MESSAGE              288
#define STATE                296
#define WAIT                 304
#define XSAVE_LOW            320
#define XSAVE_HIGH           328
#define MEMORY_NAME          336
#define PATH                 368
#define FUNCTION_NAME        432
#define CALL                 464
#define XSAVE                768
#define PAGE                 4096
#define IS_AT(name, member)  _Static_assert(name == offsetof(struct passage, member), #member)
IS_AT(BACK_R15, back.r15);
IS_AT(BACK_R14, back.r14);
IS_AT(BACK_R13, back.r13);
IS_AT(BACK_R12, back.r12);
IS_AT(BACK_RBP, back.rbp);
IS_AT(BACK_RBX, back.rbx);
IS_AT(BACK_R10, back.r10);
IS_AT(BACK_R9, back.r9);
IS_AT(BACK_R8, back.r8);
IS_AT(BACK_RAX, back.rax);
IS_AT(BACK_RDX, back.rdx);
IS_AT(BACK_RSI, back.rsi);
IS_AT(BACK_RDI, back.rdi);
IS_AT(BACK_RIP, back.rip);
IS_AT(BACK_FLAGS, back.eflags);
IS_AT(BACK_RSP, back.rsp);
IS_AT(MASK, mask);
IS_AT(ALL, all);
IS_AT(DLOPEN, dlopen);
IS_AT(DLSYM, dlsym);
IS_AT(DLERROR, dlerror);
IS_AT(ERRNO_LOCATION, errno_location);
IS_AT(FUNCTION, function);
IS_AT(FILE_AT, file);
IS_AT(HANDLE, handle);
IS_AT(MESSAGE, message);
IS_AT(STATE, state);
IS_AT(WAIT, wait);
IS_AT(XSAVE_LOW, xsave_low);
IS_AT(XSAVE_HIGH, xsave_high);
IS_AT(MEMORY_NAME, memory_name);
IS_AT(PATH, path);
IS_AT(FUNCTION_NAME, function_name);
IS_AT(CALL, call);
IS_AT(XSAVE, xsave);
_Static_assert(PAGE == CODE_PAGE, "the passage's memory is behind a page of code");

#define AT(name)        OFFSET_TEXT(name) "(%rbx)"
#define LOAD(name, reg) "movq " AT(name) ", " reg "\n"

/* Begins with its own stack, all signals blocked by the tracer and once more by itself. */
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl attach_passage, attach_passage_end, attach_passage_out\n"
        ".hidden attach_passage, attach_passage_end, attach_passage_out\n"
        "attach_passage:\n"
        "leaq attach_passage+" OFFSET_TEXT(PAGE) "(%rip), %rbx\n"
                                                 "movl $14, %eax\n" /* rt_sigprocmask(SIG_SETMASK, all) */
                                                 "movl $2, %edi\n"
                                                 "leaq " AT(
                                                     ALL) ", %rsi\n"
                                                          "xorl %edx, %edx\n"
                                                          "movl $8, %r10d\n"
                                                          "syscall\n" LOAD(XSAVE_LOW, "%rax") LOAD(XSAVE_HIGH, "%rdx") "xsave64 " AT(XSAVE) "\n"
                                                                                                                                            "cld\n"
                                                                                                                                            "call *" AT(ERRNO_LOCATION) "\n"
                                                                                                                                                                        "movq %rax, %r12\n"
                                                                                                                                                                        "movl (%rax), %r13d\n"
                                                                                                                                                                        "cmpq $0, " AT(FUNCTION) "\n"
                                                                                                                                                                                                 "jne 2f\n"
                                                                                                                                                                                                 "movl $319, %eax\n" /* memfd_create(name, MFD_CLOEXEC) */
                                                                                                                                                                                                 "leaq " AT(MEMORY_NAME) ", %rdi\n"
                                                                                                                                                                                                                         "movl $1, %esi\n"
                                                                                                                                                                                                                         "syscall\n" /* the tracer copies the library and writes the path; else there is no such file */
                                                                                                                                                                                                                         "movq %rax, " AT(FILE_AT) "\n"
                                                                                                                                                                                                                                                   "testq %rax, %rax\n"
                                                                                                                                                                                                                                                   "js 3f\n"
                                                                                                                                                                                                                                                   "leaq " AT(PATH) ", %rdi\n"
                                                                                                                                                                                                                                                                    "movl $2, %esi\n" /* RTLD_NOW */
                                                                                                                                                                                                                                                                    "call *" AT(DLOPEN) "\n"
                                                                                                                                                                                                                                                                                        "movq %rax, " AT(
                                                                                                                                                                                                                                                                                            HANDLE) "\n"
                                                                                                                                                                                                                                                                                                    "movl $3, %eax\n" /* close */
                                                                                                                                                                                                                                                                                                    "movq " AT(FILE_AT) ", %rdi\n"
                                                                                                                                                                                                                                                                                                                        "syscall\n"
                                                                                                                                                                                                                                                                                                                        "movq " AT(
                                                                                                                                                                                                                                                                                                                            HANDLE) ", %rdi\n"
                                                                                                                                                                                                                                                                                                                                    "testq %rdi, %rdi\n"
                                                                                                                                                                                                                                                                                                                                    "je 1f\n"
                                                                                                                                                                                                                                                                                                                                    "leaq " AT(
                                                                                                                                                                                                                                                                                                                                        FUNCTION_NAME) ", %rsi\n"
                                                                                                                                                                                                                                                                                                                                                       "call *" AT(DLSYM) "\n"
                                                                                                                                                                                                                                                                                                                                                                          "movq %rax, " AT(FUNCTION) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                     "testq %rax, %rax\n"
                                                                                                                                                                                                                                                                                                                                                                                                     "jne 2f\n"
                                                                                                                                                                                                                                                                                                                                                                                                     "1: call *" AT(DLERROR) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                             "movq %rax, " AT(MESSAGE) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                       "jmp 3f\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                       "2: movq $1, " AT(
                                                                                                                                                                                                                                                                                                                                                                                                                                                           STATE) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "leaq " AT(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                      CALL) ", %rdi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "call *" AT(FUNCTION) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "3: movl %r13d, (%r12)\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "movq $2, " AT(STATE) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "movl $270, %eax\n" /* pselect6(0, no files, how long): the tracer comes meanwhile and puts everything back at once */
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "xorl %edi, %edi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "xorl %esi, %esi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "xorl %edx, %edx\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "xorl %r10d, %r10d\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "leaq " AT(WAIT) ", %r8\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "xorl %r9d, %r9d\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "syscall\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "attach_passage_out:\n" /* it did not: all that it would do, but for the signals, which are a step of their own */
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "leaq attach_passage+" OFFSET_TEXT(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             PAGE) "(%rip), %rbx\n" LOAD(XSAVE_LOW,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "%rax")
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             LOAD(XSAVE_HIGH, "%rdx") "xrstor64 " AT(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 XSAVE) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "movl $14, %eax\n" /* rt_sigprocmask(SIG_SETMASK, mask) */
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "movl $2, %edi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "leaq " AT(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            MASK) ", %rsi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "xorl %edx, %edx\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "movl $8, %r10d\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "syscall\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "pushq " AT(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      BACK_FLAGS) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "popfq\n" LOAD(BACK_RSP, "%rsp") LOAD(BACK_R15, "%r15") LOAD(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      BACK_R14, "%r14") LOAD(BACK_R13,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "%r13") LOAD(BACK_R12,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "%r12")
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      LOAD(BACK_RBP, "%rbp") LOAD(BACK_R10,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "%r10") LOAD(BACK_R9,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "%r9")
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          LOAD(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              BACK_R8, "%r8") LOAD(BACK_RAX, "%rax")
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              LOAD(BACK_RDX, "%rdx") LOAD(BACK_RSI, "%rsi") LOAD(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  BACK_RDI,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "%rdi")
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  LOAD(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      BACK_RBX,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "%rbx") "jmpq *attach_passage+" OFFSET_TEXT(PAGE) "+" OFFSET_TEXT(BACK_RIP) "(%rip)\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "attach_passage_end:\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  ".popsection\n");

size_t code_passage(uint8_t page[CODE_PAGE]) {
    size_t size = (size_t)(attach_passage_end - attach_passage);
    memset(page, 0xcc, CODE_PAGE);
    memcpy(page, attach_passage, size);
    return size;
}

size_t code_passage_end(void) {
    return (size_t)(attach_passage_out - attach_passage);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size) {
    memcpy(at, bytes, size);
    return at + size;
}

void code_gate(uint8_t code[CODE_GATE_SIZE], const struct user_regs_struct *registers) {
    /* syscall; movabs into rax, rdi, rsi, rdx, r10, r8, r9; jmp *(the eight bytes that follow) */
    static const uint8_t call[] = {0x0f, 0x05}, jump[] = {0xff, 0x25, 0, 0, 0, 0};
    static const uint8_t moves[][2] = {{0x48, 0xb8}, {0x48, 0xbf}, {0x48, 0xbe}, {0x48, 0xba},
                                       {0x49, 0xba}, {0x49, 0xb8}, {0x49, 0xb9}};
    const uint64_t values[] = {registers->orig_rax, registers->rdi, registers->rsi, registers->rdx,
                               registers->r10,      registers->r8,  registers->r9};
    uint64_t back = registers->rip - CODE_SYSCALL_SIZE;
    uint8_t *at = put(code, call, sizeof call);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        at = put(at, moves[i], sizeof moves[i]);
        at = put(at, &values[i], sizeof values[i]);
    }
    at = put(at, jump, sizeof jump);
    put(at, &back, sizeof back);
}
