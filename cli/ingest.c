#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/escape.h"
#include "base/grid.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/ingest_named.h"
#include "cli/merge_files.h"
#include "cli/new_run_tags.h"
#include "cli/progress.h"
#include "ingest/read/fetch.h"
#include "ingest/read/ingest.h"
#include "ingest/read/input.h"
#include "ingest/read/readers.h"
#include "ingest/receive/receive.h"

struct ingest_command {
    const char *db, *binary;
    struct ingest_options options;
    struct fetch_options fetch;
    struct run_tags tags;
    size_t own_tags;      /* of tags: those of the command line */
    bool quiet, received; /* received: standard input is a request that clear serve --receive took */
    int64_t every_ns;     /* of what is received */
    struct ingest ingest;
    int64_t last_run; /* of the file that was read last; 0: none was */
    uint64_t artefacts, known, failed, rows, skipped;
    struct progress progress;
};

enum { SECONDS_MAX = 86400 };

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* "@SECONDS" since the epoch, or 2024-05-01, 2024-05-01T13:04, 2024-05-01 13:04:59 in local time, with Z in UTC. */
static int take_time(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct ingest_command *command = into;
    (void)row;
    static const char *const shapes[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
                                         "%Y-%m-%d"};
    command->options.has_time = true;
    char *end;
    if (*text == '@') {
        errno = 0;
        double seconds = strtod(text + 1, &end);
        if (text[1] && !*end && seconds >= 0 && seconds < 9.2e9) {
            command->options.time_ns = (int64_t)(seconds * 1e9);
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct tm moment = {.tm_isdst = -1};
        const char *rest = strptime(text, shapes[i], &moment);
        if (!rest || (*rest && strcmp(rest, "Z") != 0)) continue;
        time_t seconds = *rest ? timegm(&moment) : mktime(&moment);
        command->options.time_ns = (int64_t)seconds * 1000000000;
        return 0;
    }
    return error_usage(err, "--time must be YYYY-MM-DD[ HH:MM[:SS]][Z] or @SECONDS since 1970, not '%s'", text);
}

#define AT(member) offsetof(struct ingest_command, member)

static const struct option_row run_rows[] = {
    {"label", .type = OPTION_TEXT, .offset = AT(options.label), .argument = "NAME", .words = "<label>",
     .help = "Label the new runs."},
    {"tag", .type = OPTION_TAKE, .take = tags_take, .offset = AT(tags), .is_repeatable = true, .argument = "KEY=VALUE",
     .words = "<tag>", .help = "Tag the new runs, as in `commit=1a2b3c`."},
    {"time", .type = OPTION_TAKE, .take = take_time, .argument = "TIME",
     .help = "When the profile was recorded, in place of the time in the file: `2024-05-01 13:04:59` in local time, "
             "with a Z "
             "appended in UTC, or `@SECONDS` since 1970."},
    {0},
};

static const struct option_row read_rows[] = {
    {"binary", .type = OPTION_TEXT, .offset = AT(binary), .argument = "PROGRAM", .words = "<file>",
     .help = "The program that the profiles are of: names the addresses of profiles of pprof and gperftools that hold "
             "no names."},
    {"cumulative", .type = OPTION_SWITCH, .offset = AT(options.cumulative),
     .help =
         "The files are snapshots of one process that count from its start (Go's heap, mutex, block), oldest first. "
         "Store the differences between snapshots with the same label."},
    {"lenient", .type = OPTION_SWITCH, .offset = AT(options.lenient),
     .help = "Skip malformed rows of text formats, and count them."},
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet), .help = "Print only errors."},
    {"received", .type = OPTION_SWITCH, .offset = AT(received), .help = NULL},
    {"every", .type = OPTION_DURATION, .offset = AT(every_ns), .min = 1, .max = INT64_MAX, .argument = "DURATION",
     .help = NULL},
    {0},
};

