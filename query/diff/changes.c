#include "query/diff/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "query/diff/programs.h"
#include "query/profile/trace_filter.h"
#include "query/runs/sampling_error.h"
#include "schema/schema.h"

/* ---- the tables ---- */

/* Their columns are those that the catalogue of figures has for the section. */
static const struct diff_table empty_tables[DIFF_TABLES] = {
    [DIFF_TOTALS] = {.section = "totals", .by = "run"},
    [DIFF_FUNCTIONS] = {.section = "heap", .by = "function"},
    [DIFF_SITES] = {.section = "heap", .by = "site"},
    [DIFF_LOCKS] = {.section = "lock", .by = "lock", .judged = LOCK_WAIT},
    [DIFF_WAITS] = {.section = "wait", .by = "object", .judged = LOCK_WAIT},
    [DIFF_CELLS] = {.section = "cell", .by = "cell"},
    [DIFF_CHANNELS] = {.section = "channel", .by = "channel"},
    [DIFF_FIBERS] = {.section = "fibers", .by = "task site"},
    [DIFF_SAMPLES] = {.section = "samples", .by = "function"},
    [DIFF_IO] = {.section = "io", .by = "function"},
    [DIFF_MAPS] = {.section = "mmap", .by = "function"},
    [DIFF_CPU] = {.section = "cpu", .by = "function"},
};

static void add_columns(struct diff_table *table) {
    for (const struct figure_column *column = figure_columns(); column->name; column++) {
        if (strcmp(column->report, "diff") != 0 || strcmp(column->section, table->section) != 0) continue;
        if (table->column_count == DIFF_FIGURES_MAX) bug("the section %s has too many columns", table->section);
        table->columns[table->column_count++] =
            (struct diff_column){column->name, column->heading, column->unit, column->variation};
    }
}

bool diff_is_object(enum diff_table_id id) {
    return id >= DIFF_LOCKS && id <= DIFF_FIBERS;
}

/* ---- stacks ---- */

/* The rows of a table that a stack counts for: one, or with --cumulative one for each function in it. */
struct members {
    size_t *rows;
    size_t count;
};

/* A function, as the row of a table shows it. */
struct diff_function {
    const char *name, *file, *module;
    int64_t line;
};

struct diff_stack {
    bool is_kept;                        /* by --focus and --ignore */
    struct diff_function function, leaf; /* leaf: of CPU time */
    int64_t id;
    uint64_t signature;
    const struct site_place *place; /* of stacks that allocate */
    struct members members[DIFF_TABLES];
};

/* The stacks of one warehouse that were read so far. */
struct source {
    struct db *db;
    struct map known; /* trace id -> index */
    struct diff_stack *stacks;
    size_t count, capacity;
};

/* One run being read. */
struct gather {
    struct diff *diff;
    struct source sources[2]; /* the warehouse and the files */
    struct source *source;
    struct trace_filter filter;
    struct map places; /* struct place_key -> index of the row of the site */
    struct renamed_program renamed;
    int side;
    size_t run; /* 0 to runs - 1, the old ones first */
    int64_t run_id;
};

static struct source *source_of(struct gather *gather, struct db *db) {
    struct source *source = &gather->sources[0];
    if (source->db && source->db != db) source++;
    source->db = db;
    return source;
}

static void free_source(struct source *source) {
    for (size_t i = 0; i < source->count; i++)
        for (size_t table = 0; table < DIFF_TABLES; table++)
            free(source->stacks[i].members[table].rows);
    free(source->stacks);
    map_free(&source->known);
}

static const char *keep(struct diff *diff, const char *text) {
    return arena_text(&diff->texts, text, strlen(text));
}

static sqlite3_stmt *prepare(struct gather *gather, const char *name, struct error *err) {
    return db_prepare(gather->source->db, embedded_text(name), err);
}

/* Of the columns function, file, line, module from `column` on. */
static struct diff_function read_function(struct gather *gather, sqlite3_stmt *row, int column) {
    return (struct diff_function){.name = keep(gather->diff, db_text(row, column)),
                                  .file = keep(gather->diff, db_text(row, column + 1)),
                                  .module = keep(gather->diff, db_text(row, column + 3)),
                                  .line = sqlite3_column_int64(row, column + 2)};
}

static int read_place(struct gather *gather, struct diff_stack *stack, struct error *err) {
    sqlite3_stmt *row = prepare(gather, "diff/changes/place", err);
    if (!row) return -1;
    db_bind_int(row, ":trace", stack->id);
    int code = db_step(gather->source->db, row, err);
    if (code < 0) return -1;
    stack->function = stack->leaf = (struct diff_function){.name = "(no stack)", .file = "", .module = ""};
    if (code) {
        stack->signature = (uint64_t)sqlite3_column_int64(row, 0);
        stack->function = read_function(gather, row, 1);
        stack->leaf = read_function(gather, row, 5);
    }
    sqlite3_reset(row);
    return trace_filter_keeps(&gather->filter, gather->source->db, stack->id, &stack->is_kept, err);
}

