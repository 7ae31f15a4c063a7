#include "ingest/writer/pending.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schema/bulk.h"

enum { WAITING_MAX = 4096 }; /* rows of a batch: with so many the cost of the statement is negligible */

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static void function_value(sqlite3_context *result, const void *rows, size_t row, int column) {
    const struct function_row *function = (const struct function_row *)rows + row;
    switch (column) {
    case 0: sqlite3_result_text(result, function->name, -1, SQLITE_STATIC); return;
    case 1: sqlite3_result_text(result, function->system_name, -1, SQLITE_STATIC); return;
    case 2: sqlite3_result_text(result, function->filename, -1, SQLITE_STATIC); return;
    default: sqlite3_result_int64(result, function->start_line);
    }
}

static void location_value(sqlite3_context *result, const void *rows, size_t row, int column) {
    const struct location_row *location = (const struct location_row *)rows + row;
    const int64_t values[] = {location->mapping_id, location->address, location->lines_hash, location->is_folded};
    sqlite3_result_int64(result, values[column]);
}

static void line_value(sqlite3_context *result, const void *rows, size_t row, int column) {
    const struct line_row *line = (const struct line_row *)rows + row;
    const int64_t values[] = {line->location_id, line->position, line->function_id, line->line, line->column};
    sqlite3_result_int64(result, values[column]);
}

void pending_stack_text(struct buffer *text, const int64_t *location_ids, size_t count) {
    enum { DIGITS_MAX = 20 };
    buffer_clear(text);
    buffer_reserve(text, count * (DIGITS_MAX + 1) + 2);
    char *at = text->data;
    *at++ = '[';
    for (size_t i = 0; i < count; i++) {
        char digits[DIGITS_MAX], *first = digits + sizeof digits;
        uint64_t value = (uint64_t)location_ids[i];
        do {
            *--first = (char)('0' + value % 10);
        } while (value /= 10);
        while (first < digits + sizeof digits)
            *at++ = *first++;
        *at++ = ',';
    }
    if (count) at--;
    *at++ = ']';
    *at = '\0';
    text->size = (size_t)(at - text->data);
}

struct stacks {
    const struct stack_row *rows;
    struct buffer *text;
};

