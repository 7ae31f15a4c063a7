#include "ingest/read/ingest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/sums.h"
#include "ingest/read/cumulative.h"
#include "ingest/read/fetch.h"
#include "ingest/read/readers.h"
#include "ingest/read/received.h"
#include "ingest/segment.h"
#include "ingest/writer/run_seal.h"
#include "ingest/writer/run_uuid.h"
#include "ingest/writer/site_rows.h"
#include "schema/bulk.h"
#include "schema/schema.h"

/* ---- the tables that have adders --------------------------------------------------------------------------------- */

/* Columns of `insert`: c0 is the profile, then keys and values in the order of struct sums. */
struct sum_table {
    size_t keys, values;
    uint64_t maxima;
    const char *insert;
};

enum { SITES, LOCKS, CELLS, CHANNELS, CPU, IO, SPINS, STARTS, PEAKS, LEAKS, MAPS, BUCKETS, SAMPLES, TABLES };
enum { SAMPLE_COLUMNS = 8 };       /* v0 … v7 */
enum { LOCK_KIND = 3, NAMED = 1 }; /* the columns that are indices into names: of LOCKS, and of IO, MAPS and BUCKETS */

#define BIT(column) (UINT64_C(1) << (column))
static const struct sum_table tables[TABLES] = {
    [SITES] = {2, 4, 0, NULL}, /* ingest/writer/site_rows.h writes them */
    [LOCKS] = {3, 11, BIT(LOCK_KIND) | BIT(7) | BIT(9) | BIT(13), "ingest/ingest/locks_bulk"},
    [CELLS] = {3, 6, BIT(3), "ingest/ingest/cells_bulk"},
    [CHANNELS] = {2, 8, BIT(2) | BIT(7), "ingest/ingest/channels_bulk"},
    [CPU] = {2, 2, 0, "ingest/ingest/cpu_bulk"},
    [IO] = {2, 3, 0, "ingest/ingest/io_bulk"},
    [SPINS] = {1, 4, 0, "ingest/ingest/spins_bulk"},
    [STARTS] = {1, 2, 0, "ingest/ingest/thread_starts_bulk"},
    [PEAKS] = {1, 2, 0, "ingest/ingest/heap_peaks_bulk"},
    [LEAKS] = {1, 4, 0, "ingest/ingest/leaks_bulk"},
    [MAPS] = {3, 4, 0, "ingest/ingest/maps_bulk"},
    [BUCKETS] = {3, 1, 0, "ingest/ingest/histograms_bulk"},
    [SAMPLES] = {2, 0, 0, "ingest/ingest/samples_bulk"}, /* as many values as the profile has types */
};

static const char *const lock_kinds[] = {"",     "mutex", "rwlock",  "spin", "own",
                                         "cond", "sem",   "barrier", "join", "futex"};
enum { LOCK_KINDS = sizeof lock_kinds / sizeof *lock_kinds };

static const char *const io_calls[IO_CALLS] = {
#define X(call, name) [IO_##call] = name,
    SEGMENT_IO_CALLS(X)
#undef X
};

static const char *const uses[MAPPING_USES] = {
    [MAPPING_ANONYMOUS] = "anonymous", [MAPPING_FILE] = "file",         [MAPPING_SHARED] = "shared",
    [MAPPING_STACK] = "stack",         [MAPPING_RESERVED] = "reserved", [MAPPING_BREAK] = "break"};

static const char *const histograms[HISTOGRAMS] = {
    [HISTOGRAM_SIZE] = "size", [HISTOGRAM_LIFETIME] = "lifetime", [HISTOGRAM_PASSED] = "passed"};

_Static_assert((int)INGEST_SIZE == (int)HISTOGRAM_SIZE && (int)INGEST_LIFETIME == (int)HISTOGRAM_LIFETIME &&
                   (int)INGEST_PASSED == (int)HISTOGRAM_PASSED && (int)INGEST_HISTOGRAMS == (int)HISTOGRAMS,
               "one number for each");

