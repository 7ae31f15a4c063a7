/* cfi.h: turns call frame information (.eh_frame: DWARF 5 section 6.4, and the Linux Standard Base) into unwind rules.
 * It reads mapped memory of the module alone, takes no lock and allocates nothing, so it is safe in signal handlers. */
#ifndef CLEAR_SHIM_CFI_H
#define CLEAR_SHIM_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum rule_type {
    RULE_UNKNOWN =
        0,      /* no information, or a form that no compiler emits at a call: the stack ends there and is incomplete */
    RULE_END,   /* the outermost frame: its return address is undefined */
    RULE_FRAME, /* frame = bp + 16, caller's bp at frame - 16: the plain frame pointer */
    RULE_SP,    /* frame = sp + offset */
    RULE_BP,    /* frame = bp + offset */
    RULE_SP_DEREF, /* frame = *(sp + offset) + addend: assembler code that realigned its stack */
    RULE_BP_DEREF, /* frame = *(bp + offset) + addend: a function that realigned its stack (GCC) */
    RULE_SIGNAL,   /* the kernel's signal frame: registers are in the ucontext at sp */
    RULE_MADE,     /* code in no module: a plain frame pointer where there is one (unwind.c) */
};

/* `frame` is the canonical frame address (CFA), the stack pointer before the call; the return address is at frame - 8.
 * With RULE_BP_DEREF the caller's bp is at *bp, where GCC saves it. */
struct rule {
    uint8_t type;      /* enum rule_type */
    int8_t addend;     /* of the two DEREF types */
    int16_t bp_offset; /* the caller's bp is at frame + bp_offset; 0: bp is unchanged */
    int32_t offset;
};
_Static_assert(sizeof(struct rule) == 8, "a rule is stored and read as one word");

/* The rule of the code at `address` (an address inside the instruction, so return address - 1). `hdr` is the module's
 * .eh_frame_hdr as _dl_find_object gives it. */
struct rule cfi_rule(const void *hdr, uint64_t address);

/* Where the function around `address` begins; 0: unknown. */
uint64_t cfi_function(const void *hdr, uint64_t address);

#endif
