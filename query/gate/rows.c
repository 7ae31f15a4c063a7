#include "query/gate/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/runs/sampling_error.h"
#include "query/sql/saved.h"
#include "schema/schema.h"

static void add_note(struct gate *gate, char *note) {
    gate->notes = xrealloc(gate->notes, (gate->note_count + 1) * sizeof *gate->notes);
    gate->notes[gate->note_count++] = note;
}

/* ---- runs ---- */

enum run_column { UUID, STARTED, LOSSES, UNFINISHED, EXIT_STATUS, EXIT_SIGNAL, PAUSED };

struct gate_ending {
    bool is_unfinished, is_signal, is_paused; /* is_paused: from its start to its end */
    int64_t status;                           /* or the signal */
};

static struct gate_ending ending_of(sqlite3_stmt *row) {
    bool is_signal = sqlite3_column_type(row, EXIT_SIGNAL) != SQLITE_NULL;
    return (struct gate_ending){.is_unfinished = sqlite3_column_int(row, UNFINISHED) != 0,
                                .is_signal = is_signal,
                                .is_paused = sqlite3_column_int(row, PAUSED) != 0,
                                .status = sqlite3_column_int64(row, is_signal ? EXIT_SIGNAL : EXIT_STATUS)};
}

static int read_run(struct gate_run *run, struct gate_ending *ending, struct error *err) {
    struct db *db = run->item.db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("gate/rows/run"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run->item.id);
    int code = db_step(db, row, err);
    if (code == 1) {
        run->uuid = xstrdup(db_text(row, UUID));
        run->started_ns = sqlite3_column_int64(row, STARTED);
        run->has_losses = sqlite3_column_int(row, LOSSES) != 0;
        *ending = ending_of(row);
        sqlite3_reset(row);
    }
    return code == 1 ? 0 : code < 0 ? -1 : error_fail(err, "%s: run %lld is gone", db->path, (long long)run->item.id);
}

/* A program that fails or dies does less work. Its figures are no better for that. */
static bool ends_like_base(const struct gate_ending *endings, size_t old_count, const struct gate_ending *new) {
    for (size_t i = 0; i < old_count; i++)
        if (endings[i].is_signal == new->is_signal && endings[i].status == new->status) return true;
    return false;
}

static void leave_out(struct gate *gate, struct gate_run *run, const struct gate_ending *ending) {
    const char *side = run->side == GATE_OLD ? "the base" : "the new side";
    run->is_left_out = true;
    if (ending->is_unfinished)
        add_note(gate, xasprintf("Run %lld of %s is left out: it is not over, or its end was not seen.",
                                 (long long)run->item.id, side));
    else if (ending->is_paused)
        add_note(gate, xasprintf("Run %lld of %s is left out: its recording was paused all the time.",
                                 (long long)run->item.id, side));
    else
        add_note(gate, xasprintf("Run %lld of %s is left out: it ended %s %lld, as no run of the base did.",
                                 (long long)run->item.id, side, ending->is_signal ? "by signal" : "with exit status",
                                 (long long)ending->status));
}

static int read_runs(struct gate_row_list *list, struct gate *gate, struct error *err) {
    const struct gate_runs *sides = gate->options->sides;
    int code = 0;
    list->old_count = sides[GATE_OLD].runs.count;
    list->run_count = list->old_count + sides[GATE_NEW].runs.count;
    list->runs = xcalloc(list->run_count + 1, sizeof *list->runs);
    struct gate_ending *endings = xcalloc(list->run_count + 1, sizeof *endings);
    for (size_t i = 0; i < list->run_count && code == 0; i++) {
        struct gate_run *run = &list->runs[i];
        run->side = i < list->old_count ? GATE_OLD : GATE_NEW;
        run->item =
            run->side == GATE_OLD ? sides[GATE_OLD].runs.items[i] : sides[GATE_NEW].runs.items[i - list->old_count];
        code = read_run(run, &endings[i], err);
        if (code == 0 && (endings[i].is_unfinished || endings[i].is_paused ||
                          (run->side == GATE_NEW && !ends_like_base(endings, list->old_count, &endings[i]))))
            leave_out(gate, run, &endings[i]);
        gate->counts[run->side] = gate->counts[run->side] || !run->is_left_out;
    }
    free(endings);
    return code;
}