static void stack_value(sqlite3_context *result, const void *rows, size_t row, int column) {
    const struct stacks *stacks = rows;
    const struct stack_row *stack = &stacks->rows[row];
    switch (column) {
    case 0: sqlite3_result_int64(result, (int64_t)stack->hash); return;
    case 1: sqlite3_result_int64(result, (int64_t)stack->signature); return;
    case 2:
        pending_stack_text(stacks->text, stack->location_ids, stack->count);
        sqlite3_result_text(result, stacks->text->data, (int)stacks->text->size, SQLITE_STATIC);
        return;
    case 3: sqlite3_result_int64(result, stack->location_id); return;
    case 4:
        if (stack->function_id) sqlite3_result_int64(result, stack->function_id); /* else NULL: a bare address */
        return;
    default: sqlite3_result_int64(result, stack->line);
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int write_list(struct pending *pending, struct pending_list *list, const char *sql, const struct bulk *bulk,
                      struct error *err) {
    if (list->count == 0) return 0;
    list->count = 0;
    if (bulk_insert(pending->db, sql, bulk, err) != 0) return -1;
    int64_t last = sqlite3_last_insert_rowid(pending->db->handle);
    if (!pending->is_open || !list->next_id || last == list->next_id - 1) return 0;
    return error_fail(err, "%s: SQLite gave the id %" PRId64 " where %" PRId64 " was next: the file is damaged",
                      pending->db->path, last, list->next_id - 1);
}

static int write_functions(struct pending *pending, struct error *err) {
    const struct bulk bulk = {pending->functions.count, pending->functions.rows, function_value};
    return write_list(pending, &pending->functions,
                      "INSERT OR FAIL INTO functions(name, system_name, filename, start_line)"
                      " SELECT c0, c1, c2, c3 FROM memory_rows",
                      &bulk, err);
}

static int write_locations(struct pending *pending, struct error *err) {
    const struct bulk bulk = {pending->locations.count, pending->locations.rows, location_value};
    return write_list(pending, &pending->locations,
                      "INSERT OR FAIL INTO locations(mapping_id, address, lines_hash, is_folded)"
                      " SELECT c0, c1, c2, c3 FROM memory_rows",
                      &bulk, err);
}

static int write_lines(struct pending *pending, struct error *err) {
    const struct bulk bulk = {pending->lines.count, pending->lines.rows, line_value};
    return write_list(pending, &pending->lines,
                      "INSERT OR FAIL INTO location_lines(location_id, position, function_id, line, column)"
                      " SELECT c0, c1, c2, c3, c4 FROM memory_rows",
                      &bulk, err);
}

static int write_stacks(struct pending *pending, struct error *err) {
    const struct stacks stacks = {(const struct stack_row *)pending->stacks.rows, &pending->stack};
    const struct bulk bulk = {pending->stacks.count, &stacks, stack_value};
    return write_list(pending, &pending->stacks,
                      "INSERT OR FAIL INTO traces(hash, signature, stack, location_id, function_id, line)"
                      " SELECT c0, c1, c2, c3, c4, c5 FROM memory_rows",
                      &bulk, err);
}

/* In the order of their foreign keys. */
int pending_write(struct pending *pending, struct error *err) {
    return write_functions(pending, err) || write_locations(pending, err) || write_lines(pending, err) ||
                   write_stacks(pending, err)
               ? -1
               : 0;
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static int read_next_id(struct pending *pending, struct pending_list *list, const char *sql, struct error *err) {
    int64_t greatest = 0;
    if (db_int(pending->db, sql, 0, &greatest, err) != 0) return -1;
    if (greatest < 0 || greatest >= INT64_MAX - UINT32_MAX) pending->is_open = false;
    list->next_id = pending->is_open ? greatest + 1 : 0;
    return 0;
}

int pending_open(struct pending *pending, struct error *err) {
    if (pending_close(pending, err) != 0) return -1;
    pending->is_open = true;
    if (read_next_id(pending, &pending->functions, "SELECT max(id) FROM functions", err) ||
        read_next_id(pending, &pending->locations, "SELECT max(id) FROM locations", err) ||
        read_next_id(pending, &pending->stacks, "SELECT max(id) FROM traces", err)) {
        pending->is_open = false;
        return -1;
    }
    return 0;
}

int pending_close(struct pending *pending, struct error *err) {
    int code = pending_write(pending, err);
    pending->is_open = false;
    return code;
}

void pending_free(struct pending *pending) {
    free(pending->functions.rows);
    free(pending->locations.rows);
    free(pending->lines.rows);
    free(pending->stacks.rows);
    buffer_free(&pending->stack);
    *pending = (struct pending){.db = pending->db};
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void push(struct pending_list *list, const void *row, size_t size) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 16;
        list->rows = xrealloc(list->rows, list->capacity * size);
    }
    memcpy(list->rows + list->count++ * size, row, size);
}

/* The id of a row that was pushed. */
static int64_t id_of(struct pending *pending, struct pending_list *list, struct error *err) {
    bool is_open = pending->is_open;
    int64_t id = list->next_id++;
    if (is_open && list->count < WAITING_MAX) return id;
    if (pending_write(pending, err) != 0) return -1;
    return is_open ? id : sqlite3_last_insert_rowid(pending->db->handle);
}

int64_t pending_function(struct pending *pending, const struct function_row *row, struct error *err) {
    push(&pending->functions, row, sizeof *row);
    return id_of(pending, &pending->functions, err);
}

int64_t pending_location(struct pending *pending, const struct location_row *row, struct error *err) {
    push(&pending->locations, row, sizeof *row);
    return id_of(pending, &pending->locations, err);
}

int64_t pending_stack(struct pending *pending, const struct stack_row *row, struct error *err) {
    push(&pending->stacks, row, sizeof *row);
    return id_of(pending, &pending->stacks, err);
}

int pending_line(struct pending *pending, const struct line_row *row, struct error *err) {
    push(&pending->lines, row, sizeof *row);
    return pending->is_open && pending->lines.count < WAITING_MAX ? 0 : pending_write(pending, err);
}