static const char *const *const names_of[TABLES] = {
    [LOCKS] = lock_kinds, [IO] = io_calls, [MAPS] = uses, [BUCKETS] = histograms};

struct ingest_rows {
    struct sums tables[TABLES];
    size_t sample_values; /* types of the open profile */
    char *kind;           /* of the open profile */
};

static void forget_rows(struct ingest_rows *rows) {
    for (int i = 0; i < TABLES; i++)
        sums_free(&rows->tables[i]);
    free(rows->kind);
    *rows = (struct ingest_rows){0};
}

/* The rows of a table, for bulk_insert. */
struct bulk_rows {
    int64_t profile_id;
    const struct sums *rows;
    const char *const *names; /* what the numbers of one column stand for; NULL: no column has names */
    size_t named;             /* that column */
};

/* The ninth value and those after it, as JSON; NULL for none. */
static void give_more(sqlite3_context *result, const int64_t *values, size_t count) {
    if (count == 0) return;
    struct buffer json = {0};
    for (size_t i = 0; i < count; i++)
        buffer_printf(&json, "%s%" PRId64, i ? "," : "[", values[i]);
    buffer_add_char(&json, ']');
    int size = (int)json.size;
    sqlite3_result_text(result, buffer_take(&json), size, free);
}

static void give_cell(sqlite3_context *result, const void *rows, size_t number, int column) {
    const struct bulk_rows *bulk_rows = rows;
    const struct sums *sums = bulk_rows->rows;
    const int64_t *row = sums->cells + number * sums->width;
    size_t cell = (size_t)column - 1;
    if (column == 0)
        sqlite3_result_int64(result, bulk_rows->profile_id);
    else if (bulk_rows->names && cell == bulk_rows->named)
        sqlite3_result_text(result, bulk_rows->names[row[cell]], -1, SQLITE_STATIC);
    else
        sqlite3_result_int64(result, cell < sums->width ? row[cell] : 0);
}

static void give_sample_cell(sqlite3_context *result, const void *rows, size_t number, int column) {
    enum { MORE = 1 + 2 + SAMPLE_COLUMNS };
    const struct sums *sums = ((const struct bulk_rows *)rows)->rows;
    if (column < MORE)
        give_cell(result, rows, number, column);
    else if (sums->width >= MORE)
        give_more(result, sums->cells + number * sums->width + MORE - 1, sums->width - (MORE - 1));
}

static bool is_all_zero(const struct sums *rows, const int64_t *row) {
    for (size_t i = rows->keys; i < rows->width; i++)
        if (row[i]) return false;
    return true;
}

static void drop_zero_rows(struct sums *rows) {
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const int64_t *row = rows->cells + i * rows->width;
        if (is_all_zero(rows, row)) continue;
        memmove(rows->cells + kept++ * rows->width, row, rows->width * sizeof *row);
    }
    rows->count = kept;
}

static int write_table(struct ingest *ingest, int table, struct error *err) {
    _Static_assert(sizeof(struct site_row) == 6 * sizeof(int64_t), "keys and values as in struct sums");
    struct sums *rows = &ingest->rows->tables[table];
    sums_sort(rows);
    if (ingest->options.cumulative) drop_zero_rows(rows); /* they did not change */
    ingest->rows_added += rows->count;
    if (table == SITES)
        return site_rows_put(&ingest->writer, ingest->profile_id, (const struct site_row *)rows->cells, rows->count,
                             err);
    const struct bulk_rows bulk_rows = {ingest->profile_id, rows, names_of[table], table == LOCKS ? LOCK_KIND : NAMED};
    const struct bulk bulk = {rows->count, &bulk_rows, table == SAMPLES ? give_sample_cell : give_cell};
    return bulk_insert(ingest->db, embedded_text(tables[table].insert), &bulk, err);
}

