#include "serve/serve.h"
#include "cli/cli.h"
#include "cli/web/serving.h"

static const struct option_row rows[] = {
    SERVING_OPTIONS("Listen on this `HOST:PORT`, `:PORT` or `PORT`. Default: " SERVE_ADDRESS
                    ". Port 0 is any free port."),
    {0},
};
const struct option_group serve_options[] = {{"HTTP", rows, 0}, CLI_WAREHOUSE_OR_STORE(serving, db), CLI_OPTIONS_END};

int command_serve(int argc, char **argv, struct error *err) {
    struct serving serving = {.address = SERVE_ADDRESS};
    if (cli_options(&argc, argv, &serving, err) < 0 || cli_at_most(0, argc, argv, err) < 0) return -1;
    return serving_run(&serving, err);
}
