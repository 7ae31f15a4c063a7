/* The hook of syscall(2). It passes everything on as it came: the registers, and the stack, where the seventh argument is. A call that
 * returns twice, or never, or in another thread, is none the wiser. Three calls go elsewhere, with the same arguments: SYS_futex to
 * futex_call (locks/futex.c), SYS_prctl and SYS_seccomp to prctl_call and seccomp_call (seal.c). */
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
        "jmp *real_syscall(%rip)\n"
        ".cfi_endproc\n"
        ".size syscall, .-syscall\n");
_Static_assert(SYS_futex == 202 && SYS_prctl == 157 && SYS_seccomp == 317, "the numbers above");