int ingest_end_profile(struct ingest *ingest, struct error *err) {
    if (writer_flush(&ingest->writer, err) != 0) return -1;
    if (!ingest->profile_id) return 0;
    if (ingest->options.cumulative && cumulative_subtract(ingest, ingest->rows->kind, &ingest->rows->tables[SITES],
                                                          &ingest->rows->tables[LOCKS], err) != 0)
        return -1;
    if (ingest->received && received_states(ingest, ingest->rows->kind, &ingest->rows->tables[SITES],
                                            &ingest->rows->tables[SAMPLES], err) != 0)
        return -1;
    for (int i = 0; i < TABLES; i++)
        if (ingest->rows->tables[i].count && write_table(ingest, i, err) != 0) return -1;
    forget_rows(ingest->rows);
    ingest->profile_id = 0;
    return 0;
}

void ingest_give_up_profile(struct ingest *ingest) {
    forget_rows(ingest->rows);
    ingest->profile_id = 0;
    writer_free(&ingest->writer);
}

/* ---- adders ------------------------------------------------------------------------------------------------------ */

static int add_row(struct ingest *ingest, int table, const int64_t *row, struct error *err) {
    struct sums *rows = &ingest->rows->tables[table];
    if (!ingest->profile_id) bug("a row without a profile");
    if (!rows->width) {
        size_t values = table == SAMPLES ? ingest->rows->sample_values : tables[table].values;
        sums_init(rows, tables[table].keys, values, tables[table].maxima);
    }
    if (sums_add(rows, row) == 0) return 0;
    return error_fail(err, "%s: the sum of equal rows exceeds 64 bits", ingest->input->path);
}

int ingest_site(struct ingest *ingest, const struct ingest_site *row, struct error *err) {
    const int64_t cells[] = {row->trace_id,    row->label_set_id, row->alloc_count,
                             row->alloc_bytes, row->free_count,   row->free_bytes};
    return add_row(ingest, SITES, cells, err);
}

static int64_t lock_kind(const char *kind) {
    for (int i = 0; i < LOCK_KINDS && kind; i++)
        if (strcmp(lock_kinds[i], kind) == 0) return i;
    return 0;
}

int ingest_lock(struct ingest *ingest, const struct ingest_lock *row, struct error *err) {
    const int64_t cells[] = {row->object_id,    row->address,         row->trace_id,      lock_kind(row->kind),
                             row->acquires,     row->contended,       row->wait_ns,       row->max_wait_ns,
                             row->hold_ns,      row->max_hold_ns,     row->read_acquires, row->read_contended,
                             row->read_wait_ns, row->read_max_wait_ns};
    return add_row(ingest, LOCKS, cells, err);
}

int ingest_cell(struct ingest *ingest, const struct ingest_cell *row, struct error *err) {
    const int64_t cells[] = {row->object_id, row->address,       row->trace_id, row->struct_size,    row->reads,
                             row->commits,   row->multi_commits, row->retries,  row->update_failures};
    return add_row(ingest, CELLS, cells, err);
}

int ingest_channel(struct ingest *ingest, const struct ingest_channel *row, struct error *err) {
    const int64_t cells[] = {
        row->object_id,    row->channel,     row->capacity,  row->pushes,          row->pops,
        row->push_blocked, row->pop_blocked, row->max_depth, row->push_blocked_ns, row->pop_blocked_ns};
    return add_row(ingest, CHANNELS, cells, err);
}

int ingest_cpu(struct ingest *ingest, int64_t trace_id, int64_t label_set_id, int64_t samples, int64_t cpu_ns,
               struct error *err) {
    const int64_t cells[] = {trace_id, label_set_id, samples, cpu_ns};
    return add_row(ingest, CPU, cells, err);
}

int64_t ingest_io_call(const char *name) {
    int64_t call = IO_CALLS - 1;
    while (call > IO_NONE && strcmp(io_calls[call], name) != 0)
        call--;
    return call;
}

