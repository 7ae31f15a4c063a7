/* The hook of syscall(2). It passes everything on as it came: the registers, and the stack, where the seventh argument is. A call that
 * returns twice, or never, or in another thread, is none the wiser. A few calls go elsewhere, with the same arguments: of futexes to
 * locks/futex.c, of what a program forbids itself to seal.c, of its memory to limits.c. */
#include <sys/syscall.h>

__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "cmpq $202, %rdi\n"
        "je futex_call\n"
        "cmpq $157, %rdi\n"
        "je prctl_call\n"
        "cmpq $317, %rdi\n"
        "je seccomp_call\n"
        "cmpq $151, %rdi\n"
        "je mlockall_call\n"
        "cmpq $160, %rdi\n"
        "je setrlimit_call\n"
        "cmpq $302, %rdi\n"
        "je prlimit_call\n"
        "jmp *real_syscall(%rip)\n"
        ".cfi_endproc\n"
        ".size syscall, .-syscall\n");
_Static_assert(SYS_futex == 202 && SYS_prctl == 157 && SYS_seccomp == 317 && SYS_mlockall == 151 &&
                   SYS_setrlimit == 160 && SYS_prlimit64 == 302,
               "the numbers above");
