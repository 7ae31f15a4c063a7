/* code.h: the machine code that runs in the process while it is entered, and the memory that it has. x86-64.
 *
 * Whatever happens to the tracer, the thread returns by itself to the system call that it was about to make, with all that it had: each
 * piece of code ends by that. So a piece has what it needs as constants in it (the gate) or beside it (the passage).
 *
 *   the gate     stands in unused bytes at the end of code of the process: one system call, then back
 *   the passage  in memory of its own: opens the library, calls clear_rt_attach, waits a moment for the tracer, then back */
#ifndef CLEAR_INGEST_ATTACH_CODE_H
#define CLEAR_INGEST_ATTACH_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "ingest/segment.h"

enum {
    CODE_SYSCALL_SIZE = 2,
    CODE_GATE_SIZE = 86,
    CODE_PAGE = 4096,
    PASSAGE_SIZE = 512 << 10, /* its code, struct passage, and a stack */
    PASSAGE_XSAVE_SIZE = 12 << 10,
};

/* Of the registers, those that a system call's arguments are in are constants in it; the others it does not change. `registers` are those
 * at the entry of the system call to return to. */
void code_gate(uint8_t code[CODE_GATE_SIZE], const struct user_regs_struct *registers);

enum passage_state { PASSAGE_NEW = 0, PASSAGE_OPENED, PASSAGE_CALLED };

/* Behind the page of code. The offsets are those of code.c. */
struct passage {
    struct user_regs_struct back; /* the registers to return with: rip at the system call, rax its number */
    uint64_t mask, all;           /* of signals: the thread's, and every one */
    uint64_t dlopen, dlsym, dlerror, errno_location; /* functions of the process */
    uint64_t function;              /* clear_rt_attach, where it is known; else 0: the library is opened */
    int64_t file;                   /* memfd, or an error */
    uint64_t handle, message;       /* of dlopen; of dlerror, where there is no handle */
    uint64_t state;                 /* enum passage_state */
    uint64_t wait[2];               /* struct timespec: how long it waits for the tracer once it was called */
    uint64_t xsave_low, xsave_high; /* which parts of the processor's state are kept */
    char memory_name[32];           /* of the memfd */
    char path[64];                  /* that dlopen opens: the tracer writes it once the library is in the memfd */
    char function_name[32];
    struct attach_call call;
    _Alignas(64) uint8_t xsave[PASSAGE_XSAVE_SIZE];
    uint32_t is_raised;     /* the tracer gave it a real-time priority: it takes that back itself before it returns */
    int32_t usual_priority; /* struct sched_param of SCHED_OTHER */
};

/* Copies the code; its size. It fits a page. */
size_t code_passage(uint8_t page[CODE_PAGE]);
/* Where the code goes on once the tracer has come, or where it must be led out of trouble; in bytes from its start. */
size_t code_passage_end(void);

#endif
