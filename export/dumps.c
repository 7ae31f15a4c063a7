#include "export/dumps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hex.h"
#include "base/id_table.h"
#include "base/integers.h"
#include "base/sums.h"
#include "base/units.h"
#include "export/file.h"
#include "query/profile/load/heap_rows.h"
#include "query/profile/load/run_places.h"
#include "schema/kinds.h"
#include "schema/schema.h"
#include "schema/walk.h"

enum { CHUNK = 64 * 1024 }; /* bytes collected before they are written */

struct dump {
    struct db *db;
    struct file file;
    struct buffer text;
    struct id_table addresses;   /* location id -> where its address begins in address_texts */
    struct buffer address_texts; /* of each a comma and the address, and a NUL */
    struct walk traces;
    int64_t run_id;
    const char *kind; /* of read_header */
    const struct timespan *span;
};

static int read_address(struct dump *dump, int64_t location_id, uint64_t *address, struct error *err) {
    sqlite3_stmt *row = db_prepare(dump->db, "SELECT address FROM locations WHERE id = :id", err);
    if (!row) return -1;
    db_bind_int(row, ":id", location_id);
    int code = db_step(dump->db, row, err);
    if (code < 0) return -1;
    if (code == 0) return error_fail(err, "location %lld is not in the warehouse", (long long)location_id);
    *address = (uint64_t)sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return 0;
}

/* ",0x401234": 80,000 stacks of a compiler have 2,900,000 frames in 14,000 places. NULL: the error is set. */
static const char *address_text(struct dump *dump, int64_t location_id, struct error *err) {
    uint32_t start;
    if (id_table_find(&dump->addresses, location_id, &start)) return dump->address_texts.data + start;
    uint64_t address = 0;
    if (read_address(dump, location_id, &address, err)) return NULL;
    start = (uint32_t)dump->address_texts.size;
    const struct hex_text hex = hex_address(address);
    buffer_add_char(&dump->address_texts, ',');
    buffer_add(&dump->address_texts, hex.text, strlen(hex.text) + 1);
    id_table_put(&dump->addresses, location_id, start);
    return dump->address_texts.data + start;
}

/* Comma-separated, leaf first; "-" for no stack. */
static int add_stack(struct dump *dump, const char *stack, struct error *err) {
    const char *at = integers_first(stack);
    bool is_first = true;
    if (at && *at == ']') buffer_add_char(&dump->text, '-');
    while (at && *at != ']') {
        int64_t id = 0;
        at = integers_next(at, &id);
        if (!at) break;
        const char *text = address_text(dump, id, err);
        if (!text) return -1;
        buffer_add_text(&dump->text, text + is_first);
        is_first = false;
    }
    return integers_ended(at) ? 0 : error_fail(err, "not a list of locations: %.100s", stack);
}

/* Not by printf: five of each of 80,000 sites. */
static void add_number(struct dump *dump, char separator, int64_t number) {
    enum { DIGITS_MAX = 20 };
    char text[DIGITS_MAX + 2], *first = text + sizeof text;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        *--first = (char)('0' + rest % 10);
    } while (rest /= 10);
    if (number < 0) *--first = '-';
    *--first = separator;
    buffer_add(&dump->text, first, (size_t)(text + sizeof text - first));
}

static void add_numbers(struct dump *dump, sqlite3_stmt *row, int first, char separator) {
    for (int i = first; i < sqlite3_column_count(row); i++)
        add_number(dump, separator, sqlite3_column_int64(row, i));
}

static int add_plain(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    (void)err;
    buffer_add_text(&dump->text, db_text(row, 0));
    add_numbers(dump, row, 1, '\t');
    buffer_add_char(&dump->text, '\n');
    return 0;
}

static int add_lock(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    (void)err;
    buffer_add_text(&dump->text, db_text(row, 0));
    add_numbers(dump, row, 2, '\t');
    buffer_add_char(&dump->text, '\n');
    return 0;
}

/* With the caller at the end. */
static int add_with_caller(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    buffer_add_text(&dump->text, db_text(row, 0));
    add_numbers(dump, row, 2, '\t');
    buffer_add_char(&dump->text, '\t');
    if (add_stack(dump, db_text(row, 1), err) < 0) return -1;
    buffer_add_char(&dump->text, '\n');
    return 0;
}