static int read_exactness(const struct gate_row_list *list, struct gate *gate, struct error *err) {
    struct sampling_scale scale;
    for (size_t i = 0; i < list->run_count; i++) {
        const struct run_item *run = &list->runs[i].item;
        if (list->runs[i].is_left_out) continue;
        if (sampling_scale_of(run->db, run->id, "cpu", "cpu", &scale, err)) return -1;
        gate->sample_ns = fmax(gate->sample_ns, scale.variance);
    }
    return 0;
}

static void note_losses(const struct gate_row_list *list, struct gate *gate) {
    size_t lossy = 0;
    for (size_t i = 0; i < list->run_count; i++)
        lossy += !list->runs[i].is_left_out && list->runs[i].has_losses;
    if (lossy)
        add_note(gate, xasprintf("%zu of %zu runs were sampled or lost events: their counts are estimates, and are "
                                 "judged as timed figures are.",
                                 lossy, list->run_count));
}

/* ---- rows ---- */

static struct gate_row *row_of(struct gate_row_list *list, const struct gate_rule *rule, const char *subject) {
    struct buffer key = {0};
    bool added;
    buffer_add(&key, &rule, sizeof rule);
    buffer_add_text(&key, subject);
    struct map_entry *entry = map_put(&list->index, key.data, key.size, &added);
    buffer_free(&key);
    if (!added) return list->rows[entry->value];
    entry->value = (int64_t)list->count;
    struct gate_row *row = xcalloc(1, sizeof *row);
    *row = (struct gate_row){.rule = rule, .subject = xstrdup(subject), .is_timed = rule->is_timed};
    row->values = xcalloc(list->run_count + 1, sizeof *row->values);
    for (size_t i = 0; i < list->run_count; i++)
        row->values[i] = NAN;
    list->rows = xrealloc(list->rows, (list->count + 1) * sizeof *list->rows);
    return list->rows[list->count++] = row;
}

/* The scope of a subject, or of a pattern whose first word is none: the view need not compute the others. NULL: any. free() it. */
static char *scope_of(const char *subject) {
    size_t size = strcspn(subject, " *?[");
    if (!*subject) return xstrdup("run");
    return subject[size] == ' ' ? xasprintf("%.*s", (int)size, subject) : NULL;
}

sqlite3_stmt *gate_series(const char *figure, const char *subject, bool is_one, const struct run_item *run,
                          struct error *err) {
    char *scope = scope_of(subject);
    const char *file = is_one ? "gate/one.sql" : scope ? "gate/rows/series" : "gate/rows/series_of_any";
    sqlite3_stmt *row = db_prepare(run->db, embedded_text(file), err);
    if (row) {
        db_bind_int(row, ":run", run->id);
        db_bind_text(row, ":figure", figure);
        db_bind_text(row, ":subject", subject);
        if (is_one || scope) db_bind_text(row, ":scope", scope ? scope : "");
    }
    free(scope);
    return row;
}

/* 1: the run has a row for that subject, 0: it has none, -1: the error is set. */
static int figure_value(const char *figure, const char *subject, const struct run_item *run, double *value,
                        struct error *err) {
    sqlite3_stmt *row = gate_series(figure, subject, true, run, err);
    int code = row ? db_step(run->db, row, err) : -1;
    if (code == 1 && sqlite3_column_type(row, 1) == SQLITE_NULL) code = 0;
    *value = code == 1 ? sqlite3_column_double(row, 1) : 0;
    if (row) sqlite3_reset(row);
    return code;
}

