/* Lines typed at the prompt of `clear report`, and the completion of each: no crash, and no failure without a message. What follows in
 * this file stands in for the files of the prompt that write files, start programs and read a terminal, so a line reaches none. The
 * first report of an input is made; it changes the profile, which in the product is a child's copy. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limit.h"
#include "cli/report/output.h"
#include "cli/report/prompt.h"
#include "cli/report/prompt_job.h"
#include "cli/report/prompt_line.h"
#include "export/format.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"

enum { REPORT_LIMIT = 4 << 20, LINES_MAX = 20 };

static const char stacks[] =
    "main;server::run(int);std::map<int, Order>::find 30\nmain;server::run(int);alloc 12\nmain;log 5\n";

static char directory[] = "/dev/shm/fuzz-prompt.XXXXXX";
static char path[sizeof directory + sizeof "/runs.sqlite"];

/* ---- in the place of cli/report/prompt_line.c ---- */

static struct prompt_lines {
    char *text, *rest, *line; /* text: of the input; line: the one that was given out */
    prompt_completer *complete;
    void *context;
    int left;
} input;

struct prompt_lines *prompt_lines_open(bool is_terminal, prompt_completer *complete, void *context) {
    (void)is_terminal;
    input.complete = complete;
    input.context = context;
    return &input;
}

static void try_completion(const char *line) {
    struct word_list found = {0};
    struct arena arena = {0};
    size_t start = 0;
    input.complete(input.context, line, &start, &found, &arena);
    if (start > strlen(line)) bug("the word begins behind the line");
    free(found.items);
    arena_free(&arena);
}

/* `use` opens files and URLs; only names of runs are wanted here. */
static bool opens_files(const char *line) {
    return strstr(line, "use") && strpbrk(line, "/.:~");
}

/* Starts graphviz or objdump. */
static bool starts_programs(const char *line) {
    static const char *const names[] = {"svg", "png", "pdf", "ps", "gif", "disasm", "weblist", NULL};
    for (const char *const *name = names; *name; name++)
        if (strstr(line, *name)) return true;
    return false;
}

char *prompt_lines_next(struct prompt_lines *lines) {
    char *line;
    do {
        line = strsep(&lines->rest, "\n");
        if (!line || lines->left-- == 0) return NULL;
        try_completion(line);
    } while (opens_files(line) || starts_programs(line));
    free(lines->line);
    return lines->line = xstrdup(line); /* of its own size, so that a sanitizer sees what is behind it */
}

void prompt_lines_close(struct prompt_lines *lines) {
    free(lines->line);
    lines->line = NULL;
}

/* ---- in the place of cli/report/prompt_job.c, output.c and view.c ---- */

static bool has_report;

int prompt_job(bool terminal, int (*work)(void *context), void *context, int *status, struct error *err) {
    (void)terminal;
    (void)err;
    if (!has_report) (void)work(context);
    has_report = true;
    *status = 0;
    return 0;
}

void report_print_note(void *context, const char *message) {
    (void)context;
    if (!*message) bug("an empty note");
}

int report_output(const struct report_format *format, const struct buffer *out, const char *name, struct error *err) {
    if (out->size > 2 * REPORT_LIMIT) bug("%s has %zu bytes", format->name, out->size);
    if (name && strncmp(name, "profile", strlen("profile")) == 0) (void)unlink(name); /* made by the prompt, empty */
    (void)err;
    return 0;
}

const struct prompt_view prompt_views[] = {{0}};

const struct prompt_view *prompt_view_find(const char *name) {
    (void)name;
    return NULL;
}

const char *prompt_view_file(struct prompt_viewed *viewed, const struct prompt_view *view, struct error *err) {
    (void)viewed;
    (void)err;
    bug("no report is viewed, %s neither", view->name);
}

int prompt_view_open(struct prompt_viewed *viewed, const struct prompt_view *view, const char *name,
                     struct error *err) {
    (void)viewed;
    (void)name;
    (void)err;
    bug("no report is viewed, %s neither", view->name);
}