/* A comment to readers that do not know it: the columns of the row, separated by tabs. */
static int add_fields(struct dump *dump, const char *what, sqlite3_stmt *row) {
    int count = sqlite3_column_count(row);
    for (int i = 0; i < count; i++) {
        const char *text = db_text(row, i);
        if (text[strcspn(text, "\t\n")]) return 0; /* would not be one field */
    }
    buffer_printf(&dump->text, "# %s: ", what);
    for (int i = 0; i < count; i++)
        buffer_printf(&dump->text, "%s%c", db_text(row, i), i + 1 < count ? '\t' : '\n');
    return 0;
}

/* "# object: ADDRESS KIND IDENTITY NAME", so that a lock or cell keeps its name and its history where the dump is read again. */
static int add_object(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    (void)err;
    return add_fields(dump, "object", row);
}

/* "# frame: ADDRESS FUNCTION SYSTEM-NAME FILE LINE START-LINE", so that callers keep their names without the binary. */
static int add_frame(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    (void)err;
    return add_fields(dump, "frame", row);
}

/* ---- headers ---- */

/* What all dumps say of a kind. */
struct header {
    long long sample_n, sample_bytes, dropped, truncated, total_allocs;
    bool lock_callers;
};

static int read_header(struct dump *dump, const char *kind, struct header *header, struct error *err) {
    sqlite3_stmt *row = db_prepare(dump->db, embedded_text("export/dumps/dump_header"), err);
    if (!row) return -1;
    dump->kind = kind;
    db_bind_int(row, ":run", dump->run_id);
    db_bind_text(row, ":kind", kind);
    timespan_bind(row, dump->span);
    if (db_step(dump->db, row, err) < 0) return -1;
    *header = (struct header){.sample_n = sqlite3_column_int64(row, 0),
                              .dropped = sqlite3_column_int64(row, 1),
                              .truncated = sqlite3_column_int64(row, 2),
                              .total_allocs = sqlite3_column_int64(row, 3),
                              .lock_callers = sqlite3_column_int(row, 4),
                              .sample_bytes = sqlite3_column_int64(row, 5)};
    sqlite3_reset(row);
    return 0;
}

static void add_header(struct dump *dump, const struct header *header) {
    buffer_printf(&dump->text, "# sample_n: %lld\n", header->sample_n);
    if (header->sample_bytes > 1) buffer_printf(&dump->text, "# sample_bytes: %lld\n", header->sample_bytes);
    if (header->dropped)
        buffer_printf(&dump->text, "# WARNING: %lld samples dropped (rebuild with `clear profile --profile-max=N`)\n",
                      header->dropped);
    /* No warning: the figures are whole, only callers are missing. */
    if (header->truncated) buffer_printf(&dump->text, "# truncated_stacks: %lld\n", header->truncated);
}

/* ---- files ---- */

static int pass_on(struct dump *dump, size_t least, struct error *err) {
    if (dump->text.size < least) return 0;
    int code = file_write(&dump->file, dump->text.data, dump->text.size, err);
    buffer_clear(&dump->text);
    return code;
}

static int write_lines(struct dump *dump, const char *query, int (*add)(struct dump *, sqlite3_stmt *, struct error *),
                       struct error *err) {
    sqlite3_stmt *rows = db_prepare(dump->db, embedded_text(query), err);
    if (!rows) return -1;
    db_bind_int(rows, ":run", dump->run_id);
    if (sqlite3_bind_parameter_index(rows, ":kind")) db_bind_text(rows, ":kind", dump->kind);
    if (sqlite3_bind_parameter_index(rows, ":from")) timespan_bind(rows, dump->span);
    int code;
    while ((code = db_step(dump->db, rows, err)) == 1)
        if (add(dump, rows, err) || pass_on(dump, CHUNK, err)) {
            sqlite3_reset(rows);
            return -1;
        }
    return code ? -1 : pass_on(dump, 0, err);
}

static int finish(struct dump *dump, int code, struct error *err) {
    if (code == 0)
        code = file_publish(&dump->file, err);
    else
        file_abandon(&dump->file);
    walk_end(&dump->traces);
    buffer_free(&dump->text);
    id_table_free(&dump->addresses);
    buffer_free(&dump->address_texts);
    return code;
}

static int begin(struct dump *dump, struct db *db, int64_t run_id, const struct timespan *span, const char *path,
                 struct error *err) {
    *dump = (struct dump){.db = db, .run_id = run_id, .span = span};
    return file_open(&dump->file, path, false, err);
}

/* ---- allocation sites: all processes together, one a stack ---- */

