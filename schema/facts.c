#include "schema/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "schema/event_facts.h"
#include "schema/facts_needs.h"
#include "schema/schema.h"
#include "schema/stack_steps.h"
#include "schema/window_sums.h"

/* ---- the files --------------------------------------------------------------------------------------------------- */

static const char folder[] = "facts/", fill_line[] = "\n-- Fill\n", create_table[] = "CREATE TABLE ";
static const char trigger_file[] = "warehouse/seal_triggers.sql";

static bool is_facts(const struct embedded *file) {
    return strncmp(file->name, folder, strlen(folder)) == 0;
}

/* The statements behind the line `-- Fill`. */
static const char *fill_of(const struct embedded *file) {
    const char *line = strstr(file->text, fill_line);
    if (!line) bug("schema/%s has no line `-- Fill`", file->name);
    return line + strlen(fill_line);
}

bool facts_is_derived(const char *table) {
    static const char ending[] = "_facts";
    size_t size = strlen(table), length = strlen(ending);
    return strcmp(table, "seals") == 0 || strcmp(table, "subjects") == 0 ||
           (size > length && strcmp(table + size - length, ending) == 0);
}

int64_t facts_definition(void) {
    static _Atomic uint64_t known; /* threads that meet here find the same */
    uint64_t hash = known;
    if (hash) return (int64_t)hash;
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (is_facts(file)) hash = hash_combine(hash, hash_bytes(file->text, strlen(file->text)));
    const char *triggers = embedded_text(trigger_file);
    known = hash_combine(hash, hash_bytes(triggers, strlen(triggers)));
    return (int64_t)known;
}

/* Calls `take` with the text of each table's definition, from CREATE TABLE to the semicolon, and the size of both. */
static int for_each_table(struct db *db, int (*take)(struct db *, const char *, size_t, struct error *),
                          struct error *err) {
    for (const struct embedded *file = embedded_files; file->name; file++) {
        const char *at = is_facts(file) ? file->text : NULL;
        const char *end = at ? fill_of(file) : NULL;
        while (at && (at = strstr(at, create_table)) && at < end) {
            size_t size = (size_t)(strstr(at, ";\n") - at);
            if (take(db, at, size, err)) return error_prefix(err, "schema/%s: ", file->name);
            at += size;
        }
    }
    return 0;
}

static int run_text(struct db *db, const char *before, const char *text, size_t size, struct error *err) {
    struct buffer sql = {0};
    buffer_add_text(&sql, before);
    buffer_add(&sql, text, size);
    int code = db_exec(db, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static int remake_table(struct db *db, const char *text, size_t size, struct error *err) {
    const char *name = text + strlen(create_table);
    if (run_text(db, "DROP TABLE IF EXISTS main.", name, strcspn(name, " ("), err)) return -1;
    return run_text(db, create_table, name, size - strlen(create_table), err);
}

/* Those of the clear that made them, which may have had others. */
static int drop_former(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/facts/former_facts"), err);
    struct buffer sql = {0};
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        buffer_printf(&sql, "DROP TABLE main.%s;\n", db_text(row, 0)); /* layers-ok: quoted by SQLite */
    if (code == 0) code = db_exec(db, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

static int put_meta(struct db *db, const char *key, const char *value, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/set_meta.sql"), err);
    if (!statement) return -1;
    db_bind_text(statement, ":key", key);
    db_bind_text(statement, ":value", value);
    return db_run(db, statement, err);
}

static int add_name(struct db *db, const char *text, size_t size, struct error *err) {
    (void)size;
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/add_own_facts.sql"), err);
    if (!statement) return -1;
    const char *name = text + strlen(create_table);
    char *table = xasprintf("%.*s", (int)strcspn(name, " ("), name);
    db_bind_text(statement, ":name", table);
    free(table);
    return db_run(db, statement, err);
}

static int remember_tables(struct db *db, struct error *err) {
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)facts_definition());
    return put_meta(db, "facts_hash", hash, err) || put_meta(db, "own_facts", "[]", err) ||
                   for_each_table(db, add_name, err)
               ? -1
               : 0;
}

int facts_tables_are_current(struct db *db, bool *current, struct error *err) {
    char hash[24];
    sqlite3_stmt *row = db_prepare(db, "SELECT value FROM meta WHERE key = 'facts_hash'", err);
    int code = row ? db_step(db, row, err) : -1;
    if (code < 0) return -1;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)facts_definition());
    *current = code && strcmp(db_text(row, 0), hash) == 0;
    sqlite3_reset(row);
    return 0;
}

