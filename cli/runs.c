#include "cli/runs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grid.h"
#include "base/terminal.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "query/profile/load/describe.h"
#include "query/runs/select.h"
#include "query/sql/result_table.h"
#include "schema/schema.h"

/* ---- the table ---- */

enum column { RUN, STARTED, DURATION, LABEL, ALLOCATIONS, BYTES, LIVE, LOCK_WAIT, EXIT, COMMAND, FLAGS, COLUMNS };

static const struct {
    const char *heading;
    bool is_right;
    int least; /* columns of the terminal that its text may be cut to; 0: it is never cut */
} columns[COLUMNS] = {
    [RUN] = {"run", true, 0},           [STARTED] = {"started", false, 0},        [DURATION] = {"duration", true, 0},
    [LABEL] = {"label", false, 8},      [ALLOCATIONS] = {"allocations", true, 0}, [BYTES] = {"bytes", true, 0},
    [LIVE] = {"live", true, 0},         [LOCK_WAIT] = {"lock wait", true, 0},     [EXIT] = {"exit", false, 0},
    [COMMAND] = {"command", false, 14}, [FLAGS] = {"flags", false, 10},
};
/* Left out in this order where the terminal is too narrow. */
static const enum column dropped_first[] = {BYTES, LOCK_WAIT, EXIT, ALLOCATIONS, LIVE, DURATION};

enum { TEXT_MAX = 40 }; /* of labels and commands, also where there is no terminal */

struct run_table {
    char **cells; /* COLUMNS a row, the headings first; owned */
    size_t count;
    int widths[COLUMNS]; /* -1: left out */
};

static void add_cell(struct run_table *table, const char *text) {
    enum column column = table->count % COLUMNS;
    struct buffer shown = {0};
    bool is_name = column == LABEL || column == COMMAND;
    grid_visible(&shown, text, is_name ? TEXT_MAX : INT32_MAX);
    int width = grid_width(buffer_text(&shown), shown.size);
    if (width > table->widths[column]) table->widths[column] = width;
    table->cells = xrealloc(table->cells, (table->count + 1) * sizeof *table->cells);
    table->cells[table->count++] = buffer_take(&shown);
}

/* The column that says what limits the figures of the row, and that clear gc keeps the run. */
static void add_flags(struct run_table *table, sqlite3_stmt *row) {
    struct buffer flags = {0};
    int64_t dropped = sqlite3_column_int64(row, 11), truncated = sqlite3_column_int64(row, 12);
    int64_t sample_n = sqlite3_column_int64(row, 13), sample_bytes = sqlite3_column_int64(row, 14);
    if (strstr(db_text(row, 10), "unfinished")) buffer_add_text(&flags, "unfinished");
    if (sqlite3_column_int(row, 15)) buffer_printf(&flags, "%spinned", flags.size ? ", " : "");
    if (dropped) buffer_printf(&flags, "%sdropped %s", flags.size ? ", " : "", units_count(dropped).text);
    if (truncated) buffer_printf(&flags, "%struncated %s", flags.size ? ", " : "", units_count(truncated).text);
    if (sample_n > 1) buffer_printf(&flags, "%ssampled 1 in %s", flags.size ? ", " : "", units_count(sample_n).text);
    if (sample_bytes > 1)
        buffer_printf(&flags, "%ssampled every %s", flags.size ? ", " : "", units_bytes(sample_bytes).text);
    add_cell(table, buffer_text(&flags));
    buffer_free(&flags);
}

static int add_run(struct run_table *table, struct db *db, sqlite3_stmt *row, struct error *err) {
    struct buffer word = {0};
    int code = run_word_add(&word, db, sqlite3_column_int64(row, 0), err);
    add_cell(table, buffer_text(&word));
    buffer_free(&word);
    add_cell(table, units_time(sqlite3_column_int64(row, 1)).text);
    add_cell(table, units_ns(sqlite3_column_int64(row, 2)).text);
    add_cell(table, db_text(row, 3));
    add_cell(table, units_count(sqlite3_column_int64(row, 5)).text);
    add_cell(table, units_bytes(sqlite3_column_int64(row, 6)).text);
    add_cell(table, units_bytes(sqlite3_column_int64(row, 7)).text);
    add_cell(table, units_ns(sqlite3_column_int64(row, 8)).text);
    add_cell(table, db_text(row, 9));
    add_cell(table, db_text(row, 4));
    add_flags(table, row);
    return code;
}

