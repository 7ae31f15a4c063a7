#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "cli/cli.h"
#include "serve/serve.h"

static volatile sig_atomic_t is_ended;

static void on_end(int signal) {
    (void)signal;
    is_ended = 1;
}

/* The first signal ends the loop, a second one ends the process. Signals are blocked except while waiting. */
static void catch_end(sigset_t *before) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_end, .sa_flags = SA_RESETHAND}, old;
    sigset_t caught;
    sigemptyset(&caught);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sigaction(ends[i], NULL, &old);
        if (old.sa_handler == SIG_IGN) continue; /* nohup */
        sigaction(ends[i], &action, NULL);
        sigaddset(&caught, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &caught, before);
    signal(SIGPIPE, SIG_IGN);
}

static int attend(struct server *server, const sigset_t *before, struct error *err) {
    while (!is_ended) {
        int64_t timeout_ns = server_timeout(server);
        struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
        struct pollfd one = {.fd = server_descriptor(server), .events = POLLIN};
        if (ppoll(&one, 1, timeout_ns < 0 ? NULL : &timeout, before) < 0 && errno != EINTR)
            return error_fail(err, "waiting for requests: %s", strerror(errno));
        if (!is_ended) server_step(server);
    }
    return 0;
}

static int open_warehouse(void *context, struct db *db, struct error *err) {
    return cli_open(db, context, DB_READ, err);
}

/* Reports a broken warehouse now and not at the first request. */
static int check_warehouse(const char *path, struct error *err) {
    struct db db;
    if (cli_open(&db, path, DB_READ, err)) return -1;
    return db_close(&db, err);
}

struct serve_options {
    const char *db, *address;
    bool anywhere;
};

#define AT(member) offsetof(struct serve_options, member)
static const struct option_row rows[] = {
    {"http", .type = OPTION_TEXT, .offset = AT(address), .argument = "ADDRESS", .words = "127.0.0.1:6060 :0",
     .help = "Listen on this `HOST:PORT`, `:PORT` or `PORT`. Default: " SERVE_ADDRESS ". Port 0 is any free port."},
    {"http-anywhere", .type = OPTION_SWITCH, .offset = AT(anywhere),
     .help = "Allow an address that other machines can reach. There is no password: they can then read the profiles."},
    {0},
};
const struct option_group serve_options[] = {{"HTTP", rows, 0}, CLI_WAREHOUSE(serve_options, db), CLI_OPTIONS_END};
#undef AT

int command_serve(int argc, char **argv, struct error *err) {
    struct serve_options options = {.address = SERVE_ADDRESS};
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(0, argc, argv, err) < 0) return -1;
    if (check_warehouse(options.db, err)) return -1;
    struct server *server;
    const struct server_source source = {
        .open = open_warehouse, .config = cli_config()->path, .context = (void *)(uintptr_t)options.db};
    if (server_open(&server, options.address, options.anywhere, &source, err)) return -1;
    sigset_t before;
    catch_end(&before);
    printf("serving %s at %s\n", cli_database(options.db), server_url(server));
    fflush(stdout);
    int code = attend(server, &before, err);
    server_close(server);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}