static struct diff_stack *find_stack(struct gather *gather, int64_t trace_id, struct error *err) {
    struct source *source = gather->source;
    struct map_entry *entry = map_find(&source->known, &trace_id, sizeof trace_id);
    if (entry) return &source->stacks[entry->value];
    struct diff_stack stack = {.id = trace_id};
    if (read_place(gather, &stack, err) < 0) return NULL;
    if (source->count == source->capacity) {
        source->capacity = source->capacity ? source->capacity * 2 : 256;
        source->stacks = xrealloc(source->stacks, source->capacity * sizeof *source->stacks);
    }
    gather->diff->trace_count++;
    gather->diff->kept_count += stack.is_kept;
    map_put(&source->known, &trace_id, sizeof trace_id, NULL)->value = (int64_t)source->count;
    source->stacks[source->count] = stack;
    return &source->stacks[source->count++];
}

/* ---- rows ---- */

static size_t add_row(struct diff *diff, struct diff_table *table) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 64;
        table->rows = xrealloc(table->rows, table->capacity * sizeof *table->rows);
    }
    size_t figures = table->column_count * diff->runs;
    struct diff_row *row = &table->rows[table->count];
    *row = (struct diff_row){.subject = "", .file = "", .module = "", .identity = "", .what = ""};
    row->values = arena_alloc(&diff->texts, figures * sizeof *row->values);
    for (size_t i = 0; i < figures; i++)
        row->values[i] = 0;
    row->figures = arena_alloc(&diff->texts, table->column_count * sizeof *row->figures);
    memset(row->figures, 0, table->column_count * sizeof *row->figures);
    return table->count++;
}

/* The row with that key; it is added if there is none (`*is_new`). */
static size_t find_row(struct diff *diff, struct diff_table *table, const struct buffer *key, bool *is_new) {
    struct map_entry *entry = map_put(&table->keys, key->data, key->size, is_new);
    if (*is_new) entry->value = (int64_t)add_row(diff, table);
    return (size_t)entry->value;
}

static void add_values(struct gather *gather, enum diff_table_id id, size_t index, const double *values) {
    struct diff_table *table = &gather->diff->tables[id];
    struct diff_row *row = &table->rows[index];
    bool any = false;
    for (size_t i = 0; i < table->column_count; i++) {
        row->values[i * gather->diff->runs + gather->run] += values[i];
        any |= values[i] != 0;
    }
    if (!any || row->last_run == gather->run + 1) return;
    row->last_run = gather->run + 1;
    row->seen[gather->side]++;
}

static void add_total(struct gather *gather, size_t column, double value) {
    gather->diff->tables[DIFF_TOTALS].rows[0].values[column * gather->diff->runs + gather->run] += value;
}

/* A row that both sides have shows where it is now: on the new side. */
static bool places_row(const struct gather *gather, const struct diff_row *row, bool is_new) {
    return is_new || (gather->side == DIFF_NEW && row->place_side == DIFF_OLD);
}

/* The texts of `function` are kept already. */
static void place_row(const struct gather *gather, struct diff_row *row, const struct diff_function *function,
                      int64_t trace_id) {
    row->subject = function->name;
    row->file = function->file;
    row->module = function->module;
    row->line = function->line;
    row->db = gather->source->db;
    row->trace_id = trace_id;
    row->place_side = gather->side;
}

static size_t function_row(struct gather *gather, enum diff_table_id id, const char *what,
                           const struct diff_function *function, int64_t trace_id) {
    struct buffer key = {0};
    bool is_new;
    buffer_printf(&key, "%s\n%s\n%s", what, function->name, path_base(function->file));
    struct diff_table *table = &gather->diff->tables[id];
    size_t index = find_row(gather->diff, table, &key, &is_new);
    struct diff_row *row = &table->rows[index];
    buffer_free(&key);
    if (is_new) row->what = keep(gather->diff, what);
    if (places_row(gather, row, is_new)) {
        const struct diff_function kept = {keep(gather->diff, function->name), keep(gather->diff, function->file),
                                           keep(gather->diff, function->module), function->line};
        place_row(gather, row, &kept, trace_id);
    }
    return index;
}

static void add_member(struct members *members, size_t row) {
    for (size_t i = 0; i < members->count; i++)
        if (members->rows[i] == row) return;
    members->rows = xrealloc(members->rows, (members->count + 1) * sizeof *members->rows);
    members->rows[members->count++] = row;
}

/* Each function of the stack once, however often it is in it. */
static int add_all_functions(struct gather *gather, enum diff_table_id id, const char *what,
                             const struct diff_stack *stack, struct members *members, struct error *err) {
    sqlite3_stmt *row = prepare(gather, "diff/changes/functions", err);
    if (!row) return -1;
    db_bind_int(row, ":trace", stack->id);
    int code;
    while ((code = db_step(gather->source->db, row, err)) == 1) {
        const struct diff_function function = {db_text(row, 0), db_text(row, 1), db_text(row, 2),
                                               sqlite3_column_int64(row, 3)};
        add_member(members, function_row(gather, id, what, &function, stack->id));
    }
    return code;
}

/* The rows that the stack counts for; found at its first use. */
static int find_members(struct gather *gather, enum diff_table_id id, const char *what, const struct diff_stack *stack,
                        struct members *members, struct error *err) {
    if (members->count) return 0;
    if (gather->diff->options->cumulative && add_all_functions(gather, id, what, stack, members, err) < 0) return -1;
    if (members->count) return 0;
    const struct diff_function *function = id == DIFF_CPU ? &stack->leaf : &stack->function;
    add_member(members, function_row(gather, id, what, function, stack->id));
    return 0;
}