int prompt_view_show(const struct prompt_view *view, const struct report_format *format, const struct buffer *out,
                     struct error *err) {
    (void)format;
    (void)out;
    (void)err;
    bug("no report is viewed, %s neither", view->name);
}

void prompt_viewed_close(struct prompt_viewed *viewed) {
    (void)viewed;
}

/* ---- around cli_open and db_close (the linker's --wrap) ---- */

/* Opening a warehouse was four fifths of an execution. Nothing that the prompt does changes one, so its connections stay open. */
static struct db idle[4];
static size_t idle_count;

int __real_cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err);
int __wrap_cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err);
int __real_db_close(struct db *db, struct error *err);
int __wrap_db_close(struct db *db, struct error *err);

int __wrap_cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err) {
    if (!*path || !idle_count) return __real_cli_open(db, option, mode, err);
    *db = idle[--idle_count];
    return 0;
}

int __wrap_db_close(struct db *db, struct error *err) {
    bool keeps = *path && db->handle && !db->writable && !db->is_private && strcmp(db->path, path) == 0;
    if (!keeps || idle_count == sizeof idle / sizeof *idle) return __real_db_close(db, err);
    for (sqlite3_stmt *statement = NULL; (statement = sqlite3_next_stmt(db->handle, statement));)
        sqlite3_reset(statement);
    idle[idle_count++] = *db;
    *db = (struct db){0};
    return 0;
}

/* ---- the session ---- */

static FILE *nowhere;

static void end(void) {
    struct error ignored = {0};
    while (idle_count)
        __real_db_close(&idle[--idle_count], &ignored);
    fclose(nowhere);
    unlink(path);
    rmdir(directory);
}

static void make_warehouse(void) {
    static const struct ingest_options options = {.label = "fuzz"};
    struct error err = {0};
    struct ingest ingest;
    struct ingest_result result;
    struct input source;
    struct db db;
    if (db_open(&db, path, DB_WRITE, &err) != 0 || ingest_open(&ingest, &db, &options, &err) != 0)
        bug("%s", err.message);
    if (input_open_memory(&source, "stacks", (const uint8_t *)stacks, strlen(stacks), &err) != 0)
        bug("%s", err.message);
    if (ingest_input(&ingest, &source, &format_folded, &result, &err) != 0) bug("%s", err.message);
    input_close(&source);
    ingest_close(&ingest);
    if (db_close(&db, &err) != 0) bug("%s", err.message);
}

static void start(void) {
    if (*path) return;
    if (!mkdtemp(directory)) bug("%s cannot be made", directory);
    snprintf(path, sizeof path, "%s/runs.sqlite", directory);
    nowhere = fopen("/dev/null", "w");
    if (!nowhere) bug("/dev/null cannot be opened");
    limit_set(REPORT_LIMIT);
    make_warehouse();
    atexit(end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[] = "report", db[] = "--db", *words[] = {name, db, path, NULL};
    struct report_command command = {0};
    struct error err = {0};
    start();
    input = (struct prompt_lines){.text = xmalloc(size + 1), .left = LINES_MAX};
    memcpy(input.text, data, size);
    input.text[size] = '\0';
    input.rest = input.text;
    has_report = false;
    if (report_command_read(&command, 3, words, &err) != 0) bug("%s", err.message);
    int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (home < 0 || chdir(directory) != 0)
        bug("%s cannot be entered", directory); /* where the prompt makes profile001.* */
    FILE *out = stdout;
    stdout = nowhere;
    int code = prompt_run(&command, &err);
    stdout = out;
    if (fchdir(home) != 0) bug("no way back");
    close(home);
    if (code < 0 && (err.status == ERROR_NONE || !*err.message)) bug("failed without an error");
    if (code == 0) replay_taken++;
    report_command_free(&command);
    free(input.text);
    return 0;
}
