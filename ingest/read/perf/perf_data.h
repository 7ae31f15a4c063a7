/* perf_data.h: decodes the files of Linux's `perf record`: perf.data, and the form that `perf record -o -` writes into
 * a pipe.
 *
 * It decodes bytes and calls a visitor. It uses neither the file system nor the warehouse. Records are visited in the
 * order of their times, as in `perf script`, because a file has the buffers of several CPUs one after the other, and a
 * sample must come after the mapping of its addresses. Records without a time keep their place. Nothing in the file is
 * trusted: what is truncated, out of range or contradictory is an error with the offset.
 *
 * Read: little-endian files of kernels from 2.6.38 on (header version 2), with compressed records (zstd).
 * Refused with a message: big-endian files, version 1. Skipped: AUX area traces, and records of unknown types. */
#ifndef CLEAR_INGEST_READ_PERF_PERF_DATA_H
#define CLEAR_INGEST_READ_PERF_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"

/* The mode of the CPU: the low bits of a record's misc. */
enum perf_mode {
    PERF_MODE_UNKNOWN = 0,
    PERF_MODE_KERNEL = 1,
    PERF_MODE_USER = 2,
    PERF_MODE_HYPERVISOR = 3,
    PERF_MODE_GUEST_KERNEL = 4,
    PERF_MODE_GUEST_USER = 5,
};

/* An event of the recording, as of `perf record -e`. */
struct perf_event {
    size_t index;
    const char *name;       /* "cpu-clock:u"; made from type and config where the file has none */
    uint32_t type;          /* PERF_TYPE_*: 0 hardware, 1 software, 2 tracepoint, ... */
    uint64_t config, flags; /* flags: the bits of perf_event_attr from "disabled" on */
    uint64_t period;        /* events between samples; 0 with a frequency */
    uint64_t frequency;
    uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr; /* masks that shape its records */
    bool has_sample_id;                                                          /* sample_id_all */
    bool has_switches; /* each sample is a switch to another thread, and the file tells when the thread came back */
    uint64_t samples;  /* of it, in the file */
    uint64_t lost;     /* that the kernel or perf could not record */
};

struct perf_data_sample {
    const struct perf_event *event;
    enum perf_mode mode;
    uint32_t pid, tid, cpu;
    uint64_t ip, time,
        period;       /* time: ns of the recording's clock, 0 unknown; period: the number of events of this sample */
    uint64_t address; /* of the data that the instruction used; 0 unknown */
    uint64_t data_source;       /* union perf_mem_data_src: load or store, and where the data was; 0 unknown */
    uint64_t weight;            /* of a load its cycles, 0 unknown */
    const unsigned char *chain; /* words, leaf first, with PERF_CONTEXT_* markers: see words_at */
    size_t chain_count;
    const unsigned char *regs; /* user registers, words in the order of the mask's bits; NULL for none */
    uint64_t regs_mask;
    const unsigned char *stack; /* user stack from the stack pointer up */
    size_t stack_size;
};

struct perf_data_mmap {
    uint32_t pid; /* UINT32_MAX: the kernel's own */
    enum perf_mode mode;
    uint64_t start, size, file_offset;
    const char *path; /* not terminated */
    size_t path_size;
    const unsigned char *build_id; /* NULL for none */
    size_t build_id_size;
    bool is_data; /* not executable */
};

struct perf_data_task {
    uint32_t pid, tid, parent_pid, parent_tid;
    bool keeps_maps; /* made by perf for a task that ran before it: its mappings follow */
};

/* A thread began to run (is_out: stopped to). */
struct perf_data_switch {
    uint32_t tid;
    uint64_t time; /* 0 unknown */
    bool is_out;
};

/* Members may be NULL. Pointers are valid during the call, events as long as the facts. A call that returns other than
 * 0 (with the error set) ends the decoding. */
struct perf_data_visitor {
    int (*sample)(void *context, const struct perf_data_sample *sample, struct error *err);
    int (*mmap)(void *context, const struct perf_data_mmap *mmap, struct error *err);
    int (*comm)(void *context, uint32_t pid, uint32_t tid, const char *name, size_t size, bool is_exec,
                struct error *err);
    int (*fork)(void *context, const struct perf_data_task *task, struct error *err);
    int (*switched)(void *context, const struct perf_data_switch *change, struct error *err);
    /* The build id of a mapped file. In the form for pipes it comes after the samples. */
    int (*build_id)(void *context, const char *path, size_t path_size, const unsigned char *build_id, size_t size,
                    struct error *err);
    /* A function that the kernel made at run time (BPF), or its removal. */
    int (*ksymbol)(void *context, uint64_t address, uint64_t size, const char *name, size_t name_size, bool is_gone,
                   struct error *err);
};

/* Facts about the recording. Zero it before perf_data_parse; free it by perf_data_facts_free, also after an error. */
struct perf_data_facts {
    struct perf_event **events;
    size_t event_count;
    const char *hostname, *architecture, *release; /* "" unknown */
    const char **arguments;                        /* of perf record itself */
    size_t argument_count;
    uint64_t first_time, last_time;  /* of samples, ns of the recording's clock */
    bool has_clock;                  /* the next two are there (perf record -k) */
    uint64_t clock_wall, clock_time; /* ns since the epoch at one moment, and the recording's clock then */
    uint64_t sample_count;
    uint64_t unknown;   /* samples of events that the file does not describe; not visited */
    uint64_t skipped;   /* broken records that were skipped, if lenient */
    bool is_unfinished; /* perf record was killed: the header has no size */
    bool is_lenient;    /* set by the caller: skip broken records, and everything after a record whose size is wrong */
    struct arena texts;
};

/* Whether these are the first bytes of a perf.data file, of any version or byte order. */
bool perf_data_recognise(const void *data, size_t size);
int perf_data_parse(const void *data, size_t size, const struct perf_data_visitor *visitor, void *context,
                    struct perf_data_facts *facts, struct error *err);
void perf_data_facts_free(struct perf_data_facts *facts);

#endif
