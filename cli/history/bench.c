#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/terminal.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/history/bench_set.h"
#include "cli/history/take_options.h"
#include "ingest/writer/run_uuid.h"
#include "query/runs/run_set.h"
#include "schema/schema.h"

struct bench_options {
    const char *db, *base;
    int64_t runs, warmup;
    bool json;
    struct take_options take;
};

enum { RUNS_DEFAULT = 10, RUNS_MAX = 100000, NAME_SIZE = 13 };

struct bench {
    struct bench_options options;
    char *const *command;
    char name[NAME_SIZE]; /* of the set: the value of the tag `bench` */
    struct stop stop;
    struct bench_set set;
    FILE *live; /* where the line of each run goes; NULL: nowhere */
};

#define AT(member) offsetof(struct bench_options, member)
static const struct option_row bench_rows[] = {
    {"runs", .letter = 'n', .type = OPTION_COUNT, .offset = AT(runs), .min = 1, .max = RUNS_MAX, .is_number = true,
     .argument = "N", .help = "How many runs; `-5` is short for `-n 5`. Default: 10."},
    {"warmup", .letter = 'w', .type = OPTION_COUNT, .offset = AT(warmup), .max = RUNS_MAX, .argument = "N",
     .help = "Runs before them, for caches. They are stored with the tag `warmup`, and not counted. Default: 0."},
    {"base", .type = OPTION_TEXT, .offset = AT(base), .argument = "RUNS", .words = "<runs>",
     .help = "Compare with these runs. Default: the last set of the same command."},
    {0},
};
static const struct option_row bench_output_rows[] = {
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON object: every figure of every run, means, deviations and the comparison."},
    {0},
};
const struct option_group bench_options[] = {{"Runs", bench_rows, 0},
                                             {"The command", take_option_rows, AT(take)},
                                             {"Output", bench_output_rows, 0},
                                             CLI_WAREHOUSE(bench_options, db),
                                             CLI_OPTIONS_END};
#undef AT

/* ---- runs ---- */

static int fail_of_program(const struct bench *bench, const struct taken_run *taken, const char *how,
                           struct error *err) {
    fflush(stdout);
    taken_run_print_said(taken, "  ", stderr);
    return error_fail(err, "%s: %s in run %lld: stopped (--ignore-failure goes on)", bench->command[0], how,
                      (long long)taken->run_id);
}

/* A run belongs to the set when it is over and accepted: not one that was stopped, or whose program failed. */
static int accept(struct bench *bench, int64_t run_id, struct error *err) {
    struct run_tags tags = {0};
    struct db db;
    if (cli_open(&db, bench->options.db, DB_WRITE, err)) return -1;
    run_tags_add(&tags, "bench", bench->name);
    int code = run_tags_insert(&tags, &db, run_id, err);
    if (code == 0) code = run_values_add(&bench->set.values, &db, run_id, err);
    run_tags_free(&tags);
    return db_close(&db, err) ? -1 : code;
}

/* 1: a run was taken; 0: stopped; -1: the error is set. */
static int take_one(struct bench *bench, const struct take_run *wanted, bool is_counted, struct error *err) {
    struct taken_run taken = {0};
    struct error failure = {0};
    int code = take_run(wanted, &bench->stop, &taken, &failure) ? -1 : 1;
    char *how = code == 1 ? taken_run_failure(&taken) : NULL;
    if (bench->stop.signal)
        code = 0;
    else if (code < 0)
        error_fail(err, "%s", failure.message);
    else if (how && !bench->options.take.ignores_failure)
        code = fail_of_program(bench, &taken, how, err);
    else if (is_counted && accept(bench, taken.run_id, err))
        code = -1;
    free(how);
    taken_run_free(&taken);
    return code;
}

static int warm_up(struct bench *bench, const struct take_run *wanted, struct error *err) {
    struct take_run warm = *wanted;
    struct run_tags tags = {0};
    int code = 1;
    for (size_t i = 0; i < wanted->tags->count; i++)
        run_tags_add(&tags, wanted->tags->items[i].key, wanted->tags->items[i].value);
    run_tags_add(&tags, "warmup", bench->name);
    warm.tags = &tags;
    for (int64_t i = 0; i < bench->options.warmup && code == 1; i++)
        code = stop_is_asked(&bench->stop) ? 0 : take_one(bench, &warm, false, err);
    run_tags_free(&tags);
    return code;
}

static int measure(struct bench *bench, struct error *err) {
    const struct take_run wanted = take_options_run(&bench->options.take, bench->options.db, bench->command);
    struct run_values *values = &bench->set.values;
    int code = warm_up(bench, &wanted, err);
    for (int64_t i = 0; i < bench->options.runs && code == 1; i++) {
        code = stop_is_asked(&bench->stop) ? 0 : take_one(bench, &wanted, true, err);
        if (code == 1 && bench->live) bench_print_run(bench->live, values, values->run_count - 1);
    }
    return code < 0 ? -1 : 0;
}

/* ---- the comparison ---- */

static int add_base(struct bench_set *set, struct db *db, const struct run_set *runs, struct error *err) {
    int code = 0;
    for (size_t i = 0; i < runs->count && code == 0; i++) {
        bool is_own = false;
        for (size_t own = 0; own < set->values.run_count; own++)
            is_own |= set->values.runs[own] == runs->ids[i];
        if (!is_own) code = run_values_add(&set->before, db, runs->ids[i], err);
    }
    return code;
}

/* The text of the first column; NULL: there is no row, or the error is set. free() it. */
static char *one_text(struct db *db, sqlite3_stmt *row, struct error *err) {
    char *text = row && db_step(db, row, err) == 1 ? xstrdup(db_text(row, 0)) : NULL;
    if (row) sqlite3_reset(row);
    return text;
}

