/* tools.h: perf and strace, for what a preloaded runtime cannot see: hardware counters, the kernel's own samples, system
 * calls.
 *
 * perf watches the program itself, attached to it before it execs; strace needs an execution of its own. Both run in the C
 * locale, in a process group of their own (^C is the program's to handle), and write to files of the caller's. What
 * they print is kept for error messages and never reaches the terminal. */
#ifndef CLEAR_INGEST_RECORD_TOOLS_H
#define CLEAR_INGEST_RECORD_TOOLS_H

#include <stdint.h>
#include <sys/types.h>

#include "ingest/read/ingest.h"
#include "schema/db.h"

enum tool {
    TOOL_PERF_RECORD, /* samples of CPU time with callers, as perf.data */
    TOOL_PERF_STAT,   /* hardware and software counters */
    TOOL_STRACE,      /* calls, errors and times of each system call */
};

/* 0 where the tool is there and permitted, found by letting it watch `true`; else a usage error of one line that says what
 * `option` cannot do, in the tool's own words. `directory`: for files of the trial, removed again. */
int tool_check(enum tool tool, const char *option, const char *directory, struct error *err);

/* perf beside a program. */
struct watcher {
    enum tool tool;
    pid_t pid;           /* 0: none */
    int control, answer; /* our ends, where pid is not 0: perf record fails when its control is hung up */
    char *output, *log;
};
/* Attaches to `target` and all that it will start, and returns when it counts. `hz`: of TOOL_PERF_RECORD. The file
 * `output` is there after watcher_end. */
int watcher_start(struct watcher *watcher, enum tool tool, uint32_t hz, pid_t target, const char *output,
                  struct error *err);
/* The target has ended. */
int watcher_end(struct watcher *watcher, struct error *err);
/* As if it had not been started; safe on a zeroed one. */
void watcher_abandon(struct watcher *watcher);

/* The words that run `arguments` under strace, for launch_start; free() the array. `program` is what to exec, `output` where the
 * counts go. *path is strace's own; free() it. */
char **strace_arguments(const char *program, char *const *arguments, const char *output, char **path,
                        struct error *err);

/* What the tool wrote, as a profile of the run: kind 'counters' (perf stat) or 'syscalls' (strace). In a transaction of its
 * own. perf.data is read as `clear ingest` reads it, with
 * what is known of the program (may be NULL). */
int tool_store(struct db *db, int64_t run_id, enum tool tool, const char *output, const struct ingest_program *program,
               struct error *err);

#endif