/* The width of a line, where texts that can be cut have their least width. */
static int least_width(const struct run_table *table) {
    int sum = -2;
    for (enum column column = 0; column < COLUMNS; column++) {
        int least = columns[column].least, width = table->widths[column];
        if (width >= 0) sum += 2 + (least && least < width ? least : width);
    }
    return sum;
}

/* Gives each text that can be cut its least width, and then what is left to them in turn. */
static void share(struct run_table *table, int left) {
    int wanted[COLUMNS];
    bool grows = true;
    memcpy(wanted, table->widths, sizeof wanted);
    for (enum column column = 0; column < COLUMNS; column++)
        if (columns[column].least && columns[column].least < wanted[column])
            table->widths[column] = columns[column].least;
    while (left > 0 && grows) {
        grows = false;
        for (enum column column = 0; column < COLUMNS && left > 0; column++) {
            if (table->widths[column] >= wanted[column]) continue;
            table->widths[column]++;
            left--;
            grows = true;
        }
    }
}

static void fit(struct run_table *table, int width) {
    if (!width) return;
    for (size_t i = 0; i < sizeof dropped_first / sizeof *dropped_first && least_width(table) > width; i++)
        table->widths[dropped_first[i]] = -1;
    share(table, width - least_width(table));
}

static void print_table(const struct run_table *table) {
    struct grid grid = {0};
    for (enum column column = 0; column < COLUMNS; column++)
        grid.columns += table->widths[column] >= 0;
    for (size_t i = 0; i < table->count; i++) {
        enum column column = i % COLUMNS;
        struct buffer text = {0};
        if (table->widths[column] < 0) continue;
        grid_visible(&text, table->cells[i], table->widths[column]);
        grid_add(&grid, buffer_text(&text), text.size, columns[column].is_right && i >= COLUMNS);
        buffer_free(&text);
    }
    grid_print(&grid, stdout, true);
    grid_free(&grid);
}

static void run_table_free(struct run_table *table) {
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
}

/* ---- the runs ---- */

/* Their ids as a JSON array, to be freed; NULL with the error set. */
static char *find_wanted(struct db *db, const struct runs_shown *shown, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/runs/wanted"), err);
    struct buffer ids = {0};
    if (!row) return NULL;
    if (shown->only) buffer_add_json_integers(&ids, shown->only->ids, shown->only->count);
    db_bind_text(row, ":only", shown->only ? buffer_text(&ids) : NULL);
    db_bind_int(row, ":last", shown->last ? shown->last : -1);
    db_bind_text(row, ":search", shown->search);
    db_bind_text(row, ":kind", shown->kind);
    if (shown->before) db_bind_int(row, ":before", shown->before);
    db_bind_text(row, ":since", shown->since);
    db_bind_text(row, ":until", shown->until);
    buffer_free(&ids);
    char *wanted = db_step(db, row, err) == 1 ? xstrdup(db_text(row, 0)) : NULL;
    sqlite3_reset(row);
    return wanted;
}

static sqlite3_stmt *prepare(struct db *db, const char *text, const struct runs_shown *shown, struct error *err) {
    char *wanted = find_wanted(db, shown, err);
    sqlite3_stmt *row = wanted ? db_prepare(db, embedded_text(text), err) : NULL;
    if (row) db_bind_text(row, ":runs", wanted);
    free(wanted);
    return row;
}

static bool is_filtered(const struct runs_shown *shown) {
    return shown->search || shown->kind || shown->before || shown->since || shown->until;
}

static int count_runs(struct db *db, const struct runs_shown *shown, int64_t *count, struct error *err) {
    *count = shown->only ? (int64_t)shown->only->count : 0;
    if (shown->only || is_filtered(shown)) return 0;
    return db_count_runs(db, count, err);
}

