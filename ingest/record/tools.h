/* tools.h: runs perf (or what clear has of it) and strace beside a program, for what a preloaded runtime cannot see: hardware counters, samples
 * of the kernel, system calls.
 *
 * perf attaches to the program before it execs. strace starts a program itself, so the program is executed once more
 * for it. Both run in the C locale and in a process group of their own (^C is for the program), and write to files that
 * the caller names. Their other output is kept for error messages and does not reach the terminal. */
#ifndef CLEAR_INGEST_RECORD_TOOLS_H
#define CLEAR_INGEST_RECORD_TOOLS_H

#include <stdint.h>
#include <sys/types.h>

#include "ingest/outside/outside.h"
#include "ingest/read/ingest.h"
#include "schema/db.h"

enum tool {
    TOOL_PERF_RECORD, /* samples of CPU time with callers, as perf.data */
    TOOL_PERF_STAT,   /* hardware and software counters */
    TOOL_STRACE,      /* calls, errors and times of each system call */
};

/* 0 where the tool is installed and permitted, which is tried on `true`; else a usage error for `option` with the
 * tool's own message. `directory` is for files of the trial, which are removed. */
int tool_check(enum tool tool, const char *option, const char *directory, struct error *err);

/* perf beside a program. */
struct watcher {
    enum tool tool;
    pid_t pid;           /* 0: none */
    int control, answer; /* our ends of its pipes; perf record fails when the first is closed early */
    char *output, *log;
};
/* Attaches to `target` and the processes that it will start. Returns when perf counts. `hz` is for TOOL_PERF_RECORD.
 * The file `output` is complete after watcher_end. */
int watcher_start(struct watcher *watcher, enum tool tool, uint32_t hz, pid_t target, const char *output,
                  struct error *err);
/* The same by clear itself, which needs no perf: a process of ours records what the request says (ingest/outside). `output` is as of
 * TOOL_PERF_RECORD. */
int watcher_start_outside(struct watcher *watcher, const struct outside_request *request, const char *output,
                          struct error *err);
/* The target has ended. */
int watcher_end(struct watcher *watcher, struct error *err);
/* Ends perf and drops its output; safe on a zeroed one. */
void watcher_abandon(struct watcher *watcher);

/* The arguments that run `program` under strace, for launch_start; free() the array. `output` is the file for the
 * counts. *path is the path of strace; free() it. */
char **strace_arguments(const char *program, char *const *arguments, const char *output, char **path,
                        struct error *err);

/* Stores the tool's output as a profile of the run, in a transaction of its own: kind 'counters' (perf stat) or
 * 'syscalls' (strace). perf.data is read as by `clear ingest`, with what is known of the program (may be NULL). */
int tool_store(struct db *db, int64_t run_id, enum tool tool, const char *output, const struct ingest_program *program,
               struct error *err);

#endif
