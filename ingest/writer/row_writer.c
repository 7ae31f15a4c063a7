#include "ingest/writer/row_writer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limit.h"
#include "schema/schema.h"
#include "schema/signature.h"

int writer_open(struct row_writer *writer, struct db *db, struct error *err) {
    *writer = (struct row_writer){.db = db, .pending = {.db = db}};
    return known_open(&writer->known, db, err);
}

static void forget_expected(struct row_writer *writer);

void writer_free(struct row_writer *writer) {
    forget_expected(writer);
    known_free(&writer->known);
    pending_free(&writer->pending);
    map_free(&writer->mappings);
    map_free(&writer->functions);
    map_free(&writer->locations);
    map_free(&writer->stacks);
    map_free(&writer->label_sets);
    map_free(&writer->objects);
    sums_free(&writer->first_keys);
    sums_free(&writer->more_keys);
    map_free(&writer->resolved);
    buffer_free(&writer->key);
    buffer_free(&writer->text);
    *writer = (struct row_writer){0};
}

int writer_refresh(struct row_writer *writer, struct error *err) {
    int64_t version;
    struct db *db = writer->db;
    if (db_int(db, "PRAGMA data_version", 0, &version, err) != 0) return -1;
    if (writer->data_version && writer->data_version != version) {
        writer_free(writer);
        if (writer_open(writer, db, err) != 0) return -1;
    }
    writer->data_version = version;
    return 0;
}

/* Keys. A text is added with its NUL, so that ("ab", "c") and ("a", "bc") differ. */

