#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/target.h"
#include "query/doctor.h"
#include "query/select.h"
#include "schema/diagnoses.h"

/* no-color.org: any value but an empty one means no. */
static bool wants_colour(void) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static void say_left_out(void *context, const char *view, const char *why) {
    (void)context;
    fprintf(stderr, "clear: the view %s is left out of the diagnoses: %s\n", view, why);
}

int command_doctor(int argc, char **argv, struct error *err) {
    enum { DB = CLI_LONG, JSON, TOP };
    static const struct option longs[] = {{"db", required_argument, NULL, DB},
                                          {"json", no_argument, NULL, JSON},
                                          {"top", required_argument, NULL, TOP},
                                          {0}};
    struct doctor_options options = {.top = 5, .colour = wants_colour()};
    const char *path = NULL, *run;
    bool json = false;
    struct db db;
    int option;
    while ((option = cli_option(argc, argv, "", longs, err)) != CLI_END) {
        if (option < 0) return -1;
        if (option == DB) path = optarg;
        if (option == JSON) json = true;
        if (option == TOP && cli_count("--top", optarg, 0, INT64_MAX, &options.top, err) < 0) return -1;
    }
    run = optind < argc ? argv[optind++] : NULL;
    if (cli_no_more(argc, argv, err) < 0 || target_open(&db, path, "", &run, 1, err) < 0) return -1;
    int code = select_run(&db, run, &options.run_id, err);
    if (code == 0) code = diagnoses_check(&db, options.run_id, say_left_out, NULL, err);
    if (code == 0)
        code = json ? doctor_print_json(stdout, &db, options.run_id, err) : doctor_print(stdout, &db, &options, err);
    db_close(&db, err);
    return code;
}
