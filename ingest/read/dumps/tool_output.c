/* tool_output.c: the output of `strace -c` and `perf stat`. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/dumps/clear_dumps.h"

/* ---- strace -c --------------------------------------------------------------------------------------------------- */

/* "0.000123" in nanoseconds, exactly, which a double is not for long runs. */
static int read_seconds(const struct dump_reader *dump, struct span word, int64_t *ns, struct error *err) {
    struct span rest = word;
    uint64_t seconds = 0, fraction = 0;
    enum number state = span_unsigned(&rest, 10, &seconds);
    if (state != NUMBER_OK || (!span_take(&rest, ".") && !span_take(&rest, ",")))
        return dump_expected(dump, word, "seconds (0.000000)", err);
    size_t digits = span_size(rest);
    if (digits > 9 || span_unsigned(&rest, 10, &fraction) != NUMBER_OK || span_size(rest))
        return dump_expected(dump, word, "seconds with at most nine decimals", err);
    for (; digits < 9; digits++)
        fraction *= 10;
    uint64_t sum;
    if (__builtin_mul_overflow(seconds, UINT64_C(1000000000), &sum) || __builtin_add_overflow(sum, fraction, &sum) ||
        sum > INT64_MAX)
        return dump_expected(dump, word, "fewer seconds than 63 bits of nanoseconds", err);
    *ns = (int64_t)sum;
    return 0;
}

struct syscall_row {
    struct span name;
    int64_t calls, errors, time_ns;
};

/* "% time, seconds, usecs/call, calls, [errors,] syscall". The name is converted to valid UTF-8 first, because it is
 * the key. */
static int read_syscall(struct dump_reader *dump, struct syscall_row *row, struct error *err) {
    struct span line = span_trim(span_of_line(&dump->lines)), start = line, words[6];
    size_t count = 0;
    for (; span_size(line); count++) {
        struct span word = span_word(&line);
        if (count == 6) return dump_expected(dump, word, "the end of the row", err);
        words[count] = word;
    }
    if (count < 5)
        return input_fail_line(err, &dump->lines, span_column(&dump->lines, start.at),
                               "expected 5 or 6 columns, found %zu", count);
    const char *name = span_copy(words[count - 1], &dump->arena);
    *row = (struct syscall_row){.name = {name, name + strlen(name)}};
    if (read_seconds(dump, words[1], &row->time_ns, err) != 0 || dump_number(dump, words[3], &row->calls, err) != 0)
        return -1;
    return count == 6 ? dump_number(dump, words[4], &row->errors, err) : 0;
}

/* A file may have a table for each process, so rows of one name are summed. */
struct syscall_sums {
    struct map names; /* -> index into rows */
    struct syscall_row *rows;
};

static int sum_syscall(struct dump_reader *dump, struct syscall_sums *sums, const struct syscall_row *row,
                       struct error *err) {
    bool added;
    size_t count = sums->names.count;
    struct map_entry *entry = map_put(&sums->names, row->name.at, span_size(row->name), &added);
    if (added) {
        entry->value = (int64_t)count;
        sums->rows = xrealloc(sums->rows, (count + 1) * sizeof *sums->rows);
        sums->rows[count] = (struct syscall_row){.name = row->name};
    }
    struct syscall_row *sum = &sums->rows[entry->value];
    if (__builtin_add_overflow(sum->calls, row->calls, &sum->calls) ||
        __builtin_add_overflow(sum->errors, row->errors, &sum->errors) ||
        __builtin_add_overflow(sum->time_ns, row->time_ns, &sum->time_ns))
        return input_fail_line(err, &dump->lines, 0, "the sums of syscall %s exceed 63 bits", row->name.at);
    return 0;
}

