/* A configuration file of a stranger, which --config or a work tree brings. What is read of it is applied to a warehouse for one input of
 * APPLIED, and for all in a replay. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"
#include "schema/config.h"
#include "schema/document.h"
#include "schema/schema.h"

enum { APPLIED = 64, RENEW = 64 * APPLIED };

static struct db db;
static unsigned inputs;

/* ---- around the reading of documents (the linker's --wrap) ---- */

int __real_document_open(struct document *document, const char *name, const char *text, struct error *err);
int __wrap_document_open(struct document *document, const char *name, const char *text, struct error *err);
void __real_document_close(struct document *document);
void __wrap_document_close(struct document *document);

static struct document own; /* clear's rules.yaml, which is read for each file with thresholds: half of all time */

static void end(void) {
    struct error ignored = {0};
    __real_document_close(&own);
    if (db.handle) db_close(&db, &ignored);
}

int __wrap_document_open(struct document *document, const char *name, const char *text, struct error *err) {
    if (text != embedded_text("rules.yaml")) return __real_document_open(document, name, text, err);
    if (!own.name && __real_document_open(&own, name, text, err)) return -1;
    *document = own;
    document->err = err;
    return 0;
}

void __wrap_document_close(struct document *document) {
    if (!own.name || document->yaml.nodes.start != own.yaml.nodes.start) __real_document_close(document);
}

/* ---- an input ---- */

static void apply(const struct config *config) {
    struct error err = {0};
    if (inputs % RENEW == 1 && db.handle && db_close(&db, &err) != 0) bug("%s", err.message);
    if (!db.handle && db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
    if (config_apply(config, &db, &err) != 0 && !*err.message) bug("failed without an error");
    if (db.depth) bug("a transaction is open");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config config;
    struct error err = {0};
    static bool is_known;
    if (!is_known) atexit(end);
    is_known = true;
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
