#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/record/profiling.h"
#include "cli/record/running_processes.h"
#include "cli/record/status_line.h"
#include "ingest/record/kernel/recorder_share.h"
#include "ingest/record/relatives.h"
#include "ingest/record/supervisor_link.h"

/* ---- leaving the terminal ---- */

/* `clear profile --detach`, in the recorder: the target has ended. Ends the command, of which `link` is the link to its supervisor, leaves its session and
 * terminal, and sends what is printed from now on to the file `log`. */
static void detach_recorder(int link, int wait_status, const char *log) {
    int input = open("/dev/null", O_RDWR | O_CLOEXEC);
    int output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    dup2(input, STDIN_FILENO);
    dup2(output < 0 ? input : output, STDOUT_FILENO);
    dup2(output < 0 ? input : output, STDERR_FILENO);
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    link_tell(link, &(struct link_message){.word = LINK_DETACHED, .wait_status = wait_status});
    close(link);
}

enum {
    GRACE_STEPS = 20, /* the target's children get 20 * 2 ms to end */
    GRACE_STEP_NS = 2000000,
    INTERVAL_YOUNG_NS = 50000000, /* the shortest and the longest time between two flushes, without --interval */
    INTERVAL_OLD_NS = 1000000000,
    LOOK_NS = 50000000, /* between two looks whether a process still runs */
    SHORT_NS = 5000000, /* the life of a short program */
};

/* What all flushes took so far, without looking for names, which is work of the first one. */
static int64_t writing_ns(const struct profiling *recording) {
    struct collector_totals totals;
    collector_totals(recording->collector, &totals);
    return (int64_t)(totals.flush_ns - totals.symbolize_ns);
}

/* Prints the first failure only. */
static void flush(struct profiling *recording) {
    struct error err = {0};
    int64_t before_ns = writing_ns(recording);
    int code = profiling_flush(recording, false, MOMENT_PATIENCE_MS, &err);
    recording->last_flush_ns = writing_ns(recording) - before_ns;
    bool was_said = recording->is_waiting && recording->db.was_locked;
    if (code == 0 || recording->warned || was_said) return;
    recording->warned = true;
    fprintf(stderr, "clear: %s; the program continues, and each flush tries again\n", err.message);
}

/* SIGUSR1: the answer says what was saved of programs that run on, and how long it took; their rows come later. */
static void dump(struct profiling *recording) {
    uint64_t began_ns = (uint64_t)clock_monotonic_ns();
    collector_store_events(recording->collector);
    flush(recording);
    struct saved_rings saved = collector_saved_rings(recording->collector);
    if (recording->request->quiet || !(recording->request->recorder.features & FEATURE_TRACE)) return;
    fprintf(stderr, "clear: %llu events were saved in %.1f ms, and stored in %.1f s\n",
            (unsigned long long)saved.events, (double)saved.ns / 1e6,
            (double)((uint64_t)clock_monotonic_ns() - began_ns) / 1e9);
}

/* Switches first, then flushes, so that a window ends when recording did. */
int profiling_set(struct profiling *recording, bool is_on, struct error *err) {
    if (is_on == !recording->is_paused) return 0;
    if (collector_pause(recording->collector, !is_on, err))
        return error_prefix(err, "recording stays %s: ", is_on ? "off" : "on");
    recording->is_paused = !is_on;
    if (!recording->request->quiet) fprintf(stderr, "clear: recording is %s\n", is_on ? "on" : "off");
    flush(recording);
    return 0;
}

struct collector_totals profiling_totals(struct profiling *recording) {
    struct collector_totals totals;
    struct error ignored = {0};
    collector_totals(recording->collector, &totals);
    (void)self_dumps_totals(&recording->dumps, &recording->db, recording->run_id, &totals, &ignored);
    if (profiling_samples_outside(recording)) (void)profiling_add_perf_totals(recording, &totals, &ignored);
    return totals;
}

static void switch_recording(struct profiling *recording) {
    struct error err = {0};
    if (profiling_set(recording, recording->is_paused, &err)) fprintf(stderr, "clear: %s\n", err.message);
}

/* Without --interval, a young run is flushed more often than an old one, so that also a run of half a second has windows
 * shorter than a fifth of it, by which growth is judged (schema/doctor/heap.sql). A flush that takes long is not made
 * often. */
static int64_t time_to_flush(const struct profiling *recording) {
    if (recording->request->interval_ns) return recording->request->interval_ns;
    int64_t age_ns = clock_monotonic_ns() - (int64_t)recording->launch.started_ns;
    int64_t least_ns = 8 * recording->last_flush_ns, time_ns = age_ns / 6;
    if (time_ns < INTERVAL_YOUNG_NS) time_ns = INTERVAL_YOUNG_NS;
    if (time_ns < least_ns) time_ns = least_ns;
    return time_ns < INTERVAL_OLD_NS ? time_ns : INTERVAL_OLD_NS;
}

static bool others_run(const struct profiling *recording) {
    if (recording->running && running_outside_runs(recording->running)) return true;
    return collector_running(recording->collector) || relatives_run(recording->directory.path);
}