int ingest_io(struct ingest *ingest, int64_t trace_id, int64_t call, int64_t calls, int64_t bytes, int64_t time_ns,
              struct error *err) {
    const int64_t cells[] = {trace_id, call, calls, bytes, time_ns};
    return add_row(ingest, IO, cells, err);
}

int ingest_spin(struct ingest *ingest, const struct ingest_spin *row, struct error *err) {
    const int64_t cells[] = {row->trace_id, row->yields, row->short_sleeps, row->sleep_ns, row->failed_tries};
    return add_row(ingest, SPINS, cells, err);
}

int ingest_thread_start(struct ingest *ingest, int64_t trace_id, int64_t started, int64_t life_ns, struct error *err) {
    const int64_t cells[] = {trace_id, started, life_ns};
    return add_row(ingest, STARTS, cells, err);
}

int ingest_heap_peak(struct ingest *ingest, int64_t trace_id, int64_t count, int64_t bytes, struct error *err) {
    const int64_t cells[] = {trace_id, count, bytes};
    return add_row(ingest, PEAKS, cells, err);
}

int ingest_leak(struct ingest *ingest, const struct ingest_leak *row, struct error *err) {
    const int64_t cells[] = {row->trace_id, row->lost_count, row->lost_bytes, row->indirect_count, row->indirect_bytes};
    return add_row(ingest, LEAKS, cells, err);
}

const char *ingest_use_name(int64_t use) {
    return uses[use];
}

int64_t ingest_use(const char *name) {
    int64_t use = MAPPING_USES - 1;
    while (use > 0 && strcmp(uses[use], name) != 0)
        use--;
    return use;
}

int ingest_map(struct ingest *ingest, const struct ingest_map *row, struct error *err) {
    const struct writer_label label = {.key = "use", .text = uses[row->use]};
    int64_t labels = writer_label_set(&ingest->writer, &label, 1, err);
    const int64_t cells[] = {row->trace_id,  row->use,         labels,          row->map_count,
                             row->map_bytes, row->unmap_count, row->unmap_bytes};
    return labels < 0 ? -1 : add_row(ingest, MAPS, cells, err);
}

const char *ingest_histogram_name(int64_t histogram) {
    return histograms[histogram];
}

int ingest_bucket(struct ingest *ingest, const struct ingest_bucket *row, struct error *err) {
    const int64_t cells[] = {row->trace_id, row->histogram, row->from_value, row->count};
    return add_row(ingest, BUCKETS, cells, err);
}

int ingest_sample(struct ingest *ingest, int64_t trace_id, int64_t label_set_id, const int64_t *values,
                  struct error *err) {
    size_t count = ingest->rows->sample_values;
    int64_t cells[2 + INGEST_TYPES_MAX] = {trace_id, label_set_id};
    memcpy(cells + 2, values, count * sizeof *values);
    return add_row(ingest, SAMPLES, cells, err);
}

void ingest_count_row(struct ingest *ingest) {
    ingest->rows_added++;
}

int ingest_broken(struct ingest *ingest, struct error *err) {
    if (!ingest->options.lenient) return -1;
    ingest->rows_skipped++;
    err->status = ERROR_NONE;
    err->message[0] = '\0';
    return 0;
}

void ingest_progress(struct ingest *ingest, uint64_t done) {
    if (ingest->options.progress)
        ingest->options.progress(ingest->options.progress_context, ingest->input->path, done, ingest->input->size);
}

/* ---- runs and profiles ------------------------------------------------------------------------------------------- */

/* A directory does not say how long its run lasted, but the profiles in it do. */
static int run_lasted(struct ingest *ingest, int64_t duration_ns, struct error *err) {
    if (duration_ns <= 0) return 0;
    sqlite3_stmt *update = db_prepare(ingest->db, embedded_text("ingest/ingest/run_lasted"), err);
    if (!update) return -1;
    db_bind_int(update, ":run", ingest->run_id);
    db_bind_int(update, ":duration", duration_ns);
    return db_run(ingest->db, update, err);
}

