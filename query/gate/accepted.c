#include "query/gate/accepted.h"

#include <math.h>
#include <string.h>

#include "query/gate/gate_words.h"

static bool is_about(const struct known_change *change, const struct gate_row *row) {
    return known_change_is_about(change, words_figure(row->rule), row->subject);
}

static bool is_in_base(const struct known_change *change, const struct gate_row_list *list) {
    for (size_t i = 0; i < list->old_count; i++)
        if (strcmp(list->runs[i].uuid, change->run_uuid) == 0) return true;
    return false;
}

static bool is_newer_than_base_begins(const struct known_change *change, const struct gate_row_list *list) {
    for (size_t i = 0; i < list->old_count; i++)
        if (list->runs[i].started_ns <= change->started_ns) return true;
    return false;
}

void accepted_restart_base(const struct known_changes *known, const struct gate_row_list *list) {
    for (size_t i = 0; i < known->count; i++) {
        const struct known_change *change = &known->items[i];
        if (!is_in_base(change, list)) continue;
        for (size_t row = 0; row < list->count; row++)
            for (size_t run = 0; run < list->old_count && is_about(change, list->rows[row]); run++)
                if (list->runs[run].started_ns < change->started_ns) list->rows[row]->values[run] = NAN;
    }
}

/* The row compared with the accepted run instead of the base. */
static int compare_with(const struct run_item *run, const struct gate *gate, const struct gate_row *row,
                        struct gate_row *compared, struct error *err) {
    *compared = *row;
    if (gate_rows_value(row, gate, run, &compared->noise.old.mean, err) < 0) return -1;
    compared->change = row->noise.new.mean - compared->noise.old.mean;
    return 0;
}

int accepted_covers(const struct known_changes *known, const struct gate_row_list *list, const struct gate *gate,
                    const struct gate_row *row, bool (*is_over)(const struct gate_row *row),
                    const struct known_change **change, struct error *err) {
    *change = NULL;
    for (size_t i = 0; i < known->count && !*change; i++) {
        struct gate_row compared;
        const struct known_change *candidate = &known->items[i];
        const struct run_item run = {gate->options->rules, candidate->run_id};
        if (!candidate->run_id || !is_about(candidate, row) || is_in_base(candidate, list) ||
            !is_newer_than_base_begins(candidate, list))
            continue;
        if (compare_with(&run, gate, row, &compared, err) < 0) return -1;
        if (!is_over(&compared)) *change = candidate;
    }
    return 0;
}