static const struct option_row url_rows[] = {
    {"seconds", .type = OPTION_COUNT, .offset = AT(fetch.seconds), .min = 1, .max = SECONDS_MAX, .argument = "N",
     .help = "Ask the server to record for N seconds."},
    {"timeout", .type = OPTION_COUNT, .offset = AT(fetch.timeout_s), .min = 1, .max = SECONDS_MAX, .argument = "N",
     .help = "Wait at most N seconds for the answer. Default: 60, or 1.5 times the recording."},
    {"tls_ca", .type = OPTION_TEXT, .offset = AT(fetch.tls_ca), .argument = "FILE", .words = "<file>",
     .help = "Trust these certificate authorities (PEM) instead of the system's."},
    {"tls_cert", .type = OPTION_TEXT, .offset = AT(fetch.tls_cert), .argument = "FILE", .words = "<file>",
     .help = "Client certificate (PEM)."},
    {"tls_key", .type = OPTION_TEXT, .offset = AT(fetch.tls_key), .argument = "FILE", .words = "<file>",
     .help = "Key of the client certificate (PEM)."},
    {0},
};

const struct option_group ingest_options[] = {{"Runs", run_rows, 0},
                                              {"Reading", read_rows, 0},
                                              {"URLs", url_rows, 0},
                                              CLI_WAREHOUSE(ingest_command, db),
                                              CLI_OPTIONS_END};
#undef AT

static int read_options(int *argc, char **argv, struct ingest_command *command, struct error *err) {
    if (cli_options(argc, argv, command, err) < 0) return -1;
    if (command->received) return cli_at_most(0, *argc, argv, err);
    command->own_tags = command->tags.count;
    tags_add_configured(&command->tags);
    if (*argc > 1) return 0;
    return error_usage(err, "nothing to ingest: give files, directories or URLs, or - for standard input");
}

static void report(struct ingest_command *command, const char *path, const struct ingest_result *result) {
    struct buffer line = {0};
    if (command->quiet) return;
    grid_visible(&line, path, INT32_MAX);
    if (result->is_known)
        buffer_printf(&line, ": already in the warehouse as run %" PRId64, result->run_id);
    else
        buffer_printf(&line, ": run %" PRId64 ", %s, %s", result->run_id, result->format,
                      units_things((int64_t)result->rows_added, "row").text);
    if (result->rows_skipped) buffer_printf(&line, ", %s skipped", units_count((int64_t)result->rows_skipped).text);
    puts(buffer_text(&line));
    buffer_free(&line);
}

/* Reads one file. An error is printed and counted; the other files are read. */
static void take_artefact(struct ingest_command *command, const char *path) {
    struct ingest_result result;
    struct error err = {0};
    progress_start(&command->progress);
    int code = command->binary ? ingest_named(&command->ingest, command->binary, path, &result, &err)
                               : ingest_path(&command->ingest, path, &result, &err);
    progress_clear(&command->progress);
    command->artefacts++;
    if (code == 0) {
        command->known += result.is_known;
        command->rows += result.rows_added;
        command->skipped += result.rows_skipped;
        command->last_run = result.run_id;
        report(command, path, &result);
        return;
    }
    command->failed++;
    fflush(stdout);
    fprintf(stderr, "clear: %s\n", err.message);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* `latest` goes by the start of a run, so a profile that is older than another run has to be named by its number. */
static void print_next(const struct ingest_command *command) {
    struct buffer db = {0};
    if (command->quiet || command->failed || !command->last_run) return;
    escape_shell(&db, cli_database(command->db));
    fflush(stdout);
    fprintf(stderr, "clear: next: clear doctor --db %s %" PRId64 "; clear top --db %s %" PRId64 "\n", buffer_text(&db),
            command->last_run, buffer_text(&db), command->last_run);
    buffer_free(&db);
}

static bool is_plain_directory(const char *path) {
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) return false;
    return !format_find(&(struct input){.path = path, .is_directory = true});
}

/* Is what the link leads to below the directory `top`? What is there may come from a stranger, but not the rest of the disk. */
static bool stays_below(const char *top, const char *link) {
    char *home = realpath(top, NULL), *target = realpath(link, NULL);
    size_t size = home ? strlen(home) : 0;
    bool stays = home && target && strncmp(home, target, size) == 0 && (target[size] == '/' || size == 1);
    free(home);
    free(target);
    return stays;
}

