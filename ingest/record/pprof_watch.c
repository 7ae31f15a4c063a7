#include "ingest/record/pprof_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ingest/read/fetch.h"
#include "ingest/read/readers.h"

enum {
    FIRST_NS = 100000000,   /* between two tries until the server answers, and at least between two fetches */
    PERIOD_NS = 1000000000, /* between two fetches at first */
    COST_LIMIT = 5,         /* and at least so many times what the last one took, waiting included */
    TIMEOUT_S = 10,
};

/* What is counted from the start of the program, in windows; of the others the last one is stored. Go's block profile has the waits of its mutex
 * profile once more, and those of idle workers: it is no profile of locks beside that. */
static const struct own_profile {
    const char *name;
    struct ingest_snapshot snapshot;
} watched[] = {
    {"heap", {NULL, true}}, {"mutex", {NULL, true}}, {"block", {"go-block", false}}, {"goroutine", {NULL, false}}};
enum { WATCHED = sizeof watched / sizeof *watched };

/* ---- the address ---- */

char *pprof_watch_url(const char *text, struct error *err) {
    static const char place[] = "/debug/pprof";
    char *url = *text == ':' ? xasprintf("localhost%s", text) : xstrdup(text);
    if (!strstr(url, "://")) {
        char *whole = xasprintf("http://%s", url);
        free(url);
        url = whole;
    }
    size_t size = strlen(url);
    while (size && url[size - 1] == '/')
        url[--size] = '\0';
    if (!strstr(url, place)) {
        char *whole = xasprintf("%s%s", url, place);
        free(url);
        url = whole;
    }
    if (fetch_is_url(url)) return url;
    error_usage(
        err,
        "--pprof must be the address of a server with Go's net/http/pprof, such as http://localhost:6060, not '%s'",
        text);
    free(url);
    return NULL;
}

/* ---- the process that fetches ---- */

struct fetcher {
    const char *url, *directory;
    int64_t period_ns;
    unsigned numbers[2 * PPROF_WINDOWS], count, next; /* of the fetches that are kept */
};

static void write_file(const char *directory, const char *name, const void *bytes, size_t size) {
    char *path = xasprintf("%s/pprof%s", directory, name), *part = xasprintf("%s/pprof.part", directory);
    int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool is_whole = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    if (file >= 0) close(file);
    if (!is_whole || rename(part, path)) unlink(part); /* a full disk: this window is missing */
    free(path);
    free(part);
}

static bool fetch_one(const struct fetcher *fetcher, const char *kind, unsigned number) {
    const struct fetch_options options = {.timeout_s = TIMEOUT_S};
    struct buffer body = {0};
    struct error failure = {0};
    char *url = xasprintf("%s/%s", fetcher->url, kind), name[48];
    bool is_fetched = fetch(url, &options, &body, &failure) == 0;
    snprintf(name, sizeof name, "-%s-%08u", kind, number);
    if (is_fetched)
        write_file(fetcher->directory, name, body.data, body.size);
    else
        write_file(fetcher->directory, ".error", failure.message, strlen(failure.message));
    free(url);
    buffer_free(&body);
    return is_fetched;
}

/* Snapshots count from the start: one that is given up makes a window longer and loses nothing. */
static void thin_out(struct fetcher *fetcher) {
    unsigned kept = 0;
    for (unsigned i = 0; i < fetcher->count; i++) {
        if (i % 2) {
            fetcher->numbers[kept++] = fetcher->numbers[i];
            continue;
        }
        for (size_t k = 0; k < WATCHED; k++) {
            char *path = xasprintf("%s/pprof-%s-%08u", fetcher->directory, watched[k].name, fetcher->numbers[i]);
            unlink(path);
            free(path);
        }
    }
    fetcher->count = kept;
    fetcher->period_ns *= 2;
}

static void fetch_all(struct fetcher *fetcher) {
    bool has_any = false;
    for (size_t k = 0; k < WATCHED; k++) {
        bool is_fetched = fetch_one(fetcher, watched[k].name, fetcher->next);
        has_any |= is_fetched;
        if (!is_fetched && k == 0) return; /* no server, yet or any more */
    }
    if (!has_any) return;
    fetcher->numbers[fetcher->count++] = fetcher->next++;
    if (fetcher->count == 2 * PPROF_WINDOWS) thin_out(fetcher);
}