static int store_syscall(struct dump_reader *dump, const struct syscall_row *row, struct error *err) {
    sqlite3_stmt *insert = db_prepare(dump->ingest->db,
                                      "INSERT INTO syscalls(profile_id, name, calls, errors, time_ns)"
                                      " VALUES (?1, ?2, ?3, ?4, ?5)",
                                      err);
    if (!insert) return -1;
    sqlite3_bind_int64(insert, 1, dump->ingest->profile_id);
    sqlite3_bind_text(insert, 2, row->name.at, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(insert, 3, row->calls);
    sqlite3_bind_int64(insert, 4, row->errors);
    sqlite3_bind_int64(insert, 5, row->time_ns);
    ingest_count_row(dump->ingest);
    return db_run(dump->ingest->db, insert, err);
}

static int sum_syscalls(struct dump_reader *dump, struct syscall_sums *sums, struct error *err) {
    while (dump_next_row(dump)) {
        struct span line = span_trim(span_of_line(&dump->lines));
        struct syscall_row row;
        if (*line.at == '%' || *line.at == '-') continue; /* names of columns, rules */
        int code = read_syscall(dump, &row, err);
        if (code == 0 && !span_is(row.name, "total")) code = sum_syscall(dump, sums, &row, err);
        if (code != 0 && ingest_broken(dump->ingest, err) != 0) return -1;
    }
    return 0;
}

int dump_read_syscalls(struct dump_reader *dump, struct error *err) {
    struct syscall_sums sums = {.rows = NULL};
    int code = dump_begin_profile(dump, "syscalls", err);
    if (code == 0) code = sum_syscalls(dump, &sums, err);
    for (size_t i = 0; i < sums.names.count && code == 0; i++)
        code = store_syscall(dump, &sums.rows[i], err);
    map_free(&sums.names);
    free(sums.rows);
    return code;
}

/* ---- perf stat --------------------------------------------------------------------------------------------------- */

struct counter_row {
    struct span name, unit; /* the unit is empty for plain counts */
    bool is_counted;
    double value;
};

/* "4,812,330,114" or "1,234.56". */
static int read_value(const struct dump_reader *dump, struct span word, double *value, struct error *err) {
    char digits[64];
    size_t size = 0;
    for (const char *at = word.at; at < word.end; at++) {
        if (*at == ',') continue;
        if ((*at < '0' || *at > '9') && *at != '.') return dump_expected(dump, word, "a number", err);
        if (size == sizeof digits - 1) return dump_expected(dump, word, "a shorter number", err);
        digits[size++] = *at;
    }
    digits[size] = '\0';
    char *end;
    *value = strtod(digits, &end);
    return *end || size == 0 ? dump_expected(dump, word, "a number", err) : 0;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* "VALUE [UNIT] EVENT [# remark] [(scaled)]", "<not supported> EVENT", "SECONDS seconds time elapsed" */
static int read_counter(const struct dump_reader *dump, struct counter_row *row, struct error *err) {
    struct span line = span_trim(span_of_line(&dump->lines));
    const char *remark = span_find(line, "#");
    if (remark) line.end = remark;
    *row = (struct counter_row){.is_counted = *line.at != '<'};
    if (!row->is_counted && !span_take(&line, "<not supported>") && !span_take(&line, "<not counted>"))
        return dump_expected(dump, line, "<not supported>, <not counted> or a number", err);
    if (row->is_counted && read_value(dump, span_word(&line), &row->value, err) != 0) return -1;
    span_skip_blanks(&line);
    struct span rest = span_trim(line), first = span_word(&line);
    if (span_is(first, "seconds")) { /* "seconds time elapsed", "seconds user", "seconds sys" */
        row->name = rest;
        row->unit = first;
        return 0;
    }
    struct span second = span_word(&line);
    bool has_unit = span_size(second) && *second.at != '(';
    row->unit = has_unit ? first : (struct span){first.at, first.at};
    row->name = has_unit ? second : first;
    return span_size(row->name) ? 0 : dump_expected(dump, row->name, "the name of an event", err);
}

static int store_counter(struct dump_reader *dump, const struct counter_row *row, struct error *err) {
    sqlite3_stmt *insert = db_prepare(dump->ingest->db,
                                      "INSERT INTO counters(profile_id, name, value, unit) VALUES (?1, ?2, ?3, ?4)"
                                      " ON CONFLICT (profile_id, name) DO UPDATE SET value = value + excluded.value",
                                      err);
    if (!insert) return -1;
    sqlite3_bind_int64(insert, 1, dump->ingest->profile_id);
    sqlite3_bind_text(insert, 2, span_copy(row->name, &dump->arena), -1, SQLITE_TRANSIENT);
    if (row->is_counted) sqlite3_bind_double(insert, 3, row->value); /* else NULL */
    const char *unit = span_size(row->unit) ? span_copy(row->unit, &dump->arena) : "count";
    sqlite3_bind_text(insert, 4, unit, -1, SQLITE_TRANSIENT);
    ingest_count_row(dump->ingest);
    return db_run(dump->ingest->db, insert, err);
}

/* Whether the line is a row. Sentences such as "Performance counter stats for './ledger':" are not. */
static bool is_counter(struct span line) {
    return is_digit(*line.at) || *line.at == '<';
}

/* A first pass. Sentences become comments and the elapsed time the duration of the profile, which is begun before its
 * rows. */
static int read_facts(struct dump_reader *dump, struct error *err) {
    while (dump_next_row(dump)) {
        struct span line = span_trim(span_of_line(&dump->lines));
        struct counter_row row;
        if (!is_counter(line)) {
            dump_comment(dump, span_copy(line, &dump->arena));
        } else if (read_counter(dump, &row, err) != 0) {
            err->status = ERROR_NONE; /* it is reported when rows are stored */
        } else if (span_is(row.name, "seconds time elapsed") && row.value < 9e9) {
            dump->duration_ns = (int64_t)llround(row.value * 1e9);
        }
    }
    dump->lines = (struct input_lines){.input = dump->input};
    return 0;
}

int dump_read_counters(struct dump_reader *dump, struct error *err) {
    if (read_facts(dump, err) != 0 || dump_begin_profile(dump, "counters", err) != 0) return -1;
    while (dump_next_row(dump)) {
        struct counter_row row;
        if (!is_counter(span_trim(span_of_line(&dump->lines)))) continue;
        if (read_counter(dump, &row, err) != 0) {
            if (ingest_broken(dump->ingest, err) != 0) return -1;
            continue;
        }
        if (store_counter(dump, &row, err) != 0) return -1;
    }
    return 0;
}
