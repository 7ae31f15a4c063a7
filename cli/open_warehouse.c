#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "cli/cli.h"
#include "ingest/team/team_reader.h"
#include "schema/figure_kinds.h"

static struct config config; /* lives as long as the process, as the command line does */
static bool is_loaded;
static const char default_name[] = "runs.sqlite";

int cli_load_config(const char *path, struct error *err) {
    struct config loaded;
    if (config_read(&loaded, path, err)) return -1;
    config_free(&config); /* --config twice: the last one counts */
    config = loaded;
    is_loaded = true;
    return 0;
}

int cli_find_config(struct error *err) {
    char *passed;
    if (is_loaded) return 0;
    char *path = config_find(&passed);
    if (passed)
        fprintf(stderr, "clear: %s belongs to another user and is not read; --config %s reads it\n", passed, passed);
    int code = path ? cli_load_config(path, err) : 0;
    is_loaded = true;
    free(passed);
    free(path);
    return code;
}

const struct config *cli_config(void) {
    return &config;
}

const char *cli_database(const char *option) {
    const char *variable = getenv("CLEAR_DB");
    if (option) return option;
    if (variable && *variable) return variable;
    return config.database ? config.database : default_name;
}

char *cli_shown_database(const char *option) {
    return cli_is_store(option) ? team_shown_address(cli_database(option)) : xstrdup(cli_database(option));
}

bool cli_is_store(const char *option) {
    return team_is_address(cli_database(option));
}

static const char *given_project, *given_runs, *reading = "";

void cli_set_reading(const char *command) {
    reading = command;
}

const char *cli_reading(void) {
    return reading;
}

void cli_set_project(const char *name) {
    given_project = name;
}

void cli_set_runs(const char *set) {
    given_runs = set;
}

const char *cli_runs_of_store(void) {
    return given_runs;
}

const char *cli_project_or(const char *given) {
    const char *set = given ? given : getenv("CLEAR_PROJECT");
    return set && *set ? set : "default";
}

const char *cli_project(void) {
    return cli_project_or(given_project);
}

int cli_check_owner(const char *option, struct error *err) {
    const char *path = cli_database(option);
    struct stat status;
    if (path != default_name || stat(path, &status) || owner_is_trusted(status.st_uid)) return 0;
    return error_fail(err, "%s belongs to another user and is not opened by default: --db %s opens it", path, path);
}

static int refuse_store(const char *address, struct error *err) {
    char *shown = team_shown_address(address);
    error_usage(
        err,
        "%s: a team's store: this needs a file (--db FILE); clear pull fetches runs into one, clear push sends them",
        shown);
    free(shown);
    return -1;
}

int cli_need_file(const char *option, struct error *err) {
    return cli_is_store(option) ? refuse_store(cli_database(option), err) : 0;
}

/* How much of the runs of a store is wanted. */
struct extent {
    enum { WHOLE, HEADS, FIGURES } what;
    const char *figure; /* of FIGURES */
    const char *of;     /* of FIGURES: functions or sites; NULL: others */
    int patience_ms;    /* of a file: as db_open_within; 0: as db_open */
};

/* The one place where the address of a store becomes a warehouse. */
static int open_store(struct db *db, const char *address, const struct extent *extent, struct error *err) {
    struct error ignored = {0};
    if (team_reader_open(db, address, cli_project(), err)) return -1;
    if (extent->what == HEADS) team_reader_heads(db);
    if (extent->what == FIGURES) team_reader_figures(db, extent->figure, extent->of);
    if (!given_runs || db_want(db, given_runs, err) == 0) return 0;
    db_close(db, &ignored);
    return -1;
}

int cli_fetch(const char *option, const char *path, const char *set, struct error *err) {
    struct error ignored = {0};
    struct db db;
    const char *wanted = given_runs ? given_runs : set;
    if (db_open(&db, path, DB_WRITE, err)) return -1;
    int code = team_reader_attach(&db, cli_database(option), cli_project(), err);
    if (code == 0 && wanted) code = db_want(&db, wanted, err);
    given_runs = NULL; /* `path` is opened as a file after this */
    return db_close(&db, code ? &ignored : err) || code ? -1 : 0;
}

