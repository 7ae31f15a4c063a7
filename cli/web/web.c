#include "cli/web/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/cli.h"
#include "cli/passing.h"
#include "cli/run_or_file.h"
#include "ingest/team/team_server.h"
#include "serve/serve.h"

#define WEB_ADDRESS "127.0.0.1:0"

/* ---- what is shown ---- */

static bool is_place(const char *word) {
    return *word == '/' || strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0 || strstr(word, "://");
}

/* 1: a file, which takes the place of the warehouse; 0: a name of a run, as the page has it; -1: neither. */
static int is_file(const struct web_request *request, const char *word, struct error *err) {
    struct error no_run = {0};
    struct run_set runs = {0};
    struct db db;
    if (is_place(word)) return 1;
    if (cli_open_heads(&db, request->serving.db, &no_run) == 0) {
        int code = run_set_add(&runs, &db, word, &no_run);
        run_set_free(&runs);
        db_close(&db, &no_run);
        if (code == 0) return 0;
    }
    if (access(word, F_OK) == 0) return 1;
    return error_usage(err, "%s", no_run.message);
}

void web_add_state(struct buffer *state, const char *name, const char *value) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    if (!value || !*value) return;
    buffer_printf(state, "&%s=", name);
    for (; *value; value++)
        if (strchr(plain, *value))
            buffer_add_char(state, *value);
        else
            buffer_printf(state, "%%%02X", (unsigned char)*value);
}

/* What the words of the command line are. */
struct found {
    struct passing passing;         /* of files */
    struct passing_reading reading; /* likewise */
    const char *file, *run;         /* one of them; NULL: there is none */
    struct buffer runs, bases;      /* as the page's address has them */
};

/* Runs that were named one by one are one set. */
static int find_words(struct web_request *request, const char *const *words, size_t count, struct found *found,
                      struct buffer *set, struct error *err) {
    for (size_t i = 0; i < count; i++) {
        int file = is_file(request, words[i], err);
        if (file < 0) return -1;
        *(file ? &found->file : &found->run) = words[i];
        if (found->file && found->run)
            return error_usage(err, "%s is a file and '%s' is a run: clear ingest puts the file beside the run",
                               found->file, found->run);
        if (!file)
            buffer_printf(set, "%s%s", set->size ? "," : "", words[i]);
        else if (passing_read(&found->passing, words[i], &found->reading, set, err))
            return -1;
    }
    return 0;
}

/* pprof PROGRAM PROFILE...: the program names the addresses. A name without a slash may be that of a run. */
static int take_program(struct web_request *request, struct found *found, struct error *err) {
    if (request->count < 2 || !run_or_file_is_program(*request->words)) return 0;
    int file = is_file(request, *request->words, err);
    if (file <= 0) return file;
    found->reading.program = *request->words++;
    request->count--;
    return 0;
}

static int find_all(struct web_request *request, struct found *found, struct error *err) {
    if (take_program(request, found, err) ||
        find_words(request, request->words, request->count, found, &found->runs, err) ||
        find_words(request, request->bases, request->base_count, found, &found->bases, err))
        return -1;
    if (found->passing.db) request->serving.db = found->passing.db;
    if (!found->runs.size) buffer_add_text(&found->runs, "latest");
    return 0;
}

static int show(struct web_request *request, const struct found *found, struct error *err) {
    struct buffer page = {0};
    const char *address = request->serving.address;
    size_t size = strlen(address);
    char *free_port = size && address[size - 1] == ':' ? xasprintf("%s0", address) : NULL;
    web_add_state(&page, "runs", buffer_text(&found->runs));
    web_add_state(&page, "base", buffer_text(&found->bases));
    page.data[0] = '?';
    if (request->state) buffer_add_text(&page, request->state);
    request->serving.page = page.data;
    if (free_port) request->serving.address = free_port;
    int code = serving_run(&request->serving, err);
    free(free_port);
    buffer_free(&page);
    return code;
}

int web_run(struct web_request *request, struct error *err) {
    struct found found = {.reading.fetch = request->fetch};
    int code = find_all(request, &found, err);
    if (code == 0) code = show(request, &found, err);
    passing_remove(&found.passing);
    buffer_free(&found.runs);
    buffer_free(&found.bases);
    return code;
}

/* ---- the command ---- */

static const struct option_row rows[] = {
    SERVING_OPTIONS("Listen on this `HOST:PORT`, `:PORT` or `PORT`. Default: a free port of 127.0.0.1."),
    {"no-browser", .type = OPTION_SWITCH, .offset = offsetof(struct serving, no_browser),
     .help = "Print the address, and open no browser."},
    {0},
};
const struct option_group web_options[] = {{"HTTP", rows, 0}, CLI_WAREHOUSE_OR_STORE(serving, db), CLI_OPTIONS_END};

int command_web(int argc, char **argv, struct error *err) {
    struct web_request request = {.serving = {.address = WEB_ADDRESS}};
    if (cli_options(&argc, argv, &request.serving, err) < 0) return -1;
    request.words = (const char *const *)argv + 1;
    request.count = (size_t)argc - 1;
    return web_run(&request, err);
}