int ingest_begin_run(struct ingest *ingest, const struct ingest_run *run, struct error *err) {
    if (ingest->has_run) return 0;
    if (ingest->received) return received_begin_run(ingest, run, err);
    if (ingest->run_id && ingest->input->is_directory) /* run_id is that of the directory, of which this is a file */
        return run_lasted(ingest, run->duration_ns, err);
    if (ingest->run_id && ingest->has_parts) return 0; /* or of the parts before */
    if (ingest->run_id) bug("two runs of one artefact");
    char uuid[RUN_UUID_SIZE];
    sqlite3_stmt *insert = db_prepare(ingest->db, embedded_text("ingest/ingest/run_read"), err);
    if (!insert || run_uuid(uuid, err) != 0) return -1;
    int64_t started = run->started_ns ? run->started_ns : ingest->input->modified_ns;
    db_bind_text(insert, ":uuid", uuid);
    db_bind_text(insert, ":command", run->command ? run->command : "");
    db_bind_text(insert, ":label", ingest->options.label);
    db_bind_int(insert, ":started", ingest->options.has_time ? ingest->options.time_ns : started);
    db_bind_int(insert, ":duration", run->duration_ns);
    db_bind_text(insert, ":host", run->host ? run->host : "");
    db_bind_text(insert, ":source", ingest->input->path);
    db_bind_text(insert, ":hash", ingest->input->content_hash);
    db_bind_int(insert, ":sample_n", run->sample_n ? run->sample_n : 1);
    db_bind_text(insert, ":flags", ingest->options.cumulative ? "cumulative" : "");
    if (db_run(ingest->db, insert, err) != 0) return -1;
    ingest->run_id = sqlite3_last_insert_rowid(ingest->db->handle);
    return run_tags_insert(ingest->options.tags, ingest->db, ingest->run_id, err) ||
                   run_tags_insert(run->tags, ingest->db, ingest->run_id, err)
               ? -1
               : 0;
}