static int add_to_functions(struct gather *gather, enum diff_table_id id, struct diff_stack *stack,
                            const double *values, struct error *err) {
    struct members *members = &stack->members[id];
    if (find_members(gather, id, "", stack, members, err) < 0) return -1;
    for (size_t i = 0; i < members->count; i++)
        add_values(gather, id, members->rows[i], values);
    return 0;
}

/* ---- sites ---- */

/* A stack of the run with its figures. */
struct heap_item {
    size_t stack; /* index in gather->source->stacks */
    double values[4];
};

/* Stacks of one run without a row yet. */
struct new_stacks {
    size_t *stacks;
    size_t count;
};

static int site_order(const void *left, const void *right, void *context) {
    const struct diff_stack *stacks = context;
    const struct diff_stack *a = &stacks[*(const size_t *)left], *b = &stacks[*(const size_t *)right];
    if (a->signature != b->signature) return a->signature < b->signature ? -1 : 1;
    int order = site_place_order(a->place, b->place);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static size_t add_site_row(struct gather *gather, const struct diff_stack *stack) {
    struct diff *diff = gather->diff;
    struct diff_table *table = &diff->tables[DIFF_SITES];
    struct map_entry *same = map_put(&table->keys, &stack->signature, sizeof stack->signature, NULL);
    size_t index = add_row(diff, table);
    struct diff_row *row = &table->rows[index];
    row->signature = stack->signature;
    row->next_same = (size_t)same->value;
    same->value = (int64_t)index + 1;
    place_row(gather, row, &stack->function, stack->id);
    return index;
}

struct place_key {
    uint64_t signature, build, lines;
};

static struct place_key key_of(const struct diff_stack *stack) {
    return (struct place_key){stack->signature, stack->place->build, stack->place->lines};
}

static void give_row(struct gather *gather, struct diff_stack *stack, size_t index) {
    struct place_key key = key_of(stack);
    map_put(&gather->places, &key, sizeof key, NULL)->value = (int64_t)index;
    struct diff_row *row = &gather->diff->tables[DIFF_SITES].rows[index];
    if (places_row(gather, row, false)) place_row(gather, row, &stack->function, stack->id);
    row->place = stack->place;
    row->claimed_run = gather->run + 1;
    add_member(&stack->members[DIFF_SITES], index);
}

static size_t first_row(const struct diff_table *table, uint64_t signature) {
    const struct map_entry *entry = map_find(&table->keys, &signature, sizeof signature);
    return entry ? (size_t)entry->value : 0;
}

/* Copies of one call in one build (an unrolled loop) are one site. */
static bool give_same_place(struct gather *gather, struct diff_stack *stack) {
    struct place_key key = key_of(stack);
    const struct map_entry *entry = map_find(&gather->places, &key, sizeof key);
    if (entry) give_row(gather, stack, (size_t)entry->value);
    return entry;
}

static int row_order(const void *left, const void *right, void *context) {
    const struct diff_row *rows = context;
    return site_place_order(rows[*(const size_t *)left].place, rows[*(const size_t *)right].place);
}

/* The rows of that signature which this run may have under another place: not those that it has, nor those of its own build. */
static size_t *free_rows(const struct gather *gather, const struct diff_stack *stack, size_t *count) {
    const struct diff_table *table = &gather->diff->tables[DIFF_SITES];
    size_t *rows = NULL;
    *count = 0;
    for (size_t next = first_row(table, stack->signature); next; next = table->rows[next - 1].next_same) {
        const struct diff_row *row = &table->rows[next - 1];
        if (row->claimed_run == gather->run + 1 || site_place_same_build(row->place, stack->place)) continue;
        rows = xrealloc(rows, (*count + 1) * sizeof *rows);
        rows[(*count)++] = next - 1;
    }
    if (rows) qsort_r(rows, *count, sizeof *rows, row_order, table->rows);
    return rows;
}

/* Stacks of one signature, in order, with places that no row has. */
static void match_signature(struct gather *gather, const size_t *stacks, size_t count) {
    struct diff_stack *all = gather->source->stacks;
    size_t row_count, *rows = free_rows(gather, &all[stacks[0]], &row_count);
    const struct site_place **old = xcalloc(row_count + 1, sizeof *old), **new = xcalloc(count, sizeof *new);
    size_t *match = xcalloc(count, sizeof *match);
    for (size_t i = 0; i < row_count; i++)
        old[i] = gather->diff->tables[DIFF_SITES].rows[rows[i]].place;
    for (size_t i = 0; i < count; i++)
        new[i] = all[stacks[i]].place;
    site_places_match(old, row_count, new, count, match);
    for (size_t i = 0; i < count; i++)
        give_row(gather, &all[stacks[i]],
                 match[i] == SIZE_MAX ? add_site_row(gather, &all[stacks[i]]) : rows[match[i]]);
    free(rows);
    free(old);
    free(new);
    free(match);
}

/* Of equal places the first is matched, and the others follow it. */
static void match_stacks(struct gather *gather, struct new_stacks *found) {
    struct diff_stack *all = gather->source->stacks;
    size_t *apart = xcalloc(found->count + 1, sizeof *apart);
    qsort_r(found->stacks, found->count, sizeof *found->stacks, site_order, all);
    for (size_t i = 0, end; i < found->count; i = end) {
        size_t count = 0;
        for (end = i; end < found->count && all[found->stacks[end]].signature == all[found->stacks[i]].signature;
             end++) {
            struct diff_stack *stack = &all[found->stacks[end]];
            bool is_repeated = end > i && site_place_order(all[found->stacks[end - 1]].place, stack->place) == 0;
            if (!is_repeated && !give_same_place(gather, stack)) apart[count++] = found->stacks[end];
        }
        if (count) match_signature(gather, apart, count);
        for (size_t j = i; j < end; j++)
            if (!all[found->stacks[j]].members[DIFF_SITES].count) give_same_place(gather, &all[found->stacks[j]]);
    }
    free(apart);
}

/* Gives each stack of the run its row. */
static int find_sites(struct gather *gather, const struct heap_item *items, size_t count, struct error *err) {
    struct diff_stack *all = gather->source->stacks;
    struct new_stacks found = {xcalloc(count + 1, sizeof *found.stacks), 0};
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        struct diff_stack *stack = &all[items[i].stack];
        if (stack->members[DIFF_SITES].count) {
            give_row(gather, stack, stack->members[DIFF_SITES].rows[0]);
            continue;
        }
        stack->place = site_place_read(gather->source->db, stack->id, &gather->diff->texts, err);
        code = stack->place ? 0 : -1;
        found.stacks[found.count++] = items[i].stack;
    }
    if (code == 0) match_stacks(gather, &found);
    free(found.stacks);
    return code;
}

