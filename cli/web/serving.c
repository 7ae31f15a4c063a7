#include "cli/web/serving.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/passing.h"
#include "cli/web/browser.h"
#include "cli/web/http_token.h"
#include "ingest/receive/receive.h"
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

/* ---- a store ---- */

/* Of a team's store: where its runs go that are asked for. */
struct fetched {
    struct passing passing;
    char *name; /* of the store, for users; NULL: a file is served */
    int64_t bytes_max;
};

static void fetched_free(struct fetched *fetched) {
    passing_remove(&fetched->passing);
    free(fetched->name);
}

/* A store that does not answer is reported now. */
static int fetched_open(struct fetched *fetched, const struct serving *serving, struct error *err) {
    fetched->bytes_max = INT64_C(4) << 30;
    if (serving->fetch_limit &&
        cli_bytes("--fetch-limit", serving->fetch_limit, 0, INT64_MAX / 2, &fetched->bytes_max, err))
        return -1;
    char *shown = cli_shown_database(serving->db);
    fetched->name = xasprintf("%s, project %s", shown, cli_project());
    free(shown);
    return passing_make(&fetched->passing, err) || cli_fetch(serving->db, fetched->passing.db, NULL, err) ? -1 : 0;
}

/* ---- what is served ---- */

static char *page_url(const struct server *server, const char *page) {
    const char *url = server_url(server);
    return xasprintf("%.*s%s", (int)(strstr(url, "/debug/") - url + 1), url, page);
}

/* Where to look. A browser that cannot be started is no failure: the address is there. */
static void announce(const struct serving *serving, const char *name, const struct server *server) {
    char *url = serving->page ? page_url(server, serving->page) : NULL;
    printf("serving %s at %s\n", name ? name : cli_database(serving->db), url ? url : server_url(server));
    if (serving->receive) {
        char *base = page_url(server, "");
        printf("receiving OTLP at %sv1development/profiles, and of Pyroscope's clients at %s\n", base, base);
        free(base);
    }
    fflush(stdout);
    if (url && !serving->no_browser && browser_open(url))
        error_print("no browser was found: set BROWSER, or open the address");
    free(url);
}

static int check_options(const struct serving *serving, struct error *err) {
    if (serving->receive && cli_is_store(serving->db))
        return error_usage(err, "--receive needs a file, and %s is a store: clear push sends runs there",
                           cli_database(serving->db));
    if (serving->every_ns && !serving->receive) return error_usage(err, "--every needs --receive");
    if (serving->fetch_limit && !cli_is_store(serving->db))
        return error_usage(err, "--fetch-limit is for a store, and %s is a file", cli_database(serving->db));
    if (serving->token_file && !serving->anywhere && !serving->receive)
        return error_usage(err, "--http-token needs --http-anywhere or --receive: without them nothing needs a token");
    return 0;
}

struct secrets {
    char *token; /* NULL: none is needed */
    struct tls_texts tls;
    bool is_token_new;
};

static int read_secrets(const struct serving *serving, struct secrets *secrets, struct error *err) {
    bool needs_token = serving->anywhere || serving->receive;
    if (needs_token && !(secrets->token = http_token(serving->token_file, &secrets->is_token_new, err))) return -1;
    return tls_read(&secrets->tls, serving->tls_cert, serving->tls_key, err);
}

static void secrets_free(struct secrets *secrets) {
    free(secrets->token);
    tls_free(&secrets->tls);
}

static int64_t every_of(const struct serving *serving) {
    return serving->every_ns ? serving->every_ns : RECEIVE_EVERY_NS;
}

static int serve(const struct serving *serving, const struct fetched *fetched, const struct secrets *secrets,
                 struct error *err) {
    struct server *server;
    const struct server_source source = {
        .open = open_warehouse,
        .token = serving->anywhere ? secrets->token : NULL,
        .receive = {serving->receive ? cli_database(serving->db) : NULL, secrets->token, every_of(serving)},
        .certificate = secrets->tls.certificate,
        .key = secrets->tls.key,
        .source_path = serving->source_path,
        .config = cli_config()->path,
        .store = fetched->name ? cli_database(serving->db) : NULL,
        .project = cli_project(),
        .name = fetched->name,
        .fetched = fetched->passing.db,
        .fetched_max = fetched->bytes_max,
        .context = (void *)(uintptr_t)(fetched->name ? fetched->passing.db : serving->db)};
    if (server_open(&server, serving->address, serving->anywhere, &source, err)) return -1;
    sigset_t before;
    catch_end(&before);
    if (secrets->is_token_new)
        error_print("the token, which %s needs: %s", serving->anywhere ? "every request" : "who sends profiles",
                    secrets->token);
    announce(serving, fetched->name, server);
    int code = attend(server, &before, err);
    server_close(server);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* The file stays open for writing, so that it stays in WAL mode: entering that mode has to wait for everyone who reads, and each request that
 * stores profiles would enter and leave it. */
static int receive_into(const struct serving *serving, const struct fetched *fetched, const struct secrets *secrets,
                        struct error *err) {
    struct db db;
    if (cli_open(&db, serving->db, DB_WRITE, err)) return -1;
    int code = receive_settle(&db, err);
    if (code == 0) code = serve(serving, fetched, secrets, err);
    if (code == 0) code = receive_settle(&db, err);
    if (code) db_take_back(&db);
    return db_close(&db, err) ? -1 : code;
}

int serving_run(const struct serving *serving, struct error *err) {
    struct secrets secrets = {0};
    struct fetched fetched = {0};
    int code = check_options(serving, err);
    if (code == 0 && !serving->receive)
        code = cli_is_store(serving->db) ? fetched_open(&fetched, serving, err) : check_warehouse(serving->db, err);
    if (code == 0) code = read_secrets(serving, &secrets, err);
    if (code == 0) code = (serving->receive ? receive_into : serve)(serving, &fetched, &secrets, err);
    secrets_free(&secrets);
    fetched_free(&fetched);
    return code;
}
