/* A configuration file of a stranger, which --config or a work tree brings. What is read of it is applied to a warehouse for one input of
 * APPLIED, and for all in a replay. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"
#include "schema/config.h"

enum { APPLIED = 64, RENEW = 4000 };

static struct db db;
static unsigned inputs;

static void apply(const struct config *config) {
    struct error err = {0};
    if (inputs % RENEW == 0 && db.handle && db_close(&db, &err) != 0) bug("%s", err.message);
    if (!db.handle && db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
    if (config_apply(config, &db, &err) != 0 && !*err.message) bug("failed without an error");
    if (db.depth) bug("a transaction is open");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config config;
    struct error err = {0};
    char *text = xmalloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    int code = config_parse(&config, "/nowhere/clear.yaml", text, &err);
    fuzz_check(code, &err);
    free(text);
    if (code != 0) return 0;
    if (inputs++ % APPLIED == 0 || replay_is_whole) apply(&config);
    config_free(&config);
    return 0;
}