static int add_to_sites(struct gather *gather, const struct heap_item *items, size_t count, struct error *err) {
    if (find_sites(gather, items, count, err) < 0) return -1;
    for (size_t i = 0; i < count; i++)
        add_values(gather, DIFF_SITES, gather->source->stacks[items[i].stack].members[DIFF_SITES].rows[0],
                   items[i].values);
    return 0;
}

/* ---- sites whose stacks lack functions on one side ---- */

struct site_pair {
    size_t old, new, missing;
    int64_t moved;
    bool differs; /* in blocks or bytes */
};

struct site_pairs {
    struct site_pair *pairs;
    size_t count, capacity;
};

static int pair_order(const void *left, const void *right) {
    const struct site_pair *a = left, *b = right;
    if (a->differs != b->differs) return a->differs ? 1 : -1;
    if (a->missing != b->missing) return a->missing < b->missing ? -1 : 1;
    if (a->moved != b->moved) return a->moved < b->moved ? -1 : 1;
    if (a->old != b->old) return a->old < b->old ? -1 : 1;
    return (a->new > b->new) - (a->new < b->new);
}

/* The mean of a figure over the runs that have the site. */
static double mean_of(const struct diff *diff, const struct diff_row *row, enum heap_by by) {
    double sum = 0;
    for (size_t run = 0; run < diff->runs; run++)
        sum += row->values[by * diff->runs + run];
    return sum / (double)(row->seen[DIFF_OLD] + row->seen[DIFF_NEW]);
}

/* At least half of the functions, and neither half nor twice the blocks: an edit that removes one site and makes another is not taken
 * for a compiler's work. */
static void add_pair(const struct diff *diff, struct site_pairs *list, size_t old, size_t new) {
    const struct diff_row *rows = diff->tables[DIFF_SITES].rows;
    struct site_pair pair = {.old = old, .new = new};
    if (!site_place_contains(rows[old].place, rows[new].place, &pair.missing, &pair.moved)) return;
    size_t longer = rows[old].place->count > rows[new].place->count ? rows[old].place->count : rows[new].place->count;
    double before = mean_of(diff, &rows[old], HEAP_ALLOCS), after = mean_of(diff, &rows[new], HEAP_ALLOCS);
    pair.differs = before != after || mean_of(diff, &rows[old], HEAP_BYTES) != mean_of(diff, &rows[new], HEAP_BYTES);
    if (2 * pair.missing > longer || before > 2 * after || after > 2 * before) return;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 64;
        list->pairs = xrealloc(list->pairs, list->capacity * sizeof *list->pairs);
    }
    list->pairs[list->count++] = pair;
}

static void count_seen(const struct diff *diff, struct diff_row *row, size_t columns) {
    row->seen[DIFF_OLD] = row->seen[DIFF_NEW] = 0;
    for (size_t run = 0; run < diff->runs; run++) {
        bool any = false;
        for (size_t column = 0; column < columns; column++)
            any |= row->values[column * diff->runs + run] != 0;
        row->seen[run < diff->run_count[DIFF_OLD] ? DIFF_OLD : DIFF_NEW] += any;
    }
}

/* The row of the function that a site stands for; NULL: functions count with their callees, or patterns dropped it. */
static struct diff_row *function_of_site(struct diff *diff, const struct diff_row *site) {
    struct diff_table *functions = &diff->tables[DIFF_FUNCTIONS];
    struct buffer key = {0};
    buffer_printf(&key, "\n%s\n%s", site->subject, path_base(site->file));
    const struct map_entry *entry = diff->options->cumulative ? NULL : map_find(&functions->keys, key.data, key.size);
    buffer_free(&key);
    return entry ? &functions->rows[entry->value] : NULL;
}

