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

/* A name of a run, as the page has it; or a file, which takes the place of the warehouse. */
static int find_word(struct web_request *request, const char *word, struct passing *passing, struct error *err) {
    struct error no_run = {0};
    struct run_set runs = {0};
    struct db db;
    if (is_place(word)) return passing_read(passing, word, err);
    if (cli_open_heads(&db, request->serving.db, &no_run) == 0) {
        int code = run_set_add(&runs, &db, word, &no_run);
        run_set_free(&runs);
        db_close(&db, &no_run);
        if (code == 0) return 0;
    }
    if (access(word, F_OK) == 0) return passing_read(passing, word, err);
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

/* Runs that were named one by one are one set. */
static char *join_words(const struct web_request *request) {
    struct buffer set = {0};
    for (size_t i = 0; i < request->count; i++)
        buffer_printf(&set, "%s%s", i ? "," : "", request->words[i]);
    return set.size ? buffer_take(&set) : xstrdup("latest");
}

static int find_words(struct web_request *request, struct passing *passing, struct error *err) {
    for (size_t i = 0; i < request->count; i++) {
        if (find_word(request, request->words[i], passing, err)) return -1;
        if (passing->db && request->count > 1)
            return error_usage(err,
                               "one file at a time, and no run beside it: clear ingest puts several into a warehouse");
    }
    if (!passing->db) return 0;
    request->serving.db = passing->db;
    request->count = 0;
    return 0;
}

int web_run(struct web_request *request, struct error *err) {
    struct passing passing = {0};
    struct buffer page = {0};
    int code = find_words(request, &passing, err);
    if (code == 0) {
        char *set = join_words(request);
        web_add_state(&page, "runs", set);
        page.data[0] = '?';
        if (request->state) buffer_add_text(&page, request->state);
        free(set);
        request->serving.page = page.data;
        code = serving_run(&request->serving, err);
    }
    passing_remove(&passing);
    buffer_free(&page);
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
    if (cli_options(&argc, argv, &request.serving, err) < 0 || cli_at_most(1, argc, argv, err) < 0) return -1;
    request.words = (const char *const *)argv + 1;
    request.count = (size_t)argc - 1;
    return web_run(&request, err);
}
