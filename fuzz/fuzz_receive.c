/* What clear serve --receive hands on: an envelope and a body, of any of the protocols. It is stored as a whole, but for profiles of OTLP that the answer
 * counts as rejected, or there is a message and nothing is stored. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "ingest/receive/envelope.h"
#include "ingest/receive/receive.h"

enum { RENEW = 500 }; /* inputs of one warehouse, so that later ones meet runs, kinds and states of others */
#define EVERY_NS INT64_C(86400000000000)

static struct db db;
static unsigned inputs;

static void renew(void) {
    struct error err = {0};
    if (db.handle && (receive_settle(&db, &err) != 0 || db_close(&db, &err) != 0)) bug("%s", err.message);
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
}

static int64_t count_rows(void) {
    struct error err = {0};
    int64_t count = -1;
    if (db_int(&db,
               "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM profiles) + (SELECT count(*) FROM traces)"
               " + (SELECT count(*) FROM locations) + (SELECT count(*) FROM functions) + (SELECT count(*) FROM tags)"
               " + (SELECT count(*) FROM label_sets)",
               -1, &count, &err) != 0)
        bug("%s", err.message);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct buffer answer = {0};
    struct error err = {0};
    if (inputs++ % RENEW == 0) renew();
    int64_t before = count_rows();
    if (receive(&db, data, size, EVERY_NS, &answer, &err) == 0) {
        replay_taken++;
    } else {
        if (err.status != ERROR_USAGE || !*err.message) bug("refused by status %d: %s", (int)err.status, err.message);
        if (count_rows() != before) bug("rows of a refused request are left");
        if (answer.size) bug("an answer to a refused request");
    }
    buffer_free(&answer);
    return 0;
}
