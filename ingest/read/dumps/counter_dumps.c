/* counter_dumps.c: the dumps that are tables: a row is a line, and its columns are separated by tabs or blanks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/dumps/clear_dumps.h"

enum { COLUMNS_MAX = 12 };

struct dump_row {
    struct span columns[COLUMNS_MAX]; /* words of the line; empty where it has fewer */
    size_t count;
    int64_t numbers[COLUMNS_MAX]; /* of the columns that are numbers; 0 where the line has fewer */
    int64_t trace_id;             /* of the column that is a stack */
    uint64_t address;             /* of the column that is one */
};

struct dump_table {
    const char *kind;
    const char *columns;     /* a letter each: 's' stack, 'a' address, 'n' number */
    unsigned counts;         /* bit n: a row may have n columns; versions have different ones */
    const char *counts_text; /* the same for messages */
    int (*add)(struct dump_reader *dump, const struct dump_row *row, struct error *err);
};

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static int read_address(const struct dump_reader *dump, struct span *word, uint64_t *address, struct error *err) {
    struct span digits = *word;
    if (!span_take(&digits, "0x")) return dump_expected(dump, *word, "an address (0x...)", err);
    switch (span_unsigned(&digits, 16, address)) {
    case NUMBER_NONE: return dump_expected(dump, *word, "an address (0x...)", err);
    case NUMBER_TOO_BIG: return dump_expected(dump, *word, "an address of at most 64 bits", err);
    default: word->at = digits.at; return 0;
    }
}

/* "0x1,0x2,0x3", leaf first; "-" for none. */
static int read_stack(struct dump_reader *dump, struct span word, struct error *err) {
    dump->depth = 0;
    if (span_is(word, "-")) return 0;
    struct span rest = word;
    for (;;) {
        if (dump->depth == DUMP_DEPTH_MAX)
            return input_fail_line(err, &dump->lines, span_column(&dump->lines, rest.at),
                                   "a stack of more than %d frames", DUMP_DEPTH_MAX);
        if (read_address(dump, &rest, &dump->stack[dump->depth++], err) != 0) return -1;
        if (span_size(rest) == 0) return 0;
        if (!span_take(&rest, ",")) return dump_expected(dump, rest, "a comma and the next address", err);
    }
}

static int read_column(struct dump_reader *dump, char type, size_t index, struct dump_row *row, struct error *err) {
    struct span word = row->columns[index];
    switch (type) {
    case 's': return read_stack(dump, word, err);
    case 'n': return dump_number(dump, word, &row->numbers[index], err);
    default:
        if (read_address(dump, &word, &row->address, err) != 0) return -1;
        return span_size(word) ? dump_expected(dump, word, "the end of the address", err) : 0;
    }
}

static int split(struct dump_reader *dump, const struct dump_table *table, struct dump_row *row, struct error *err) {
    struct span line = span_trim(span_of_line(&dump->lines)), start = line;
    size_t most = strlen(table->columns);
    *row = (struct dump_row){.count = 0};
    while (span_size(line)) {
        struct span word = span_word(&line);
        if (row->count == most) return dump_expected(dump, word, "the end of the row", err);
        row->columns[row->count++] = word;
    }
    if (table->counts & 1u << row->count) return 0;
    return input_fail_line(err, &dump->lines, span_column(&dump->lines, start.at), "expected %s columns, found %zu",
                           table->counts_text, row->count);
}