/* What a site did on one side counts for the function that it stands for on the other side, whose stack is complete. */
static void move_values(struct diff *diff, const struct diff_row *site, struct diff_row *from, struct diff_row *to) {
    size_t columns = diff->tables[DIFF_FUNCTIONS].column_count;
    if (!from || !to || from == to) return;
    for (size_t i = 0; i < columns * diff->runs; i++) {
        from->values[i] -= site->values[i];
        to->values[i] += site->values[i];
    }
    count_seen(diff, from, columns);
    count_seen(diff, to, columns);
}

/* The row shows the stack with more functions. */
static void join_rows(struct diff *diff, struct diff_row *old, struct diff_row *new) {
    bool is_old_complete = old->place->count > new->place->count;
    const struct diff_row shown = is_old_complete ? *old : *new, *lacking = is_old_complete ? new : old;
    move_values(diff, lacking, function_of_site(diff, lacking), function_of_site(diff, &shown));
    for (size_t i = 0; i < diff->tables[DIFF_SITES].column_count * diff->runs; i++)
        old->values[i] += new->values[i];
    double *values = old->values;
    uint32_t seen = old->seen[DIFF_OLD];
    uint32_t seen_new = new->seen[DIFF_NEW];
    *old = shown;
    old->values = values;
    old->seen[DIFF_NEW] = seen_new;
    old->seen[DIFF_OLD] = seen;
    *new = (struct diff_row){0}; /* seen by no run */
}

static void drop_unseen(struct diff_table *table) {
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].seen[DIFF_OLD] || table->rows[i].seen[DIFF_NEW]) table->rows[kept++] = table->rows[i];
    table->count = kept;
}

/* Rows that one side alone has, of stacks in which the other side's are contained. Of several that fit, first those whose figures are
 * equal (nothing else tells them apart where lines are not known), then the nearest. */
static void join_sites(struct diff *diff) {
    enum {
        PAIRS_MAX = 25000000
    }; /* two programs that have nothing in common: leave them apart, and do not compare all with all */
    struct diff_table *table = &diff->tables[DIFF_SITES];
    struct site_pairs list = {0};
    size_t old_count = 0, new_count = 0, *alone = xcalloc(2 * table->count + 1, sizeof *alone);
    for (size_t i = 0; i < table->count; i++) {
        const struct diff_row *row = &table->rows[i];
        if (row->seen[DIFF_OLD] && !row->seen[DIFF_NEW]) alone[old_count++] = i;
        if (row->seen[DIFF_NEW] && !row->seen[DIFF_OLD]) alone[table->count + new_count++] = i;
    }
    for (size_t i = 0; i < old_count && old_count * new_count <= PAIRS_MAX; i++)
        for (size_t j = 0; j < new_count; j++)
            add_pair(diff, &list, alone[i], alone[table->count + j]);
    if (list.count) qsort(list.pairs, list.count, sizeof *list.pairs, pair_order);
    for (size_t i = 0; i < list.count; i++) {
        struct diff_row *old = &table->rows[list.pairs[i].old], *new = &table->rows[list.pairs[i].new];
        bool is_free = old->seen[DIFF_OLD] && !old->seen[DIFF_NEW] && new->seen[DIFF_NEW] && !new->seen[DIFF_OLD];
        if (is_free) join_rows(diff, old, new);
    }
    if (list.count) drop_unseen(table), drop_unseen(&diff->tables[DIFF_FUNCTIONS]);
    free(list.pairs);
    free(alone);
}

/* ---- functions whose source file got another name ---- */

static int name_order(const void *left, const void *right, void *context) {
    const struct diff_row *rows = context, *a = &rows[*(const size_t *)left], *b = &rows[*(const size_t *)right];
    int order = strcmp(a->subject, b->subject);
    if (!order) order = strcmp(a->what, b->what);
    return order ? order : (int)(b->seen[DIFF_OLD] != 0) - (int)(a->seen[DIFF_OLD] != 0);
}

/* The row shows where the function is now. */
static void join_files(const struct diff *diff, size_t columns, struct diff_row *old, struct diff_row *new) {
    for (size_t i = 0; i < columns * diff->runs; i++)
        new->values[i] += old->values[i];
    new->seen[DIFF_OLD] = old->seen[DIFF_OLD];
    old->seen[DIFF_OLD] = 0;
}

/* Of a table of functions: two rows of one name, each of another side. A name that more files have stays as it is. */
static void join_files_of(struct diff *diff, enum diff_table_id id) {
    struct diff_table *table = &diff->tables[id];
    size_t *order = xcalloc(table->count + 1, sizeof *order);
    for (size_t i = 0; i < table->count; i++)
        order[i] = i;
    qsort_r(order, table->count, sizeof *order, name_order, table->rows);
    for (size_t i = 0, end; i < table->count; i = end) {
        struct diff_row *old = &table->rows[order[i]];
        for (end = i + 1; end < table->count; end++) {
            const struct diff_row *other = &table->rows[order[end]];
            if (strcmp(other->subject, old->subject) != 0 || strcmp(other->what, old->what) != 0) break;
        }
        if (end != i + 2) continue;
        struct diff_row *new = &table->rows[order[i + 1]];
        if (old->seen[DIFF_OLD] && !old->seen[DIFF_NEW] && new->seen[DIFF_NEW] && !new->seen[DIFF_OLD])
            join_files(diff, table->column_count, old, new);
    }
    drop_unseen(table);
    free(order);
}

