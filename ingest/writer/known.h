/* known.h: what the signature and the attributed frame of a stack need of functions, locations and mappings, by id and
 * without SQL. What the writer puts is added here; what earlier runs stored is read once. row_writer.h says what signatures
 * are. */
#ifndef CLEAR_INGEST_WRITER_KNOWN_H
#define CLEAR_INGEST_WRITER_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "schema/db.h"

struct known_function {
    uint64_t signature; /* of its name and its file's name */
    bool is_wrapper;    /* of an allocator, or code of a standard library: it works for its caller */
};
struct known_location {
    size_t first_part, parts;  /* what its functions add to signatures: in known.parts, innermost first */
    bool is_wrapper;           /* all its functions are allocator wrappers */
    bool is_interpreter;       /* in Python's interpreter */
    bool is_script;            /* a line of a script, which no processor runs: it has no mapping and no address */
    int64_t function_id, line; /* the innermost function that is no wrapper; the innermost of all if all are */
};
struct known_mapping {
    uint64_t file;   /* hash of the file's name */
    uint64_t offset; /* of an address in the file: address + this */
    bool is_interpreter;
};

/* Things by id. An array and not a map, because ids are dense and every frame of every new stack is looked up. */
struct known_list {
    uint32_t *index; /* [id] -> 1 + index in `entries`; 0: not known yet */
    size_t index_size;
    char *entries;
    size_t count;
};
struct known {
    struct db *db;
    uint64_t *parts; /* as signature_add takes them, of all locations */
    size_t part_count;
    struct known_list functions, locations, mappings;
    char **wrappers; /* the patterns of the table `wrappers` */
    size_t wrapper_count;
};

int known_open(struct known *known, struct db *db, struct error *err);
void known_free(struct known *known);

/* Adds a thing that the file has or will have. To add it twice does nothing. -1: the id is out of range, so the file is
 * damaged. */
int known_put_function(struct known *known, int64_t id, const char *name, const char *filename, struct error *err);
int known_put_mapping(struct known *known, int64_t id, const char *filename, uint64_t memory_start,
                      uint64_t file_offset, struct error *err);
struct writer_line;
int known_put_location(struct known *known, int64_t id, int64_t mapping_id, uint64_t address,
                       const struct writer_line *lines, size_t line_count, struct error *err);

/* NULL with the error set. Valid until the next call. */
const struct known_location *known_location(struct known *known, int64_t id, struct error *err);

#endif
