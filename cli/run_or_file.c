#include "cli/run_or_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "ingest/read/ingest.h"
#include "ingest/record/toolchain.h"
#include "ingest/team/team_server.h"
#include "query/runs/run_set.h"
#include "query/runs/select.h"

/* Numbers of runs that replaced file names; they live as long as the process. */
static struct arena numbers;

struct target {
    struct db *db;
    const char *option, *prefix, **names;
    size_t count;
};

/* The text after the prefix, or NULL if the name does not begin with it. */
static const char *name_of(const struct target *target, size_t i) {
    size_t size = strlen(target->prefix);
    const char *name = target->names[i];
    return name && strncmp(name, target->prefix, size) == 0 ? name + size : NULL;
}

/* ---- file or run ---- */

static bool exists(const char *name) {
    return access(name, F_OK) == 0;
}

static bool is_file_argument(const char *name) {
    if (fetch_is_url(name) && !exists(name)) return true;
    return *name == '/' || strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0 || strcmp(name, "-") == 0;
}

/* These names are runs, even if the warehouse has none. */
static bool is_run_argument(const char *name) {
    return !*name || strcmp(name, "latest") == 0 || strncmp(name, "latest~", 7) == 0;
}

/* Sets of query/runs/run_set.h: the text after these prefixes is a tag or a label, even with a slash. */
static bool is_set_argument(const char *name) {
    return strncmp(name, "tag:", 4) == 0 || strncmp(name, "all:", 4) == 0 || strncmp(name, "last=", 5) == 0;
}

/* Is there no warehouse, so that no name can be a run? */
static bool has_no_warehouse(const char *path) {
    struct stat about;
    return !team_is_address(path) && *path &&
           (stat(path, &about) != 0 ? !exists(path) : S_ISREG(about.st_mode) && about.st_size == 0);
}

/* Names with a slash are mostly misspelt files, and where nothing was recorded yet those with a dot; a comma may
 * stand between runs. */
static int refuse_missing(const struct target *target, const char *name, struct error *err) {
    const char *path = cli_database(target->option);
    if (strchr(name, ',')) return 0;
    if (has_no_warehouse(path) && strpbrk(name, "/."))
        return error_usage(err, "%s: no such file, and no warehouse %s with a run of that name", name, path);
    if (!strchr(name, '/')) return 0;
    return error_usage(err, "%s: no such file, and no run of %s has that name", name, path);
}

/* 1: the name is a file; 0: it is for select_run; -1: the error is set. `db` is the warehouse, or NULL. */
static int look(const struct target *target, struct db *db, const char *name, struct error *err) {
    if (is_file_argument(name)) return 1;
    if (is_run_argument(name) || is_set_argument(name)) return db && db_want(db, name, err) ? -1 : 0;
    struct error missing = {0};
    int64_t run_id = 0;
    if (db && select_run(db, name, &run_id, &missing) == 0) return 0;
    if (missing.status == ERROR_FAILURE) {
        *err = missing;
        return -1;
    }
    return exists(name) ? 1 : refuse_missing(target, name, err);
}

/* The number of files among the names, and one file and one run of them, or NULL. */
struct counted {
    size_t files;
    const char *file, *run;
};

static int count_files(const struct target *target, struct db *db, struct counted *counted, struct error *err) {
    *counted = (struct counted){0};
    for (size_t i = 0; i < target->count; i++) {
        const char *name = name_of(target, i);
        int is_file = name ? look(target, db, name, err) : 0;
        if (is_file < 0) return -1;
        if (name) *(is_file ? &counted->file : &counted->run) = name;
        counted->files += (size_t)is_file;
    }
    return 0;
}

static int refuse_both(const struct counted *counted, struct error *err) {
    if (!counted->file || !counted->run) return 0;
    return error_usage(err, "%s is a file and '%s' is a run: ingest the file to use both", counted->file,
                       *counted->run ? counted->run : "latest");
}