/* True when what is waited for has ended: the program, or with --wait the last process that it started. */
static bool wait_for_end(struct profiling *recording, int64_t wait_ns) {
    struct launch *launch = &recording->launch;
    if (recording->until_ns && clock_monotonic_ns() >= recording->until_ns) return true;
    if (!recording->is_over) return launch_wait(launch, (uint64_t)wait_ns, &recording->wait_status);
    return launch_wait_more(launch, (uint64_t)(wait_ns < LOOK_NS ? wait_ns : LOOK_NS)) || !others_run(recording);
}

/* What a later flush would wait for is done beside the program: the facts of a run that has begun are made, which compiles their statements, and
 * symbols are read. Before it starts, the program would wait for that; of one that has ended by now the end does it. A failure is one of the next
 * flush too. */
static void prepare_flushes(struct profiling *recording) {
    struct error ignored = {0};
    recording->is_begun = true;
    (void)collector_seal(recording->collector, &ignored);
    if (recorder_share_has_room()) collector_read_ahead(recording->collector);
}

/* Waits until a flush is due, or recording is to be switched (false), or the program has ended (true). Meanwhile the
 * server gets its answers. */
static bool wait_for_flush(struct profiling *recording) {
    int64_t due_ns = clock_monotonic_ns() + time_to_flush(recording);
    for (;;) {
        int64_t left_ns = due_ns - clock_monotonic_ns(), wait_ns = left_ns > 0 ? left_ns : 0;
        int64_t look_ns = collector_look(recording->collector);
        if (look_ns > 0 && look_ns < wait_ns) wait_ns = look_ns;
        if (!recording->is_begun && wait_ns > SHORT_NS) wait_ns = SHORT_NS;
        if (wait_for_end(recording, wait_ns)) return true;
        if (!recording->is_begun) prepare_flushes(recording);
        live_server_step(&recording->live);
        if (recording->launch.arrived || clock_monotonic_ns() >= due_ns) return false;
    }
}

static void flush_until_end(struct profiling *recording, bool has_line) {
    struct status_line line;
    struct collector_totals totals;
    status_line_start(&line, has_line);
    while (!wait_for_flush(recording)) {
        uint64_t arrived = recording->launch.arrived;
        recording->launch.arrived = 0;
        if (recording->running) running_look_again(recording->running);
        if (arrived & UINT64_C(1) << SIGUSR2) switch_recording(recording);
        if (arrived & UINT64_C(1) << SIGUSR1)
            dump(recording);
        else if (!(arrived & UINT64_C(1) << SIGUSR2))
            flush(recording);
        if (!status_line_is_due(&line)) continue;
        totals = profiling_totals(recording);
        status_line_draw(&line, &totals, recording->is_paused);
    }
    status_line_end(&line);
}

static void detach(struct profiling *recording) {
    char *log = xasprintf("%s.log", recording->output);
    if (!recording->request->quiet)
        error_print("process %d goes on recording what runs; it prints to %s, and ends when the last process has ended "
                    "(kill %d: now)",
                    (int)getpid(), log, (int)getpid());
    detach_recorder(recording->link, recording->wait_status, log);
    recording->link = -1;
    recording->launch.link = NULL;
    free(log);
}

/* What the target started goes on, and is recorded until the last process has ended or somebody ends us. */
static void follow(struct profiling *recording) {
    recording->is_over = true;
    if (!others_run(recording)) return;
    if (recording->request->detaches)
        detach(recording);
    else if (!recording->request->quiet)
        error_print("the target has ended; what it started is recorded until the last process has ended (Ctrl-C: now)");
    flush_until_end(recording, !recording->request->quiet && !recording->request->detaches);
    uint64_t now_ns = (uint64_t)clock_monotonic_ns();
    recording->duration_ns = (int64_t)(now_ns - recording->launch.started_ns);
    collector_set_span(recording->collector, recording->launch.started_ns, now_ns);
}

static void note_group(struct profiling *recording) {
    struct control_group_use use = control_group_use(&recording->group);
    collector_set_group(recording->collector, &use);
}

/* They are as what a target has started and left behind. */
void profiling_follow_running(struct profiling *recording) {
    recording->is_over = true;
    recording->launch.started_ns = (uint64_t)clock_monotonic_ns();
    collector_set_span(recording->collector, recording->launch.started_ns, 0);
    flush_until_end(recording, !recording->request->quiet);
    recording->launch.ended_ns = (uint64_t)clock_monotonic_ns();
    recording->duration_ns = (int64_t)(recording->launch.ended_ns - recording->launch.started_ns);
    note_group(recording);
    live_server_finish(&recording->live);
}

void profiling_follow(struct profiling *recording) {
    collector_set_span(recording->collector, recording->launch.started_ns, 0);
    flush_until_end(recording, !recording->request->quiet);
    recording->duration_ns = (int64_t)(recording->launch.ended_ns - recording->launch.started_ns);
    collector_set_span(recording->collector, recording->launch.started_ns, recording->launch.ended_ns);
    collector_set_usage(recording->collector, recording->launch.waits,
                        recording->launch.user_ns + recording->launch.kernel_ns);
    collector_set_status(recording->collector, recording->wait_status);
    for (int i = 0; i < GRACE_STEPS && collector_running(recording->collector); i++)
        nanosleep(&(struct timespec){.tv_nsec = GRACE_STEP_NS}, NULL);
    if (recording->request->waits) follow(recording);
    note_group(recording);
    live_server_finish(&recording->live);
}