static char *command_of(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT command FROM runs WHERE id = :run", err);
    if (row) db_bind_int(row, ":run", run_id);
    return one_text(db, row, err);
}

/* Adds the runs of the last set of this command. */
static int find_last(struct bench *bench, struct db *db, struct run_set *runs, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/bench/last_set"), err);
    if (!row) return -1;
    db_bind_text(row, ":command", bench->set.command);
    db_bind_text(row, ":set", bench->name);
    char *last = one_text(db, row, err);
    if (!last) return err->status == ERROR_NONE ? 0 : -1;
    row = db_prepare(db, embedded_text("history/bench/set_runs"), err);
    int code = row ? 0 : -1;
    if (row) db_bind_text(row, ":set", last);
    if (row) db_bind_text(row, ":command", bench->set.command);
    while (row && (code = db_step(db, row, err)) == 1) {
        runs->ids = xrealloc(runs->ids, (runs->count + 1) * sizeof *runs->ids);
        runs->ids[runs->count++] = sqlite3_column_int64(row, 0);
    }
    bench->set.before_name = xasprintf("tag:bench=%s", last);
    free(last);
    return code;
}

static int find_base(struct bench *bench, struct db *db, struct error *err) {
    struct run_set runs = {0};
    int code;
    if (bench->options.base) {
        bench->set.before_name = xstrdup(bench->options.base);
        code = run_set_add(&runs, db, bench->options.base, err);
    } else {
        code = find_last(bench, db, &runs, err);
    }
    if (code == 0) code = add_base(&bench->set, db, &runs, err);
    run_set_free(&runs);
    return code;
}

/* Before anything is run: a misspelt base is found out now and not after an hour. */
static int check_base(const struct bench *bench, struct error *err) {
    struct run_set runs = {0};
    struct db db;
    if (!bench->options.base) return 0;
    if (cli_open(&db, bench->options.db, DB_READ, err)) return -1;
    int code = run_set_add(&runs, &db, bench->options.base, err);
    struct error ignored = {0};
    db_close(&db, &ignored);
    run_set_free(&runs);
    return code;
}

/* ---- output ---- */

static void print_next(const struct bench *bench) {
    struct buffer db = {0}, base = {0};
    escape_shell(&db, cli_database(bench->options.db));
    printf("set tag:bench=%s: %s", bench->name, units_things((int64_t)bench->set.values.run_count, "run").text);
    if (bench->set.before_name) {
        escape_shell(&base, bench->set.before_name);
        printf("; before %s: %s; what changed: clear doctor --db %s %s --diff tag:bench=%s", buffer_text(&base),
               units_things((int64_t)bench->set.before.run_count, "run").text, buffer_text(&db), buffer_text(&base),
               bench->name);
    }
    putchar('\n');
    buffer_free(&db);
    buffer_free(&base);
}

static int conclude(struct bench *bench, struct error *err) {
    struct figure_limits limits;
    struct db db;
    if (bench->set.values.run_count == 0) return 0;
    if (cli_open(&db, bench->options.db, DB_READ, err)) return -1;
    int code = figure_limits_read(&limits, &db, err);
    if (code == 0 && !(bench->set.command = command_of(&db, bench->set.values.runs[0], err))) code = -1;
    if (code == 0) code = find_base(bench, &db, err);
    if (code == 0 && bench->options.json) {
        bench_print_json(stdout, &bench->set, &limits);
    } else if (code == 0) {
        putchar('\n');
        bench_print_table(stdout, &bench->set, &limits);
        print_next(bench);
    }
    struct error ignored = {0};
    db_close(&db, &ignored);
    return code;
}

/* ---- the command ---- */

static void release(struct bench *bench) {
    run_values_free(&bench->set.values);
    run_values_free(&bench->set.before);
    free((char *)(uintptr_t)bench->set.command);
    free((char *)(uintptr_t)bench->set.before_name);
    take_options_free(&bench->options.take);
}

static int name_set(struct bench *bench, struct error *err) {
    char uuid[RUN_UUID_SIZE];
    if (run_uuid(uuid, err)) return -1;
    snprintf(bench->name, sizeof bench->name, "%.8s%.4s", uuid, uuid + 9);
    bench->set.name = bench->name;
    return 0;
}

/* What would be found out only after the first run. */
static int check(const struct bench *bench, struct error *err) {
    const struct run_tags *tags = &bench->options.take.tags;
    if (run_tags_has(tags, "bench") || run_tags_has(tags, "warmup"))
        return error_usage(err, "the tags bench and warmup are set by clear bench: choose another key");
    return check_base(bench, err);
}

/* The figures of the runs that were taken are printed in any case. */
static int run(struct bench *bench, struct error *err) {
    if (check(bench, err) || name_set(bench, err) || stop_watch(&bench->stop, err)) return -1;
    int code = measure(bench, err);
    stop_end(&bench->stop);
    struct error late = {0};
    if (conclude(bench, &late) && code == 0) code = error_fail(err, "%s", late.message);
    fflush(stdout);
    return code;
}

int command_bench(int argc, char **argv, struct error *err) {
    struct bench bench = {.options = {.runs = RUNS_DEFAULT}};
    int code = cli_options(&argc, argv, &bench.options, err) < 0 ? -1 : 0;
    if (code == 0 && argc < 2) code = error_usage(err, "no command: clear bench [OPTION]... -- COMMAND [ARG]...");
    if (code == 0) {
        bench.command = argv + 1;
        bench.live = !bench.options.json ? stdout : terminal_is_shown(stderr) ? stderr : NULL;
        code = run(&bench, err);
    }
    release(&bench);
    if (code) return -1;
    return bench.stop.signal ? stop_exit(&bench.stop) : 0;
}
