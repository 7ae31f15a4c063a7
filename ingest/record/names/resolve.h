/* resolve.h: turns the run-time addresses of a recorded process into rows of the warehouse: locations, traces, objects.
 *
 * Each (module, address) is resolved once in a recording. The symbolizer is asked only if the warehouse has no location
 * of that build id and address. Modules are known by path and build id, so all processes of a run share what was
 * resolved. Ids belong to the open transaction: after a rollback call resolver_forget. */
#ifndef CLEAR_INGEST_RECORD_NAMES_RESOLVE_H
#define CLEAR_INGEST_RECORD_NAMES_RESOLVE_H

#include <stdint.h>

#include "base/map.h"
#include "ingest/record/names/python_codes.h"
#include "ingest/segment.h"
#include "ingest/symbols/jit_names.h"
#include "ingest/symbols/symbolize.h"
#include "ingest/writer/row_writer.h"

/* A file that was loaded somewhere. */
struct image {
    char *path, *build_id;            /* hex, "" unknown */
    struct symbolizer_module *module; /* NULL until it is needed */
    struct image_range {
        uint64_t start, limit; /* in the file's addresses */
        int64_t mapping_id;
    } * ranges;
    size_t range_count;
    struct map locations; /* address -> location id */
    bool has_lender;      /* a mapping of the file has lines of its build */
    int64_t looked_to;    /* the greatest id of a mapping when that was looked for */
    bool is_met;          /* by address_space_meet */
    bool is_known;        /* an earlier run resolved some of its code, and its sources are still to be inherited */
};

struct resolver {
    struct db *db;
    struct row_writer writer;
    struct symbolizer *symbolizer;
    struct map by_name; /* "path\0build id" -> index into images */
    struct image **images;
    size_t image_count;
    uint64_t symbolize_ns;        /* time spent in the symbolizer */
    const char *moved, *moved_to; /* files below the one directory are read in the other; NULL: none were moved */
    char *linked_file, *link;     /* of resolver_called, or NULL */
};

/* An image in one process. */
struct loaded {
    struct image *image;
    uint64_t bias, low, high;
    uint32_t epoch_start, epoch_end; /* as in struct segment_module */
};

/* The modules of one process, and the mappings that its stacks met, in order of first use. */
struct address_space {
    struct loaded *modules;
    size_t count, capacity, last; /* last: where the previous look-up ended */
    int64_t *mapping_ids;
    size_t mapping_count;
    struct jit_names jit;       /* of what is in no module */
    struct python_codes python; /* of what no processor runs */
    struct map blocks,
        block_counts; /* signature of the allocating stack, and start of the block -> its number; the former -> how many */
};

int resolver_open(struct resolver *resolver, struct db *db, struct error *err);
/* The program was started by a link: what is in `file` is said to be in `link`, which has the name that its user knows. */
void resolver_called(struct resolver *resolver, const char *file, const char *link);
/* The path that a file of a process has in the warehouse. */
const char *resolver_path(const struct resolver *resolver, const char *path);
void resolver_close(struct resolver *resolver);
/* Drops all ids. The symbolizer keeps its files. */
int resolver_forget(struct resolver *resolver, struct error *err);

/* Stores the transpiled sources of the code that was resolved, in the table `sources`. Cheap where nothing is new. */
int resolver_store_sources(struct resolver *resolver, int64_t run_id, struct error *err);

/* Adds module number `index`, or updates its epoch_end. Modules come in the same order each time. */
void address_space_put(struct resolver *resolver, struct address_space *space, size_t index,
                       const struct segment_module *module);
void address_space_free(struct address_space *space);
/* The load bias of the module of that path, when it was first loaded; false where there is none. */
bool address_space_bias(const struct address_space *space, const char *path, uint64_t *bias);
/* The build id of the module of that path; "" where there is none. */
const char *address_space_build_id(const struct address_space *space, const char *path);

/* Notes which files these return addresses are in, for resolver_read_ahead. */
void address_space_meet(struct address_space *space, const uint64_t *pcs, size_t depth, uint32_t epoch);
/* Reads the symbols of these files beside what follows (symbolizer_read_ahead). */
void resolver_read_ahead(struct resolver *resolver);

/* The id of the trace of these return addresses, leaf first; -1 with the error set. */
int64_t resolve_trace(struct resolver *resolver, struct address_space *space, const uint64_t *pcs, size_t depth,
                      uint32_t epoch, struct error *err);
/* The same with a frame of that name as the leaf; NULL: none. */
int64_t resolve_trace_below(struct resolver *resolver, struct address_space *space, const char *leaf,
                            const uint64_t *pcs, size_t depth, uint32_t epoch, struct error *err);

/* The id of a lock, cell or channel, by what stays equal from run to run: its name, else its symbol, else the stack
 * that allocated its heap block (`owner_trace`, 0 for none) with the offset in it, else its number or address. Blocks of one
 * stack with locks in them are told apart by the order in which they are asked for here. -1 with the error set. */
int64_t resolve_object(struct resolver *resolver, struct address_space *space, const struct segment_object *object,
                       int64_t owner_trace, struct error *err);

#endif
