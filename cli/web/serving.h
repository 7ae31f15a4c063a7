/* serving.h: runs a server of a warehouse until a signal ends it: for clear serve, clear web, and clear report -http. */
#ifndef CLEAR_CLI_SERVING_H
#define CLEAR_CLI_SERVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/web/tls.h"

struct serving {
    const char *db;                 /* the value of --db, or NULL */
    const char *address;            /* HOST:PORT */
    const char *token_file;         /* of --http-token, or NULL */
    const char *tls_cert, *tls_key; /* files of --tls-cert and --tls-key, or NULL */
    const char *page; /* what is opened: "?runs=latest"; NULL: nothing is, and the profiles' address is printed */
    const char *source_path; /* of --source-path, or NULL */
    const char *fetch_limit; /* of --fetch-limit, or NULL */
    bool receive;            /* of clear serve: what programs send is stored, with the token */
    int64_t every_ns;        /* --every: how long a run of that is; 0: not given */
    bool anywhere;           /* other machines may connect; then every request needs the token */
    bool no_browser;         /* the address of the page is printed, and no browser started */
};

/* The options for all of it but db, page and no_browser; they set a struct serving. */
#define SERVING_OPTIONS(address_help)                                                                                  \
    {"http",                                                                                                           \
     .type = OPTION_TEXT,                                                                                              \
     .offset = offsetof(struct serving, address),                                                                      \
     .argument = "ADDRESS",                                                                                            \
     .words = "127.0.0.1:6060 :0",                                                                                     \
     .help = address_help},                                                                                            \
        {"http-anywhere", .type = OPTION_SWITCH, .offset = offsetof(struct serving, anywhere),                         \
         .help = "Allow an address that other machines can reach. Every request then needs the token."},               \
        {"http-token",                                                                                                 \
         .type = OPTION_TEXT,                                                                                          \
         .offset = offsetof(struct serving, token_file),                                                               \
         .argument = "FILE",                                                                                           \
         .words = "<file>",                                                                                            \
         .help = "The first line of FILE is the token for `--http-anywhere` and `--receive`. Default: "                \
                 "`$CLEAR_HTTP_TOKEN`, else a new "                                                                    \
                 "token, which is printed."},                                                                          \
        {"source-path",                                                                                                \
         .type = OPTION_TEXT,                                                                                          \
         .offset = offsetof(struct serving, source_path),                                                              \
         .argument = "PATHS",                                                                                          \
         .words = "<directory>",                                                                                       \
         .help = "Show source files below these directories too, separated by colons. Without it: those that a run "   \
                 "kept, and those below the directory of the warehouse."},                                             \
        {"fetch-limit",                                                                                                \
         .type = OPTION_TEXT,                                                                                          \
         .offset = offsetof(struct serving, fetch_limit),                                                              \
         .argument = "SIZE",                                                                                           \
         .words = "4G 0",                                                                                              \
         .help = "Of a store: keep at most about SIZE of fetched runs in a temporary file, which is removed at the "   \
                 "end. Default: 4 GiB; 0: no limit."},                                                                 \
        TLS_OPTIONS(struct serving)

/* Prints the address first. 0 after SIGINT, SIGTERM or SIGHUP. */
int serving_run(const struct serving *serving, struct error *err);

#endif
