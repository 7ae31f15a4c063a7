#include "schema/stack_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/search.h"
#include "schema/schema.h"

/* The next location id of a stack; false: it has ended. */
static bool next_step(const char **at, int64_t *id) {
    const char *digit = *at;
    while (*digit && (*digit < '0' || *digit > '9'))
        digit++;
    if (!*digit) return false;
    uint64_t value = 0;
    while (*digit >= '0' && *digit <= '9')
        value = value * 10 + (uint64_t)(*digit++ - '0');
    *at = digit;
    *id = (int64_t)value;
    return true;
}

static const char *stack_of(sqlite3_value *value) {
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? text : "";
}

/* ---- sets of locations ------------------------------------------------------------------------------------------- */

struct location_set {
    int64_t *ids;
    size_t count, capacity;
};

static void add_location(struct location_set *set, int64_t id) {
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? 2 * set->capacity : 256;
        set->ids = xrealloc(set->ids, set->capacity * sizeof *set->ids);
    }
    set->ids[set->count++] = id;
}

/* In a set in ascending order. Ids are above 0. */
static bool has_location(const struct location_set *set, int64_t id) {
    const size_t above = search_above_at(set->ids, set->count, sizeof *set->ids, 0, (uint64_t)id);
    return above > 0 && set->ids[above - 1] == id;
}

static void free_set(void *pointer) {
    struct location_set *set = pointer;
    free(set->ids);
    free(set);
}

/* ---- locations_met ----------------------------------------------------------------------------------------------- */

/* Stacks that follow each other have most steps in common: what was met of late is not looked for. */
enum { RECENT = 1024 };

struct met_locations {
    struct map known;
    struct location_set all;
    int64_t recent[RECENT]; /* by the lowest bits of the id; no location has id 0 */
};

static void add_stack(sqlite3_context *context, int argc, sqlite3_value **argv) {
    (void)argc;
    struct met_locations *met = sqlite3_aggregate_context(context, sizeof *met);
    if (!met) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const char *at = stack_of(argv[0]);
    for (int64_t id; next_step(&at, &id);) {
        int64_t *recent = &met->recent[id & (RECENT - 1)];
        bool is_new;
        if (*recent == id) continue;
        *recent = id;
        map_put(&met->known, &id, sizeof id, &is_new);
        if (is_new) add_location(&met->all, id);
    }
}

static void end_stacks(sqlite3_context *context) {
    struct met_locations *met = sqlite3_aggregate_context(context, 0);
    struct buffer ids = {0};
    if (!met) return;
    buffer_add_json_integers(&ids, met->all.ids, met->all.count);
    sqlite3_result_text64(context, buffer_text(&ids), ids.size, SQLITE_TRANSIENT, SQLITE_UTF8);
    buffer_free(&ids);
    free(met->all.ids);
    map_free(&met->known);
}

/* ---- first_step, step_at ----------------------------------------------------------------------------------------- */

static const char type_of_set[] = "location_set";

static void first_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
    (void)argc;
    const struct location_set *set = sqlite3_value_pointer(argv[1], type_of_set);
    if (!set || set->count == 0) return;
    const char *at = stack_of(argv[0]);
    int64_t id;
    for (int64_t position = 0; next_step(&at, &id); position++)
        if (has_location(set, id)) {
            sqlite3_result_int64(context, position);
            return;
        }
}

static void step_at(sqlite3_context *context, int argc, sqlite3_value **argv) {
    (void)argc;
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL) return;
    const int64_t wanted = sqlite3_value_int64(argv[1]);
    if (wanted < 0) return;
    const char *at = stack_of(argv[0]);
    int64_t id;
    for (int64_t position = 0; next_step(&at, &id); position++)
        if (position == wanted) {
            sqlite3_result_int64(context, id);
            return;
        }
}

/* ---- the connection ---------------------------------------------------------------------------------------------- */

int stack_steps_make(struct db *db, struct error *err) {
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DIRECTONLY | SQLITE_DETERMINISTIC };
    if (db->has_stack_steps) return 0;
    sqlite3 *handle = db->handle;
    if (sqlite3_create_function_v2(handle, "locations_met", 1, FLAGS, NULL, NULL, add_stack, end_stacks, NULL) ||
        sqlite3_create_function_v2(handle, "first_step", 2, FLAGS, NULL, first_step, NULL, NULL, NULL) ||
        sqlite3_create_function_v2(handle, "step_at", 2, FLAGS, NULL, step_at, NULL, NULL, NULL))
        return db_error(db, "preparing to walk stacks", err);
    db->has_stack_steps = true;
    return 0;
}

static int bind_set(struct db *db, sqlite3_stmt *statement, const char *name, const char *file, struct error *err) {
    const int index = sqlite3_bind_parameter_index(statement, name);
    if (!index) return 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text(file), err);
    if (!row) return -1;
    struct location_set *set = xcalloc(1, sizeof *set);
    int code;
    while ((code = db_step(db, row, err)) == 1)
        add_location(set, sqlite3_column_int64(row, 0));
    sqlite3_bind_pointer(statement, index, set, type_of_set, free_set); /* which owns it, also after a failure */
    return code;
}

int stack_steps_bind(struct db *db, sqlite3_stmt *statement, struct error *err) {
    return bind_set(db, statement, ":own", "warehouse/facts/own_locations", err) ||
                   bind_set(db, statement, ":raises", "warehouse/facts/raising_locations", err)
               ? -1
               : 0;
}
