#include "export/dumps.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "export/file.h"
#include "export/names.h"
#include "schema/schema.h"

enum { CHUNK = 64 * 1024 }; /* bytes collected before they are written */

struct dump {
    struct db *db;
    struct file file;
    struct buffer text;
    struct map addresses; /* location id -> address */
    uint64_t *ids;        /* scratch for stacks */
    size_t capacity;
    int64_t run_id;
    bool lock_callers;
};

static int find_address(struct dump *dump, int64_t location_id, uint64_t *address, struct error *err) {
    bool added;
    struct map_entry *entry = map_put(&dump->addresses, &location_id, sizeof location_id, &added);
    if (added) {
        sqlite3_stmt *row = db_prepare(dump->db, "SELECT address FROM locations WHERE id = :id", err);
        if (!row) return -1;
        db_bind_int(row, ":id", location_id);
        int code = db_step(dump->db, row, err);
        if (code < 0) return -1;
        if (code == 0) return error_fail(err, "location %lld is not in the warehouse", (long long)location_id);
        entry->value = sqlite3_column_int64(row, 0);
        sqlite3_reset(row);
    }
    *address = (uint64_t)entry->value;
    return 0;
}

/* Comma-separated, leaf first; "-" for no stack. */
static int add_stack(struct dump *dump, const char *stack, struct error *err) {
    size_t count;
    if (names_parse_stack(stack, &dump->ids, &dump->capacity, &count, err) < 0) return -1;
    if (count == 0) buffer_add_char(&dump->text, '-');
    for (size_t i = 0; i < count; i++) {
        uint64_t address = 0;
        if (find_address(dump, (int64_t)dump->ids[i], &address, err) < 0) return -1;
        buffer_printf(&dump->text, "%s0x%llx", i ? "," : "", (unsigned long long)address);
    }
    return 0;
}

static void add_numbers(struct dump *dump, sqlite3_stmt *row, int first, char separator) {
    for (int i = first; i < sqlite3_column_count(row); i++)
        buffer_printf(&dump->text, "%c%lld", separator, (long long)sqlite3_column_int64(row, i));
}

static int add_site(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    if (add_stack(dump, db_text(row, 0), err) < 0) return -1;
    add_numbers(dump, row, 1, ' ');
    buffer_add_char(&dump->text, '\n');
    return 0;
}

static int add_lock(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    buffer_add_text(&dump->text, db_text(row, 0));
    add_numbers(dump, row, 2, '\t');
    if (dump->lock_callers) {
        buffer_add_char(&dump->text, '\t');
        if (add_stack(dump, db_text(row, 1), err) < 0) return -1;
    }
    buffer_add_char(&dump->text, '\n');
    return 0;
}

/* The headers that both dumps share, and what the locks' version hangs on. */
static int add_header(struct dump *dump, const char *kind, struct error *err) {
    sqlite3_stmt *row = db_prepare(dump->db, embedded_text("export/dump_header.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", dump->run_id);
    db_bind_text(row, ":kind", kind);
    if (db_step(dump->db, row, err) < 0) return -1;
    long long sample_n = sqlite3_column_int64(row, 0), dropped = sqlite3_column_int64(row, 1);
    long long truncated = sqlite3_column_int64(row, 2), total = sqlite3_column_int64(row, 3);
    dump->lock_callers = sqlite3_column_int(row, 4);
    sqlite3_reset(row);
    bool heap = *kind == 'h';
    if (heap)
        buffer_printf(&dump->text,
                      "# alloc-profile v2 (multi-frame, comma-separated leaf-first)\n# total_allocs: %lld\n", total);
    else
        buffer_printf(&dump->text, "# lock-profile v%d\n", dump->lock_callers ? 3 : 2);
    buffer_printf(&dump->text, "# sample_n: %lld\n", sample_n);
    if (dropped)
        buffer_printf(&dump->text, "# WARNING: %lld samples dropped (rebuild with `clear profile --profile-max=N`)\n",
                      dropped);
    /* No warning: the figures are whole, only callers are missing. */
    if (truncated) buffer_printf(&dump->text, "# truncated_stacks: %lld\n", truncated);
    return 0;
}

static int write_lines(struct dump *dump, const char *query, int (*add)(struct dump *, sqlite3_stmt *, struct error *),
                       struct error *err) {
    sqlite3_stmt *rows = db_prepare(dump->db, embedded_text(query), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", dump->run_id);
    int code;
    while ((code = db_step(dump->db, rows, err)) == 1) {
        code = add(dump, rows, err);
        if (code == 0 && dump->text.size >= CHUNK) {
            code = file_write(&dump->file, dump->text.data, dump->text.size, err);
            buffer_clear(&dump->text);
        }
        if (code < 0) break;
    }
    if (code < 0) sqlite3_reset(rows);
    return code < 0 ? -1 : file_write(&dump->file, dump->text.data, dump->text.size, err);
}

static int finish(struct dump *dump, int code, struct error *err) {
    if (code == 0)
        code = file_publish(&dump->file, err);
    else
        file_abandon(&dump->file);
    buffer_free(&dump->text);
    map_free(&dump->addresses);
    free(dump->ids);
    return code;
}

int dump_allocations(struct db *db, int64_t run_id, const char *path, struct error *err) {
    struct dump dump = {.db = db, .run_id = run_id};
    if (file_open(&dump.file, path, false, err) < 0) return -1;
    int code = add_header(&dump, "heap", err);
    buffer_add_text(&dump.text, "# addrs alloc_count alloc_bytes free_count free_bytes live_bytes\n");
    if (code == 0) code = write_lines(&dump, "export/alloc_txt.sql", add_site, err);
    return finish(&dump, code, err);
}

int dump_locks(struct db *db, int64_t run_id, const char *path, struct error *err) {
    struct dump dump = {.db = db, .run_id = run_id};
    if (file_open(&dump.file, path, false, err) < 0) return -1;
    int code = add_header(&dump, "lock", err);
    buffer_add_text(&dump.text, "# addr\tacquires\tcontended\ttotal_wait_ns\tmax_wait_ns\ttotal_hold_ns\tmax_hold_ns"
                                "\tread_acquires\tread_contended\tread_total_wait_ns\tread_max_wait_ns");
    buffer_add_text(&dump.text, dump.lock_callers ? "\tcaller_trace\n" : "\n");
    if (code == 0) code = write_lines(&dump, "export/locks_txt.sql", add_lock, err);
    return finish(&dump, code, err);
}

int dump_run(struct db *db, int64_t run_id, const char *kind, const char *path, struct error *err) {
    static const struct {
        const char *kind;
        int (*dump)(struct db *, int64_t, const char *, struct error *);
    } dumps[] = {{"heap", dump_allocations}, {"lock", dump_locks}};
    struct buffer known = {0};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        if (strcmp(dumps[i].kind, kind) == 0) {
            buffer_free(&known);
            return dumps[i].dump(db, run_id, path, err);
        }
        buffer_printf(&known, "%s%s", known.size ? ", " : "", dumps[i].kind);
    }
    error_usage(err, "there is no text dump of kind %s: %s", kind, buffer_text(&known));
    buffer_free(&known);
    return -1;
}