static int print_for_people(struct db *db, const struct runs_shown *shown, struct error *err) {
    struct run_table table = {0};
    int64_t count, more;
    if (count_runs(db, shown, &count, err) < 0) return -1;
    sqlite3_stmt *row = prepare(db, "runs/runs/list", shown, err);
    if (!row) return -1;
    for (enum column column = 0; column < COLUMNS; column++)
        add_cell(&table, columns[column].heading);
    int code;
    while ((code = db_step(db, row, err)) == 1)
        if ((code = add_run(&table, db, row, err))) break;
    fit(&table, terminal_width(stdout));
    if (code == 0) print_table(&table);
    more = count - (int64_t)(table.count / COLUMNS - 1);
    if (code == 0 && more > 0) printf("and %s (--last 0 shows all)\n", units_things(more, "older run").text);
    run_table_free(&table);
    return code;
}

int runs_print(struct db *db, const struct runs_shown *shown, struct error *err) {
    const struct table_options options = {.format = TABLE_JSON, .json_columns = 2};
    if (!shown->is_json) return print_for_people(db, shown, err);
    sqlite3_stmt *statement = prepare(db, "runs/runs/list_whole", shown, err);
    return statement ? table_print(stdout, db, statement, db_step, &options, err) : -1;
}

/* ---- the command ---- */

struct runs_options {
    const char *db, *label, *tag, *search, *kind, *before, *since, *until;
    int64_t last;
    bool json, describe, all;
};

enum { LAST_DEFAULT = 30, LAST_UNSET = -1 };

#define AT(member) offsetof(struct runs_options, member)
static const struct option_row shown_rows[] = {
    {"last", .letter = 'n', .type = OPTION_COUNT, .offset = AT(last), .max = INT64_MAX, .is_number = true,
     .argument = "N", .help = "Only the newest N; `-5` is short for `-n 5`. Default: 30, with `--json` all. 0: all."},
    {"all", .type = OPTION_SWITCH, .offset = AT(all), .help = "All runs, as `--last 0`."},
    {"label", .type = OPTION_TEXT, .offset = AT(label), .argument = "NAME", .words = "<label>",
     .help = "Only runs with this label."},
    {"tag", .type = OPTION_TEXT, .offset = AT(tag), .argument = "KEY=VALUE", .words = "<tag>",
     .help = "Only runs with this tag."},
    {"search", .type = OPTION_TEXT, .offset = AT(search), .argument = "TEXT",
     .help = "Only runs with this text in label, command, source or a tag, in capitals or not."},
    {"kind", .type = OPTION_TEXT, .offset = AT(kind), .argument = "KIND", .words = "<kind>",
     .help = "Only runs that have this kind of profile."},
    {"before", .type = OPTION_TEXT, .offset = AT(before), .argument = "RUN", .words = "<run>",
     .help = "Only runs that started before this one."},
    {"since", .type = OPTION_TEXT, .offset = AT(since), .argument = "DAY",
     .help = "Only runs that started on this day (UTC) or later, as 2026-01-31."},
    {"until", .type = OPTION_TEXT, .offset = AT(until), .argument = "DAY",
     .help = "Only runs that started on this day (UTC) or earlier."},
    {0},
};
static const struct option_row output_rows[] = {
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON array: one object for each run, with all columns of the view `run_summary`, "
             "the kinds of profile that it has, and its tags."},
    {"describe", .type = OPTION_SWITCH, .offset = AT(describe),
     .help = "Print a JSON object about these runs together (default: the latest): `runs` as with `--json`, the "
             "`kinds` of profile that "
             "all have with their sample types, `processes`, `has_events` (of `--trace`), and `losses`: sentences on "
             "what limits the figures."},
    {0},
};
#undef AT
const struct option_group runs_options[] = {{"Which runs", shown_rows, 0},
                                            {"Output", output_rows, 0},
                                            CLI_WAREHOUSE_OR_STORE(runs_options, db),
                                            CLI_OPTIONS_END};

