#include "cli/target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "ingest/ingest.h"
#include "query/select.h"

/* Numbers of runs that took the place of files in the command line, and live as long as it does. */
static struct arena numbers;

struct fetch_options target_fetch;

struct target {
    struct db *db;
    const char *option, *prefix, **names;
    size_t count;
};

/* What stands behind the prefix, or NULL where the name is none of ours. */
static const char *name_of(const struct target *target, size_t i) {
    size_t size = strlen(target->prefix);
    const char *name = target->names[i];
    return name && strncmp(name, target->prefix, size) == 0 ? name + size : NULL;
}

/* ---- file or run ---- */

static bool exists(const char *name) {
    return access(name, F_OK) == 0;
}

static bool says_file(const char *name) {
    if (fetch_is_url(name) && !exists(name)) return true;
    return *name == '/' || strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0 || strcmp(name, "-") == 0;
}

/* The latest run is meant by these even where the warehouse has none. */
static bool says_run(const char *name) {
    return !*name || strcmp(name, "latest") == 0 || strncmp(name, "latest~", 7) == 0;
}

/* Nothing was ever recorded there: what is asked for cannot be a run. */
static bool has_no_warehouse(const char *path) {
    struct stat about;
    return *path && (stat(path, &about) != 0 ? !exists(path) : S_ISREG(about.st_mode) && about.st_size == 0);
}

/* Names with a slash are mostly misspelt files; a comma may stand between runs. */
static int refuse_missing(const struct target *target, const char *name, struct error *err) {
    const char *path = cli_database(target->option);
    if (!strchr(name, '/') || strchr(name, ',')) return 0;
    if (has_no_warehouse(path))
        return error_usage(err, "%s: no such file, and no warehouse %s with a run of that name", name, path);
    return error_usage(err, "%s: no such file, and no run of %s is called so", name, path);
}

/* 1: the name is a file; 0: it is for select_run; -1: the error is set. `db` is the warehouse, NULL where there is none. */
static int look(const struct target *target, struct db *db, const char *name, struct error *err) {
    if (says_file(name)) return 1;
    if (says_run(name)) return 0;
    struct error missing = {0};
    int64_t run_id;
    if (db && select_run(db, name, &run_id, &missing) == 0) return 0;
    if (missing.status == ERROR_FAILURE) {
        *err = missing;
        return -1;
    }
    return exists(name) ? 1 : refuse_missing(target, name, err);
}

static int count_files(const struct target *target, struct db *db, size_t *files, struct error *err) {
    const char *file = NULL, *run = NULL;
    *files = 0;
    for (size_t i = 0; i < target->count; i++) {
        const char *name = name_of(target, i);
        int is_file = name ? look(target, db, name, err) : 0;
        if (is_file < 0) return -1;
        if (name) *(is_file ? &file : &run) = name;
        *files += (size_t)is_file;
    }
    if (!file || !run) return 0;
    return error_usage(err, "%s is a file and '%s' a run: ingest the file to ask about both", file,
                       *run ? run : "latest");
}

static bool all_say_file(const struct target *target) {
    for (size_t i = 0; i < target->count; i++)
        if (name_of(target, i) && !says_file(name_of(target, i))) return false;
    return true;
}

/* ---- reading ---- */

static int read_file(const struct target *target, struct ingest *ingest, struct progress *progress, size_t i,
                     struct error *err) {
    struct ingest_result result;
    const char *name = name_of(target, i);
    progress_start(progress);
    int code = ingest_path(ingest, name, &result, err);
    progress_clear(progress);
    if (code < 0) return -1;
    char *number = xasprintf("%s%" PRId64, target->prefix, result.run_id);
    target->names[i] = arena_text(&numbers, number, strlen(number));
    free(number);
    return 0;
}

static int read_files(const struct target *target, struct error *err) {
    struct ingest ingest;
    struct progress progress = {0};
    struct ingest_options options = {0};
    progress_connect(&progress, &options);
    options.fetch = &target_fetch;
    int code = ingest_open(&ingest, target->db, &options, err);
    for (size_t i = 0; code == 0 && i < target->count; i++)
        if (name_of(target, i)) code = read_file(target, &ingest, &progress, i, err);
    ingest_close(&ingest);
    return code;
}

static int open_files(const struct target *target, struct error *err) {
    struct error ignored = {0};
    const char *first = NULL;
    for (size_t i = target->count; i-- > 0;)
        if (name_of(target, i)) first = name_of(target, i);
    if (db_open_private(target->db, first, err) < 0) return -1;
    if (config_apply(cli_config(), target->db, err) == 0 && read_files(target, err) == 0) return 0;
    db_close(target->db, &ignored);
    return -1;
}

int target_open(struct db *db, const char *option, const char *prefix, const char **names, size_t count,
                struct error *err) {
    struct target target = {db, option, prefix, names, count};
    const char *path = cli_database(option);
    bool is_asked = !has_no_warehouse(path) && !all_say_file(&target);
    size_t files;
    *db = (struct db){0};
    if (is_asked && cli_open(db, option, DB_READ, err) < 0) return -1;
    int code = count_files(&target, is_asked ? db : NULL, &files, err);
    if (code == 0 && files == 0) return is_asked ? 0 : cli_open(db, option, DB_READ, err);
    struct error ignored = {0};
    db_close(db, &ignored);
    return code < 0 ? -1 : open_files(&target, err);
}
