/* fiber_dump.c: fibers.txt, which is "KEY: VALUE" lines, a table of schedulers, and a table of task sites; and the
 * markers in transpiled.zig that have the place of a task site in the source. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "ingest/read/dumps/clear_dumps.h"
#include "schema/schema.h"

/* ---- totals ------------------------------------------------------------------------------------------------------ */

enum { TOTAL_FIBERS, SHORT_FIBERS, VERY_SHORT_FIBERS, TOTAL_LIFETIME, MAX_LIFETIME, TOTALS };

static int insert_totals(struct dump_reader *dump, const int64_t totals[TOTALS], struct error *err) {
    sqlite3_stmt *insert = db_prepare(dump->ingest->db,
                                      "INSERT INTO fibers(profile_id, total_fibers, short_fibers, very_short_fibers,"
                                      " total_lifetime_ns, max_lifetime_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                                      err);
    if (!insert) return -1;
    sqlite3_bind_int64(insert, 1, dump->ingest->profile_id);
    for (int i = 0; i < TOTALS; i++)
        sqlite3_bind_int64(insert, i + 2, totals[i]);
    ingest_count_row(dump->ingest);
    return db_run(dump->ingest->db, insert, err);
}

static int read_total(const struct dump_reader *dump, int64_t totals[TOTALS], struct error *err) {
    static const char *const names[TOTALS] = {
        [TOTAL_FIBERS] = "total_fibers:",
        [SHORT_FIBERS] = "short_fibers_under_1ms:",
        [VERY_SHORT_FIBERS] = "vshort_fibers_under_10us:",
        [TOTAL_LIFETIME] = "total_lifetime_ns:",
        [MAX_LIFETIME] = "max_lifetime_ns:",
    };
    struct span line = span_trim(span_of_line(&dump->lines));
    for (int i = 0; i < TOTALS; i++)
        if (span_take(&line, names[i])) return dump_number(dump, span_trim(line), &totals[i], err);
    return dump_expected(dump, line, "a line such as total_fibers: N", err);
}

/* ---- schedulers and task sites ----------------------------------------------------------------------------------- */

enum { WORDS_MAX = 9 };

/* Splits the row into words; it must have `least` to `most` of them. */
static int split(const struct dump_reader *dump, struct span words[WORDS_MAX], size_t least, size_t most,
                 struct error *err) {
    struct span line = span_trim(span_of_line(&dump->lines)), start = line;
    size_t count = 0;
    for (; span_size(line); count++) {
        struct span word = span_word(&line);
        if (count == most) return dump_expected(dump, word, "the end of the row", err);
        words[count] = word;
    }
    if (count < least)
        return input_fail_line(err, &dump->lines, span_column(&dump->lines, start.at),
                               "expected %zu columns, found %zu", most, count);
    for (; count < most; count++)
        words[count] = (struct span){start.end, start.end};
    return 0;
}

static int read_numbers(const struct dump_reader *dump, const struct span *words, size_t count, int64_t *numbers,
                        struct error *err) {
    for (size_t i = 0; i < count; i++)
        if (dump_number(dump, words[i], &numbers[i], err) != 0) return -1;
    return 0;
}

static int check_new(const struct dump_reader *dump, int64_t id, struct span word, struct map *seen,
                     struct error *err) {
    bool added;
    map_put(seen, &id, sizeof id, &added);
    return added ? 0 : dump_expected(dump, word, "a number that is not in an earlier row", err);
}

/* 1: the row is broken, as `err` says; -1: no row can be stored. */
static int read_scheduler(struct dump_reader *dump, struct map *seen, struct error *err) {
    struct span words[WORDS_MAX];
    int64_t numbers[2];
    if (split(dump, words, 2, 2, err) != 0 || read_numbers(dump, words, 2, numbers, err) != 0 ||
        check_new(dump, numbers[0], words[0], seen, err) != 0)
        return 1;
    sqlite3_stmt *insert =
        db_prepare(dump->ingest->db, "INSERT INTO schedulers(profile_id, scheduler, fibers) VALUES (?1, ?2, ?3)", err);
    if (!insert) return -1;
    sqlite3_bind_int64(insert, 1, dump->ingest->profile_id);
    sqlite3_bind_int64(insert, 2, numbers[0]);
    sqlite3_bind_int64(insert, 3, numbers[1]);
    ingest_count_row(dump->ingest);
    return db_run(dump->ingest->db, insert, err);
}

/* "0:90,1:10" as {"0":90,"1":10}; "-" and nothing are {}. */
static int read_spread(const struct dump_reader *dump, struct span word, struct buffer *json, struct error *err) {
    buffer_clear(json);
    buffer_add_char(json, '{');
    struct span rest = word, item;
    if (span_size(word) == 0 || span_is(word, "-")) rest.at = NULL;
    while (span_field(&rest, ',', &item)) {
        struct span runs = item, scheduler;
        int64_t number, count;
        if (!span_find(item, ":")) return dump_expected(dump, item, "SCHEDULER:RUNS", err);
        span_field(&runs, ':', &scheduler);
        if (dump_number(dump, scheduler, &number, err) != 0 || dump_number(dump, runs, &count, err) != 0) return -1;
        buffer_printf(json, "%s\"%" PRId64 "\":%" PRId64, json->size > 1 ? "," : "", number, count);
    }
    buffer_add_char(json, '}');
    return 0;
}

/* site spawns runs exits total_lifetime_ns max_lifetime_ns dispatch form schedulers */
static int insert_site(struct dump_reader *dump, const int64_t numbers[6], const struct span words[WORDS_MAX],
                       const char *schedulers, struct error *err) {
    sqlite3_stmt *insert = db_prepare(dump->ingest->db, embedded_text("ingest/fiber_dump/task_site_dump"), err);
    if (!insert) return -1;
    sqlite3_bind_int64(insert, 1, dump->ingest->profile_id);
    for (int i = 0; i < 6; i++)
        sqlite3_bind_int64(insert, i + 2, numbers[i]);
    sqlite3_bind_text(insert, 8, span_copy(words[6], &dump->arena), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(insert, 9, span_copy(words[7], &dump->arena), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(insert, 10, schedulers, -1, SQLITE_TRANSIENT);
    ingest_count_row(dump->ingest);
    return db_run(dump->ingest->db, insert, err);
}

static int read_site(struct dump_reader *dump, struct map *seen, struct error *err) {
    struct span words[WORDS_MAX];
    int64_t numbers[6];
    struct buffer schedulers = {0};
    int code = 1;
    if (split(dump, words, 6, WORDS_MAX, err) == 0 && read_numbers(dump, words, 6, numbers, err) == 0 &&
        read_spread(dump, words[8], &schedulers, err) == 0 && check_new(dump, numbers[0], words[0], seen, err) == 0)
        code = insert_site(dump, numbers, words, schedulers.data, err);
    buffer_free(&schedulers);
    return code;
}

enum section { SECTION_TOTALS, SECTION_SCHEDULERS, SECTION_SITES };

static void change_section(struct span line, enum section *section) {
    line.at++;
    line = span_trim(line);
    if (span_starts(line, "per-scheduler")) *section = SECTION_SCHEDULERS;
    if (span_starts(line, "per-site")) *section = SECTION_SITES;
}

int dump_read_fibers(struct dump_reader *dump, struct error *err) {
    enum section section = SECTION_TOTALS;
    int64_t totals[TOTALS] = {0};
    struct map schedulers = {0}, sites = {0}; /* that have a row */
    int code = dump_begin_profile(dump, "fibers", err);
    while (code == 0 && input_next_line(&dump->lines)) {
        struct span line = span_trim(span_of_line(&dump->lines));
        if (span_size(line) == 0) continue;
        if (*line.at == '#')
            change_section(line, &section);
        else if (section == SECTION_TOTALS)
            code = read_total(dump, totals, err) ? 1 : 0;
        else
            code =
                section == SECTION_SCHEDULERS ? read_scheduler(dump, &schedulers, err) : read_site(dump, &sites, err);
        if (code == 1) code = ingest_broken(dump->ingest, err);
    }
    map_free(&schedulers);
    map_free(&sites);
    return code == 0 ? insert_totals(dump, totals, err) : -1;
}

/* ---- markers in transpiled.zig ----------------------------------------------------------------------------------- */

/* "id=4 kind=BG line=8 column=5 dispatch=local form=fsm", in any order; what is not known is skipped. */
struct marker {
    int64_t id, line, column;
    struct span kind, dispatch, form;
};

static int read_marker(const struct dump_reader *dump, struct span text, struct marker *marker, struct error *err) {
    *marker = (struct marker){.id = -1};
    struct span word;
    while (span_size(word = span_word(&text))) {
        int64_t *number = NULL;
        if (span_take(&word, "id=")) number = &marker->id;
        if (span_take(&word, "line=")) number = &marker->line;
        if (span_take(&word, "column=")) number = &marker->column;
        if (number && dump_number(dump, word, number, err) != 0) return -1;
        if (span_take(&word, "kind=")) marker->kind = word;
        if (span_take(&word, "dispatch=")) marker->dispatch = word;
        if (span_take(&word, "form=")) marker->form = word;
    }
    return marker->id >= 0 ? 0 : dump_expected(dump, text, "id=N in the marker", err);
}

static int store_marker(struct dump_reader *dump, const struct marker *marker, struct error *err) {
    sqlite3_stmt *upsert = db_prepare(dump->ingest->db, embedded_text("ingest/fiber_dump/task_site_marker"), err);
    if (!upsert) return -1;
    sqlite3_bind_int64(upsert, 1, dump->ingest->profile_id);
    sqlite3_bind_int64(upsert, 2, marker->id);
    sqlite3_bind_text(upsert, 3, span_copy(marker->kind, &dump->arena), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(upsert, 4, marker->line);
    sqlite3_bind_int64(upsert, 5, marker->column);
    sqlite3_bind_text(upsert, 6, span_copy(marker->dispatch, &dump->arena), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(upsert, 7, span_copy(marker->form, &dump->arena), -1, SQLITE_TRANSIENT);
    return db_run(dump->ingest->db, upsert, err);
}

int dump_read_task_sites(struct dump_reader *dump, bool has_fibers, struct error *err) {
    static const char start[] = "// CLEAR_PROFILE_TASK_SITE ";
    while (input_next_line(&dump->lines)) {
        struct span line = span_trim(span_of_line(&dump->lines));
        struct marker marker;
        if (!span_take(&line, start)) continue;
        if (read_marker(dump, line, &marker, err) != 0) {
            if (ingest_broken(dump->ingest, err) != 0) return -1;
            continue;
        }
        if (!has_fibers && dump_begin_profile(dump, "fibers", err) != 0) return -1;
        has_fibers = true;
        if (store_marker(dump, &marker, err) != 0) return -1;
    }
    return 0;
}
