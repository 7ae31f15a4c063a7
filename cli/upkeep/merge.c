#include <stdlib.h>

#include "base/escape.h"
#include "cli/cli.h"
#include "cli/merge_files.h"

struct merge_options {
    bool quiet, json;
};

#define AT(member) offsetof(struct merge_options, member)
static const struct option_row merge_rows[] = {
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet), .help = "Print only errors."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Print a JSON array: an object for each file, with the numbers of `runs`, `known` ones and `rows`."},
    {0},
};
#undef AT
const struct option_group merge_options[] = {{"Output", merge_rows, 0}, CLI_OPTIONS_END};

static void print_next(const struct merge_files *files, const char *path) {
    struct buffer db = {0};
    if (files->is_quiet || files->is_json || files->failed || !files->last_run) return;
    escape_shell(&db, path);
    fflush(stdout);
    fprintf(stderr, "clear: next: clear runs --db %s\n", buffer_text(&db));
    buffer_free(&db);
}

int command_merge(int argc, char **argv, struct error *err) {
    struct merge_options options = {0};
    struct merge merge;
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (argc < 3) return error_usage(err, "give a warehouse and files to merge into it: clear merge OUT FILE...");
    struct merge_files files = {.is_quiet = options.quiet, .is_json = options.json};
    if (cli_open(&db, argv[1], DB_WRITE, err)) return -1;
    int code = merge_open(&merge, &db, err);
    for (char **path = argv + 2; code == 0 && *path; path++)
        merge_one_file(&files, &merge, *path);
    merge_close(&merge);
    if (code == 0 && options.json) puts(files.printed ? "]" : "[]");
    if (code || files.failed) db_take_back(&db);
    if (db_close(&db, err)) code = -1;
    if (code == 0) print_next(&files, argv[1]);
    return code ? -1 : files.failed ? ERROR_FAILURE : 0;
}
