/* warehouse.h: a sound warehouse that fuzzers damage, in a directory of shared memory: two runs, `latest~1` of the kind heap and `latest`
 * of the kind lock. And how damage is written down: records of a place (3 bytes, little-endian), a length (1 byte) and so many bytes. */
#ifndef CLEAR_FUZZ_WAREHOUSE_H
#define CLEAR_FUZZ_WAREHOUSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/read/readers.h"
#include "schema/db.h"

struct fuzz_warehouse {
    const char *path;     /* free for the fuzzer to write; at first there is a sound warehouse */
    const uint8_t *sound; /* its bytes */
    size_t sound_size;
};

/* Made by the first call. It ends with the process. */
const struct fuzz_warehouse *fuzz_warehouse(void);

struct damage {
    size_t place, size;
    const uint8_t *bytes;
};

/* The next record of [*at, end), or false. */
bool fuzz_damage_next(const uint8_t **at, const uint8_t *end, struct damage *damage);

/* Writes the input to the warehouse's path: a SQLite file as it is; else damage over the sound warehouse, where places run around. */
void fuzz_write_damaged(const uint8_t *data, size_t size);

/* Stores `text`, a file of that format and name, as a run; its id. */
int64_t fuzz_add_run(struct db *db, const struct format *format, const char *name, const char *text);

/* `clear doctor` and `clear export` of both runs: what they print is thrown away. A fuzzer reads one part of one run, which the input's
 * size and last byte choose: each part asks its own questions, and all of them take ten times as long. Seven of eight are exports: the
 * doctor takes ten times as long as they do, nearly all of it for SQLite to parse its views. A replay reads everything. */
enum fuzz_part { FUZZ_DOCTOR, FUZZ_DOCTOR_JSON, FUZZ_PPROF, FUZZ_FOLDED, FUZZ_PARTS };
int fuzz_read_runs(struct db *db, const uint8_t *data, size_t size, struct error *err);

/* A failure must have a message; what succeeded counts for the replay. */
void fuzz_check(int code, const struct error *err);

#endif
