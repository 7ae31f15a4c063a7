#include <string.h>

#include "base/grid.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/runs.h"
#include "query/sql/result_table.h"
#include "schema/schema.h"

static const char newest_first[] = "SELECT * FROM run_summary ORDER BY started_ns DESC, run_id DESC";

/* The column that says what limits the figures of the row. */
static void add_flags(struct grid *grid, sqlite3_stmt *row) {
    struct buffer flags = {0};
    int64_t dropped = sqlite3_column_int64(row, 11), truncated = sqlite3_column_int64(row, 12);
    int64_t sample_n = sqlite3_column_int64(row, 13), sample_bytes = sqlite3_column_int64(row, 14);
    if (strstr(db_text(row, 10), "unfinished")) buffer_add_text(&flags, "unfinished");
    if (dropped) buffer_printf(&flags, "%sdropped %s", flags.size ? ", " : "", units_count(dropped).text);
    if (truncated) buffer_printf(&flags, "%struncated %s", flags.size ? ", " : "", units_count(truncated).text);
    if (sample_n > 1) buffer_printf(&flags, "%ssampled 1 in %s", flags.size ? ", " : "", units_count(sample_n).text);
    if (sample_bytes > 1)
        buffer_printf(&flags, "%ssampled every %s", flags.size ? ", " : "", units_bytes(sample_bytes).text);
    grid_left(grid, buffer_text(&flags));
    buffer_free(&flags);
}

static void add_run(struct grid *grid, sqlite3_stmt *row) {
    enum { COMMAND_SHOWN = 40 };
    char command[COMMAND_SHOWN + 4];
    snprintf(command, sizeof command, "%.*s", COMMAND_SHOWN, db_text(row, 4));
    if (strlen(db_text(row, 4)) > COMMAND_SHOWN) strcat(command, "...");
    grid_right(grid, db_text(row, 0));
    grid_left(grid, units_time(sqlite3_column_int64(row, 1)).text);
    grid_right(grid, units_ns(sqlite3_column_int64(row, 2)).text);
    grid_left(grid, db_text(row, 3));
    grid_right(grid, units_count(sqlite3_column_int64(row, 5)).text);
    grid_right(grid, units_bytes(sqlite3_column_int64(row, 6)).text);
    grid_right(grid, units_bytes(sqlite3_column_int64(row, 7)).text);
    grid_right(grid, units_ns(sqlite3_column_int64(row, 8)).text);
    grid_left(grid, db_text(row, 9));
    grid_left(grid, command);
    add_flags(grid, row);
}

static int print_for_people(struct db *db, struct error *err) {
    static const char *const headings[] = {"run",  "started",   "duration", "label",   "allocations", "bytes",
                                           "live", "lock wait", "exit",     "command", "flags"};
    struct grid grid = {.columns = sizeof headings / sizeof *headings};
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/list.sql"), err);
    if (!row) return -1;
    for (size_t i = 0; i < grid.columns; i++)
        grid_left(&grid, headings[i]);
    int code;
    while ((code = db_step(db, row, err)) == 1)
        add_run(&grid, row);
    if (code == 0) grid_print(&grid, stdout, true);
    grid_free(&grid);
    return code;
}

int runs_print(struct db *db, bool json, struct error *err) {
    const struct table_options options = {.format = TABLE_JSON};
    if (!json) return print_for_people(db, err);
    sqlite3_stmt *statement = db_prepare(db, newest_first, err);
    return statement ? table_print(stdout, db, statement, db_step, &options, err) : -1;
}

struct runs_options {
    const char *db;
    bool json;
};

static const struct option_row rows[] = {
    {"json", .type = OPTION_SWITCH, .offset = offsetof(struct runs_options, json),
     .help = "Print a JSON array: one object for each run, with all columns of the view `run_summary`."},
    {0},
};
const struct option_group runs_options[] = {{"Output", rows, 0}, CLI_WAREHOUSE(runs_options, db), CLI_OPTIONS_END};

int command_runs(int argc, char **argv, struct error *err) {
    struct runs_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(0, argc, argv, err) < 0) return -1;
    if (cli_open(&db, options.db, DB_READ, err) < 0) return -1;
    int code = runs_print(&db, options.json, err);
    db_close(&db, err);
    return code;
}