static int read_row(struct dump_reader *dump, const struct dump_table *table, struct dump_row *row, struct error *err) {
    if (split(dump, table, row, err) != 0) return -1;
    dump->depth = 0;
    for (size_t i = 0; i < row->count; i++)
        if (read_column(dump, table->columns[i], i, row, err) != 0) return -1;
    return 0;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* addrs alloc_count alloc_bytes free_count free_bytes live_bytes */
static int add_site(struct dump_reader *dump, const struct dump_row *row, struct error *err) {
    const int64_t *number = row->numbers;
    if (number[5] != number[2] - number[4]) dump->disagreeing++;
    const struct ingest_site site = {.trace_id = row->trace_id,
                                     .alloc_count = number[1],
                                     .alloc_bytes = number[2],
                                     .free_count = number[3],
                                     .free_bytes = number[4]};
    return ingest_site(dump->ingest, &site, err);
}

/* The object of an address by the headers of the dump, else by the binary. */
static int64_t find_object(struct dump_reader *dump, const char *what, uint64_t address, const char **kind,
                           struct error *err) {
    const struct map_entry *entry = map_find(&dump->objects, &address, sizeof address);
    if (!entry) return dump_object(dump->names, what, address, err);
    const struct dump_object *object = (const struct dump_object *)(intptr_t)entry->value;
    *kind = object->kind;
    return writer_object(&dump->ingest->writer, what, object->identity, object->name, 0, 0, err);
}

/* addr acquires contended total_wait_ns max_wait_ns total_hold_ns max_hold_ns read_acquires read_contended
 * read_total_wait_ns read_max_wait_ns caller_trace */
static int add_lock(struct dump_reader *dump, const struct dump_row *row, struct error *err) {
    const int64_t *number = row->numbers;
    const char *kind = NULL;
    int64_t object_id = find_object(dump, "lock", row->address, &kind, err);
    const struct ingest_lock lock = {.object_id = object_id,
                                     .kind = kind,
                                     .address = (int64_t)row->address,
                                     .trace_id = row->trace_id,
                                     .acquires = number[1],
                                     .contended = number[2],
                                     .wait_ns = number[3],
                                     .max_wait_ns = number[4],
                                     .hold_ns = number[5],
                                     .max_hold_ns = number[6],
                                     .read_acquires = number[7],
                                     .read_contended = number[8],
                                     .read_wait_ns = number[9],
                                     .read_max_wait_ns = number[10]};
    return lock.object_id < 0 ? -1 : ingest_lock(dump->ingest, &lock, err);
}

/* addr struct_size reads commits retries update_failures multi_commits caller_trace */
static int add_cell(struct dump_reader *dump, const struct dump_row *row, struct error *err) {
    const int64_t *number = row->numbers;
    const char *kind = NULL;
    const struct ingest_cell cell = {.object_id = find_object(dump, "cell", row->address, &kind, err),
                                     .address = (int64_t)row->address,
                                     .trace_id = row->trace_id,
                                     .struct_size = number[1],
                                     .reads = number[2],
                                     .commits = number[3],
                                     .retries = number[4],
                                     .update_failures = number[5],
                                     .multi_commits = number[6]};
    return cell.object_id < 0 ? -1 : ingest_cell(dump->ingest, &cell, err);
}

/* id pushes pops push_blocked pop_blocked max_depth capacity */
static int add_channel(struct dump_reader *dump, const struct dump_row *row, struct error *err) {
    const int64_t *number = row->numbers;
    char *name = xasprintf("channel#%" PRId64, number[0]), *identity = xasprintf("channel:%" PRId64, number[0]);
    const struct ingest_channel channel = {
        .object_id = writer_object(&dump->ingest->writer, "channel", identity, name, 0, 0, err),
        .channel = number[0],
        .pushes = number[1],
        .pops = number[2],
        .push_blocked = number[3],
        .pop_blocked = number[4],
        .max_depth = number[5],
        .capacity = number[6]};
    free(name);
    free(identity);
    return channel.object_id < 0 ? -1 : ingest_channel(dump->ingest, &channel, err);
}

static const struct dump_table tables[] = {
    {"heap", "snnnnn", 1u << 6, "6", add_site},
    {"lock", "annnnnnnnnns", 1u << 7 | 1u << 11 | 1u << 12, "7, 11 or 12", add_lock},
    {"mvcc", "annnnnns", 1u << 6 | 1u << 7 | 1u << 8, "6 to 8", add_cell},
    {"channels", "nnnnnnn", 1u << 6 | 1u << 7, "6 or 7", add_channel},
};

static const struct dump_table *find_table(const char *kind) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].kind, kind) == 0) return &tables[i];
    bug("no dump of kind %s", kind);
}

/* A total that is not the sum of its parts is no reason to refuse a dump, because the parts are stored and not the
 * total. The profile gets a warning. */
static int warn_of_totals(struct dump_reader *dump, struct error *err) {
    if (!dump->disagreeing) return 0;
    sqlite3_stmt *update = db_prepare(dump->ingest->db,
                                      "UPDATE profiles SET comments = json_insert(comments, '$[#]', :text)"
                                      " WHERE id = :profile",
                                      err);
    if (!update) return -1;
    char *text = xasprintf("WARNING: live_bytes is not alloc_bytes - free_bytes in %" PRIu64
                           " rows; alloc_bytes and free_bytes were taken",
                           dump->disagreeing);
    db_bind_text(update, ":text", text);
    db_bind_int(update, ":profile", dump->ingest->profile_id);
    free(text);
    return db_run(dump->ingest->db, update, err);
}

int dump_read_rows(struct dump_reader *dump, const char *kind, struct error *err) {
    const struct dump_table *table = find_table(kind);
    if (dump_begin_profile(dump, kind, err) != 0) return -1;
    while (dump_next_row(dump)) {
        struct dump_row row;
        if (read_row(dump, table, &row, err) != 0) {
            if (ingest_broken(dump->ingest, err) != 0) return -1;
            continue;
        }
        row.trace_id = dump_trace(dump->names, dump->stack, dump->depth, err);
        if (row.trace_id < 0 || table->add(dump, &row, err) != 0) return -1;
    }
    return warn_of_totals(dump, err);
}