/* The sums of a stack; live_* count in windows before the span, too. */
enum site_column {
    TRACE,
    IS_COUNTED,
    ALLOC_COUNT,
    ALLOC_BYTES,
    FREE_COUNT,
    FREE_BYTES,
    LIVE_COUNT,
    LIVE_BYTES,
    COLUMNS
};

struct site_sums {
    struct sums sums;
    bool is_counted; /* the profile that is read: else what it left in use counts alone */
};

static int add_row(void *context, int64_t trace_id, int64_t label_set_id, const int64_t *figures, struct error *err) {
    struct site_sums *sites = context;
    (void)label_set_id;
    int64_t row[COLUMNS] = {
        [TRACE] = trace_id, [LIVE_COUNT] = figures[HEAP_INUSE_COUNT], [LIVE_BYTES] = figures[HEAP_INUSE_BYTES]};
    if (sites->is_counted) {
        row[IS_COUNTED] = 1;
        row[ALLOC_COUNT] = figures[HEAP_ALLOC_COUNT];
        row[ALLOC_BYTES] = figures[HEAP_ALLOC_BYTES];
        row[FREE_COUNT] = figures[HEAP_FREE_COUNT];
        row[FREE_BYTES] = figures[HEAP_FREE_BYTES];
    }
    return sums_add(&sites->sums, row) ? error_fail(err, "a sum of allocations is larger than 2^63 - 1") : 0;
}

static int sum_sites(struct dump *dump, struct site_sums *sites, struct error *err) {
    enum { ID, IS_COUNTED_COLUMN = 3 }; /* of export/kind_profiles.sql */
    struct heap_rows rows = {0};
    sqlite3_stmt *profile = db_prepare(dump->db, embedded_text("export/kind_profiles.sql"), err);
    if (!profile) return -1;
    db_bind_int(profile, ":run", dump->run_id);
    kind_bind(profile, dump->kind);
    timespan_bind(profile, dump->span);
    int code;
    while ((code = db_step(dump->db, profile, err)) == 1) {
        sites->is_counted = sqlite3_column_int(profile, IS_COUNTED_COLUMN);
        if (heap_rows_read(&rows, dump->db, sqlite3_column_int64(profile, ID), add_row, sites, err) == 0) continue;
        sqlite3_reset(profile);
        code = -1;
        break;
    }
    heap_rows_free(&rows);
    return code;
}

static int add_site(struct dump *dump, const int64_t *site, struct error *err) {
    if (!site[TRACE])
        buffer_add_char(&dump->text, '-');
    else if (walk_to_row(dump->db, &dump->traces, "SELECT id, stack FROM traces WHERE id >= :first ORDER BY id",
                         "trace", site[TRACE], err) < 0 ||
             add_stack(dump, db_text(dump->traces.at, 1), err) < 0)
        return -1;
    for (int i = ALLOC_COUNT; i <= FREE_BYTES; i++)
        add_number(dump, ' ', site[i]);
    add_number(dump, ' ', site[LIVE_BYTES]);
    buffer_add_char(&dump->text, '\n');
    return pass_on(dump, CHUNK, err);
}

struct placed_site {
    int64_t place;
    const int64_t *site;
};

static int compare_places(const void *one, const void *other) {
    const struct placed_site *a = one, *b = other;
    return (a->place > b->place) - (a->place < b->place);
}

/* In the order of the run's other exports. A stack that only windows before the span have is listed if it has live blocks. */
static int write_sites(struct dump *dump, const struct sums *sums, struct error *err) {
    struct run_places places;
    struct placed_site *sites = xcalloc(sums->count + 1, sizeof *sites);
    int code = run_places_read(&places, dump->db, dump->run_id, err);
    for (size_t i = 0; i < sums->count; i++) {
        const int64_t *site = sums->cells + i * sums->width;
        sites[i] = (struct placed_site){run_places_find(&places, RUN_PLACE_TRACE, site[TRACE]), site};
    }
    qsort(sites, sums->count, sizeof *sites, compare_places);
    for (size_t i = 0; code == 0 && i < sums->count; i++)
        if (sites[i].site[IS_COUNTED] || sites[i].site[LIVE_COUNT]) code = add_site(dump, sites[i].site, err);
    run_places_free(&places);
    free(sites);
    return code ? -1 : pass_on(dump, 0, err);
}

