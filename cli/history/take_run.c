#include "cli/history/take_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "ingest/writer/run_uuid.h"
#include "schema/schema.h"

enum { SAID_LINES = 10 };

/* ---- the words of the recorder ---- */

struct recorder_words {
    char **items; /* each one free()d */
    size_t count;
};

static void add_word(struct recorder_words *words, char *word) {
    words->items = xrealloc(words->items, (words->count + 2) * sizeof *words->items);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

static void add_option(struct recorder_words *words, const char *name, const char *value) {
    add_word(words, xasprintf("--%s=%s", name, value));
}

static void free_words(struct recorder_words *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
}

/* The recorder may work in another directory. */
static char *absolute(const char *path) {
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    char *whole = here ? xasprintf("%s/%s", here, path) : xstrdup(path);
    free(here);
    return whole;
}

/* The configuration is ours, also where the directory of the program has another one. */
static void add_config(struct recorder_words *words) {
    char *path = absolute(cli_config()->path ? cli_config()->path : "/dev/null");
    add_option(words, "config", path);
    free(path);
}

static void add_run(struct recorder_words *words, const struct take_run *wanted, const char *uuid) {
    char *database = absolute(cli_database(wanted->database));
    add_option(words, "db", database);
    free(database);
    add_option(words, "uuid", uuid);
    if (wanted->label) add_option(words, "label", wanted->label);
    for (size_t i = 0; wanted->tags && i < wanted->tags->count; i++) {
        const struct run_tag *tag = &wanted->tags->items[i];
        add_word(words, xasprintf("--tag=%s=%s", tag->key, tag->value));
    }
}

static struct recorder_words make_words(const struct take_run *wanted, const char *uuid) {
    struct recorder_words words = {0};
    add_word(&words, xstrdup("clear"));
    add_word(&words, xstrdup("profile"));
    add_word(&words, xstrdup("--quiet"));
    add_word(&words, xstrdup("--no-files"));
    add_config(&words);
    add_run(&words, wanted, uuid);
    for (char *const *option = wanted->options; option && *option; option++)
        add_word(&words, xstrdup(*option));
    add_word(&words, xstrdup("--"));
    for (char *const *word = wanted->command; *word; word++)
        add_word(&words, xstrdup(*word));
    return words;
}

/* ---- its files ---- */

struct files {
    int input, output, said[2]; /* -1: closed */
};

static int open_one(int *file, const char *path, int flags, struct error *err) {
    *file = open(path, flags | O_CLOEXEC, 0666);
    return *file < 0 ? error_fail(err, "%s: %s", path, strerror(errno)) : 0;
}

static void close_files(const struct files *files) {
    if (files->input >= 0) close(files->input);
    if (files->output >= 0) close(files->output);
    if (files->said[1] >= 0) close(files->said[1]);
}

static int open_files(struct files *files, const struct take_run *wanted, struct error *err) {
    *files = (struct files){-1, -1, {-1, -1}};
    if (wanted->input || !wanted->is_shown) {
        if (open_one(&files->input, wanted->input ? wanted->input : "/dev/null", O_RDONLY, err)) return -1;
    }
    if (wanted->is_shown) return 0;
    const char *output = wanted->output ? wanted->output : "/dev/null";
    if (open_one(&files->output, output, O_WRONLY | O_CREAT | O_APPEND, err)) return -1;
    if (wanted->output || pipe2(files->said, O_CLOEXEC | O_NONBLOCK) == 0) return 0;
    return error_fail(err, "pipe: %s", strerror(errno));
}

/* The program writes to the pipe as to any other file: only our end must not wait. */
static void make_blocking(int end) {
    if (end >= 0) (void)fcntl(end, F_SETFL, 0);
}

static int run_recorder(const struct take_run *wanted, char *const *words, struct stop *stop, struct taken_run *taken,
                        int *wait_status, struct error *err) {
    struct files files;
    int code = open_files(&files, wanted, err);
    if (code == 0) {
        make_blocking(files.said[1]);
        int output = files.output < 0 ? STDOUT_FILENO : files.output;
        int errors = wanted->is_shown ? STDERR_FILENO : files.said[1] >= 0 ? files.said[1] : files.output;
        const struct stop_child child = {
            .start = {.argv = (const char *const *)words,
                      .program = "/proc/self/exe",
                      .directory = wanted->directory,
                      .files = {files.input < 0 ? STDIN_FILENO : files.input, output, errors}},
            .said = files.said[0],
            .tail = &taken->said};
        code = stop_run(stop, &child, wait_status, err);
    }
    close_files(&files);
    return code;
}

int take_command(char *const *words, const char *directory, struct stop *stop, struct taken_run *said,
                 struct error *err) {
    int ends[2], input = -1;
    *said = (struct taken_run){0};
    if (open_one(&input, "/dev/null", O_RDONLY, err)) return -1;
    int code = pipe2(ends, O_CLOEXEC | O_NONBLOCK) ? error_fail(err, "pipe: %s", strerror(errno)) : 0;
    if (code == 0) {
        make_blocking(ends[1]);
        const struct stop_child child = {
            .start = {.argv = (const char *const *)words, .directory = directory, .files = {input, ends[1], ends[1]}},
            .said = ends[0],
            .tail = &said->said};
        code = stop_run(stop, &child, &said->wait_status, err);
        close(ends[1]);
    }
    close(input);
    return code;
}

/* ---- the run ---- */

/* 1: the run is there and over, 0: it is not, -1: the error is set. */
static int read_run(struct db *db, const char *uuid, struct taken_run *taken, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/taken_run.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", uuid);
    int code = db_step(db, row, err);
    if (code == 1) {
        taken->run_id = sqlite3_column_int64(row, 0);
        int status = sqlite3_column_int(row, 1), signal = sqlite3_column_int(row, 2);
        taken->wait_status = signal ? signal : W_EXITCODE(status, 0);
        if (sqlite3_column_int(row, 3)) code = 0;
    }
    sqlite3_reset(row);
    return code;
}

static int find_run(const struct take_run *wanted, const char *uuid, struct taken_run *taken, struct error *err) {
    struct db db;
    if (cli_open(&db, wanted->database, DB_READ, err)) return -1;
    int found = read_run(&db, uuid, taken, err);
    struct error ignored = {0};
    db_close(&db, &ignored);
    return found;
}

/* The first line that the recorder itself said, without its "clear: " and the advice to ask for help, which is about another
 * command than the user's. */
static char *complaint(const struct taken_run *taken) {
    static const char mark[] = "clear: ", advice[] = " (see clear profile --help)";
    for (const char *line = buffer_text(&taken->said); *line;) {
        size_t size = strcspn(line, "\n"), mark_size = sizeof mark - 1, advice_size = sizeof advice - 1;
        if (strncmp(line, mark, mark_size) == 0) {
            if (size >= mark_size + advice_size && strncmp(line + size - advice_size, advice, advice_size) == 0)
                size -= advice_size;
            return xasprintf("%.*s", (int)(size - mark_size), line + mark_size);
        }
        line += size + (line[size] == '\n');
    }
    return NULL;
}

static int not_recorded(const struct take_run *wanted, const struct stop *stop, const struct taken_run *taken,
                        struct error *err) {
    char *said = complaint(taken);
    if (stop->signal)
        error_fail(err, "stopped by signal %d", stop->signal);
    else if (said)
        error_fail(err, "not recorded: %s", said);
    else
        error_fail(err, "%s: not recorded", wanted->command[0]);
    free(said);
    return -1;
}

int take_run(const struct take_run *wanted, struct stop *stop, struct taken_run *taken, struct error *err) {
    char uuid[RUN_UUID_SIZE];
    int status;
    *taken = (struct taken_run){0};
    if (run_uuid(uuid, err)) return -1;
    struct recorder_words words = make_words(wanted, uuid);
    int code = run_recorder(wanted, words.items, stop, taken, &status, err);
    free_words(&words);
    if (code) return -1;
    struct error failure = {0};
    int found = find_run(wanted, uuid, taken, &failure);
    /* The recorder says better than a missing file why there is none. */
    return found == 1 ? 0 : not_recorded(wanted, stop, taken, err);
}

void taken_run_free(struct taken_run *taken) {
    buffer_free(&taken->said);
}

char *taken_run_failure(const struct taken_run *taken) {
    int status = taken->wait_status;
    if (WIFSIGNALED(status)) return xasprintf("signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) ? xasprintf("exit status %d", WEXITSTATUS(status)) : NULL;
}

void taken_run_print_said(const struct taken_run *taken, const char *indent, FILE *out) {
    const char *text = buffer_text(&taken->said), *line = text + taken->said.size;
    int lines = 0;
    while (line > text && lines < SAID_LINES)
        lines += *--line == '\n' && line[1];
    if (*line == '\n') line++;
    struct buffer shown = {0};
    for (size_t size; *line; line += size + (line[size] == '\n')) {
        size = strcspn(line, "\n");
        buffer_printf(&shown, "%s%.*s\n", indent, (int)size, line);
    }
    buffer_make_visible(&shown);
    fputs(buffer_text(&shown), out);
    buffer_free(&shown);
}