static void join_renamed_files(struct diff *diff) {
    static const enum diff_table_id functions[] = {DIFF_FUNCTIONS, DIFF_CPU, DIFF_IO, DIFF_MAPS, DIFF_SAMPLES};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        join_files_of(diff, functions[i]);
}

/* ---- the kinds ---- */

static void read_values(sqlite3_stmt *row, int first, size_t count, double *values) {
    for (size_t i = 0; i < count; i++)
        values[i] = sqlite3_column_double(row, first + (int)i);
}

static void add_item(struct heap_item **items, size_t count, const struct heap_item *item) {
    if ((count & (count - 1)) == 0) *items = xrealloc(*items, (count ? 2 * count : 1) * sizeof **items);
    (*items)[count] = *item;
}

/* The coarsest sampling of a side stands for its runs. */
static int gather_sampling(struct gather *gather, struct error *err) {
    struct diff_sampling *sampling = &gather->diff->sampling[gather->side];
    sqlite3_stmt *row = prepare(gather, "diff/changes/sampling", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    int code = db_step(gather->source->db, row, err);
    if (code < 0) return -1;
    sampling->sample_n = fmax(sampling->sample_n, sqlite3_column_double(row, 0));
    sampling->period = fmax(sampling->period, sqlite3_column_double(row, 1));
    sqlite3_reset(row);
    return 0;
}

/* How much of the totals sampling alone makes: stacks are independent. */
static void add_sampling_variance(struct diff_sampling *sampling, const double values[4]) {
    for (size_t i = HEAP_BYTES; i < 4; i += 2) {
        double bytes = values[i], blocks = values[i + 1], size = blocks > 0 ? bytes / blocks : 0;
        double variance = sampling_error_variance(sampling->sample_n, sampling->period, blocks, bytes);
        sampling->variance[i + 1] += variance;
        sampling->variance[i] += variance * size * size;
    }
}

static int gather_heap(struct gather *gather, struct error *err) {
    struct heap_item *items = NULL, item;
    size_t count = 0;
    int code;
    sqlite3_stmt *row = prepare(gather, "diff/heap.sql", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    while ((code = db_step(gather->source->db, row, err)) == 1) {
        struct diff_stack *stack = find_stack(gather, sqlite3_column_int64(row, 0), err);
        if (!stack) break;
        if (!stack->is_kept) continue;
        read_values(row, 1, 4, item.values);
        if (add_to_functions(gather, DIFF_FUNCTIONS, stack, item.values, err) < 0) break;
        item.stack = (size_t)(stack - gather->source->stacks);
        add_item(&items, count++, &item);
        for (size_t i = 0; i < 4; i++)
            add_total(gather, TOTAL_HEAP + i, item.values[i]);
        add_sampling_variance(&gather->diff->sampling[gather->side], item.values);
    }
    code = code == 0 ? add_to_sites(gather, items, count, err) : -1;
    free(items);
    return code;
}

static int gather_peak(struct gather *gather, struct error *err) {
    int code;
    sqlite3_stmt *row = prepare(gather, "diff/changes/peak", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    while ((code = db_step(gather->source->db, row, err)) == 1) {
        const struct diff_stack *stack = find_stack(gather, sqlite3_column_int64(row, 0), err);
        if (!stack) return -1;
        if (stack->is_kept) add_total(gather, TOTAL_PEAK, sqlite3_column_double(row, 1));
    }
    return code;
}

static int gather_threads(struct gather *gather, struct error *err) {
    sqlite3_stmt *row = prepare(gather, "diff/changes/threads", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    int code = db_step(gather->source->db, row, err);
    if (code < 0) return -1;
    if (code == 0 || !sqlite3_column_int(row, 0)) gather->diff->has_inexact_peak = true;
    sqlite3_reset(row);
    return 0;
}

/* Where the recorder did not say it, each sample is taken as independent. */
static int gather_exactness(struct gather *gather, struct error *err) {
    struct sampling_scale scale;
    double *each = &gather->diff->samples_each[gather->side];
    if (sampling_scale_of(gather->source->db, gather->run_id, "cpu", "samples", &scale, err)) return -1;
    *each = fmax(*each, scale.variance);
    return 0;
}

static int gather_cpu(struct gather *gather, struct error *err) {
    double values[2];
    bool has_samples = false, has_credit = false;
    int code;
    sqlite3_stmt *row = prepare(gather, "diff/changes/cpu", err);
    if (!row || gather_exactness(gather, err)) return -1;
    db_bind_int(row, ":run", gather->run_id);
    while ((code = db_step(gather->source->db, row, err)) == 1) {
        struct diff_stack *stack = find_stack(gather, sqlite3_column_int64(row, 0), err);
        if (!stack) return -1;
        if (!stack->is_kept) continue;
        read_values(row, 1, 2, values);
        if (add_to_functions(gather, DIFF_CPU, stack, values, err) < 0) return -1;
        add_total(gather, TOTAL_CPU, values[0]);
        gather->diff->cpu_samples[gather->side] += values[1];
        has_samples |= values[1] != 0;
        has_credit |= values[1] == 0;
    }
    gather->diff->has_sampled_cpu |= has_samples && !has_credit;
    return code;
}

/* A table of functions whose figures a query gives by stack. */
static int gather_stacks(struct gather *gather, enum diff_table_id id, const char *sql, struct error *err) {
    double values[DIFF_FIGURES_MAX];
    int code;
    sqlite3_stmt *row = prepare(gather, sql, err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    while ((code = db_step(gather->source->db, row, err)) == 1) {
        struct diff_stack *stack = find_stack(gather, sqlite3_column_int64(row, 0), err);
        if (!stack) return -1;
        if (!stack->is_kept) continue;
        read_values(row, 1, gather->diff->tables[id].column_count, values);
        if (add_to_functions(gather, id, stack, values, err) < 0) return -1;
    }
    return code;
}

/* A stack may be in profiles of several kinds, so its rows are not stored with it. */
static int gather_samples(struct gather *gather, struct error *err) {
    int code;
    sqlite3_stmt *row = prepare(gather, "diff/changes/samples", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    while ((code = db_step(gather->source->db, row, err)) == 1) {
        struct members members = {0};
        double value = sqlite3_column_double(row, 2);
        struct diff_stack *stack = find_stack(gather, sqlite3_column_int64(row, 0), err);
        if (!stack) return -1;
        if (!stack->is_kept) continue;
        code = find_members(gather, DIFF_SAMPLES, db_text(row, 1), stack, &members, err);
        for (size_t i = 0; i < members.count; i++)
            add_values(gather, DIFF_SAMPLES, members.rows[i], &value);
        free(members.rows);
        if (code < 0) return -1;
    }
    return code;
}

static int gather_fibers(struct gather *gather, struct error *err) {
    sqlite3_stmt *row = prepare(gather, "diff/changes/fibers", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    if (db_step(gather->source->db, row, err) != 1) return -1;
    add_total(gather, TOTAL_FIBERS, sqlite3_column_double(row, 0));
    sqlite3_reset(row);
    return 0;
}

/* Locks, cells, channels and task sites, by identity. Patterns are matched against the name as against a frame. */
static int keeps_object(struct gather *gather, int64_t trace_id, const char *name, bool *keeps, struct error *err) {
    return trace_filter_keeps_named(&gather->filter, gather->source->db, trace_id, name, keeps, err);
}

static void add_object(struct gather *gather, enum diff_table_id id, sqlite3_stmt *from, const double *values) {
    struct diff_table *table = &gather->diff->tables[id];
    struct buffer key = {0};
    bool is_new;
    renamed_program_key(&gather->renamed, db_text(from, 1), &key);
    size_t index = find_row(gather->diff, table, &key, &is_new);
    struct diff_row *row = &table->rows[index];
    if (is_new) {
        row->identity = keep(gather->diff, db_text(from, 1));
        row->subject = keep(gather->diff, db_text(from, 2));
        row->db = gather->source->db;
        row->trace_id = sqlite3_column_int64(from, 0);
    }
    buffer_free(&key);
    add_values(gather, id, index, values);
}

/* Adds the values of an object to the totals. */
static void add_object_totals(struct gather *gather, enum diff_table_id id, const double *values) {
    if (id == DIFF_CELLS) add_total(gather, TOTAL_RETRIES, values[0]);
    for (size_t i = 0; i < 3 && id == DIFF_LOCKS; i++)
        add_total(gather, TOTAL_LOCK + i, values[i]);
    for (size_t i = 0; i < 2 && id == DIFF_CHANNELS; i++)
        add_total(gather, TOTAL_CHANNEL + i, values[1 + i]);
}

static int gather_objects(struct gather *gather, enum diff_table_id id, const char *sql, struct error *err) {
    double values[DIFF_FIGURES_MAX];
    int code;
    sqlite3_stmt *row = prepare(gather, sql, err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    while ((code = db_step(gather->source->db, row, err)) == 1) {
        bool keeps;
        if (keeps_object(gather, sqlite3_column_int64(row, 0), db_text(row, 2), &keeps, err) < 0) return -1;
        if (!keeps) continue;
        read_values(row, 3, gather->diff->tables[id].column_count, values);
        add_object(gather, id, row, values);
        add_object_totals(gather, id, values);
    }
    return code;
}

static void add_loss(struct diff *diff, int side, const char *code, const char *subject, int64_t count) {
    for (size_t i = 0; i < diff->loss_count; i++) {
        struct diff_loss *loss = &diff->losses[i];
        if (loss->side != side || strcmp(loss->code, code) || strcmp(loss->subject, subject)) continue;
        loss->runs++;
        if (count > loss->count) loss->count = count;
        return;
    }
    diff->losses = xrealloc(diff->losses, (diff->loss_count + 1) * sizeof *diff->losses);
    diff->losses[diff->loss_count++] = (struct diff_loss){side, keep(diff, code), keep(diff, subject), count, 1};
}

/* A run that a signal ended did less than others, or not all of it. */
static void add_interruption(struct gather *gather, int64_t signal) {
    struct units_text subject;
    snprintf(subject.text, sizeof subject.text, "signal %lld", (long long)signal);
    add_loss(gather->diff, gather->side, "interrupted", subject.text, 1);
    gather->diff->interrupted[gather->side]++;
}

static int gather_duration(struct gather *gather, struct error *err) {
    sqlite3_stmt *row = prepare(gather, "diff/run.sql", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    int code = db_step(gather->source->db, row, err);
    if (code < 1) return code < 0 ? -1 : error_fail(err, "%s: the run no longer exists", gather->source->db->path);
    add_total(gather, TOTAL_DURATION, sqlite3_column_double(row, 3));
    gather->diff->delay_ns[gather->side] = fmax(gather->diff->delay_ns[gather->side], sqlite3_column_double(row, 5));
    if (sqlite3_column_int64(row, 4)) add_interruption(gather, sqlite3_column_int64(row, 4));
    sqlite3_reset(row);
    return 0;
}

/* ---- losses ---- */

static int gather_losses(struct gather *gather, struct error *err) {
    sqlite3_stmt *row = prepare(gather, "diff/changes/loss", err);
    if (!row) return -1;
    db_bind_int(row, ":run", gather->run_id);
    int code;
    while ((code = db_step(gather->source->db, row, err)) == 1)
        add_loss(gather->diff, gather->side, db_text(row, 0), db_text(row, 2), sqlite3_column_int64(row, 3));
    return code;
}

/* ---- all runs ---- */

/* Reports print whole numbers of 64 bits. */
static int check_totals(const struct gather *gather, struct error *err) {
    const struct diff_table *totals = &gather->diff->tables[DIFF_TOTALS];
    for (size_t i = 0; i < totals->column_count; i++)
        if (fabs(totals->rows[0].values[i * gather->diff->runs + gather->run]) >= 0x1p63)
            return error_fail(err, "%s: a sum is larger than 2^63 - 1", gather->source->db->path);
    return 0;
}

static int gather_run(struct gather *gather, const struct run_item *item, struct error *err) {
    gather->source = source_of(gather, item->db);
    gather->run_id = item->id;
    gather->diff->tables[DIFF_TOTALS].rows[0].seen[gather->side]++;
    if (gather_losses(gather, err) || gather_duration(gather, err)) return -1;
    if (diff_count_recorded(gather->diff, gather->side, gather->source->db, gather->run_id, err)) return -1;
    if (gather_sampling(gather, err) || gather_heap(gather, err) || gather_peak(gather, err) ||
        gather_threads(gather, err))
        return -1;
    if (gather_objects(gather, DIFF_LOCKS, "diff/lock.sql", err)) return -1;
    if (gather_objects(gather, DIFF_WAITS, "diff/changes/wait", err)) return -1;
    if (gather_objects(gather, DIFF_CELLS, "diff/changes/cell", err)) return -1;
    if (gather_objects(gather, DIFF_CHANNELS, "diff/changes/channel", err)) return -1;
    if (gather_objects(gather, DIFF_FIBERS, "diff/changes/task", err) || gather_fibers(gather, err)) return -1;
    if (gather_stacks(gather, DIFF_IO, "diff/io.sql", err)) return -1;
    if (gather_stacks(gather, DIFF_MAPS, "diff/changes/maps", err)) return -1;
    return gather_cpu(gather, err) || gather_samples(gather, err) ? -1 : check_totals(gather, err);
}

/* If no row has the figure to judge by, another one is judged: dumps have no times, some CPU samples no rate. */
static void choose_judged(struct diff *diff) {
    struct {
        enum diff_table_id table;
        size_t wanted, otherwise;
    } choices[] = {{DIFF_LOCKS, 2, 1}, {DIFF_CPU, 0, 1}, {DIFF_CHANNELS, 2, 1}, {DIFF_FIBERS, 2, 0}};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct diff_table *table = &diff->tables[choices[i].table];
        bool any = false;
        for (size_t row = 0; row < table->count; row++)
            for (size_t run = 0; run < diff->runs; run++)
                any |= table->rows[row].values[choices[i].wanted * diff->runs + run] != 0;
        table->judged = any ? choices[i].wanted : choices[i].otherwise;
    }
    diff->tables[DIFF_FUNCTIONS].judged = diff->tables[DIFF_SITES].judged = diff->options->by;
}

int diff_gather(struct diff *diff, struct error *err) {
    struct gather gather = {.diff = diff};
    const struct buffer run = {(char *)"run", 3, 4};
    bool is_new;
    memcpy(diff->tables, empty_tables, sizeof empty_tables);
    for (int i = 0; i < DIFF_TABLES; i++)
        add_columns(&diff->tables[i]);
    find_row(diff, &diff->tables[DIFF_TOTALS], &run, &is_new);
    int code = trace_filter_open(&gather.filter, diff->options->focus, diff->options->ignore, err);
    if (code == 0) code = renamed_program_find(diff->options, &gather.renamed, err);
    for (gather.side = 0; gather.side < DIFF_SIDES && code == 0; gather.side++) {
        const struct run_list *runs = &diff->options->sides[gather.side].runs;
        for (size_t i = 0; i < runs->count && code == 0; i++, gather.run++)
            code = gather_run(&gather, &runs->items[i], err);
    }
    if (code == 0) join_sites(diff), join_renamed_files(diff);
    if (code == 0) diff_leave_out_unrecorded(diff);
    if (code == 0) choose_judged(diff);
    free_source(&gather.sources[0]);
    free_source(&gather.sources[1]);
    trace_filter_close(&gather.filter);
    renamed_program_free(&gather.renamed);
    map_free(&gather.places);
    return code;
}