static int dump_allocations(struct db *db, int64_t run_id, const struct timespan *span, const char *path,
                            struct error *err) {
    struct dump dump;
    struct header header;
    struct site_sums sites = {{0}, false};
    sums_init(&sites.sums, 1, COLUMNS - 1, UINT64_C(1) << IS_COUNTED);
    if (begin(&dump, db, run_id, span, path, err) < 0) return -1;
    int code = read_header(&dump, "heap", &header, err);
    if (code == 0) {
        buffer_printf(&dump.text,
                      "# alloc-profile v2 (multi-frame, comma-separated leaf-first)\n# total_allocs: %lld\n",
                      header.total_allocs);
        add_header(&dump, &header);
        buffer_add_text(&dump.text, "# addrs alloc_count alloc_bytes free_count free_bytes live_bytes\n");
        code = sum_sites(&dump, &sites, err);
    }
    if (code == 0) code = write_sites(&dump, &sites.sums, err);
    sums_free(&sites.sums);
    return finish(&dump, code, err);
}

static int dump_locks(struct db *db, int64_t run_id, const struct timespan *span, const char *path, struct error *err) {
    struct dump dump;
    struct header header;
    if (begin(&dump, db, run_id, span, path, err) < 0) return -1;
    int code = read_header(&dump, "lock", &header, err);
    if (code == 0) {
        buffer_printf(&dump.text, "# lock-profile v%d\n", header.lock_callers ? 3 : 2);
        add_header(&dump, &header);
        code = write_lines(&dump, "export/dumps/locks_objects", add_object, err);
    }
    if (code == 0 && header.lock_callers) code = write_lines(&dump, "export/dumps/caller_frames", add_frame, err);
    if (code == 0) {
        buffer_add_text(&dump.text,
                        "# addr\tacquires\tcontended\ttotal_wait_ns\tmax_wait_ns\ttotal_hold_ns\tmax_hold_ns"
                        "\tread_acquires\tread_contended\tread_total_wait_ns\tread_max_wait_ns");
        buffer_add_text(&dump.text, header.lock_callers ? "\tcaller_trace\n" : "\n");
        code = write_lines(&dump, "export/dumps/locks_txt", header.lock_callers ? add_with_caller : add_lock, err);
    }
    return finish(&dump, code, err);
}

static int dump_cells(struct db *db, int64_t run_id, const struct timespan *span, const char *path, struct error *err) {
    struct dump dump;
    struct header header;
    if (begin(&dump, db, run_id, span, path, err) < 0) return -1;
    int code = read_header(&dump, "mvcc", &header, err);
    if (code == 0) {
        buffer_add_text(&dump.text, "# mvcc-profile v2\n");
        add_header(&dump, &header);
        code = write_lines(&dump, "export/dumps/cells_objects", add_object, err);
    }
    if (code == 0) code = write_lines(&dump, "export/dumps/caller_frames", add_frame, err);
    if (code == 0) {
        buffer_add_text(&dump.text, "# addr\tstruct_size\treads\tcommits\tretries\tupdate_failures\tmulti_commits"
                                    "\tcaller_trace\n");
        code = write_lines(&dump, "export/dumps/mvcc_txt", add_with_caller, err);
    }
    return finish(&dump, code, err);
}

static int dump_channels(struct db *db, int64_t run_id, const struct timespan *span, const char *path,
                         struct error *err) {
    struct dump dump;
    struct header header;
    if (begin(&dump, db, run_id, span, path, err) < 0) return -1;
    int code = read_header(&dump, "channels", &header, err);
    if (code == 0) {
        buffer_add_text(&dump.text, "# channel-profile v1\n");
        add_header(&dump, &header);
        buffer_add_text(&dump.text, "# id\tpushes\tpops\tpush_blocked\tpop_blocked\tmax_depth\tcapacity\n");
        code = write_lines(&dump, "export/dumps/channels_txt", add_plain, err);
    }
    return finish(&dump, code, err);
}

/* ---- fibers ---- */

static int add_text_line(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    (void)err;
    buffer_add_text(&dump->text, db_text(row, 0));
    buffer_add_char(&dump->text, '\n');
    return 0;
}

static int dump_fibers(struct db *db, int64_t run_id, const struct timespan *span, const char *path,
                       struct error *err) {
    struct dump dump;
    struct header header;
    if (begin(&dump, db, run_id, span, path, err) < 0) return -1;
    int code = read_header(&dump, "fibers", &header, err);
    if (code == 0) {
        buffer_add_text(&dump.text, "# fiber-profile v1\n");
        add_header(&dump, &header);
        code = write_lines(&dump, "export/fibers_txt.sql", add_text_line, err);
    }
    return finish(&dump, code, err);
}

/* ---- tools ---- */