int64_t ingest_process(struct ingest *ingest, const struct ingest_process *process, struct error *err) {
    sqlite3_stmt *insert = db_prepare(ingest->db, embedded_text("ingest/ingest/process_read"), err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", ingest->run_id);
    db_bind_int(insert, ":pid", process->pid);
    db_bind_int(insert, ":ppid", process->ppid);
    db_bind_text(insert, ":executable", process->executable ? process->executable : "");
    db_bind_text(insert, ":build_id", process->build_id ? process->build_id : "");
    db_bind_int(insert, ":started", process->started_ns);
    if (process->ended_ns) db_bind_int(insert, ":ended", process->ended_ns);
    return db_run(ingest->db, insert, err) == 0 ? sqlite3_last_insert_rowid(ingest->db->handle) : -1;
}

static void add_json(struct buffer *json, const char *text) {
    buffer_add_json_string(json, text ? text : "", text ? strlen(text) : 0);
}

char *ingest_types_json(const struct ingest_type *types, size_t count) {
    struct buffer json = {0};
    for (size_t i = 0; i < count; i++) {
        buffer_add_text(&json, i ? ",[" : "[[");
        add_json(&json, types[i].type);
        buffer_add_char(&json, ',');
        add_json(&json, types[i].unit);
        buffer_add_char(&json, ']');
    }
    buffer_add_text(&json, count ? "]" : "[]");
    return buffer_take(&json);
}

static void bind_types(sqlite3_stmt *insert, const struct ingest_profile *profile) {
    char *json = ingest_types_json(profile->types, profile->type_count);
    db_bind_text(insert, ":types", json);
    free(json);
}

static void bind_comments(sqlite3_stmt *insert, const struct ingest_profile *profile, const char *series) {
    struct buffer json = {0};
    buffer_add_char(&json, '[');
    for (size_t i = 0; i < profile->comment_count; i++) {
        if (i) buffer_add_char(&json, ',');
        add_json(&json, profile->comments[i]);
    }
    if (series) {
        if (profile->comment_count) buffer_add_char(&json, ',');
        add_json(&json, series);
    }
    buffer_add_char(&json, ']');
    db_bind_text(insert, ":comments", json.data);
    buffer_free(&json);
}

static void bind_mappings(sqlite3_stmt *insert, const struct ingest_profile *profile) {
    struct buffer json = {0};
    buffer_add_char(&json, '[');
    for (size_t i = 0; i < profile->mapping_count; i++)
        buffer_printf(&json, "%s%" PRId64, i ? "," : "", profile->mapping_ids[i]);
    buffer_add_char(&json, ']');
    db_bind_text(insert, ":mappings", json.data);
    buffer_free(&json);
}

static void bind_or_empty(sqlite3_stmt *insert, const char *name, const char *text) {
    db_bind_text(insert, name, text ? text : "");
}

static int insert_profile(struct ingest *ingest, const struct ingest_profile *profile, struct error *err) {
    sqlite3_stmt *insert = db_prepare(ingest->db, embedded_text("ingest/ingest/profile_read"), err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", ingest->run_id);
    if (profile->process_id) db_bind_int(insert, ":process", profile->process_id);
    db_bind_text(insert, ":kind", profile->kind);
    const struct received *received = ingest->received;
    int64_t time_ns = received && !profile->time_ns ? received->time_ns : profile->time_ns;
    db_bind_int(insert, ":time", ingest->options.has_time ? ingest->options.time_ns : time_ns);
    db_bind_int(insert, ":duration", profile->duration_ns || !received ? profile->duration_ns : received->duration_ns);
    db_bind_int(insert, ":period", profile->period);
    bind_or_empty(insert, ":period_type", profile->period_type);
    bind_or_empty(insert, ":period_unit", profile->period_unit);
    bind_types(insert, profile);
    bind_or_empty(insert, ":default_type", profile->default_type);
    bind_comments(insert, profile, ingest->received ? ingest->received->series : NULL);
    bind_or_empty(insert, ":drop", profile->drop_frames);
    bind_or_empty(insert, ":keep", profile->keep_frames);
    bind_or_empty(insert, ":url", profile->doc_url);
    bind_mappings(insert, profile);
    db_bind_int(insert, ":dropped", profile->dropped);
    db_bind_int(insert, ":truncated", profile->truncated);
    db_bind_int(insert, ":sample_n", profile->sample_n ? profile->sample_n : 1);
    return db_run(ingest->db, insert, err);
}

int ingest_begin_profile(struct ingest *ingest, const struct ingest_profile *profile, struct error *err) {
    if (!ingest->run_id) bug("a profile without a run");
    if (profile->type_count > INGEST_TYPES_MAX)
        return error_fail(err, "%s: %zu sample types; at most %d are stored", ingest->input->path, profile->type_count,
                          INGEST_TYPES_MAX);
    if (ingest_end_profile(ingest, err) != 0 || insert_profile(ingest, profile, err) != 0) return -1;
    ingest->profile_id = sqlite3_last_insert_rowid(ingest->db->handle);
    ingest->rows->sample_values = profile->type_count;
    ingest->rows->kind = xstrdup(profile->kind);
    ingest->profiles++;
    return 0;
}

/* ---- artefacts --------------------------------------------------------------------------------------------------- */

/* Foreign keys are not checked, because every id comes from the store: to look each up again took a third of the time
 * of 500,000 samples. The larger cache is for the indexes on hash and signature, into which new stacks are inserted in
 * random order; with SQLite's default of 2 MB each page is read and written many times. */
static int set_pragmas(struct db *db, struct error *err) {
    return db_exec(db, "PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536", err);
}

int ingest_open(struct ingest *ingest, struct db *db, const struct ingest_options *options, struct error *err) {
    *ingest = (struct ingest){.db = db, .options = *options};
    if (set_pragmas(db, err) != 0) return -1;
    if (writer_open(&ingest->writer, db, err) != 0) return -1;
    ingest->rows = xcalloc(1, sizeof *ingest->rows);
    return 0;
}

void ingest_close(struct ingest *ingest) {
    if (!ingest->rows) return;
    forget_rows(ingest->rows);
    free(ingest->rows);
    writer_free(&ingest->writer);
    struct error ignored = {0};
    (void)db_exec(ingest->db, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -2000", &ignored);
    *ingest = (struct ingest){0};
}

/* 1: the bytes are in the warehouse as result->run_id, 0: they are new. */
static int look_up(struct ingest *ingest, const struct input *input, struct ingest_result *result, struct error *err) {
    sqlite3_stmt *select = db_prepare(ingest->db, "SELECT id FROM runs WHERE content_hash = :hash", err);
    if (!select) return -1;
    db_bind_text(select, ":hash", input->content_hash);
    int state = db_step(ingest->db, select, err);
    if (state != 1) return state;
    result->run_id = sqlite3_column_int64(select, 0);
    result->is_known = true;
    sqlite3_reset(select);
    return 1;
}

/* The bytes are a tenth of the memory that the rows of a profile of 500,000 samples take while they are written. */
static int read_all(struct ingest *ingest, struct input *input, const struct format *format, struct error *err) {
    if (format->read(ingest, input, err) || writer_flush(&ingest->writer, err)) return -1;
    input_free_bytes(input);
    return ingest_end_profile(ingest, err);
}

static int read_input(struct ingest *ingest, struct input *input, const struct format *format,
                      struct ingest_result *result, struct error *err) {
    int known = look_up(ingest, input, result, err);
    if (known) return known < 0 ? -1 : 0;
    if (read_all(ingest, input, format, err)) return -1;
    if (!ingest->run_id) bug("format %s made no run", format->name);
    result->run_id = ingest->run_id;
    result->is_known = ingest->is_known;
    result->rows_added = ingest->rows_added;
    result->rows_skipped = ingest->rows_skipped;
    result->profiles = ingest->profiles;
    return 0;
}

static void begin_input(struct ingest *ingest, const struct input *input) {
    forget_rows(ingest->rows);
    ingest->input = input;
    ingest->run_id = ingest->profile_id = 0;
    ingest->has_parts = ingest->is_known = false;
    ingest->kind = NULL;
    ingest->rows_added = ingest->rows_skipped = ingest->profiles = 0;
}

/* The store may know ids that were rolled back. */
static void undo(struct ingest *ingest, struct error *err) {
    struct error second = {0};
    db_rollback(ingest->db);
    writer_free(&ingest->writer);
    if (writer_open(&ingest->writer, ingest->db, &second) != 0) error_fail(err, "%s", second.message);
}

static int refuse(const struct input *input, struct error *err) {
    if (input->is_directory) return error_fail(err, "%s: is not a directory of dumps (NAME.profile)", input->path);
    if (input_starts_with(input, "SQLite format 3"))
        return error_fail(err, "%s: is a SQLite database; to use it as the warehouse: --db %s", input->path,
                          input->path);
    if (input->size == 0) return error_fail(err, "%s: is empty", input->path);
    return error_fail(err, "%s: byte 0: no known format (see clear ingest --help for the list)", input->path);
}

int ingest_input(struct ingest *ingest, struct input *input, const struct format *format, struct ingest_result *result,
                 struct error *err) {
    *result = (struct ingest_result){0};
    if (!format) format = format_find(input);
    if (!format) return refuse(input, err);
    result->format = format->name;
    if (db_begin(ingest->db, err) != 0) return -1;
    begin_input(ingest, input);
    int code = writer_refresh(&ingest->writer, err);
    if (code == 0) code = read_input(ingest, input, format, result, err);
    if (code == 0) code = writer_expect_end(&ingest->writer, err);
    if (code == 0 && ingest->run_id && !ingest->is_known && run_seal(ingest->db, ingest->run_id, err))
        code = error_prefix(err, "%s: ", input->path);
    forget_rows(ingest->rows);
    if (code == 0 && db_commit(ingest->db, err) == 0) return 0;
    undo(ingest, err); /* does nothing if a failed commit has rolled back already */
    return -1;
}

int ingest_received(struct ingest *ingest, const struct input *input, const struct format *format, struct error *err) {
    begin_input(ingest, input);
    ingest->received->has_begun = false;
    return format->read(ingest, input, err) || ingest_end_profile(ingest, err) ||
                   writer_expect_end(&ingest->writer, err)
               ? -1
               : 0;
}

static int read_into_run(struct ingest *ingest, const struct input *input, int64_t run_id, const struct format *format,
                         const char *kind, struct error *err) {
    if (db_begin(ingest->db, err) != 0) return -1;
    begin_input(ingest, input);
    ingest->kind = kind;
    ingest->run_id = run_id;
    ingest->has_run = true;
    int code = format->read(ingest, input, err);
    if (code == 0) code = ingest_end_profile(ingest, err);
    if (code == 0) code = writer_expect_end(&ingest->writer, err);
    if (code == 0) code = run_seal(ingest->db, run_id, err);
    if (code == 0) return db_commit(ingest->db, err);
    db_rollback(ingest->db);
    return -1;
}

static int read_path_into_run(struct ingest *ingest, int64_t run_id, const char *path, const struct format *format,
                              const char *kind, struct error *err) {
    struct input input;
    if (input_open(&input, path, err) != 0) return -1;
    int code = input_complete(&input, err);
    if (code == 0) code = read_into_run(ingest, &input, run_id, format, kind, err);
    input_close(&input);
    return code;
}

int ingest_into_run(struct db *db, int64_t run_id, const char *path, const struct format *format,
                    const struct ingest_program *program, struct error *err) {
    const struct ingest_options options = {0};
    struct ingest ingest;
    if (ingest_open(&ingest, db, &options, err)) return -1;
    ingest.program = program;
    int code = read_path_into_run(&ingest, run_id, path, format, NULL, err);
    ingest_close(&ingest);
    return code;
}

int ingest_snapshot(struct db *db, int64_t run_id, const char *path, const struct format *format,
                    const struct ingest_snapshot *snapshot, struct error *err) {
    const struct ingest_options options = {.cumulative = snapshot->is_window};
    struct ingest ingest;
    if (ingest_open(&ingest, db, &options, err)) return -1;
    int code = read_path_into_run(&ingest, run_id, path, format, snapshot->kind, err);
    ingest_close(&ingest);
    return code;
}

static int ingest_opened(struct ingest *ingest, struct input *input, struct ingest_result *result, struct error *err) {
    const struct format *format = format_find(input);
    int code = format ? input_complete(input, err) : refuse(input, err);
    return code == 0 ? ingest_input(ingest, input, format, result, err) : -1;
}

static int ingest_url(struct ingest *ingest, const char *url, struct ingest_result *result, struct error *err) {
    struct fetch_options options = ingest->options.fetch ? *ingest->options.fetch : (struct fetch_options){0};
    struct buffer body = {0};
    struct input input = {0};
    char *shown = fetch_shown_url(url);
    options.progress = ingest->options.progress;
    options.progress_context = ingest->options.progress_context;
    int code = fetch(url, &options, &body, err);
    if (code == 0) code = input_open_memory(&input, shown, (const uint8_t *)body.data, body.size, err);
    if (code == 0) code = ingest_opened(ingest, &input, result, err);
    input_close(&input);
    buffer_free(&body);
    free(shown);
    return code;
}

int ingest_path(struct ingest *ingest, const char *path, struct ingest_result *result, struct error *err) {
    struct input input;
    *result = (struct ingest_result){0};
    if (fetch_is_url(path) && access(path, F_OK) != 0) return ingest_url(ingest, path, result, err);
    if (input_open(&input, path, err) != 0) return -1;
    int code = ingest_opened(ingest, &input, result, err);
    input_close(&input);
    return code;
}