static bool all_are_files(const struct target *target) {
    for (size_t i = 0; i < target->count; i++)
        if (name_of(target, i) && !is_file_argument(name_of(target, i))) return false;
    return true;
}

/* ---- reading ---- */

bool run_or_file_is_program(const char *name) {
    char magic[4] = "";
    struct stat about;
    FILE *file = stat(name, &about) == 0 && S_ISREG(about.st_mode) ? fopen(name, "re") : NULL;
    if (!file) return false;
    bool is_elf = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
    fclose(file);
    return is_elf;
}

/* A program or a source file is what can be profiled, not what was. */
static int refuse_program(const char *name, struct error *err) {
    char magic[4] = "";
    struct stat about;
    bool is_regular = stat(name, &about) == 0 && S_ISREG(about.st_mode);
    const char *ending = is_regular ? toolchain_ending(name) : NULL;
    FILE *file = is_regular ? fopen(name, "re") : NULL;
    size_t size = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file) fclose(file);
    bool is_program = (size == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0) ||
                      (size >= 2 && memcmp(magic, "#!", 2) == 0 && about.st_mode & S_IXUSR);
    bool is_source = ending && (toolchain_rule(ending) || toolchain_needs_rule(ending));
    if (!is_program && !is_source) return 0;
    struct buffer word = {0};
    escape_shell(&word, name);
    error_usage(err, "%s: a %s: profile it (clear profile %s), or name a run (clear runs lists them)", name,
                is_program ? "program" : "source file", buffer_text(&word));
    buffer_free(&word);
    return -1;
}

static int read_file(struct ingest *ingest, struct progress *progress, const char *name, int64_t *run_id,
                     struct error *err) {
    struct ingest_result result;
    if (refuse_program(name, err) < 0) return -1;
    progress_start(progress);
    int code = ingest_path(ingest, name, &result, err);
    progress_clear(progress);
    if (code == 0) *run_id = result.run_id;
    return code;
}

/* Reads a file and replaces its name by the number of its run. */
static int replace_name(const struct target *target, struct ingest *ingest, struct progress *progress, size_t i,
                        struct error *err) {
    int64_t run_id = 0;
    if (read_file(ingest, progress, name_of(target, i), &run_id, err) < 0) return -1;
    char *number = xasprintf("%s%" PRId64, target->prefix, run_id);
    target->names[i] = arena_text(&numbers, number, strlen(number));
    free(number);
    return 0;
}

static int read_files(const struct target *target, struct error *err) {
    struct ingest ingest;
    struct progress progress = {0};
    struct ingest_options options = {0};
    progress_connect(&progress, &options);
    int code = ingest_open(&ingest, target->db, &options, err);
    for (size_t i = 0; code == 0 && i < target->count; i++)
        if (name_of(target, i)) code = replace_name(target, &ingest, &progress, i, err);
    ingest_close(&ingest);
    return code;
}

static int open_files(const struct target *target, struct error *err) {
    struct error ignored = {0};
    const char *first = NULL;
    for (size_t i = target->count; i-- > 0;)
        if (name_of(target, i)) first = name_of(target, i);
    if (cli_no_runs_of_file(target->option, first, err) < 0) return -1;
    if (db_open_private(target->db, first, err) < 0) return -1;
    if (config_apply(cli_config(), target->db, err) == 0 && read_files(target, err) == 0) return 0;
    db_close(target->db, &ignored);
    return -1;
}

int target_open(struct db *db, const char *option, const char *prefix, const char **names, size_t count,
                struct error *err) {
    const struct target target = {db, option, prefix, names, count};
    struct error ignored = {0};
    struct counted counted;
    bool is_asked = !has_no_warehouse(cli_database(option)) && !all_are_files(&target);
    *db = (struct db){0};
    if (is_asked && cli_open(db, option, DB_READ, err) < 0) return -1;
    int code = count_files(&target, is_asked ? db : NULL, &counted, err);
    if (code == 0) code = refuse_both(&counted, err);
    if (code == 0 && counted.files == 0) {
        if (!is_asked) code = cli_open(db, option, DB_READ, err);
        if (code == 0) return 0;
    }
    db_close(db, &ignored);
    return code < 0 ? -1 : open_files(&target, err);
}

