#include "ingest/writer/known.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/origin.h"
#include "base/path.h"
#include "ingest/writer/row_writer.h"
#include "schema/signature.h"

enum { FIRST_CAPACITY = 64, IDS_MAX = 1 << 28 };

/* Room for one more entry, at index `count`, of a list that doubles. */
static void *grow_list(void *list, size_t count, size_t entry_size) {
    bool is_full = count == 0 || (count >= FIRST_CAPACITY && (count & (count - 1)) == 0);
    return is_full ? xrealloc(list, (count ? count * 2 : FIRST_CAPACITY) * entry_size) : list;
}

/* ---- lists by id ------------------------------------------------------------------------------------------------- */

static const void *find_entry(const struct known_list *list, int64_t id, size_t size) {
    if ((uint64_t)id >= list->index_size || !list->index[id]) return NULL;
    return list->entries + (list->index[id] - 1) * size;
}

static void grow_index(struct known_list *list, size_t id) {
    size_t size = list->index_size ? list->index_size : FIRST_CAPACITY;
    while (size <= id)
        size *= 2;
    list->index = xrealloc(list->index, size * sizeof *list->index);
    memset(list->index + list->index_size, 0, (size - list->index_size) * sizeof *list->index);
    list->index_size = size;
}

static int put_entry(struct known *known, struct known_list *list, int64_t id, const void *entry, size_t size,
                     struct error *err) {
    if (id < 0 || id >= IDS_MAX)
        return error_fail(err, "%s: a function, location or mapping of id %" PRId64 ": damaged, or not made by clear",
                          known->db->path, id);
    if ((uint64_t)id >= list->index_size) grow_index(list, (size_t)id);
    list->entries = grow_list(list->entries, list->count, size);
    memcpy(list->entries + list->count * size, entry, size);
    list->index[id] = (uint32_t)++list->count;
    return 0;
}

static void free_list(struct known_list *list) {
    free(list->index);
    free(list->entries);
}

/* ---- wrappers ---------------------------------------------------------------------------------------------------- */

static int load_wrappers(struct known *known, struct error *err) {
    sqlite3_stmt *select = db_prepare(known->db, "SELECT pattern FROM wrappers ORDER BY pattern", err);
    if (!select) return -1;
    int state;
    while ((state = db_step(known->db, select, err)) == 1) {
        known->wrappers = grow_list(known->wrappers, known->wrapper_count, sizeof *known->wrappers);
        known->wrappers[known->wrapper_count++] = xstrdup(db_text(select, 0));
    }
    return state;
}

static bool is_wrapper(const struct known *known, const char *name) {
    for (size_t i = 0; i < known->wrapper_count; i++) {
        const char *pattern = known->wrappers[i];
        bool may_match = *pattern == *name || *pattern == '*' || *pattern == '?' || *pattern == '[';
        if (may_match && sqlite3_strglob(pattern, name) == 0) return true; /* a call for each was 4 % of an ingest */
    }
    return false;
}

int known_open(struct known *known, struct db *db, struct error *err) {
    *known = (struct known){.db = db};
    if (load_wrappers(known, err) == 0) return 0;
    known_free(known);
    return -1;
}