static int read_figure(struct gate_row_list *list, const struct gate_rule *rule, size_t index, struct error *err) {
    struct db *db = list->runs[index].item.db;
    bool is_one = !strpbrk(rule->subject, "*?[");
    sqlite3_stmt *row = gate_series(rule->figure, rule->subject, is_one, &list->runs[index].item, err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        if (sqlite3_column_type(row, 1) != SQLITE_NULL)
            row_of(list, rule, db_text(row, 0))->values[index] = sqlite3_column_double(row, 1);
    return code;
}

/* A figure of whole runs that is there where what the rule asks for was recorded. Findings have none of their own: those of the heap and of
 * locks need a heap and locks. */
static const char *figure_of_kind(const struct gate_rule *rule) {
    if (strncmp(rule->subject, "finding heap-", 13) == 0) return "alloc_count";
    return strncmp(rule->subject, "finding lock-", 13) == 0 ? "lock_acquires" : rule->figure;
}

static bool has_stand_in(const struct gate_rule *rule) {
    return figure_of_kind(rule) != rule->figure;
}

/* Whether each run recorded the figure at all: the view has a row of the whole run then. Figures that have no such row in any run were
 * recorded in all. */
static int read_recorded(const struct gate_row_list *list, const struct gate_rule *rule, bool *recorded,
                         struct error *err) {
    bool any = false;
    for (size_t i = 0; i < list->run_count; i++) {
        double ignored;
        int code =
            list->runs[i].is_left_out ? 0 : figure_value(figure_of_kind(rule), "", &list->runs[i].item, &ignored, err);
        if (code < 0) return -1;
        recorded[i] = code == 1;
        any = any || recorded[i];
    }
    for (size_t i = 0; i < list->run_count && !any && !has_stand_in(rule); i++)
        recorded[i] = !list->runs[i].is_left_out;
    return 0;
}

static void find_lacks(const struct gate_row_list *list, const bool *recorded, bool lacks[GATE_SIDES]) {
    bool has_runs[GATE_SIDES] = {false}, has[GATE_SIDES] = {false};
    for (size_t i = 0; i < list->run_count; i++) {
        enum gate_side side = list->runs[i].side;
        has_runs[side] = has_runs[side] || !list->runs[i].is_left_out;
        has[side] = has[side] || recorded[i];
    }
    for (int side = 0; side < GATE_SIDES; side++)
        lacks[side] = has_runs[side] && !has[side];
}

static int read_figures(struct gate_row_list *list, const struct gate_rule *rule, bool lacks[GATE_SIDES],
                        struct error *err) {
    size_t first_row = list->count;
    bool *recorded = xcalloc(list->run_count + 1, sizeof *recorded);
    int code = read_recorded(list, rule, recorded, err);
    if (code == 0) find_lacks(list, recorded, lacks);
    for (size_t i = 0; i < list->run_count && code == 0; i++)
        if (recorded[i]) code = read_figure(list, rule, i, err);
    /* What a run that recorded it does not have is 0 there. */
    for (size_t row = first_row; row < list->count; row++)
        for (size_t i = 0; i < list->run_count; i++)
            if (recorded[i] && isnan(list->rows[row]->values[i])) list->rows[row]->values[i] = 0;
    free(recorded);
    return code;
}

/* ---- rows of a query ---- */

/* What is asked for one pair of runs. */
struct pair {
    struct gate_row_list *list; /* NULL: only `wanted` is looked for */
    const struct gate_rule *rule;
    struct run_item items[GATE_SIDES];
    size_t indexes[GATE_SIDES]; /* of the runs; run_count: the value was taken before */
    const char *wanted;         /* a subject, whose new value goes to `value` */
    double value;
};

static int column_called(sqlite3_stmt *statement, const char *name) {
    for (int i = 0; i < sqlite3_column_count(statement); i++)
        if (sqlite3_stricmp(sqlite3_column_name(statement, i), name) == 0) return i;
    return -1;
}

enum { SUBJECT, OLD_VALUE, NEW_VALUE, QUERY_COLUMNS };

static int find_columns(sqlite3_stmt *statement, int columns[QUERY_COLUMNS], const struct gate_rule *rule,
                        struct error *err) {
    static const char *const names[QUERY_COLUMNS] = {"subject", "old", "new"};
    for (int i = 0; i < QUERY_COLUMNS; i++) {
        columns[i] = column_called(statement, names[i]);
        if (columns[i] < 0)
            return error_usage(err, "the query of the gate %s has no column `%s`: it needs subject, old and new",
                               rule->name, names[i]);
    }
    return 0;
}

static int number_in(sqlite3_stmt *statement, int column, const struct gate_rule *rule, double *value,
                     struct error *err) {
    int type = sqlite3_column_type(statement, column);
    *value = type == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL) return 0;
    return error_usage(err, "the query of the gate %s: column `%s` is '%.60s', which is not a number", rule->name,
                       sqlite3_column_name(statement, column), db_text(statement, column));
}