static void sleep_ns(int64_t ns) {
    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

/* Often in a young run, so that a short one has windows too. */
static int64_t time_to_next(const struct fetcher *fetcher, int64_t took_ns, int64_t age_ns) {
    int64_t wait_ns = age_ns / 4 > FIRST_NS ? age_ns / 4 : FIRST_NS;
    if (wait_ns > fetcher->period_ns || fetcher->period_ns > PERIOD_NS) wait_ns = fetcher->period_ns;
    return wait_ns > COST_LIMIT * took_ns ? wait_ns : COST_LIMIT * took_ns;
}

static void fetch_for_ever(const char *url, const char *directory) {
    struct fetcher fetcher = {.url = url, .directory = directory, .period_ns = PERIOD_NS};
    const int64_t first_ns = clock_monotonic_ns();
    for (;;) {
        int64_t began_ns = clock_monotonic_ns();
        fetch_all(&fetcher);
        int64_t took_ns = clock_monotonic_ns() - began_ns;
        sleep_ns(fetcher.count ? time_to_next(&fetcher, took_ns, began_ns - first_ns) : FIRST_NS);
    }
}

/* In the child: it ends with us, by its signal alone, and has none of our files. */
static void become_fetcher(pid_t parent) {
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_range(STDERR_FILENO + 1, ~0u, 0);
}

int pprof_watch_start(struct pprof_watch *watch, const char *url, const char *directory, struct error *err) {
    *watch = (struct pprof_watch){.directory = xstrdup(directory)};
    pid_t parent = getpid();
    watch->pid = fork();
    if (watch->pid < 0) {
        watch->pid = 0;
        return error_fail(err, "fork: %s", strerror(errno));
    }
    if (watch->pid) return 0;
    become_fetcher(parent);
    fetch_for_ever(url, watch->directory);
    _exit(1);
}

void pprof_watch_end(struct pprof_watch *watch) {
    if (!watch->pid) return;
    kill(watch->pid, SIGKILL); /* files appear whole */
    waitpid(watch->pid, NULL, 0);
    watch->pid = 0;
}

/* ---- storing ---- */

static const char prefix[] = "pprof-";

static int is_profile(const struct dirent *entry) {
    return strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0;
}

/* Which one it is. NULL: a file of something else. */
static const struct own_profile *find_watched(const char *file) {
    const char *name = file + sizeof prefix - 1;
    for (size_t k = 0; k < WATCHED; k++)
        if (strlen(watched[k].name) == strcspn(name, "-") &&
            strncmp(name, watched[k].name, strlen(watched[k].name)) == 0)
            return &watched[k];
    return NULL;
}

static char *last_failure(const struct pprof_watch *watch) {
    char *path = xasprintf("%s/pprof.error", watch->directory), text[1024] = "";
    FILE *file = fopen(path, "re");
    if (file && !fgets(text, sizeof text, file)) *text = '\0';
    if (file) fclose(file);
    free(path);
    return *text ? xstrdup(text) : NULL;
}

struct storing {
    const struct pprof_watch *watch;
    struct db *db;
    int64_t run_id;
    struct dirent **entries; /* sorted by kind and number */
    int count;
    struct pprof_stored *stored;
};

static bool store_file(struct storing *storing, int at, const struct own_profile *of) {
    struct pprof_stored *stored = storing->stored;
    struct error failure = {0};
    char *path = xasprintf("%s/%s", storing->watch->directory, storing->entries[at]->d_name);
    bool is_stored = ingest_snapshot(storing->db, storing->run_id, path, &format_pprof, &of->snapshot, &failure) == 0;
    free(path);
    if (!is_stored && !stored->why) stored->why = xstrdup(failure.message);
    *(is_stored ? &stored->count : &stored->failed) += 1;
    return is_stored;
}

/* In their order, for each counts from the start. */
static void store_windows(struct storing *storing) {
    for (int i = 0; i < storing->count; i++) {
        const struct own_profile *of = find_watched(storing->entries[i]->d_name);
        if (of && of->snapshot.is_window) store_file(storing, i, of);
    }
}

/* Of each the last one that can be read. */
static void store_states(struct storing *storing) {
    const struct own_profile *done = NULL;
    for (int i = storing->count - 1; i >= 0; i--) {
        const struct own_profile *of = find_watched(storing->entries[i]->d_name);
        if (of && of != done && !of->snapshot.is_window && store_file(storing, i, of)) done = of;
    }
}

void pprof_watch_store(const struct pprof_watch *watch, struct db *db, int64_t run_id, struct pprof_stored *stored) {
    struct storing storing = {.watch = watch, .db = db, .run_id = run_id, .stored = stored};
    *stored = (struct pprof_stored){0};
    storing.count = scandir(watch->directory, &storing.entries, is_profile, alphasort);
    store_windows(&storing);
    store_states(&storing);
    for (int i = 0; i < storing.count; i++)
        free(storing.entries[i]);
    free(storing.entries);
    if (!stored->count && !stored->failed) stored->why = last_failure(watch);
}

void pprof_watch_free(struct pprof_watch *watch) {
    pprof_watch_end(watch);
    free(watch->directory);
    *watch = (struct pprof_watch){0};
}
