/* process_maps.h: which file is mapped at which address of which process, at the current record.
 *
 * Images (files, the kernel, a BPF function) are numbered; 0 is unknown. An image is a path and, where the mapping has
 * it, a build id. A process is a list of areas. After a fork parent and child share one list until either changes it,
 * so the ten thousand processes of a compilation cost only their differences. */
#ifndef CLEAR_INGEST_READ_PERF_PROCESS_MAPS_H
#define CLEAR_INGEST_READ_PERF_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "ingest/read/perf/perf_data.h"

enum {
    IMAGE_NONE = 0,
    IMAGE_KERNEL = 1, /* the kernel without its modules */
    IMAGE_GUEST = 2,  /* code of a virtual machine or of the hypervisor, in an address space of its own */
};

enum perf_image_kind {
    PERF_IMAGE_NONE,
    PERF_IMAGE_FILE,
    PERF_IMAGE_KERNEL,
    PERF_IMAGE_MODULE,   /* of the kernel */
    PERF_IMAGE_GUEST,    /* code of a virtual machine */
    PERF_IMAGE_FUNCTION, /* `path` is the name of the function itself */
};

struct perf_image {
    enum perf_image_kind kind;
    const char *path;
    const char *build_id;  /* hex, "" unknown */
    uint32_t pid;          /* of anonymous memory, which differs in each process; else 0 */
    uint64_t module_start; /* run-time address of a kernel module's offset 0 */
    bool is_program;       /* a process was started from it */
};

struct perf_area {
    uint64_t start, end;
    uint64_t file_offset; /* of `start`; for the kernel the offset from its reference symbol */
    uint32_t image;
};

struct perf_areas { /* sorted, without overlaps */
    struct perf_area *items;
    size_t count, capacity, users;
};

struct perf_space {
    struct perf_areas *areas; /* NULL: none yet */
    uint64_t version;         /* unique for this content */
    bool is_started;          /* no file is mapped yet: the next one is the program */
};

struct perf_spaces {
    struct map by_pid;         /* pid -> index into `spaces` */
    struct perf_space *spaces; /* [0] is the kernel's */
    size_t space_count;
    struct map build_ids; /* path -> const char *, hex: for images whose mappings have none */
    struct map by_name;   /* path, build id, pid -> index into `images` */
    struct perf_image *images;
    size_t image_count;
    size_t area_count;         /* of all spaces together */
    uint64_t version;          /* the last one used */
    uint64_t kernel_start;     /* run-time address of the kernel's reference symbol; 0 unknown */
    const char *kernel_symbol; /* its name: "_text" */
    struct arena texts;
};

void perf_spaces_open(struct perf_spaces *spaces);
void perf_spaces_free(struct perf_spaces *spaces);

/* Fails where there are more mappings than a machine can have. */
int perf_spaces_map(struct perf_spaces *spaces, const struct perf_data_mmap *mmap, struct error *err);
int perf_spaces_ksymbol(struct perf_spaces *spaces, uint64_t address, uint64_t size, const char *name, size_t name_size,
                        bool is_gone, struct error *err);
void perf_spaces_fork(struct perf_spaces *spaces, const struct perf_data_task *task);
void perf_spaces_exec(struct perf_spaces *spaces, uint32_t pid);
void perf_spaces_build_id(struct perf_spaces *spaces, const char *path, size_t path_size, const unsigned char *build_id,
                          size_t size);
/* Hex, "" unknown. Known when all records are read, because in the form for pipes they come last. */
const char *perf_image_build_id(const struct perf_spaces *spaces, uint32_t image);

/* Valid until the next change. */
struct perf_space *perf_spaces_of(struct perf_spaces *spaces, uint32_t pid);
struct perf_space *perf_spaces_kernel(struct perf_spaces *spaces);
/* The area around an address; NULL for none. */
const struct perf_area *perf_space_find(const struct perf_space *space, uint64_t address);
/* The last area that begins at the address or below it; NULL for none. */
const struct perf_area *perf_space_below(const struct perf_space *space, uint64_t address);

#endif