static void put_values(struct pair *pair, const char *subject, double old, double new) {
    struct gate_row_list *list = pair->list;
    if (!list) {
        if (strcmp(subject, pair->wanted) == 0) pair->value = new;
        return;
    }
    struct gate_row *row = row_of(list, pair->rule, subject);
    if (pair->indexes[GATE_OLD] < list->run_count) row->values[pair->indexes[GATE_OLD]] = old;
    if (pair->indexes[GATE_NEW] < list->run_count) row->values[pair->indexes[GATE_NEW]] = new;
}

static int take_row(sqlite3_stmt *statement, const int columns[QUERY_COLUMNS], struct pair *pair, struct error *err) {
    const char *subject = db_text(statement, columns[SUBJECT]);
    double old, new;
    if (sqlite3_strglob(pair->rule->subject, subject) != 0) return 0;
    if (number_in(statement, columns[OLD_VALUE], pair->rule, &old, err) < 0 ||
        number_in(statement, columns[NEW_VALUE], pair->rule, &new, err) < 0)
        return -1;
    put_values(pair, subject, old, new);
    return 0;
}

static bool has_parameter(sqlite3_stmt *statement, const char *name) {
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *found = sqlite3_bind_parameter_name(statement, i);
        if (found && strcmp(found + 1, name) == 0) return true;
    }
    return false;
}

/* :base is a run of the base, :run one of the new side; others have their defaults. */
static int bind_pair(struct ask *ask, sqlite3_stmt *statement, const struct saved_query *saved, const struct pair *pair,
                     struct error *err) {
    static const char *const names[GATE_SIDES] = {"base", "run"};
    char *arguments[GATE_SIDES];
    size_t count = 0;
    for (int side = 0; side < GATE_SIDES; side++)
        if (has_parameter(statement, names[side]))
            arguments[count++] = xasprintf("%s=%lld", names[side], (long long)pair->items[side].id);
    int code = saved->name ? saved_bind(ask, statement, saved, arguments, count, err)
                           : ask_bind(ask, statement, arguments, count, err);
    while (count)
        free(arguments[--count]);
    return code;
}

static int step_pair(struct db *db, struct ask *ask, sqlite3_stmt *statement, const struct saved_query *saved,
                     struct pair *pair, struct error *err) {
    int columns[QUERY_COLUMNS], code = find_columns(statement, columns, pair->rule, err);
    if (code == 0) code = bind_pair(ask, statement, saved, pair, err);
    if (code == 0)
        while ((code = ask_step(db, statement, err)) == 1)
            if ((code = take_row(statement, columns, pair, err)) < 0) break;
    return code;
}

static int prefix(const struct gate_rule *rule, struct error *err) {
    return error_prefix(err, "gate %s: ", rule->name);
}

/* Calls `step` for each of the pairs with the prepared query. */
static int ask_pairs(struct db *db, const struct gate_rule *rule, struct pair *pairs, size_t count, int64_t timeout_ns,
                     struct error *err) {
    struct saved_query saved = {0};
    struct ask ask;
    bool is_saved = *rule->query == '@';
    if (is_saved && saved_find(db, rule->query + 1, &saved, err) < 0) return prefix(rule, err);
    ask_open(&ask, db, timeout_ns, true);
    sqlite3_stmt *statement = ask_prepare(&ask, is_saved ? saved.sql : rule->query, err);
    int code = statement ? 0 : prefix(rule, err);
    for (size_t i = 0; i < count && code == 0; i++) {
        code = step_pair(db, &ask, statement, &saved, &pairs[i], err);
        sqlite3_reset(statement);
        bool asks_runs = has_parameter(statement, "base") || has_parameter(statement, "run");
        if (!asks_runs) break; /* each pair would give the same */
    }
    sqlite3_finalize(statement);
    ask_close(&ask);
    queries_free(&saved);
    return code;
}

static size_t side_runs(const struct gate_row_list *list, enum gate_side side, size_t *indexes) {
    size_t count = 0;
    for (size_t i = 0; i < list->run_count; i++)
        if (list->runs[i].side == side && !list->runs[i].is_left_out) indexes[count++] = i;
    return count;
}

static int check_one_file(const struct gate_row_list *list, const struct gate *gate, const struct gate_rule *rule,
                          struct error *err) {
    for (size_t i = 0; i < list->run_count; i++)
        if (list->runs[i].item.db != gate->options->rules)
            return error_usage(err, "gate %s: a query needs all runs in one warehouse: clear ingest the files first",
                               rule->name);
    return 0;
}