void known_free(struct known *known) {
    free_list(&known->functions);
    free_list(&known->locations);
    free_list(&known->mappings);
    for (size_t i = 0; i < known->wrapper_count; i++)
        free(known->wrappers[i]);
    free(known->wrappers);
    free(known->parts);
    *known = (struct known){0};
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

int known_put_function(struct known *known, int64_t id, const char *name, const char *filename, struct error *err) {
    if (find_entry(&known->functions, id, sizeof(struct known_function))) return 0;
    /* A container of a standard library allocates for who fills it. */
    const struct known_function function = {.signature = signature_function(name, filename),
                                            .is_wrapper = is_wrapper(known, name) || origin_is_system_file(filename)};
    return put_entry(known, &known->functions, id, &function, sizeof function, err);
}

static int read_function(struct known *known, int64_t id, struct error *err) {
    sqlite3_stmt *select = db_prepare(known->db, "SELECT name, filename FROM functions WHERE id = ?1", err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, id);
    int state = db_step(known->db, select, err);
    if (state == 0) return error_fail(err, "%s: there is no function %" PRId64, known->db->path, id);
    if (state < 0) return -1;
    int code = known_put_function(known, id, db_text(select, 0), db_text(select, 1), err);
    sqlite3_reset(select);
    return code;
}

static const struct known_function *function_of(struct known *known, int64_t id, struct error *err) {
    const struct known_function *function = find_entry(&known->functions, id, sizeof *function);
    if (function || read_function(known, id, err) != 0) return function;
    return find_entry(&known->functions, id, sizeof *function);
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

/* python3.11, libpython3.11.so.1.0, and the standard library's modules in C. */
static bool is_interpreter(const char *filename) {
    const char *name = path_base(filename);
    return sqlite3_strglob("python3*", name) == 0 || sqlite3_strglob("libpython3*", name) == 0 ||
           sqlite3_strglob("*/python3*/lib-dynload/*", filename) == 0;
}

int known_put_mapping(struct known *known, int64_t id, const char *filename, uint64_t memory_start,
                      uint64_t file_offset, struct error *err) {
    if (find_entry(&known->mappings, id, sizeof(struct known_mapping))) return 0;
    const struct known_mapping mapping = {.file = signature_file(filename),
                                          .offset = file_offset - memory_start,
                                          .is_interpreter = is_interpreter(filename)};
    return put_entry(known, &known->mappings, id, &mapping, sizeof mapping, err);
}

static int read_mapping(struct known *known, int64_t id, struct error *err) {
    sqlite3_stmt *select =
        db_prepare(known->db, "SELECT filename, memory_start, file_offset FROM mappings WHERE id = ?1", err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, id);
    int state = db_step(known->db, select, err);
    if (state == 0) return error_fail(err, "%s: there is no mapping %" PRId64, known->db->path, id);
    if (state < 0) return -1;
    int code = known_put_mapping(known, id, db_text(select, 0), (uint64_t)sqlite3_column_int64(select, 1),
                                 (uint64_t)sqlite3_column_int64(select, 2), err);
    sqlite3_reset(select);
    return code;
}

static const struct known_mapping *mapping_of(struct known *known, int64_t id, struct error *err) {
    const struct known_mapping *mapping = find_entry(&known->mappings, id, sizeof *mapping);
    if (mapping || read_mapping(known, id, err) != 0) return mapping;
    return find_entry(&known->mappings, id, sizeof *mapping);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* Parts of one location are added one after the other. */
static void add_part(struct known *known, struct known_location *location, uint64_t part) {
    known->parts = grow_list(known->parts, known->part_count, sizeof *known->parts);
    if (!location->parts) location->first_part = known->part_count;
    known->parts[known->part_count++] = part;
    location->parts++;
}

static int add_line(struct known *known, struct known_location *location, size_t position, int64_t function_id,
                    int64_t line, struct error *err) {
    const struct known_function *function = function_of(known, function_id, err);
    if (!function) return -1;
    add_part(known, location, function->signature);
    if (position == 0 || (location->is_wrapper && !function->is_wrapper)) {
        location->function_id = function_id;
        location->line = line;
    }
    location->is_wrapper = (position == 0 || location->is_wrapper) && function->is_wrapper;
    return 0;
}

/* What its place says, once its lines are added. A location without lines is known by its module and its offset in that file, which ASLR does not
 * change. */
static int add_place(struct known *known, struct known_location *location, int64_t mapping_id, uint64_t address,
                     struct error *err) {
    const struct known_mapping *mapping = mapping_of(known, mapping_id, err);
    if (!mapping) return -1;
    location->is_interpreter = mapping->is_interpreter;
    location->is_script = !mapping_id && !address && location->line > 0;
    if (!location->parts) add_part(known, location, signature_bare(mapping->file, address + mapping->offset));
    return 0;
}

int known_put_location(struct known *known, int64_t id, int64_t mapping_id, uint64_t address,
                       const struct writer_line *lines, size_t line_count, struct error *err) {
    struct known_location location = {0};
    if (find_entry(&known->locations, id, sizeof location)) return 0;
    for (size_t i = 0; i < line_count; i++)
        if (add_line(known, &location, i, lines[i].function_id, lines[i].line, err) != 0) return -1;
    if (add_place(known, &location, mapping_id, address, err) != 0) return -1;
    return put_entry(known, &known->locations, id, &location, sizeof location, err);
}

static int read_place(struct known *known, int64_t id, struct known_location *location, struct error *err) {
    sqlite3_stmt *select = db_prepare(known->db, "SELECT mapping_id, address FROM locations WHERE id = ?1", err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, id);
    int state = db_step(known->db, select, err);
    if (state == 0) return error_fail(err, "%s: there is no location %" PRId64, known->db->path, id);
    if (state < 0) return -1;
    int64_t mapping_id = sqlite3_column_int64(select, 0);
    uint64_t address = (uint64_t)sqlite3_column_int64(select, 1);
    sqlite3_reset(select);
    return add_place(known, location, mapping_id, address, err);
}

static int read_location(struct known *known, int64_t id, struct known_location *location, struct error *err) {
    sqlite3_stmt *select = db_prepare(
        known->db, "SELECT function_id, line FROM location_lines WHERE location_id = ?1 ORDER BY position", err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, id);
    int state, code = 0;
    size_t count = 0;
    while (code == 0 && (state = db_step(known->db, select, err)) == 1)
        code =
            add_line(known, location, count++, sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 1), err);
    sqlite3_reset(select);
    if (code != 0 || state < 0) return -1;
    return read_place(known, id, location, err);
}

const struct known_location *known_location(struct known *known, int64_t id, struct error *err) {
    struct known_location location = {0};
    const struct known_location *there = find_entry(&known->locations, id, sizeof location);
    if (there) return there;
    if (read_location(known, id, &location, err) != 0) return NULL;
    if (put_entry(known, &known->locations, id, &location, sizeof location, err) != 0) return NULL;
    return find_entry(&known->locations, id, sizeof location);
}
