#include "fuzz/fuzz.h"

#include <string.h>

#include "base/error.h"
#include "fuzz/replay.h"
#include "ingest/read/ingest.h"

enum { RENEW = 2000 }; /* inputs of one warehouse: names stay, so later inputs also meet known ones */

static struct db db;
static struct ingest ingest;
static unsigned inputs;

unsigned replay_taken;
bool replay_is_whole;
void (*fuzz_job)(struct job *job);

static void renew(void) {
    static const struct ingest_options options = {.lenient = false};
    struct error err = {0};
    ingest_close(&ingest);
    if (db.handle && db_close(&db, &err) != 0) bug("%s", err.message);
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
    if (ingest_open(&ingest, &db, &options, &err) != 0) bug("%s", err.message);
}

static int64_t count_rows(void) {
    struct error err = {0};
    int64_t count = -1;
    if (db_int(&db,
               "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM profiles) + (SELECT count(*) FROM traces)"
               " + (SELECT count(*) FROM locations) + (SELECT count(*) FROM functions)",
               -1, &count, &err) != 0)
        bug("%s", err.message);
    return count;
}

static void ingest_opened(const struct format *format, struct input *input) {
    struct ingest_result result;
    struct error err = {0};
    int64_t before = count_rows();
    if (!format->recognise(input)) return;
    if (ingest_input(&ingest, input, format, &result, &err) == 0) {
        replay_taken++;
        return;
    }
    if (err.status == ERROR_NONE || !*err.message) bug("failed without an error");
    if (strncmp(err.message, input->path, strlen(input->path)) != 0)
        bug("the error does not name the file: %s", err.message);
    if (count_rows() != before) bug("rows of a refused input are left");
}

int fuzz_one(const struct format *format, const uint8_t *data, size_t size) {
    if (inputs++ % RENEW == 0) renew();
    struct input input;
    struct error err = {0};
    if (input_open_memory(&input, "fuzz", data, size, &err) != 0) return 0;
    ingest_opened(format, &input);
    input_close(&input);
    return 0;
}

void fuzz_path(const struct format *format, const char *path) {
    if (inputs++ % RENEW == 0) renew();
    struct input input;
    struct error err = {0};
    if (input_open(&input, path, &err) != 0) bug("%s", err.message);
    ingest_opened(format, &input);
    input_close(&input);
}
