#include "cli/push_after.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/units.h"
#include "cli/cli.h"
#include "ingest/team/spool_send.h"

int push_after_check(struct error *err) {
    const char *address = cli_config()->push.to;
    return address ? team_check_address(address, err) : 0;
}

/* ---- before the program runs ------------------------------------------------------------------------------------- */

static int put_run(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT uuid FROM main.runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) != 1) return -1;
    const struct spool_entry entry = {.uuid = xstrdup(db_text(row, 0)),
                                      .project = (char *)cli_project_or(cli_config()->push.project),
                                      .address = cli_config()->push.to};
    sqlite3_reset(row);
    int code = spool_add(db->path, &entry, err);
    free(entry.uuid);
    return code;
}

void push_after_begin(struct db *db, int64_t run_id) {
    struct error err = {0};
    if (cli_config()->push.to && put_run(db, run_id, &err))
        error_print("warning: the run will not be sent to the store by itself (clear push sends it): %s", err.message);
}

/* ---- after it ---------------------------------------------------------------------------------------------------- */

static int64_t count_waiting(const char *path) {
    struct spool spool;
    struct error ignored = {0};
    int64_t count = spool_read(&spool, path, &ignored) ? 0 : (int64_t)spool.count;
    spool_free(&spool);
    return count;
}

static void say_waiting(const char *path, const char *why) {
    struct buffer db = {0};
    int64_t waiting = count_waiting(path);
    escape_shell(&db, path);
    if (waiting)
        error_print("%s; %s %s for the store, to be sent after the next recording or by clear push --db %s", why,
                    units_things(waiting, "run").text, waiting == 1 ? "waits" : "wait", buffer_text(&db));
    buffer_free(&db);
}

static void send_waiting(const char *path, bool is_quiet) {
    struct spool_sent sent = {0};
    struct error err = {0}, ignored = {0};
    struct db db;
    if (db_open(&db, path, DB_READ, &err) == 0) {
        (void)spool_send(&db, NULL, NULL, &sent, &err);
        db_close(&db, &ignored);
    }
    if (sent.counts[PUSH_STORED] && !is_quiet)
        fprintf(stderr, "clear: %s pushed, %s\n", units_things(sent.counts[PUSH_STORED], "run").text,
                units_bytes(sent.bytes).text);
    if (err.status != ERROR_NONE) say_waiting(path, err.message);
}

/* The time is the kernel's to keep: no call of libpq or of the resolver can outlive it. */
static void limit_time(int64_t ns) {
    const struct itimerval timer = {.it_value = {.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000}};
    sigset_t none;
    signal(SIGALRM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static int64_t time_limit(void) {
    int64_t set = cli_config()->push.timeout_ns;
    return set ? set : (int64_t)PUSH_TIMEOUT_MS * 1000000;
}

int64_t push_after_recording(const char *path, bool is_quiet) {
    int status = 0;
    if (!count_waiting(path)) return 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        limit_time(time_limit());
        send_waiting(path, is_quiet);
        fflush(NULL);
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0) say_waiting(path, "there is no memory for another process");
    if (child > 0 && WIFSIGNALED(status)) {
        char *why =
            xasprintf("the store needed more than %s (push: timeout in clear.yaml)", units_ns(time_limit()).text);
        say_waiting(path, WTERMSIG(status) == SIGALRM ? why : "sending was stopped");
        free(why);
    }
    return count_waiting(path);
}

/* ---- retention --------------------------------------------------------------------------------------------------- */

int push_after_add_waiting(struct db *db, struct run_set *set, struct error *err) {
    struct spool spool;
    int code = spool_read(&spool, db->path, err);
    for (size_t i = 0; code == 0 && i < spool.count; i++) {
        int64_t id;
        code = spool_find_run(db, spool.entries[i].uuid, &id, err);
        if (code || !id) continue;
        set->ids = xrealloc(set->ids, (set->count + 1) * sizeof *set->ids);
        set->ids[set->count++] = id;
    }
    spool_free(&spool);
    return code;
}
