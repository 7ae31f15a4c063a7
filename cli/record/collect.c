/* collect.c: clear collect: turns the recordings of programs that clear did not start into runs (ingest/services/services.h). */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/collect.h"
#include "cli/push_after.h"
#include "ingest/record/lost.h"
#include "ingest/segment.h"
#include "ingest/services/services.h"
#include "ingest/team/spool.h"
#include "ingest/team/team_server.h"

enum { LOOK_NS = 1000000000, SETTLE_NS = 200000000 };
#define EVERY_DEFAULT  (INT64_C(3600) * 1000000000)
#define EVERY_LEAST    INT64_C(1000000000)
#define EVERY_MOST     (INT64_C(366) * 24 * 3600 * 1000000000)
#define SEND_MOST_NS   (INT64_C(300) * 1000000000)
#define MEMORY_LEAST   (INT64_C(64) << 10)
#define MEMORY_DEFAULT (INT64_C(256) << 20)

struct collect_command {
    const char *db, *directory, *to;
    int64_t every_ns, memory;
    bool once, quiet;
};

static int take_every(void *into, const struct option_row *row, const char *text, struct error *err) {
    int64_t *every_ns = &((struct collect_command *)into)->every_ns;
    (void)row;
    if (strcmp(text, "off") == 0) return *every_ns = 0, 0;
    return cli_duration("--every", text, EVERY_LEAST, EVERY_MOST, every_ns, err);
}

static int take_memory(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)row;
    return cli_bytes("--memory", text, MEMORY_LEAST, INT64_MAX / 2, &((struct collect_command *)into)->memory, err);
}

#define AT(member) offsetof(struct collect_command, member)
static const struct option_row collect_rows[] = {
    {"dir", .type = OPTION_TEXT, .offset = AT(directory), .argument = "DIR", .words = "<directory>",
     .help = "The directory in which programs make their segments. Default: `$CLEAR_DIR`, else /run/clear."},
    {"to", .type = OPTION_TEXT, .offset = AT(to), .argument = "ADDRESS", .words = "postgresql://",
     .help = "Send each run to a team's store too, as `clear push` does. What cannot be sent waits in the warehouse."},
    {"every", .type = OPTION_TAKE, .take = take_every, .argument = "TIME|off", .words = "1h 1d off",
     .help = "Store what a program did so far as a run each TIME. Default: 1h. `off`: only when it ends."},
    {"memory", .type = OPTION_TAKE, .take = take_memory, .argument = "SIZE", .words = "256MiB",
     .help = "What all recordings in the directory may take. Beyond it the oldest are stored early, then dropped where "
             "they cannot be stored, then paused. Default: 256MiB."},
    {"once", .type = OPTION_SWITCH, .offset = AT(once), .help = "Store what is due now, and end."},
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet), .help = "Print no line for each run."},
    {0},
};
#undef AT

const struct option_group collect_options[] = {
    {"Collecting", collect_rows, 0}, CLI_WAREHOUSE(collect_command, db), CLI_OPTIONS_END};

/* ---- one run, in a process of its own --------------------------------------------------------------------------- */

static void warn(const char *message) {
    error_print("warning: %s", message);
}

static void print_run(const struct collect_command *collecting, const struct lost *lost, int64_t run_id) {
    struct buffer line = {0};
    if (collecting->quiet) return;
    buffer_printf(&line, "run %" PRId64 " in %s: %s: %s", run_id, cli_database(collecting->db),
                  units_things((int64_t)lost->segments, "process").text, lost->command);
    buffer_make_visible(&line);
    puts(line.data);
    buffer_free(&line);
}

/* Puts it into the spool when it is stored: whoever sends passes over what the warehouse does not have. Who is killed in between finds the copy
 * again, and its run. */
static int announce(const struct collect_command *collecting, const struct lost *lost, struct error *err) {
    const struct spool_entry entry = {.uuid = lost->uuid,
                                      .project = (char *)cli_project_or(cli_config()->push.project),
                                      .address = (char *)(collecting->to ? collecting->to : cli_config()->push.to)};
    return entry.address ? spool_add_once(cli_database(collecting->db), &entry, err) : 0;
}