/* Keeps in `set` what `text` names too. The first call fills it. */
static int narrow(struct run_set *set, bool *is_narrowed, struct db *db, const char *text, struct error *err) {
    struct run_set more = {0};
    size_t kept = 0;
    if (run_set_add(*is_narrowed ? &more : set, db, text, err) < 0) return -1;
    for (size_t i = 0; *is_narrowed && i < set->count; i++)
        for (size_t j = 0; j < more.count; j++)
            if (set->ids[i] == more.ids[j]) set->ids[kept++] = set->ids[i];
    if (*is_narrowed) set->count = kept;
    *is_narrowed = true;
    run_set_free(&more);
    return 0;
}

static int choose(struct run_set *set, bool *is_narrowed, struct db *db, const struct runs_options *options,
                  char **words, struct error *err) {
    char *label = options->label ? xasprintf("all:%s", options->label) : NULL;
    char *tag = options->tag ? xasprintf("tag:%s", options->tag) : NULL;
    int code = 0;
    for (; *words && code == 0; words++)
        code = run_set_add(set, db, *words, err);
    *is_narrowed = set->count > 0;
    if (code == 0 && label) code = narrow(set, is_narrowed, db, label, err);
    if (code == 0 && tag) code = narrow(set, is_narrowed, db, tag, err);
    free(label);
    free(tag);
    return code;
}

/* As SQLite reads it: with all digits, and in the calendar. */
static int check_day(const char *option, const char *day, struct error *err) {
    struct tm moment = {0};
    char written[32] = "";
    if (!day) return 0;
    const char *rest = strptime(day, "%Y-%m-%d", &moment);
    if (rest && timegm(&moment) != -1) strftime(written, sizeof written, "%Y-%m-%d", &moment);
    if (strcmp(written, day) == 0 && *day) return 0;
    return error_usage(err, "%s '%s' is not a day; write it as 2026-01-31", option, day);
}

/* Of a store: the runs that can be in the list. */
static int want_listed(struct db *db, const struct runs_shown *shown, struct error *err) {
    char *set = xasprintf("last=%lld", (long long)shown->last);
    int code = shown->only ? 0 : db_want(db, is_filtered(shown) || !shown->last ? "all" : set, err);
    free(set);
    return code;
}

/* One object about all of them: {"runs":[...], ...}. */
static int describe(struct db *db, struct run_set *set, struct error *err) {
    struct buffer fields = {0};
    if (set->count == 0 && run_set_add(set, db, "latest", err)) return -1;
    int code = describe_runs(db, set, &fields, err);
    if (code == 0) {
        fputs("{\"runs\":", stdout);
        code = runs_print(db, &(struct runs_shown){.only = set, .is_json = true}, err);
        printf(",%s}\n", buffer_text(&fields));
    }
    buffer_free(&fields);
    return code;
}

int command_runs(int argc, char **argv, struct error *err) {
    struct runs_options options = {.last = LAST_UNSET};
    struct run_set set = {0};
    struct db db;
    int64_t before = 0;
    bool is_narrowed = false;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (options.all && options.last != LAST_UNSET) return error_usage(err, "--all and --last exclude each other");
    if (options.all) options.last = 0;
    if (check_day("--since", options.since, err) < 0 || check_day("--until", options.until, err) < 0) return -1;
    int opened = options.describe ? cli_open(&db, options.db, DB_READ, err) : cli_open_heads(&db, options.db, err);
    if (opened < 0) return -1;
    int code = choose(&set, &is_narrowed, &db, &options, argv + 1, err);
    if (code == 0 && options.before) code = select_run(&db, options.before, &before, err);
    if (code == 0 && options.describe) {
        code = describe(&db, &set, err);
    } else if (code == 0) {
        if (options.last == LAST_UNSET) options.last = options.json || argc > 1 ? 0 : LAST_DEFAULT;
        struct runs_shown shown = {.only = is_narrowed ? &set : NULL,
                                   .last = options.last,
                                   .search = options.search,
                                   .kind = options.kind,
                                   .before = before,
                                   .is_json = options.json,
                                   .since = options.since,
                                   .until = options.until};
        code = want_listed(&db, &shown, err);
        pager_start();
        if (code == 0) code = runs_print(&db, &shown, err);
    }
    run_set_free(&set);
    db_close(&db, err);
    return code;
}