/* The first run of the base with the first new run, and so on; the last run of the shorter side stands again and again, and what it
 * gives is not counted again. */
static int read_query(struct gate_row_list *list, const struct gate *gate, const struct gate_rule *rule,
                      struct error *err) {
    size_t *indexes[GATE_SIDES], counts[GATE_SIDES], most = 0;
    int code = check_one_file(list, gate, rule, err);
    for (int side = 0; side < GATE_SIDES; side++) {
        indexes[side] = xcalloc(list->run_count + 1, sizeof **indexes);
        counts[side] = side_runs(list, (enum gate_side)side, indexes[side]);
        if (counts[side] > most) most = counts[side];
    }
    if (!counts[GATE_OLD] || !counts[GATE_NEW]) most = 0;
    struct pair *pairs = xcalloc(most + 1, sizeof *pairs);
    for (size_t i = 0; i < most; i++) {
        pairs[i] = (struct pair){.list = list, .rule = rule};
        for (int side = 0; side < GATE_SIDES; side++) {
            size_t at = i < counts[side] ? i : counts[side] - 1;
            pairs[i].items[side] = list->runs[indexes[side][at]].item;
            pairs[i].indexes[side] = i < counts[side] ? indexes[side][at] : list->run_count;
        }
    }
    if (code == 0) code = ask_pairs(gate->options->rules, rule, pairs, most, gate->options->timeout_ns, err);
    for (int side = 0; side < GATE_SIDES; side++)
        free(indexes[side]);
    free(pairs);
    return code;
}

/* ---- all ---- */

/* A figure is an estimate where one of its runs lost events. */
static void mark_timed(struct gate_row_list *list) {
    for (size_t i = 0; i < list->count; i++)
        for (size_t run = 0; run < list->run_count; run++)
            if (list->runs[run].has_losses && !isnan(list->rows[i]->values[run])) list->rows[i]->is_timed = true;
}

/* Views of a stranger's file may take any time. The time is for all figures of all runs together. */
#define READ_NS INT64_C(600000000000)

static bool is_first_of_file(const struct gate_row_list *list, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (list->runs[i].item.db == list->runs[index].item.db) return false;
    return true;
}

static void limit_files(const struct gate_row_list *list, bool is_on) {
    for (size_t i = 0; i < list->run_count; i++) {
        if (!is_first_of_file(list, i)) continue;
        if (is_on)
            db_limit(list->runs[i].item.db, READ_NS);
        else
            db_unlimit(list->runs[i].item.db);
    }
}

static int read_all_figures(struct gate_row_list *list, struct gate *gate, struct error *err) {
    int code = 0;
    limit_files(list, true);
    for (size_t i = 0; i < gate->rule_count && code == 0; i++)
        if (gate->rules[i].figure) code = read_figures(list, &gate->rules[i], gate->results.items[i].lacks, err);
    limit_files(list, false);
    return code;
}

int gate_rows_read(struct gate_row_list *list, struct gate *gate, struct error *err) {
    *list = (struct gate_row_list){0};
    int code = read_runs(list, gate, err);
    if (code == 0) code = read_exactness(list, gate, err);
    if (code == 0) note_losses(list, gate);
    if (code == 0) code = read_all_figures(list, gate, err);
    for (size_t i = 0; i < gate->rule_count && code == 0; i++)
        if (gate->rules[i].query) code = read_query(list, gate, &gate->rules[i], err);
    if (code == 0) mark_timed(list);
    return code;
}

void gate_rows_free(struct gate_row_list *list) {
    for (size_t i = 0; i < list->run_count; i++)
        free(list->runs[i].uuid);
    free(list->runs);
    free(list->rows);
    map_free(&list->index);
    *list = (struct gate_row_list){0};
}

int gate_rows_value(const struct gate_row *row, const struct gate *gate, const struct run_item *run, double *value,
                    struct error *err) {
    const struct gate_rule *rule = row->rule;
    if (rule->figure) return figure_value(rule->figure, row->subject, run, value, err) < 0 ? -1 : 0;
    const struct run_list *base = &gate->options->sides[GATE_OLD].runs;
    struct pair pair = {.rule = rule, .items = {base->items[base->count - 1], *run}, .wanted = row->subject};
    int code = ask_pairs(run->db, rule, &pair, 1, gate->options->timeout_ns, err);
    *value = pair.value;
    return code;
}
