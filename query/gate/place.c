#include "query/gate/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "query/gate/gate_words.h"
#include "query/gate/rows.h"
#include "schema/schema.h"

enum { PLACED_MAX = 100 };

/* A line of a source. */
struct place {
    char *file; /* NULL: not known */
    int64_t line;
};

/* ---- where ---- */

/* The first row of a bound statement: file, line. */
static int first_place(struct db *db, sqlite3_stmt *row, struct place *place, struct error *err) {
    int code = db_step(db, row, err);
    if (code == 1) *place = (struct place){xstrdup(db_text(row, 0)), sqlite3_column_int64(row, 1)};
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static bool is_cpu(const struct gate_rule *rule) {
    return rule->figure && strncmp(rule->figure, "cpu_", 4) == 0;
}

/* "site FUNCTION FILE SIGNATURE". */
static int place_site(struct db *db, const struct gate_rule *rule, const char *subject, struct place *place,
                      struct error *err) {
    enum { DIGITS = 16 };
    const char *blank = strrchr(subject, ' ');
    if (!blank || strlen(blank + 1) != DIGITS) return 0;
    const char *file = is_cpu(rule) ? "gate/place/leaf" : "gate/place/site";
    sqlite3_stmt *row = db_prepare(db, embedded_text(file), err);
    if (!row) return -1;
    db_bind_int(row, ":signature", (int64_t)strtoull(blank + 1, NULL, 16));
    return first_place(db, row, place, err);
}

static int place_named(struct db *db, const char *file, const char *parameter, const char *value, struct place *place,
                       struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text(file), err);
    if (!row) return -1;
    db_bind_text(row, parameter, value);
    return first_place(db, row, place, err);
}

static int place_finding(const struct run_item *run, const char *subject, struct place *place, struct error *err) {
    sqlite3_stmt *row = db_prepare(run->db, embedded_text("gate/place/finding"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run->id);
    db_bind_text(row, ":subject", subject);
    return first_place(run->db, row, place, err);
}

static bool begins(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static int find_place(const struct gate *gate, const struct gate_rule *rule, const char *subject, struct place *place,
                      struct error *err) {
    const struct run_list *runs = &gate->options->sides[GATE_NEW].runs;
    const struct run_item *newest = &runs->items[runs->count - 1];
    if (begins(subject, "site ")) return place_site(newest->db, rule, subject, place, err);
    if (begins(subject, "finding ")) return place_finding(newest, subject, place, err);
    if (begins(subject, "function "))
        return place_named(newest->db, "gate/place/function", ":name", subject + strlen("function "), place, err);
    return 0;
}

/* Inside of the root, paths are relative to it. */
static char *shown_path(const struct gate *gate, const char *path) {
    const char *root = gate->options->root;
    size_t size = root ? strlen(root) : 0;
    if (size && strncmp(path, root, size) == 0 && path[size] == '/') path += size + 1;
    return xstrdup(path);
}

static void set_place(const struct gate *gate, struct gate_row *row, struct place *place) {
    if (place->file) {
        row->file = shown_path(gate, place->file);
        row->line = place->line;
    }
    free(place->file);
}

/* ---- who is to blame for a total ---- */

/* Sums over the runs of each side. */
struct share {
    double sums[GATE_SIDES];
};

struct shares {
    struct map index; /* subject -> item */
    struct share *items;
};

static void add_share(struct shares *shares, const char *subject, enum gate_side side, double value) {
    bool added;
    struct map_entry *entry = map_put(&shares->index, subject, strlen(subject) + 1, &added);
    if (added) {
        entry->value = (int64_t)shares->index.count - 1;
        shares->items = xrealloc(shares->items, shares->index.count * sizeof *shares->items);
        shares->items[entry->value] = (struct share){{0}};
    }
    shares->items[entry->value].sums[side] += value;
}

static int read_shares(struct shares *shares, const struct gate_row *row, const struct run_item *run,
                       enum gate_side side, struct error *err) {
    sqlite3_stmt *found = gate_series(row->rule->figure, "site *", false, run, err);
    int code = -1;
    while (found && (code = db_step(run->db, found, err)) == 1)
        add_share(shares, db_text(found, 0), side, sqlite3_column_double(found, 1));
    return code;
}

/* The subject whose mean moved most in the direction of the whole, and by how much; NULL: none did. */
static const char *largest_share(const struct shares *shares, const struct gate_row *row, const size_t *counts,
                                 double *change) {
    const char *largest = NULL;
    *change = 0;
    for (size_t i = 0; i < shares->index.count; i++) {
        const double *sums = shares->items[i].sums;
        double moved = sums[GATE_NEW] / (double)counts[GATE_NEW] - sums[GATE_OLD] / (double)counts[GATE_OLD];
        if (moved * row->change <= 0 || fabs(moved) <= fabs(*change)) continue;
        *change = moved;
        largest = shares->index.entries[i].key;
    }
    return largest;
}

/* "parse_line, src/parse.c:12, +1,000". */
static void set_blame(struct gate_row *row, const char *subject, double change) {
    const struct gate_row share = {.rule = row->rule, .change = change};
    struct buffer text = {0};
    int size = (int)strlen(subject);
    for (int blanks = 2; blanks > 0 && size > 0; blanks--) /* without the signature and, if there is a path, the file */
        if (blanks == 2 || row->file)
            while (size > 0 && subject[--size] != ' ') {
            }
    int scope = (int)strlen("site ");
    buffer_printf(&text, "%.*s", size - scope, subject + scope);
    if (row->file) buffer_printf(&text, ", %s:%lld", row->file, (long long)row->line);
    buffer_printf(&text, ", %s%s", change > 0 ? "+" : "", words_value(share.rule, change).text);
    row->blame = buffer_take(&text);
}

static int blame(const struct gate *gate, struct gate_row *row, struct error *err) {
    struct shares shares = {0};
    struct place place = {0};
    size_t counts[GATE_SIDES];
    double change;
    int code = 0;
    for (int side = 0; side < GATE_SIDES; side++) {
        const struct run_list *runs = &gate->options->sides[side].runs;
        counts[side] = runs->count;
        for (size_t i = 0; i < runs->count && code == 0; i++)
            code = read_shares(&shares, row, &runs->items[i], (enum gate_side)side, err);
    }
    const char *subject = code == 0 ? largest_share(&shares, row, counts, &change) : NULL;
    if (subject) code = find_place(gate, row->rule, subject, &place, err);
    set_place(gate, row, &place);
    if (subject && code == 0) set_blame(row, subject, change);
    map_free(&shares.index);
    free(shares.items);
    return code;
}

/* ---- all ---- */

static bool has_sites(const struct gate_row *row) {
    return row->rule->figure && !*row->subject && row->change != 0 &&
           (begins(row->rule->figure, "alloc_") || begins(row->rule->figure, "inuse_") || is_cpu(row->rule));
}

int place_rows(struct gate *gate, struct error *err) {
    int code = 0;
    for (size_t i = 0; i < gate->row_count && i < PLACED_MAX && code == 0; i++) {
        struct gate_row *row = gate->rows[i];
        struct place place = {0};
        if (!words_is_shown(row) || row->file || row->blame) continue;
        if (has_sites(row)) {
            code = blame(gate, row, err);
            continue;
        }
        code = find_place(gate, row->rule, row->subject, &place, err);
        set_place(gate, row, &place);
    }
    return code;
}