/* "4,812,330,114" and "0.71", as perf prints them; what is not counted says so. */
static int add_counter(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    char number[64];
    double value = sqlite3_column_double(row, 1);
    const char *unit = db_text(row, 2);
    (void)err;
    bool is_count = strcmp(unit, "count") == 0;
    if (sqlite3_column_type(row, 1) == SQLITE_NULL)
        snprintf(number, sizeof number, "<not supported>");
    else if (is_count && value >= 0 && value < 9e18)
        snprintf(number, sizeof number, "%s", units_count((int64_t)value).text);
    else
        snprintf(number, sizeof number, "%.2f", value);
    buffer_printf(&dump->text, "%18s %-4s %s\n", number, is_count ? "" : unit, db_text(row, 0));
    return 0;
}

static int read_run(struct dump *dump, struct buffer *command, double *seconds, struct error *err) {
    sqlite3_stmt *row = db_prepare(dump->db, "SELECT command, duration_ns FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", dump->run_id);
    int code = db_step(dump->db, row, err);
    if (code < 0) return -1;
    buffer_add_text(command, code ? db_text(row, 0) : "");
    *seconds = code ? (double)sqlite3_column_int64(row, 1) / 1e9 : 0;
    sqlite3_reset(row);
    return 0;
}

static int dump_counters(struct db *db, int64_t run_id, const struct timespan *span, const char *path,
                         struct error *err) {
    struct dump dump;
    struct buffer command = {0};
    double seconds = 0;
    if (begin(&dump, db, run_id, span, path, err) < 0) return -1;
    int code = read_run(&dump, &command, &seconds, err);
    if (code == 0) {
        buffer_printf(&dump.text, " Performance counter stats for '%s':\n\n", buffer_text(&command));
        code = write_lines(&dump, "export/dumps/perf_stat_txt", add_counter, err);
        buffer_printf(&dump.text, "\n%18.9f seconds time elapsed\n", seconds);
        if (code == 0) code = file_write(&dump.file, dump.text.data, dump.text.size, err);
    }
    buffer_free(&command);
    return finish(&dump, code, err);
}

/* percent, seconds, microseconds a call, calls, errors, name */
static int add_syscall(struct dump *dump, sqlite3_stmt *row, struct error *err) {
    long long errors = sqlite3_column_int64(row, 4);
    char text[24] = "";
    (void)err;
    if (errors) snprintf(text, sizeof text, "%lld", errors);
    buffer_printf(&dump->text, "%6.2f %11.6f %11lld %9lld %9s %s\n", sqlite3_column_double(row, 0),
                  sqlite3_column_double(row, 1), (long long)sqlite3_column_int64(row, 2),
                  (long long)sqlite3_column_int64(row, 3), text, db_text(row, 5));
    return 0;
}

static int dump_syscalls(struct db *db, int64_t run_id, const struct timespan *span, const char *path,
                         struct error *err) {
    static const char rule[] = "------ ----------- ----------- --------- --------- ----------------\n";
    struct dump dump;
    if (begin(&dump, db, run_id, span, path, err) < 0) return -1;
    buffer_printf(&dump.text, "%% time     seconds  usecs/call     calls    errors syscall\n%s", rule);
    int code = write_lines(&dump, "export/dumps/syscalls_txt", add_syscall, err);
    buffer_add_text(&dump.text, rule);
    if (code == 0) code = write_lines(&dump, "export/dumps/syscalls_total", add_syscall, err);
    return finish(&dump, code, err);
}

const struct dump_format dump_formats[] = {
    {"alloc.txt", "heap", dump_allocations},
    {"locks.txt", "lock", dump_locks},
    {"mvcc.txt", "mvcc", dump_cells},
    {"channels.txt", "channels", dump_channels},
    {"fibers.txt", "fibers", dump_fibers},
    {"perf-stat.txt", "counters", dump_counters},
    {"syscalls.txt", "syscalls", dump_syscalls},
    {0},
};

int dump_run(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
             struct error *err) {
    static const struct {
        const char *kind;
        int (*dump)(struct db *, int64_t, const struct timespan *, const char *, struct error *);
    } dumps[] = {{"heap", dump_allocations}, {"lock", dump_locks}};
    struct buffer known = {0};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        if (strcmp(dumps[i].kind, kind) == 0) {
            buffer_free(&known);
            return dumps[i].dump(db, run_id, span, path, err);
        }
        buffer_printf(&known, "%s%s", known.size ? ", " : "", dumps[i].kind);
    }
    error_usage(err, "there is no text dump of kind %s: %s", kind, buffer_text(&known));
    buffer_free(&known);
    return -1;
}
