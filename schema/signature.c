#include "schema/signature.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/path.h"
#include "schema/schema.h"

/* ---- the signature ----------------------------------------------------------------------------------------------- */

/* The length of the name without what GCC and LLVM append to copies: ".isra.0", ".part.1.cold", " [clone .lto_priv.0]". */
static size_t plain_size(const char *name) {
    static const char *const marks[] = {".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm.", " [clone "};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = strstr(name, marks[i]);
        const char *behind = mark ? mark + strlen(marks[i]) : "";
        bool is_copy = mark > name && (marks[i][0] == ' ' || (*behind >= '0' && *behind <= '9') ||
                                       (strcmp(marks[i], ".cold") == 0 && (!*behind || *behind == '.')));
        if (is_copy && (size_t)(mark - name) < size) size = (size_t)(mark - name);
    }
    return size;
}

uint64_t signature_file(const char *filename) {
    const char *name = path_base(filename);
    return hash_bytes(name, strlen(name));
}

uint64_t signature_function(const char *name, const char *filename) {
    return hash_combine(hash_bytes(name, plain_size(name)), signature_file(filename));
}

uint64_t signature_bare(uint64_t module, uint64_t offset) {
    return hash_combine(module, offset);
}

void signature_add(struct signature *signature, uint64_t function) {
    if (function == signature->last) return;
    signature->value = hash_combine(signature->value, function);
    signature->last = function;
}

/* ---- all stacks of a file again ---------------------------------------------------------------------------------- */

struct renewal {
    struct db *db;
    struct map functions; /* id -> what signature_add takes */
    struct map locations; /* id -> index in `ranges` */
    uint64_t *parts;      /* of all locations, one location after the other */
    size_t part_count, part_capacity;
    struct part_range {
        size_t start, count;
    } * ranges;
    size_t range_count, range_capacity;
};

static int read_functions(struct renewal *renewal, struct error *err) {
    sqlite3_stmt *row = db_prepare(renewal->db, "SELECT id, name, filename FROM functions", err);
    int code = row ? 0 : -1;
    while (code == 0 && (code = db_step(renewal->db, row, err)) == 1) {
        int64_t id = sqlite3_column_int64(row, 0);
        map_put(&renewal->functions, &id, sizeof id, NULL)->value =
            (int64_t)signature_function(db_text(row, 1), db_text(row, 2));
        code = 0;
    }
    return code;
}

static void add_location_part(struct renewal *renewal, int64_t location, uint64_t part) {
    bool is_new;
    struct map_entry *entry = map_put(&renewal->locations, &location, sizeof location, &is_new);
    if (renewal->range_count == renewal->range_capacity) {
        renewal->range_capacity = renewal->range_capacity ? renewal->range_capacity * 2 : 256;
        renewal->ranges = xrealloc(renewal->ranges, renewal->range_capacity * sizeof *renewal->ranges);
    }
    if (renewal->part_count == renewal->part_capacity) {
        renewal->part_capacity = renewal->part_capacity ? renewal->part_capacity * 2 : 256;
        renewal->parts = xrealloc(renewal->parts, renewal->part_capacity * sizeof *renewal->parts);
    }
    if (is_new) {
        entry->value = (int64_t)renewal->range_count;
        renewal->ranges[renewal->range_count++] = (struct part_range){renewal->part_count, 0};
    }
    renewal->parts[renewal->part_count++] = part;
    renewal->ranges[entry->value].count++;
}

/* Rows come location by location. */
static int read_locations(struct renewal *renewal, struct error *err) {
    sqlite3_stmt *row = db_prepare(renewal->db, embedded_text("warehouse/signature/parts"), err);
    int code = row ? 0 : -1;
    while (code == 0 && (code = db_step(renewal->db, row, err)) == 1) {
        int64_t function = sqlite3_column_int64(row, 1);
        const struct map_entry *known = map_find(&renewal->functions, &function, sizeof function);
        uint64_t bare = signature_bare(signature_file(db_text(row, 2)), (uint64_t)sqlite3_column_int64(row, 3));
        add_location_part(renewal, sqlite3_column_int64(row, 0), known ? (uint64_t)known->value : bare);
        code = 0;
    }
    return code;
}

/* `stack` is a JSON array of numbers. */
static uint64_t sign(const struct renewal *renewal, const char *stack) {
    struct signature signature = {0};
    for (const char *at = stack; (at = strpbrk(at, "0123456789"));) {
        char *end;
        int64_t id = strtoll(at, &end, 10);
        const struct map_entry *location = map_find(&renewal->locations, &id, sizeof id);
        const struct part_range *range = location ? &renewal->ranges[location->value] : NULL;
        for (size_t i = 0; range && i < range->count; i++)
            signature_add(&signature, renewal->parts[range->start + i]);
        at = end;
    }
    return signature.value;
}

/* A row that was visited is not visited again: its id does not change. */
static int write_signatures(const struct renewal *renewal, struct error *err) {
    struct db *db = renewal->db;
    sqlite3_stmt *row = db_prepare(db, "SELECT id, stack FROM traces WHERE id <> 0 ORDER BY id", err);
    sqlite3_stmt *update = row ? db_prepare(db, "UPDATE traces SET signature = ?2 WHERE id = ?1", err) : NULL;
    int code = update ? 0 : -1;
    while (code == 0 && (code = db_step(db, row, err)) == 1) {
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(row, 0));
        sqlite3_bind_int64(update, 2, (int64_t)sign(renewal, db_text(row, 1)));
        code = db_run(db, update, err);
    }
    return code;
}

int signatures_renew(struct db *db, struct error *err) {
    struct renewal renewal = {.db = db};
    int code = read_functions(&renewal, err);
    if (code == 0) code = read_locations(&renewal, err);
    if (code == 0) code = write_signatures(&renewal, err);
    if (code == 0) code = db_exec(db, embedded_text("warehouse/signature/renew_identities"), err);
    map_free(&renewal.functions);
    map_free(&renewal.locations);
    free(renewal.parts);
    free(renewal.ranges);
    return code;
}