static void add_trigger_text(struct buffer *sql, const char *table, const char *owners, const char *owner) {
    const struct { const char *word, *text; } words[] = {{":table", table}, {":owners", owners}, {":owner", owner}};
    for (const char *at = embedded_text(trigger_file); *at;) {
        size_t i = 0;
        while (i < 3 && strncmp(at, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (i == 3) {
            buffer_add_char(sql, *at++);
        } else {
            buffer_add_text(sql, words[i].text);
            at += strlen(words[i].word);
        }
    }
}

static int make_triggers(struct db *db, struct error *err) {
    struct buffer sql = {0};
    for (const struct facts_source *source = facts_sources; source->table; source++)
        add_trigger_text(&sql, source->table, source->owners, source->owner);
    int code = db_exec(db, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

int facts_make_tables(struct db *db, bool new_file, struct error *err) {
    if ((!new_file && (drop_former(db, err) || for_each_table(db, remake_table, err))) || make_triggers(db, err))
        return -1;
    return remember_tables(db, err) || db_exec(db, "DELETE FROM seals", err) ? -1 : 0;
}

/* ---- filling ----------------------------------------------------------------------------------------------------- */

/* Runs one statement for a run, prepared once for all runs. */
static int run_for(struct db *db, const char *sql, int64_t run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return -1;
    if (sqlite3_bind_parameter_index(statement, ":run")) db_bind_int(statement, ":run", run_id);
    return stack_steps_bind(db, statement, err) || db_run(db, statement, err) ? -1 : 0;
}

static int empty_tables(struct db *db, const struct embedded *file, int64_t run_id, struct error *err) {
    struct buffer sql = {0};
    int code = 0;
    for (const char *at = file->text; code == 0 && (at = strstr(at, create_table)) && at < fill_of(file);) {
        at += strlen(create_table);
        const char *condition = facts_condition(at);
        if (!condition) continue;
        buffer_clear(&sql);
        buffer_printf(&sql, "DELETE FROM %.*s", (int)strcspn(at, " ("), at); /* layers-ok: a name of clear's own */
        buffer_add_text(&sql, condition);
        code = run_for(db, buffer_text(&sql), run_id, err);
    }
    buffer_free(&sql);
    return code;
}

/* Calls `take` for each temporary table that the statements of a file make, with the text behind CREATE TEMP TABLE IF NOT EXISTS. */
static int for_each_scratch(struct db *db, const struct embedded *file,
                            int (*take)(struct db *, const char *text, struct error *), struct error *err) {
    static const char create[] = "\nCREATE TEMP TABLE IF NOT EXISTS ";
    const char *at = fill_of(file) - 1; /* with the end of the line before */
    while ((at = strstr(at, create))) {
        at += strlen(create);
        if (take(db, at, err)) return -1;
    }
    return 0;
}

static int make_empty(struct db *db, const char *text, struct error *err) {
    return run_text(db, "DELETE FROM temp.", text, strcspn(text, " ("), err);
}

/* Whether it makes a temporary table or an index of one, behind its comments. */
static bool makes_scratch(const char *sql) {
    sql += strspn(sql, "\n");
    while (strncmp(sql, "--", 2) == 0)
        sql += strcspn(sql, "\n") + strspn(sql + strcspn(sql, "\n"), "\n");
    return strncmp(sql, "CREATE ", strlen("CREATE ")) == 0;
}

static int run_statement(struct db *db, const char *sql, int64_t run_id, struct error *err) {
    bool is_needed;
    if (makes_scratch(sql)) return 0;
    if (facts_needs_met(db, sql, run_id, &is_needed, err)) return -1;
    if (!is_needed) return 0;
    return window_sums_are_meant(sql) ? window_sums_fill(db, sql, run_id, err) : run_for(db, sql, run_id, err);
}

static int make_scratch(struct db *db, const char *sql, int64_t run_id, struct error *err) {
    return makes_scratch(sql) ? run_for(db, sql, run_id, err) : 0;
}

/* Each statement ends with a semicolon at the end of a line. */
static int for_each_statement(struct db *db, const struct embedded *file, int64_t run_id,
                              int (*take)(struct db *, const char *, int64_t, struct error *), struct error *err) {
    struct buffer sql = {0};
    int code = 0;
    for (const char *at = fill_of(file), *end; code == 0 && (end = strstr(at, ";\n")); at = end + 2) {
        buffer_clear(&sql);
        buffer_add(&sql, at, (size_t)(end - at));
        code = take(db, buffer_text(&sql), run_id, err);
    }
    buffer_free(&sql);
    return code;
}

static int fill_tables(struct db *db, const struct embedded *file, int64_t run_id, struct error *err) {
    return for_each_statement(db, file, run_id, run_statement, err);
}

static int make_scratch_of(struct db *db, const struct embedded *file, struct error *err) {
    return for_each_statement(db, file, 0, make_scratch, err) ? error_prefix(err, "schema/%s: ", file->name) : 0;
}

/* Before anything else, for a statement is compiled again behind each table that is made. */
static int make_all_scratch(struct db *db, struct error *err) {
    if (stack_steps_make(db, err)) return -1;
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (is_facts(file) && make_scratch_of(db, file, err)) return -1;
    return 0;
}

/* What SQL says badly. */
static const struct {
    const char *name;
    int (*fill)(struct db *db, int64_t run_id, struct error *err);
} filled_in_c[] = {{"facts/trace.sql", event_facts_fill}};

static int fill_in_c(struct db *db, const struct embedded *file, int64_t run_id, struct error *err) {
    for (size_t i = 0; i < sizeof filled_in_c / sizeof *filled_in_c; i++)
        if (strcmp(filled_in_c[i].name, file->name) == 0) return filled_in_c[i].fill(db, run_id, err);
    return 0;
}

/* A sum ends with an error, a product becomes REAL. */
static bool is_beyond_64_bits(struct db *db) {
    static const char product[] = "cannot store REAL value in INTEGER column ";
    const char *message = sqlite3_errmsg(db->handle);
    return strcmp(message, "integer overflow") == 0 || strncmp(message, product, strlen(product)) == 0;
}

/* Figures beyond 64 bits are no facts: such a run has no findings of that kind. What other files read of its temporary tables is empty, not
 * what the run before left there. */
static int make_file(struct db *db, const struct embedded *file, int64_t run_id, struct error *err) {
    struct error failed = {0};
    if (empty_tables(db, file, run_id, err) || db_begin(db, err)) return -1;
    if (fill_tables(db, file, run_id, &failed) == 0 && fill_in_c(db, file, run_id, &failed) == 0)
        return db_commit(db, err);
    bool is_beyond = is_beyond_64_bits(db);
    db_rollback(db);
    if (is_beyond) return for_each_scratch(db, file, make_empty, err);
    *err = failed;
    return error_prefix(err, "schema/%s: ", file->name);
}

/* The sums of windows (*_use.sql) first, which others read. Then those of the run: others are measured against them, and what is its own code.
 * Figures last: they add up what the sites of the heap have. */
enum { TURNS = 4 };

static int turn_of(const struct embedded *file) {
    static const char use[] = "_use.sql";
    const size_t size = strlen(file->name);
    if (size > strlen(use) && strcmp(file->name + size - strlen(use), use) == 0) return 0;
    if (strcmp(file->name, "facts/run.sql") == 0 || strcmp(file->name, "facts/own.sql") == 0) return 1;
    return strcmp(file->name, "facts/figures.sql") == 0 ? TURNS - 1 : 2;
}

static int make_facts(struct db *db, int64_t run_id, struct error *err) {
    if (make_all_scratch(db, err)) return -1;
    for (int turn = 0; turn < TURNS; turn++)
        for (const struct embedded *file = embedded_files; file->name; file++)
            if (is_facts(file) && turn_of(file) == turn && make_file(db, file, run_id, err)) return -1;
    return 0;
}

static const struct embedded *facts_file(const char *name) {
    const struct embedded *file = embedded_files;
    while (file->name && strcmp(file->name, name) != 0)
        file++;
    if (!file->name) bug("no schema/%s", name);
    return file;
}

int facts_find_own(struct db *db, int64_t run_id, const char *trace_ids, struct error *err) {
    const struct embedded *calls = facts_file("facts/call_use.sql"), *own = facts_file("facts/own.sql");
    if (stack_steps_make(db, err) || make_scratch_of(db, calls, err) || make_scratch_of(db, own, err) ||
        for_each_scratch(db, calls, make_empty, err))
        return -1;
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/facts/add_locations"), err);
    if (!statement) return -1;
    db_bind_text(statement, ":traces", trace_ids);
    return db_run(db, statement, err) || fill_tables(db, own, run_id, err) ? -1 : 0;
}

static int put_seal(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/put_seal.sql"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_int(statement, ":definition", facts_definition());
    return db_run(db, statement, err);
}

static int seal_run(struct db *db, int64_t run_id, struct error *err) {
    if (db_begin(db, err)) return -1;
    if (make_facts(db, run_id, err) == 0 && put_seal(db, run_id, err) == 0) return db_commit(db, err);
    db_rollback(db);
    return -1;
}

static bool is_reading(struct db *db) {
    sqlite3_stmt *statement = NULL;
    while ((statement = sqlite3_next_stmt(db->handle, statement)))
        if (sqlite3_stmt_busy(statement)) return true;
    return false;
}

static int drop(struct db *db, const char *text, struct error *err) {
    return run_text(db, "DROP TABLE IF EXISTS temp.", text, strcspn(text, " ("), err);
}

/* Drops the temporary tables that the statements made. They are kept from run to run, for each statement is compiled again behind a drop; and
 * until the connection ends where a statement is under way, for SQLite refuses to drop any table then. */
static int drop_scratch(struct db *db, struct error *err) {
    if (is_reading(db)) return 0;
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (is_facts(file) && for_each_scratch(db, file, drop, err)) return -1;
    return 0;
}

/* A file of many small runs (270 of 600 B) took 11 ms each, nearly all of it compiling; so what is small stays until the connection ends. */
static int drop_large_scratch(struct db *db, struct error *err) {
    enum { KEPT_BYTES = 1 << 24 };
    int64_t pages, size;
    if (db_int(db, "PRAGMA temp.page_count", 0, &pages, err) || db_int(db, "PRAGMA temp.page_size", 0, &size, err))
        return -1;
    return pages * size > KEPT_BYTES ? drop_scratch(db, err) : 0;
}

int facts_seal(struct db *db, int64_t run_id, struct error *err) {
    return seal_run(db, run_id, err) || drop_large_scratch(db, err) ? -1 : 0;
}

int facts_unseal(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, "DELETE FROM seals WHERE run_id = :run", err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    return db_run(db, statement, err);
}

void facts_keep_sums(struct db *db, int64_t run_id) {
    window_sums_keep(db, run_id);
}

/* ---- runs that are not sealed ------------------------------------------------------------------------------------ */

static int count_pending(struct db *db, int64_t *count, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/facts/count_unsealed"), err);
    if (!row) return -1;
    db_bind_int(row, ":definition", facts_definition());
    int code = db_step(db, row, err);
    *count = code == 1 ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

int facts_are_current(struct db *db, bool *current, struct error *err) {
    int64_t count;
    if (count_pending(db, &count, err)) return -1;
    *current = count == 0;
    return 0;
}

static facts_progress *progress;

void facts_show_progress(facts_progress *show) {
    progress = show;
}

/* Goes to the next run that is not sealed, from the oldest on, for rows that come in the order of their keys leave no pages half full; 0:
 * there is none. */
static int next_pending(struct db *db, int64_t *run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/facts/next_unsealed"), err);
    if (!row) return -1;
    db_bind_int(row, ":definition", facts_definition());
    db_bind_int(row, ":above", *run_id);
    int code = db_step(db, row, err);
    *run_id = code == 1 ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

struct sealing {
    int64_t run_id; /* the last one that was sealed; 0 at the end */
    int64_t done, total;
};

/* Seals runs for PIECE_NS, then lets others write. */
static int seal_piece(struct db *db, struct sealing *sealing, struct error *err) {
    enum { PIECE_NS = 300000000 };
    const int64_t end_ns = clock_monotonic_ns() + PIECE_NS;
    int code = db_begin(db, err);
    if (code) return -1;
    while (code == 0 && sealing->run_id && clock_monotonic_ns() < end_ns) {
        if (progress) progress(sealing->done, sealing->total);
        code = next_pending(db, &sealing->run_id, err);
        if (code == 0 && sealing->run_id) code = seal_run(db, sealing->run_id, err);
        sealing->done++;
    }
    if (code == 0) return db_commit(db, err);
    db_rollback(db);
    return -1;
}

int facts_seal_pending(struct db *db, struct error *err) {
    struct sealing sealing = {.run_id = INT64_MIN};
    if (count_pending(db, &sealing.total, err)) return -1;
    if (sealing.total <= 0) return 0;
    while (sealing.run_id)
        if (seal_piece(db, &sealing, err)) return -1;
    if (progress) progress(sealing.total, sealing.total);
    return drop_scratch(db, err);
}

/* ---- for one connection ------------------------------------------------------------------------------------------ */

/* A temporary table cannot refer to those of the file. */
static void add_without_references(struct buffer *sql, const char *text, size_t size) {
    static const char references[] = " REFERENCES ", cascade[] = " ON DELETE CASCADE";
    const char *end = text + size;
    while (text < end) {
        if (strncmp(text, references, strlen(references)) == 0) {
            text = strchr(text, ')') + 1;
            if (strncmp(text, cascade, strlen(cascade)) == 0) text += strlen(cascade);
        } else {
            buffer_add_char(sql, *text++);
        }
    }
}

static int make_temporary(struct db *db, const char *text, size_t size, struct error *err) {
    struct buffer sql = {0};
    buffer_add_text(&sql, "CREATE TEMP TABLE IF NOT EXISTS ");
    add_without_references(&sql, text + strlen(create_table), size - strlen(create_table));
    int code = db_exec(db, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

int facts_shadow_tables(struct db *db, struct error *err) {
    window_sums_forget(db); /* those of other profiles */
    return for_each_table(db, make_temporary, err);
}

int facts_shadow_run(struct db *db, int64_t run_id, struct error *err) {
    return make_facts(db, run_id, err);
}