static void key_text(struct row_writer *writer, const char *text) {
    buffer_add(&writer->key, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void key_int(struct row_writer *writer, int64_t value) {
    buffer_add(&writer->key, &value, sizeof value);
}

static void bind_text(sqlite3_stmt *statement, int parameter, const char *text) {
    sqlite3_bind_text(statement, parameter, text ? text : "", -1, SQLITE_STATIC); /* used up before we return */
}

/* The SQL of a thing that is interned: its id by its unique columns, else a new row. */
struct interner {
    const char *select; /* the id, by the unique columns */
    const char *insert;
    void (*bind)(sqlite3_stmt *statement, const void *thing); /* the parameters of both */
};

/* 1: *id is set, 0: there is no such row, -1: the error is set. */
static int select_id(struct db *db, sqlite3_stmt *select, int64_t *id, struct error *err) {
    int state = db_step(db, select, err);
    if (state == 1) {
        *id = sqlite3_column_int64(select, 0);
        sqlite3_reset(select);
    }
    return state;
}

/* The row id of a thing that is not in memory. */
static int64_t find_row(struct row_writer *writer, const struct interner *interner, const void *thing,
                        struct error *err) {
    int64_t id = 0;
    sqlite3_stmt *select = db_prepare(writer->db, interner->select, err);
    if (!select) return -1;
    interner->bind(select, thing);
    int state = select_id(writer->db, select, &id, err);
    if (state != 0) return state < 0 ? -1 : id;
    sqlite3_stmt *insert = db_prepare(writer->db, interner->insert, err);
    if (!insert) return -1;
    interner->bind(insert, thing);
    if (db_run(writer->db, insert, err) != 0) return -1;
    return sqlite3_last_insert_rowid(writer->db->handle);
}

/* The same, with `map` as memory and writer->key as the key. */
static int64_t find_thing(struct row_writer *writer, struct map *map, const struct interner *interner,
                          const void *thing, struct error *err) {
    const struct map_entry *entry = map_find(map, writer->key.data, writer->key.size);
    if (entry) return entry->value;
    int64_t id = find_row(writer, interner, thing, err);
    if (id >= 0) map_put(map, writer->key.data, writer->key.size, NULL)->value = id;
    return id;
}

/* Mappings. */

static void bind_mapping(sqlite3_stmt *statement, const void *thing) {
    const struct writer_mapping *mapping = thing;
    bind_text(statement, 1, mapping->filename);
    bind_text(statement, 2, mapping->build_id);
    sqlite3_bind_int64(statement, 3, (int64_t)mapping->memory_start);
    sqlite3_bind_int64(statement, 4, (int64_t)mapping->memory_limit);
    sqlite3_bind_int64(statement, 5, (int64_t)mapping->file_offset);
    sqlite3_bind_int(statement, 6, mapping->has_functions);
    sqlite3_bind_int(statement, 7, mapping->has_filenames);
    sqlite3_bind_int(statement, 8, mapping->has_line_numbers);
    sqlite3_bind_int(statement, 9, mapping->has_inline_frames);
}

int64_t writer_mapping(struct row_writer *writer, const struct writer_mapping *mapping, struct error *err) {
    const struct interner interner = {
        .select = embedded_text("ingest/row_writer/mapping_find"),
        .insert = embedded_text("ingest/row_writer/mapping_row"),
        .bind = bind_mapping,
    };
    buffer_clear(&writer->key);
    key_text(writer, mapping->filename);
    key_text(writer, mapping->build_id);
    key_int(writer, (int64_t)mapping->memory_start);
    key_int(writer, (int64_t)mapping->memory_limit);
    key_int(writer, (int64_t)mapping->file_offset);
    key_int(writer, mapping->has_functions | mapping->has_filenames << 1 | mapping->has_line_numbers << 2 |
                        mapping->has_inline_frames << 3);
    int64_t id = find_thing(writer, &writer->mappings, &interner, mapping, err);
    if (id < 0) return -1;
    return known_put_mapping(&writer->known, id, mapping->filename ? mapping->filename : "", mapping->memory_start,
                             mapping->file_offset, err) == 0
               ? id
               : -1;
}

/* Functions. */

/* Finds a function in the file: 1, 0 for none, -1. */
static int find_function(struct row_writer *writer, const struct function_row *function, int64_t *id,
                         struct error *err) {
    if (writer->is_fresh) return 0; /* every one is in memory */
    sqlite3_stmt *select = db_prepare(
        writer->db,
        "SELECT id FROM functions WHERE name = ?1 AND system_name = ?2 AND filename = ?3 AND start_line = ?4", err);
    if (!select) return -1;
    bind_text(select, 1, function->name);
    bind_text(select, 2, function->system_name);
    bind_text(select, 3, function->filename);
    sqlite3_bind_int64(select, 4, function->start_line);
    return select_id(writer->db, select, id, err);
}

/* The texts of a function's key, which live as long as the writer. */
static struct function_row function_of_key(const struct map_entry *entry, int64_t start_line) {
    const char *name = entry->key, *system_name = name + strlen(name) + 1;
    return (struct function_row){name, system_name, system_name + strlen(system_name) + 1, start_line};
}

int64_t writer_function(struct row_writer *writer, const char *name, const char *system_name, const char *filename,
                        int64_t start_line, struct error *err) {
    buffer_clear(&writer->key);
    key_text(writer, name);
    key_text(writer, system_name);
    key_text(writer, filename);
    key_int(writer, start_line);
    struct map_entry *entry = map_put(&writer->functions, writer->key.data, writer->key.size, NULL);
    if (entry->value) return entry->value; /* 0: new, or left by a call that failed */
    const struct function_row function = function_of_key(entry, start_line);
    int64_t id = 0;
    int state = find_function(writer, &function, &id, err);
    if (state == 0) id = pending_function(&writer->pending, &function, err);
    if (state < 0 || id < 0) return -1;
    if (known_put_function(&writer->known, id, function.name, function.filename, err) != 0) return -1;
    return entry->value = id;
}

/* Locations. */

/* Finds a location in the file: 1, 0 for none, -1. */
static int find_location(struct row_writer *writer, const struct location_row *location, int64_t *id,
                         struct error *err) {
    if (writer->is_fresh) return 0; /* every one is in memory */
    sqlite3_stmt *select = db_prepare(
        writer->db,
        "SELECT id FROM locations WHERE mapping_id = ?1 AND address = ?2 AND lines_hash = ?3 AND is_folded = ?4", err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, location->mapping_id);
    sqlite3_bind_int64(select, 2, location->address);
    sqlite3_bind_int64(select, 3, location->lines_hash);
    sqlite3_bind_int64(select, 4, location->is_folded);
    return select_id(writer->db, select, id, err);
}

static int64_t hash_lines(const struct writer_line *lines, size_t count) {
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = hash_combine(hash, (uint64_t)lines[i].function_id);
        hash = hash_combine(hash, (uint64_t)lines[i].line);
        hash = hash_combine(hash, (uint64_t)lines[i].column);
    }
    return count && !hash ? 1 : (int64_t)hash; /* 0 is for no lines */
}

static int64_t add_location(struct row_writer *writer, const struct location_row *location,
                            const struct writer_line *lines, size_t line_count, struct error *err) {
    int64_t id = pending_location(&writer->pending, location, err);
    for (size_t i = 0; i < line_count && id >= 0; i++) {
        const struct line_row line = {id, (int64_t)i, lines[i].function_id, lines[i].line, lines[i].column};
        if (pending_line(&writer->pending, &line, err) != 0) return -1;
    }
    return id;
}

int64_t writer_location(struct row_writer *writer, int64_t mapping_id, uint64_t address, int is_folded,
                        const struct writer_line *lines, size_t line_count, struct error *err) {
    const struct location_row location = {mapping_id, (int64_t)address, hash_lines(lines, line_count), is_folded};
    struct map_entry *entry = map_put(&writer->locations, &location, sizeof location, NULL);
    if (entry->value) return entry->value; /* 0: new, or left by a call that failed */
    int64_t id = 0;
    int state = find_location(writer, &location, &id, err);
    if (state == 0) id = add_location(writer, &location, lines, line_count, err);
    if (state < 0 || id < 0) return -1;
    if (known_put_location(&writer->known, id, mapping_id, address, lines, line_count, err) != 0) return -1;
    if (line_count) {
        bool added;
        const int64_t place[] = {mapping_id, location.address};
        struct map_entry *resolved = map_put(&writer->resolved, place, sizeof place, &added);
        if (added) resolved->value = id;
    }
    return entry->value = id;
}

int64_t writer_find_location(struct row_writer *writer, int64_t mapping_id, uint64_t address, struct error *err) {
    const int64_t key[] = {mapping_id, (int64_t)address};
    const struct map_entry *entry = map_find(&writer->resolved, key, sizeof key);
    if (entry) return entry->value;
    if (writer->is_fresh) return 0;
    sqlite3_stmt *select = db_prepare(
        writer->db, "SELECT min(id) FROM locations WHERE mapping_id = ?1 AND address = ?2 AND lines_hash <> 0", err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, mapping_id);
    sqlite3_bind_int64(select, 2, (int64_t)address);
    int64_t id = 0;
    if (select_id(writer->db, select, &id, err) < 0) return -1; /* min() of nothing is NULL, which reads as 0 */
    if (id) map_put(&writer->resolved, key, sizeof key, NULL)->value = id;
    return id;
}

/* Stacks. */

static int sign_stack(struct row_writer *writer, struct stack_row *stack, struct error *err) {
    bool is_attributed = false, is_for_script = false;
    struct signature signature = {0};
    for (size_t i = 0; i < stack->count; i++) {
        const struct known_location *location = known_location(&writer->known, stack->location_ids[i], err);
        if (!location) return -1;
        for (size_t part = 0; part < location->parts; part++)
            signature_add(&signature, writer->known.parts[location->first_part + part]);
        if (i == 0 || (!is_attributed && !location->is_wrapper) || (is_for_script && location->is_script)) {
            stack->location_id = stack->location_ids[i];
            stack->function_id = location->function_id;
            stack->line = location->line;
        }
        if (!location->is_wrapper) is_for_script = location->is_interpreter && (is_for_script || !is_attributed);
        is_attributed = is_attributed || !location->is_wrapper;
    }
    stack->signature = signature.value;
    return 0;
}

enum { LOOK_UP_COST = 4 }; /* a look-up costs more than reading four hashes from the index */

static int read_hashes(struct row_writer *writer, size_t capacity, struct error *err) {
    sqlite3_stmt *select = db_prepare(writer->db, "SELECT hash FROM traces ORDER BY hash", err);
    if (!select) return -1;
    writer->old_hashes = xmalloc(capacity * sizeof *writer->old_hashes);
    int state;
    while ((state = db_step(writer->db, select, err)) == 1 && writer->old_hash_count < capacity)
        writer->old_hashes[writer->old_hash_count++] = sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
    writer->knows_hashes = state == 0; /* more hashes than ids: the file is damaged, so each is looked up */
    return state < 0 ? -1 : 0;
}

/* Drops the indexes, and keeps the SQL that makes them as it is in the file. */
static int drop_indexes(struct row_writer *writer, struct error *err) {
    sqlite3_stmt *select = db_prepare(writer->db,
                                      "SELECT group_concat(sql, '; ') FROM sqlite_schema"
                                      " WHERE name IN ('traces_hash', 'traces_signature')",
                                      err);
    if (!select || db_step(writer->db, select, err) != 1) return -1;
    writer->late_indexes = xstrdup(db_text(select, 0));
    sqlite3_reset(select);
    return db_exec(writer->db, "DROP INDEX IF EXISTS traces_hash; DROP INDEX IF EXISTS traces_signature", err);
}

static void forget_expected(struct row_writer *writer) {
    free(writer->old_hashes);
    free(writer->late_indexes);
    writer->old_hashes = NULL;
    writer->late_indexes = NULL;
    writer->old_hash_count = 0;
    writer->knows_hashes = writer->is_fresh = false;
    writer->first_new_stack = 0;
}

static int look_if_fresh(struct row_writer *writer, struct error *err) {
    int64_t filled;
    const char *sql = "SELECT EXISTS (SELECT 1 FROM functions) OR EXISTS (SELECT 1 FROM locations)";
    if (db_int(writer->db, sql, 0, &filled, err) != 0) return -1;
    writer->is_fresh = !filled;
    return 0;
}

int writer_expect(struct row_writer *writer, size_t count, struct error *err) {
    enum { MANY = 10000 };
    int64_t stored;
    if (writer_expect_end(writer, err) != 0 || look_if_fresh(writer, err) != 0) return -1;
    if (pending_open(&writer->pending, err) != 0) return -1;
    if (db_int(writer->db, "SELECT max(id) + 1 FROM traces", 0, &stored, err) != 0) return -1;
    if (stored < 0) return 0;
    writer->first_new_stack = stored;
    if ((uint64_t)stored > (uint64_t)count * LOOK_UP_COST) return 0;
    if (read_hashes(writer, (size_t)stored, err) != 0) return -1;
    return stored == 1 && count >= MANY ? drop_indexes(writer, err) : 0; /* the empty stack is always there */
}

int writer_flush(struct row_writer *writer, struct error *err) {
    return pending_write(&writer->pending, err);
}

int writer_expect_end(struct row_writer *writer, struct error *err) {
    int code = pending_close(&writer->pending, err);
    if (code == 0 && writer->late_indexes) code = db_exec(writer->db, writer->late_indexes, err);
    forget_expected(writer);
    return code;
}

int writer_batch(struct row_writer *writer, struct error *err) {
    struct pending *pending = &writer->pending;
    const int64_t functions = pending->functions.next_id, locations = pending->locations.next_id,
                  stacks = pending->stacks.next_id;
    if (pending_open(pending, err) != 0) return -1;
    if (!writer->has_batches && look_if_fresh(writer, err) != 0) return -1;
    if (writer->has_batches) /* rows of others have the ids that were next */
        writer->is_fresh = writer->is_fresh && functions == pending->functions.next_id &&
                           locations == pending->locations.next_id && stacks == pending->stacks.next_id;
    writer->is_fresh = writer->is_fresh && pending->is_open;
    writer->has_batches = true;
    return 0;
}

int writer_batch_end(struct row_writer *writer, struct error *err) {
    return pending_close(&writer->pending, err);
}

static int compare_hashes(const void *left, const void *right) {
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Whether no stack with that hash is in the file. The stacks of this writer are in its memory. */
static bool is_new(const struct row_writer *writer, uint64_t hash) {
    int64_t key = (int64_t)hash;
    return writer->knows_hashes &&
           !bsearch(&key, writer->old_hashes, writer->old_hash_count, sizeof key, compare_hashes);
}

/* Finds a stack in the file: 1, 0 for none, -1. */
static int find_stack(struct row_writer *writer, const struct stack_row *stack, int64_t *id, struct error *err) {
    if (writer->is_fresh || is_new(writer, stack->hash)) return 0;
    sqlite3_stmt *select = db_prepare(writer->db, "SELECT id FROM traces WHERE hash = ?1 AND stack = ?2", err);
    if (!select) return -1;
    pending_stack_text(&writer->text, stack->location_ids, stack->count);
    sqlite3_bind_int64(select, 1, (int64_t)stack->hash);
    sqlite3_bind_text(select, 2, writer->text.data, (int)writer->text.size, SQLITE_STATIC);
    return select_id(writer->db, select, id, err);
}

int64_t writer_stack(struct row_writer *writer, const int64_t *location_ids, size_t count, struct error *err) {
    if (count == 0) return 0;
    size_t size = count * sizeof *location_ids;
    struct map_entry *entry = map_put(&writer->stacks, location_ids, size, NULL);
    if (entry->value) return entry->value; /* 0: new, or left by a call that failed */
    struct stack_row stack = {.location_ids = entry->key, .count = count, .hash = hash_bytes(location_ids, size)};
    int64_t id = 0;
    writer->frames += count;
    if (limit_check("storing the stacks", writer->frames * sizeof *location_ids, err)) return -1;
    int state = find_stack(writer, &stack, &id, err);
    if (state == 0) id = sign_stack(writer, &stack, err) == 0 ? pending_stack(&writer->pending, &stack, err) : -1;
    if (state < 0 || id < 0) return -1;
    return entry->value = id;
}

/* Label sets. */

static int compare_texts(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

/* By key; texts before numbers; then by value and unit. */
static int compare_labels(const void *left, const void *right) {
    const struct writer_label *a = left, *b = right;
    int order = compare_texts(a->key, b->key);
    if (order) return order;
    if (!a->text != !b->text) return a->text ? -1 : 1;
    if (a->text) return strcmp(a->text, b->text);
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return compare_texts(a->unit, b->unit);
}

/* The set as canonical JSON, in writer->key. */
static void write_labels(struct row_writer *writer, const struct writer_label *labels, size_t count) {
    struct buffer *json = &writer->key;
    buffer_clear(json);
    for (size_t i = 0; i < count; i++) {
        const struct writer_label *label = &labels[i];
        buffer_add_text(json, i ? ",[" : "[[");
        buffer_add_json_string(json, label->key ? label->key : "", label->key ? strlen(label->key) : 0);
        if (label->text) {
            buffer_add_char(json, ',');
            buffer_add_json_string(json, label->text, strlen(label->text));
        } else {
            buffer_printf(json, ",%" PRId64, label->number);
        }
        if (!label->text && label->unit && *label->unit) {
            buffer_add_char(json, ',');
            buffer_add_json_string(json, label->unit, strlen(label->unit));
        }
        buffer_add_char(json, ']');
    }
    buffer_add_char(json, ']');
}

static void bind_label_set(sqlite3_stmt *statement, const void *thing) {
    bind_text(statement, 1, thing);
}

/* That of the text in writer->key. */
static int64_t find_label_set(struct row_writer *writer, struct error *err) {
    static const struct interner interner = {
        .select = "SELECT id FROM label_sets WHERE labels = ?1",
        .insert = "INSERT INTO label_sets(labels) VALUES (?1)",
        .bind = bind_label_set,
    };
    return find_thing(writer, &writer->label_sets, &interner, writer->key.data, err);
}

int64_t writer_label_set(struct row_writer *writer, const struct writer_label *labels, size_t count,
                         struct error *err) {
    if (count == 0) return 0;
    struct writer_label *sorted = xmalloc(count * sizeof *sorted);
    memcpy(sorted, labels, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_labels);
    write_labels(writer, sorted, count);
    free(sorted);
    return find_label_set(writer, err);
}

int64_t writer_label_set_text(struct row_writer *writer, const char *labels, struct error *err) {
    buffer_clear(&writer->key);
    buffer_add_text(&writer->key, labels);
    return find_label_set(writer, err);
}

/* Objects. */

struct object_row {
    const char *kind, *identity, *name;
    int64_t trace_id, offset;
};

static void bind_object(sqlite3_stmt *statement, const void *thing) {
    const struct object_row *object = thing;
    bind_text(statement, 1, object->kind);
    bind_text(statement, 2, object->identity);
    if (sqlite3_bind_parameter_count(statement) == 2) return; /* the look-up */
    bind_text(statement, 3, object->name);
    sqlite3_bind_int64(statement, 4, object->trace_id);
    sqlite3_bind_int64(statement, 5, object->offset);
}

int64_t writer_object(struct row_writer *writer, const char *kind, const char *identity, const char *name,
                      int64_t trace_id, uint64_t offset, struct error *err) {
    static const struct interner interner = {
        .select = "SELECT id FROM objects WHERE kind = ?1 AND identity = ?2",
        .insert = "INSERT INTO objects(kind, identity, name, trace_id, offset) VALUES (?1, ?2, ?3, ?4, ?5)",
        .bind = bind_object,
    };
    const struct object_row object = {kind, identity, name, trace_id, (int64_t)offset};
    buffer_clear(&writer->key);
    key_text(writer, kind);
    key_text(writer, identity);
    return find_thing(writer, &writer->objects, &interner, &object, err);
}
