#include "query/gate/accepted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/gate/gate_words.h"
#include "schema/schema.h"

static void add(struct accepted_changes *known, struct db *db, sqlite3_stmt *row) {
    known->items = xrealloc(known->items, (known->count + 1) * sizeof *known->items);
    known->items[known->count++] = (struct accepted_change){.run = {db, sqlite3_column_int64(row, 0)},
                                                            .started_ns = sqlite3_column_int64(row, 1),
                                                            .uuid = xstrdup(db_text(row, 2)),
                                                            .figure = xstrdup(db_text(row, 3)),
                                                            .subject = xstrdup(db_text(row, 4)),
                                                            .why = xstrdup(db_text(row, 5))};
}

int accepted_read(struct accepted_changes *known, struct db *db, struct error *err) {
    int64_t has_table; /* a warehouse of an older clear that cannot be written has none */
    *known = (struct accepted_changes){0};
    if (db_int(db, "SELECT count(*) FROM main.sqlite_schema WHERE name = 'accepted_changes'", 0, &has_table, err))
        return -1;
    if (!has_table) return 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("gate/accepted.sql"), err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        add(known, db, row);
    return code;
}

void accepted_free(struct accepted_changes *known) {
    for (size_t i = 0; i < known->count; i++) {
        free(known->items[i].uuid);
        free(known->items[i].figure);
        free(known->items[i].subject);
        free(known->items[i].why);
    }
    free(known->items);
    *known = (struct accepted_changes){0};
}

/* An empty subject is the whole run; any other may be a pattern, or a name that has the characters of one. */
static bool is_about(const struct accepted_change *change, const struct gate_row *row) {
    if (strcmp(change->figure, words_figure(row->rule)) != 0) return false;
    if (strcmp(change->subject, row->subject) == 0) return true;
    return *change->subject && sqlite3_strglob(change->subject, row->subject) == 0;
}

static bool is_in_base(const struct accepted_change *change, const struct gate_row_list *list) {
    for (size_t i = 0; i < list->old_count; i++)
        if (strcmp(list->runs[i].uuid, change->uuid) == 0) return true;
    return false;
}

static bool is_newer_than_base_begins(const struct accepted_change *change, const struct gate_row_list *list) {
    for (size_t i = 0; i < list->old_count; i++)
        if (list->runs[i].started_ns <= change->started_ns) return true;
    return false;
}

void accepted_restart_base(const struct accepted_changes *known, const struct gate_row_list *list) {
    for (size_t i = 0; i < known->count; i++) {
        const struct accepted_change *change = &known->items[i];
        if (!is_in_base(change, list)) continue;
        for (size_t row = 0; row < list->count; row++)
            for (size_t run = 0; run < list->old_count && is_about(change, list->rows[row]); run++)
                if (list->runs[run].started_ns < change->started_ns) list->rows[row]->values[run] = NAN;
    }
}

/* The row compared with the accepted run instead of the base. */
static int compare_with(const struct accepted_change *change, const struct gate *gate, const struct gate_row *row,
                        struct gate_row *compared, struct error *err) {
    *compared = *row;
    if (gate_rows_value(row, gate, &change->run, &compared->noise.old.mean, err) < 0) return -1;
    compared->change = row->noise.new.mean - compared->noise.old.mean;
    return 0;
}

int accepted_covers(const struct accepted_changes *known, const struct gate_row_list *list, const struct gate *gate,
                    const struct gate_row *row, bool (*is_over)(const struct gate_row *row),
                    const struct accepted_change **change, struct error *err) {
    *change = NULL;
    for (size_t i = 0; i < known->count && !*change; i++) {
        struct gate_row compared;
        const struct accepted_change *candidate = &known->items[i];
        if (!is_about(candidate, row) || is_in_base(candidate, list) || !is_newer_than_base_begins(candidate, list))
            continue;
        if (compare_with(candidate, gate, row, &compared, err) < 0) return -1;
        if (!is_over(&compared)) *change = candidate;
    }
    return 0;
}
