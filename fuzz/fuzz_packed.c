/* A damaged call tree, opened, cut and searched as `clear serve` does with what `clear export --format packed` gave it. The input is such a
 * tree, or damage (warehouse.h) of a sound one: the first byte chooses the tree, with a base or without, the node and the width. */
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "export/export.h"
#include "export/format.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"
#include "query/profile/packed/packed_search.h"

enum { WITHOUT_BASE, WITH_BASE, TREES, SLACK = 1 << 10 };

static const char folded[] =
    "main;read;alloc 7\nmain;read;parse;alloc 5\nmain;write 3\nmain;write;flush;alloc 11\nidle 2\n"
    "main;read;parse 4\nmain;read;parse;deep;deeper;deepest 90\nthread;work;work;work 6\n";
static struct buffer sound[TREES];

/* ---- sound trees ---- */

static void end(void) {
    for (size_t i = 0; i < TREES; i++)
        buffer_free(&sound[i]);
}

static void start(void) {
    struct error err = {0};
    struct db db;
    if (sound[WITHOUT_BASE].size) return;
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
    int64_t run_id = fuzz_add_run(&db, &format_folded, "stacks.folded", folded);
    const struct run_set runs = {.ids = &run_id, .count = 1};
    for (size_t i = 0; i < TREES; i++) {
        const struct export_request request = {.format = export_format_find("packed", &err),
                                               .source = {.kind = "samples", .runs = runs},
                                               .base = {.kind = "samples", .runs = runs},
                                               .has_base = i == WITH_BASE,
                                               .path = "-",
                                               .bytes = &sound[i]};
        if (export_write(&db, &request, &err) != 0 || !sound[i].size) bug("%s", err.message);
    }
    if (db_close(&db, &err) != 0) bug("%s", err.message);
    atexit(end);
}

/* ---- one tree ---- */

/* Exactly as large as it is, so that a sanitizer sees any access behind it; free() it. */
static char *damaged(const uint8_t *data, size_t size, size_t *got) {
    bool is_tree = size >= strlen(PACKED_TREE_MAGIC) && memcmp(data, PACKED_TREE_MAGIC, strlen(PACKED_TREE_MAGIC)) == 0;
    const struct buffer *base = &sound[size && data[0] & 1 ? WITH_BASE : WITHOUT_BASE];
    struct damage damage;
    *got = is_tree ? size : base->size;
    char *bytes = xmalloc(*got + 1);
    bytes = xrealloc(bytes, *got);
    memcpy(bytes, is_tree ? (const char *)data : base->data, *got);
    if (is_tree) return bytes;
    for (const uint8_t *at = data + (size > 0); fuzz_damage_next(&at, data + size, &damage);) {
        size_t place = damage.place % *got;
        memcpy(bytes + place, damage.bytes, damage.size < *got - place ? damage.size : *got - place);
    }
    return bytes;
}

static void check(int code, const char *what, const struct error *err) {
    if (code != 0 && (err->status == ERROR_NONE || !*err->message)) bug("%s failed without an error", what);
}

static void read_tree(const struct packed_tree *tree, uint64_t choice) {
    static const char *const patterns[] = {"a|main", "", "^deep", "["};
    static const int64_t widths[] = {1, 1200, 20000};
    uint64_t root = choice & 2 ? tree->ids[choice % tree->head.node_count] : PACKED_TREE_ROOT;
    struct packed_found found;
    struct buffer out = {0};
    struct error err = {0};
    int code = packed_tree_cut(tree, root, widths[choice % 3], &out, &err);
    check(code, "the cut", &err);
    if (code == 0 && out.size > PACKED_TREE_BYTES_MAX + tree->head.about_bytes + tree->head.name_bytes + SLACK * 4096)
        bug("the cut has %zu bytes", out.size);
    if (code == 0) replay_taken++;
    buffer_free(&out);
    err = (struct error){0};
    check(packed_tree_search(tree, root, patterns[choice / 4 % 4], &found, &err), "the search", &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct packed_tree tree;
    struct error err = {0};
    size_t got;
    start();
    char *bytes = damaged(data, size, &got);
    int code = packed_tree_open(&tree, bytes, got, &err);
    check(code, "opening", &err);
    if (code == 0) read_tree(&tree, size ? data[size - 1] + (uint64_t)data[0] * 5 : 0);
    free(bytes);
    return 0;
}