static void take_directory(struct ingest_command *command, const char *top, const char *path);

static void take_below(struct ingest_command *command, const char *top, const char *path) {
    struct stat about;
    if (lstat(path, &about) != 0) return;
    if (S_ISLNK(about.st_mode) && !stays_below(top, path)) {
        command->failed++;
        fflush(stdout);
        error_print("%s: is a symbolic link that leads out of %s: name it to read it", path, top);
    } else if (is_plain_directory(path)) {
        /* Links to directories are not followed: they can form a cycle. */
        if (S_ISDIR(about.st_mode)) take_directory(command, top, path);
    } else if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISLNK(about.st_mode)) {
        take_artefact(command, path);
    }
}

/* Reads the files below a directory in the order of their names. `top`: the directory that was named. */
static void take_directory(struct ingest_command *command, const char *top, const char *path) {
    struct dirent **names = NULL;
    int count = scandir(path, &names, is_visible, alphasort);
    if (count < 0) {
        command->failed++;
        error_print("%s: %s", path, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        char *below = xasprintf("%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", names[i]->d_name);
        take_below(command, top, below);
        free(below);
        free(names[i]);
    }
    free(names);
}

/* A warehouse has runs with labels, tags and times of their own. */
static void take_warehouse(struct ingest_command *command, const char *path) {
    struct merge_files files = {.is_quiet = command->quiet};
    command->artefacts++;
    if (command->own_tags || command->options.label || command->options.has_time) {
        command->failed++;
        error_print(
            "%s: is a warehouse, whose runs keep their labels, tags and times: leave out --label, --tag, --time", path);
        return;
    }
    merge_single_file(&files, command->ingest.db, path);
    command->failed += files.failed;
    if (files.last_run) command->last_run = files.last_run;
}

static void take_path(struct ingest_command *command, const char *path) {
    if (merge_is_warehouse(path))
        take_warehouse(command, path);
    else if (is_plain_directory(path))
        take_directory(command, path, path);
    else
        take_artefact(command, path);
}

static int take_all(struct ingest_command *command, char **paths, struct error *err) {
    struct db db;
    if (cli_open(&db, command->db, DB_WRITE, err) < 0) return -1;
    int code = ingest_open(&command->ingest, &db, &command->options, err);
    if (code == 0)
        for (char **path = paths; *path; path++)
            take_path(command, *path);
    ingest_close(&command->ingest);
    if (code || command->failed) db_take_back(&db);
    if (db_close(&db, err) < 0 || code != 0) return -1;
    if (!command->quiet && command->artefacts > 1)
        printf("%s files: %s already known, %s failed; %s\n", units_count((int64_t)command->artefacts).text,
               units_count((int64_t)command->known).text, units_count((int64_t)command->failed).text,
               units_things((int64_t)command->rows, "row").text);
    print_next(command);
    return command->failed ? ERROR_FAILURE : 0;
}

/* What a server was sent: a part of clear serve, in a process of its own. */
static int take_received(const struct ingest_command *command, struct error *err) {
    struct input request;
    struct buffer answer = {0};
    struct db db;
    if (input_open(&request, "-", err) != 0) return -1;
    int code = cli_open(&db, command->db, DB_WRITE, err);
    if (code == 0) {
        code = receive(&db, request.file, request.file_size, command->every_ns, &answer, err);
        if (db_close(&db, err) != 0) code = -1;
    }
    if (code == 0) fwrite(buffer_text(&answer), 1, answer.size, stdout);
    buffer_free(&answer);
    input_close(&request);
    return code;
}

int command_ingest(int argc, char **argv, struct error *err) {
    struct ingest_command command = {.every_ns = RECEIVE_EVERY_NS};
    int code = read_options(&argc, argv, &command, err);
    command.options.fetch = &command.fetch;
    command.options.tags = &command.tags;
    if (!command.quiet) progress_connect(&command.progress, &command.options);
    if (code == 0 && command.received) return take_received(&command, err);
    if (code == 0) code = take_all(&command, argv + 1, err);
    run_tags_free(&command.tags);
    return code;
}
