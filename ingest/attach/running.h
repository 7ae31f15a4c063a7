/* running.h: a running process as it is seen from outside: its state, mappings, threads, memory, and the functions that it has loaded. Reads
 * only, but for running_write.
 *
 * The room ingest/attach brings the runtime into a process that runs already, and takes it out of work again. It promises that the process
 * is not harmed: where it is not sure, it refuses, in one sentence. x86-64 with glibc. */
#ifndef CLEAR_INGEST_ATTACH_RUNNING_H
#define CLEAR_INGEST_ATTACH_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct running_mapping {
    uint64_t low, high, offset;
    bool is_readable, is_writable, is_executable;
    char *path; /* as in /proc/PID/maps; empty: none */
};

struct running {
    pid_t pid;
    struct running_mapping *mappings; /* by address */
    size_t mapping_count;
    int memory; /* /proc/PID/mem; -1: not open */
};

/* Reads the mappings. 0, or -1 with the error set: it is gone, or not ours to read. running_close in both cases. */
int running_open(struct running *running, pid_t pid, struct error *err);
void running_close(struct running *running);

/* A line of /proc/PID/status, without its name and blanks; empty where there is none. false: the process is gone. */
bool running_status(pid_t pid, const char *name, char *value, size_t size);
/* The same of a thread of it. */
bool running_thread_status(pid_t pid, pid_t thread, const char *name, char *value, size_t size);
/* Its threads, the first one first; free() it. *count is 0 when it is gone. */
pid_t *running_threads(pid_t pid, size_t *count);

/* The mapping around an address; NULL: none. */
const struct running_mapping *running_mapping_at(const struct running *running, uint64_t address);
/* The lowest mapping of a file whose name begins so (without its directory), and that begins with the file's first byte; NULL: none. */
const struct running_mapping *running_module(const struct running *running, const char *name);

/* All of it, or false. running_write writes to pages that are read-only too. */
bool running_read(const struct running *running, uint64_t address, void *into, size_t size);
bool running_write(const struct running *running, uint64_t address, const void *from, size_t size);

/* The address of a function that the module at `base` defines; 0: none, or the module is damaged. Read from its memory, so that it is what
 * the process has, also where its file was replaced. */
uint64_t running_function(const struct running *running, uint64_t base, const char *name);

/* Where so many bytes of zeros stand behind the end of a module's code, in its last page: nothing is ever executed or read there. 0: nowhere. */
uint64_t running_unused_code(const struct running *running, size_t size);

#endif