static int store(const struct collect_command *collecting, const char *copy, const char *earlier, struct error *err) {
    struct lost lost;
    struct db db;
    bool was_over = false;
    int code = lost_open(&lost, copy, err);
    if (code < 1) return code < 0 ? -1 : error_fail(err, "%s: is being stored by another process", copy);
    lost.earlier = earlier;
    if (cli_open(&db, collecting->db, DB_WRITE, err)) {
        lost_close(&lost);
        return -1;
    }
    int64_t run_id = lost_store(&lost, &db, warn, &was_over, err);
    if (run_id < 0) db_take_back(&db);
    code = db_close(&db, err) || run_id < 0 ? -1 : 0;
    if (code == 0 && !was_over) print_run(collecting, &lost, run_id);
    if (code == 0) code = announce(collecting, &lost, err);
    lost_close(&lost);
    return code;
}

/* What is read of a program may be anything, and what is read of its files takes much memory: it dies with the child. */
static int store_apart(void *context, const char *copy, const char *earlier) {
    const struct collect_command *collecting = context;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct error err = {0};
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the next collector begins again with what it did not end */
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        int code = store(collecting, copy, earlier, &err);
        if (code) error_print("%s: %s", copy, err.message);
        fflush(NULL);
        _exit(code ? 1 : 0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0) error_print("there is no memory for another process");
    if (child > 0 && WIFSIGNALED(status)) error_print("%s: storing it ended by signal %d", copy, WTERMSIG(status));
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void say(void *context, const char *text) {
    (void)context;
    error_print("%s", text);
}

/* ---- until somebody ends it -------------------------------------------------------------------------------------- */

static volatile sig_atomic_t is_over;

static void end(int signal) {
    (void)signal;
    is_over = 1;
}

static void wait_ns(int64_t ns) {
    const struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    if (!is_over) nanosleep(&time, NULL);
}

/* When runs that wait for a store are sent again, also without a new one. A store that hangs takes the time of `push: timeout` from the looks, so
 * new runs do not ask it more often. */
struct next_send {
    int64_t at_ns, pause_ns;
};

static void send_stored(const struct collect_command *collecting, const struct services_seen *seen,
                        struct next_send *next) {
    if (clock_monotonic_ns() >= next->at_ns) {
        bool has_waiting = push_after_recording(cli_database(collecting->db), collecting->quiet) > 0;
        next->pause_ns = !has_waiting ? 0 : next->pause_ns ? next->pause_ns * 2 : LOOK_NS;
        if (next->pause_ns > SEND_MOST_NS) next->pause_ns = SEND_MOST_NS;
        next->at_ns = clock_monotonic_ns() + next->pause_ns;
    }
    if (seen->stored) collect_after_recording(cli_database(collecting->db), collecting->quiet);
}

static int look_once(struct services *services, const struct collect_command *collecting, struct error *err) {
    struct services_seen first, seen;
    struct next_send next = {0};
    if (services_look(services, false, &first, err)) return -1;
    if (first.waiting) wait_ns(SETTLE_NS); /* between two programs of an exec there is none */
    if (services_look(services, true, &seen, err)) return -1;
    seen.stored += first.stored;
    send_stored(collecting, &seen, &next);
    if (!collecting->quiet)
        fprintf(stderr, "clear: %s stored, %" PRId64 " go on\n", units_things(seen.stored, "run").text, seen.running);
    if (seen.others)
        fprintf(stderr, "clear: %s of other users left: root can collect them\n",
                units_things(seen.others, "recording").text);
    return seen.failed + first.failed ? ERROR_FAILURE : 0;
}

static int look_on(struct services *services, const struct collect_command *collecting, struct error *err) {
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct next_send next = {0};
    while (!is_over) {
        struct services_seen seen;
        if (services_look(services, false, &seen, err)) return -1;
        send_stored(collecting, &seen, &next);
        wait_ns(LOOK_NS);
    }
    return 0;
}

int command_collect(int argc, char **argv, struct error *err) {
    struct collect_command collecting = {.every_ns = EVERY_DEFAULT, .memory = MEMORY_DEFAULT};
    if (cli_options(&argc, argv, &collecting, err) < 0 || cli_at_most(0, argc, argv, err)) return -1;
    const char *set = getenv(SERVICE_DIR_VARIABLE);
    if (!collecting.directory) collecting.directory = set && *set ? set : SERVICE_DIR_DEFAULT;
    if (collecting.to ? team_check_address(collecting.to, err) : push_after_check(err)) return -1;
    const struct services_terms terms = {.directory = collecting.directory,
                                         .warehouse = cli_database(collecting.db),
                                         .every_ns = collecting.every_ns,
                                         .memory = collecting.memory,
                                         .store = store_apart,
                                         .say = say,
                                         .context = &collecting};
    struct services *services;
    if (services_open(&services, &terms, err)) return -1;
    int code = collecting.once ? look_once(services, &collecting, err) : look_on(services, &collecting, err);
    services_close(services);
    return code;
}
