#include "serve/serve.h"
#include "cli/cli.h"
#include "cli/web/serving.h"

#define EVERY_MIN_NS INT64_C(1000000000)
#define EVERY_MAX_NS INT64_C(2678400000000000) /* 31 days */

static const struct option_row rows[] = {
    SERVING_OPTIONS("Listen on this `HOST:PORT`, `:PORT` or `PORT`. Default: " SERVE_ADDRESS
                    ". Port 0 is any free port."),
    {0},
};
static const struct option_row receive_rows[] = {
    {"receive", .type = OPTION_SWITCH, .offset = offsetof(struct serving, receive),
     .help = "Store the profiles that programs send: OTLP at `/v1development/profiles`, Pyroscope's at `/ingest` and "
             "`/push.v1.PusherService/Push`. Each such request needs the token."},
    {"every", .type = OPTION_DURATION, .offset = offsetof(struct serving, every_ns), .min = EVERY_MIN_NS,
     .max = EVERY_MAX_NS, .argument = "DURATION", .words = "10m 1h 1d",
     .help = "A run has what one service sent from one host in this time, by the time of the profiles. Default: 1h."},
    {0},
};
const struct option_group serve_options[] = {
    {"HTTP", rows, 0}, {"Receiving", receive_rows, 0}, CLI_WAREHOUSE_OR_STORE(serving, db), CLI_OPTIONS_END};

int command_serve(int argc, char **argv, struct error *err) {
    struct serving serving = {.address = SERVE_ADDRESS};
    if (cli_options(&argc, argv, &serving, err) < 0 || cli_at_most(0, argc, argv, err) < 0) return -1;
    return serving_run(&serving, err);
}