/* ---- runs and files at once ---- */

static int add_file(struct targets *targets, struct run_list *runs, const char *name, struct error *err) {
    struct ingest ingest;
    struct progress progress = {0};
    struct ingest_options options = {0};
    int64_t run_id = 0;
    if (cli_no_runs_of_file(targets->option, name, err) < 0) return -1;
    if (!targets->files.handle) {
        if (db_open_private(&targets->files, name, err) < 0) return -1;
        if (config_apply(cli_config(), &targets->files, err) < 0) return -1;
    }
    progress_connect(&progress, &options);
    options.fetch = targets->fetch;
    int code = ingest_open(&ingest, &targets->files, &options, err);
    if (code == 0) code = read_file(&ingest, &progress, name, &run_id, err);
    ingest_close(&ingest);
    if (code == 0) run_list_add(runs, &targets->files, run_id);
    return code;
}

static int add_set(struct targets *targets, struct run_list *runs, const char *word, struct error *err) {
    struct run_set set = {0};
    if (!targets->warehouse.handle && cli_open(&targets->warehouse, targets->option, DB_READ, err) < 0) return -1;
    int code = run_set_add(&set, &targets->warehouse, word, err);
    for (size_t i = 0; i < set.count && code == 0; i++)
        run_list_add(runs, &targets->warehouse, set.ids[i]);
    run_set_free(&set);
    return code;
}

/* Opens the warehouse if the answer depends on it. */
int targets_is_file(struct targets *targets, const char *word, struct error *err) {
    struct target target = {.option = targets->option, .prefix = ""};
    if (is_file_argument(word)) return 1;
    bool is_there = !has_no_warehouse(cli_database(targets->option));
    if (is_there && !targets->warehouse.handle && cli_open(&targets->warehouse, targets->option, DB_READ, err) < 0)
        return -1;
    return look(&target, is_there ? &targets->warehouse : NULL, word, err);
}

/* Files are added one by one; the other parts are passed to run_set_add together, because `last` depends on those
 * before it. */
static int add_parts(struct targets *targets, struct run_list *runs, const char *word, struct error *err) {
    struct buffer sets = {0};
    char *copy = xstrdup(word), *rest = copy, *part;
    int code = 0;
    while (code == 0 && (part = strsep(&rest, ","))) {
        /* Of a store, a part alone may be all of its runs: tag:branch=main,last=2. */
        bool is_set = !is_file_argument(part) && (is_run_argument(part) || is_set_argument(part));
        int file = is_set ? 0 : targets_is_file(targets, part, err);
        code = file < 0 ? -1 : file ? add_file(targets, runs, part, err) : 0;
        if (file == 0) buffer_printf(&sets, "%s%s", sets.size ? "," : "", part);
    }
    if (code == 0 && (sets.size || !*word)) code = add_set(targets, runs, buffer_text(&sets), err);
    buffer_free(&sets);
    free(copy);
    return code;
}

int targets_add(struct targets *targets, const char *word, struct run_list *runs, struct error *err) {
    /* A file name and a URL may contain a comma. */
    bool is_list = strchr(word, ',') && !exists(word) && !fetch_is_url(word);
    int file = is_list ? 0 : targets_is_file(targets, word, err);
    if (file < 0) return -1;
    return file ? add_file(targets, runs, word, err) : add_parts(targets, runs, word, err);
}

int targets_close(struct targets *targets, struct error *err) {
    int code = db_close(&targets->files, err);
    return db_close(&targets->warehouse, err) < 0 ? -1 : code;
}