int cli_need_runs(struct db *db, struct error *err) {
    int64_t count = 1;
    if (db->source && db_int(db, "SELECT count(*) FROM main.runs", 0, &count, err)) return -1;
    return count ? 0
                 : error_usage(err, "%s: say which runs of the store: --runs last=20, --runs tag:branch=main, ...",
                               db->path);
}

/* --run is short for it. The commands whose words are runs say what to type. */
static int no_runs_option(const char *option, struct error *err) {
    static const char *const by_words[] = {"doctor", "top", "tree", "export"};
    for (size_t i = 0; i < sizeof by_words / sizeof *by_words; i++)
        if (strcmp(by_words[i], reading) == 0)
            return error_usage(err, "--runs is for a store, and %s is a file: clear %s %s", cli_database(option),
                               by_words[i], given_runs);
    return error_usage(err, "--runs is for a store, and %s is a file: name the runs without it: %s",
                       cli_database(option), given_runs);
}

int cli_no_runs_of_file(const char *option, const char *file, struct error *err) {
    if (!given_runs || cli_is_store(option)) return 0;
    return error_usage(err, "--runs is for a store, and %s is a file: leave out --runs %s", file, given_runs);
}

static int open_any(struct db *db, const char *option, enum db_mode mode, const struct extent *extent,
                    struct error *err) {
    *db = (struct db){0};
    if (cli_is_store(option) && mode == DB_READ) return open_store(db, cli_database(option), extent, err);
    if (cli_need_file(option, err)) return -1;
    if (given_runs) return no_runs_option(option, err);
    if (cli_check_owner(option, err)) return -1;
    return extent->patience_ms ? db_open_within(db, cli_database(option), mode, extent->patience_ms, err)
                               : db_open(db, cli_database(option), mode, err);
}

static int open_extent(struct db *db, const char *option, enum db_mode mode, const struct extent *extent,
                       struct error *err) {
    if (open_any(db, option, mode, extent, err)) return -1;
    bool has_stored = db->has_stored;
    int code = config_apply(&config, db, err);
    db->has_stored = has_stored;
    if (code == 0) return 0;
    struct error ignored = {0};
    bool was_locked = db->was_locked;
    db_take_back(db);
    db_close(db, &ignored);
    db->was_locked = was_locked;
    return -1;
}

int cli_open_within(struct db *db, const char *option, enum db_mode mode, int patience_ms, struct error *err) {
    return open_extent(db, option, mode, &(struct extent){.what = WHOLE, .patience_ms = patience_ms}, err);
}

int cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err) {
    return open_extent(db, option, mode, &(struct extent){.what = WHOLE}, err);
}

int cli_open_heads(struct db *db, const char *option, struct error *err) {
    return open_extent(db, option, DB_READ, &(struct extent){.what = HEADS}, err);
}

/* What functions and sites allocated is in the lists of the store: a run need not come for it. */
static bool is_of_sites(const char *figure, const char *of) {
    if (!of || (strncmp(of, "function ", strlen("function ")) != 0 && strncmp(of, "site ", strlen("site ")) != 0))
        return false;
    return figure && figure_is_of_sums(figure);
}

/* What else functions and sites did, and findings, are in the runs. */
static bool has_rows(const char *figure, const char *of) {
    static const char *const scopes[] = {"lock ", "wait ", "cell ", "channel ", "syscall ", "counter ", "sample "};
    if (figure && strcmp(figure, "findings") == 0) return false;
    for (size_t i = 0; of && i < sizeof scopes / sizeof *scopes; i++)
        if (strncmp(of, scopes[i], strlen(scopes[i])) == 0) return true;
    return !of;
}

int cli_open_figures(struct db *db, const char *option, const char *figure, const char *of, struct error *err) {
    bool is_listed = is_of_sites(figure, of);
    struct extent extent = {
        .what = is_listed || has_rows(figure, of) ? FIGURES : WHOLE, .figure = figure, .of = is_listed ? of : NULL};
    return open_extent(db, option, DB_READ, &extent, err);
}
