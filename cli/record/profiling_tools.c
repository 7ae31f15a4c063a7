#include "cli/record/profiling.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_NS = 1000000000 }; /* of one look whether strace has ended */

static char *tool_output(const struct profiling *recording, enum tool tool) {
    static const char *const names[] = {"perf.data", "perf-stat", "strace"};
    return xasprintf("%s/%s", recording->directory.path, names[tool]);
}

int profiling_check_tools(const struct profile_request *request, const char *directory, struct error *err) {
    if (request->uses_perf && tool_check(TOOL_PERF_RECORD, "--cpu=perf", directory, err)) return -1;
    if (request->counters && tool_check(TOOL_PERF_STAT, "--counters", directory, err)) return -1;
    return request->syscalls ? tool_check(TOOL_STRACE, "--syscalls", directory, err) : 0;
}

int profiling_watch(struct profiling *recording, struct watcher *watcher, enum tool tool, pid_t pid,
                    struct error *err) {
    char *output = tool_output(recording, tool);
    int code = watcher_start(watcher, tool, recording->request->cpu_hz, pid, output, err);
    free(output);
    return code;
}

bool profiling_samples_outside(const struct profiling *recording) {
    return recording->request->uses_perf || recording->target.by_perf.is_outside || recording->has_outside;
}

int profiling_watch_outside(struct profiling *recording, const struct outside_request *request, struct error *err) {
    char *output = tool_output(recording, TOOL_PERF_RECORD);
    int code = watcher_start_outside(&recording->sampler, request, output, err);
    free(output);
    return code;
}

int profiling_watch_target(struct profiling *recording, pid_t pid, struct error *err) {
    struct outside_request request = {.pids = &pid, .pid_count = 1, .hz = recording->request->cpu_hz};
    return outside_check(pid, &request.has_waits, err) ? -1 : profiling_watch_outside(recording, &request, err);
}

void profiling_store_pprof(struct profiling *recording) {
    struct pprof_stored stored;
    const char *url = recording->request->pprof;
    if (!recording->pprof.directory) return;
    pprof_watch_end(&recording->pprof);
    pprof_watch_store(&recording->pprof, &recording->db, recording->run_id, &stored);
    if (stored.failed)
        error_print("warning: --pprof: %zu of %zu answers of %s could not be stored, as when the program ends in the "
                    "middle of one: %s",
                    stored.failed, stored.failed + stored.count, url, stored.why);
    else if (!stored.count)
        error_print("warning: --pprof: nothing came from %s: %s", url,
                    stored.why ? stored.why : "the program ended before it answered");
    free(stored.why);
}

int profiling_store_watched(struct profiling *recording, struct watcher *watcher, struct error *err) {
    if (!watcher->pid) return 0;
    enum tool tool = watcher->tool;
    if (watcher_end(watcher, err)) return -1;
    char *output = tool_output(recording, tool);
    struct ingest_program program = profile_target_program(&recording->target);
    int code = tool_store(&recording->db, recording->run_id, tool, output, &program, err);
    free(output);
    return code;
}

/* Standard input is rewound if it is a file, else empty. Output is discarded. */
static void open_files(const struct profiling *recording, int files[3]) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool is_rewound = recording->input_start >= 0 && lseek(STDIN_FILENO, recording->input_start, SEEK_SET) >= 0;
    files[0] = is_rewound ? STDIN_FILENO : nowhere;
    files[1] = files[2] = nowhere;
}

static int trace(struct profiling *recording, const char *output, struct error *err) {
    int files[3], ignored;
    char *path, **words = strace_arguments(recording->target.program, recording->target.arguments, output, &path, err);
    if (!words) return -1;
    open_files(recording, files);
    launch_end(&recording->launch);
    recording->launch = (struct launch){.files = files};
    int code = launch_start(&recording->launch, path, words, NULL, NULL, err);
    while (code == 0 && !launch_wait(&recording->launch, WAIT_NS, &ignored))
        continue;
    close(files[1]);
    for (char **word = words; *word; word++)
        free(*word);
    free(words);
    free(path);
    return code;
}

/* Runs the program a second time under strace, which would distort all other figures. */
int profiling_count_syscalls(struct profiling *recording, struct error *err) {
    if (!recording->request->syscalls) return 0;
    if (WIFSIGNALED(recording->wait_status)) {
        fprintf(stderr, "clear: --syscalls: a signal ended the program, so it is not run a second time\n");
        return 0;
    }
    fprintf(stderr, "clear: --syscalls: running the program a second time under strace, output discarded%s\n",
            recording->input_start < 0 ? ", its standard input empty" : "");
    char *output = tool_output(recording, TOOL_STRACE);
    int code = trace(recording, output, err);
    if (code == 0) code = tool_store(&recording->db, recording->run_id, TOOL_STRACE, output, NULL, err);
    free(output);
    return code;
}

/* What perf sampled, once it is stored. */
int profiling_add_perf_totals(struct profiling *recording, struct collector_totals *totals, struct error *err) {
    sqlite3_stmt *row = db_prepare(&recording->db, embedded_text("profile/cpu_totals.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", recording->run_id);
    if (db_step(&recording->db, row, err) != 1) return -1;
    totals->cpu_samples = (uint64_t)sqlite3_column_int64(row, 0);
    totals->cpu_ns = (uint64_t)sqlite3_column_int64(row, 1);
    sqlite3_reset(row);
    return 0;
}
