#include "cli/record/running_processes.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/cli.h"
#include "ingest/record/recordable.h"

#define LOOK_AGAIN_NS INT64_C(1000000000)

/* ---- which ------------------------------------------------------------------------------------------------------- */

enum { COMM_SIZE = 16 }; /* what the kernel keeps of a name, with its final zero */

/* The file that it executes; NULL: none of ours. free() it. */
static char *read_file(pid_t pid) {
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t size = readlink(path, target, sizeof target - 1);
    if (size <= 0) return NULL;
    target[size] = '\0';
    return xstrdup(target);
}

static void read_comm(pid_t pid, char comm[COMM_SIZE]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(comm, COMM_SIZE, file)) comm[0] = '\0';
    if (file) fclose(file);
    comm[strcspn(comm, "\n")] = '\0';
}

/* By its file, or by the link that started it: redis-server is a link to redis-check-rdb. */
static bool is_named(pid_t pid, const char *name) {
    char comm[COMM_SIZE], *file = read_file(pid);
    read_comm(pid, comm);
    bool is = file && (strcmp(path_base(file), name) == 0 || (*comm && strncmp(comm, name, COMM_SIZE - 1) == 0));
    free(file);
    return is;
}

static bool is_ours(pid_t pid) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &status) == 0 && status.st_uid == geteuid();
}

/* Anybody may give a process of his any name: root takes those of others by their numbers alone. */
static int found_none(const char *name, pid_t of_another, struct error *err) {
    if (!of_another) return error_usage(err, "no process of yours has the name %s", name);
    return error_usage(err, "no process of yours has the name %s; process %d of another user has it: --pid %d", name,
                       (int)of_another, (int)of_another);
}

static int find_named(struct profile_request *request, const char *name, struct error *err) {
    DIR *directory = opendir("/proc");
    size_t before = request->pid_count;
    pid_t of_another = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0 || pid == getpid() || !is_named(pid, name)) continue;
        if (!is_ours(pid)) {
            of_another = pid;
            continue;
        }
        request->pids = xrealloc(request->pids, (request->pid_count + 1) * sizeof *request->pids);
        request->pids[request->pid_count++] = pid;
    }
    if (directory) closedir(directory);
    return request->pid_count > before ? 0 : found_none(name, of_another, err);
}

int running_find(struct profile_request *request, struct error *err) {
    for (size_t i = 0; i < request->name_count; i++)
        if (find_named(request, request->names[i], err)) return -1;
    for (size_t i = 0; i < request->pid_count; i++) {
        struct error why = {0};
        if (attach_look(request->pids[i], &why) != ATTACH_REFUSED) continue;
        *err = why;
        return -1;
    }
    return 0;
}

/* ---- what they are ----------------------------------------------------------------------------------------------------- */

char **running_command(pid_t pid) {
    char path[64];
    struct buffer text = {0};
    char block[4096];
    size_t size, count = 0;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && (size = fread(block, 1, sizeof block, file)) > 0)
        buffer_add(&text, block, size);
    if (file) fclose(file);
    buffer_add_char(&text, '\0');
    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] == '\0';
    char **words = xcalloc(count + 2, sizeof *words);
    size_t at = 0, word = 0;
    for (; at < text.size && text.data[at]; at += strlen((char *)text.data + at) + 1)
        words[word++] = xstrdup((char *)text.data + at);
    if (word == 0) words[word++] = xasprintf("[%d]", (int)pid);
    buffer_free(&text);
    return words;
}

char *running_program(pid_t pid) {
    char comm[COMM_SIZE], *file = read_file(pid);
    if (!file) return xasprintf("[%d]", (int)pid);
    read_comm(pid, comm);
    char *link = xasprintf("%.*s%s", (int)(path_base(file) - file), file, comm), *real = realpath(link, NULL);
    bool is_link = *comm && !strchr(comm, '/') && real && strcmp(real, file) == 0;
    free(is_link ? file : link);
    free(real);
    return is_link ? link : file;
}

static bool running_is_go(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return program_is_go(path);
}

/* For how long it ran before. -1: unknown. */
static int64_t age_ns(pid_t pid) {
    char path[64], text[1024];
    struct timespec now;
    unsigned long long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[size] = '\0';
    const char *behind = strrchr(text, ')'); /* of the name, which may hold anything */
    if (!behind ||
        sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &ticks) != 1)
        return -1;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
           (int64_t)(ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK)));
}

/* What has the file mapped is a module of it; each map and unmap changes the sum. */
static uint64_t modules_of(pid_t pid) {
    char path[64];
    uint64_t sum = 0;
    char *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0) {
        uint64_t low, high;
        char rights[8] = "";
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &low, &high, rights) == 3 && rights[2] == 'x' &&
            strchr(line, '/'))
            sum += (low ^ high << 1) * 0x9e3779b97f4a7c15u;
    }
    free(line);
    if (file) fclose(file);
    return sum;
}

/* ---- the steps --------------------------------------------------------------------------------------------------- */

static void say_begun(const struct running_process *process, double budget) {
    const struct attached *attached = &process->attached;
    int64_t age = age_ns(attached->pid);
    error_print("process %d is recorded from now on%s%s%s: %s of %s; thread held for %s%s%s%s", (int)attached->pid,
                age > 0 ? " (it has run for " : "", age > 0 ? units_ns(age).text : "", age > 0 ? ")" : "",
                units_things(attached->call.slots, "call slot").text,
                units_things(attached->call.modules, "module").text, units_ns(attached->held_ns).text,
                attached->call.has_no_cpu ? "; without CPU samples, because it uses SIGPROF itself" : "",
                budget > 0 ? "; budget " : "", budget > 0 ? units_percent(100 * budget).text : "");
}

/* Some of what is said of a process that could not be entered. */
static const char *outside_kinds(const struct running_process *process) {
    bool sees_kernel = false;
    struct error ignored = {0};
    outside_check(process->attached.pid, &sees_kernel, &ignored);
    return sees_kernel ? "CPU time, times off the processor and page faults"
                       : "CPU time and page faults of its own code";
}

/* Enters it, or notes why not where it can be recorded all the same. */
static int begin_one(struct running_process *process, pid_t pid, const struct profiling *recording, struct error *err) {
    struct error why = {0};
    enum attach_way way = attach_look(pid, &why);
    if (way == ATTACH_ENTER)
        process->is_recorded =
            attach_begin(&process->attached, pid, recording->runtime, recording->directory.path, &why) == 0;
    bool is_others = process->attached.call.result == ATTACH_IS_RECORDED;
    process->attached.pid = pid;
    if (!process->is_recorded) process->attached.before_bytes = attach_own_memory(pid);
    process->modules = modules_of(pid);
    if (process->is_recorded) return 0;
    if (way == ATTACH_REFUSED || is_others || attach_has_ended(pid)) return error_fail(err, "%s", why.message);
    if (outside_check(pid, NULL, err)) return error_prefix(err, "%s; ", why.message);
    process->outside = xstrdup(why.message);
    return 0;
}

/* Which `detach` finds as it finds segments. */
static void mark_outside(const struct profiling *recording, pid_t pid) {
    char name[32];
    snprintf(name, sizeof name, "%d-outside", (int)pid);
    int file = openat(recording->directory.file, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
}

/* One file has all of them. */
static int begin_outside(struct running_processes *running, struct error *err) {
    struct profiling *recording = running->recording;
    pid_t *pids = xcalloc(running->count, sizeof *pids);
    struct outside_request request = {
        .pids = pids, .hz = recording->request->cpu_hz, .has_waits = true, .has_faults = true};
    for (size_t i = 0; i < running->count; i++) {
        if (!running->processes[i].outside) continue;
        pids[request.pid_count++] = running->processes[i].attached.pid;
        request.copies_stacks = request.copies_stacks || !running_is_go(pids[request.pid_count - 1]);
        mark_outside(recording, pids[request.pid_count - 1]);
    }
    recording->has_outside = request.pid_count > 0;
    int code = request.pid_count ? profiling_watch_outside(recording, &request, err) : 0;
    free(pids);
    return code;
}

int running_begin(struct running_processes *running, struct error *err) {
    const struct profile_request *request = running->recording->request;
    size_t begun = 0;
    for (size_t i = 0; i < running->count; i++) {
        struct running_process *process = &running->processes[i];
        struct error failure = {0};
        int code = begin_one(process, request->pids[i], running->recording, &failure);
        begun += code == 0;
        if (code && running->count == 1)
            *err = failure;
        else if (code)
            error_print("%s", failure.message);
        else if (process->outside && !request->quiet)
            error_print("%s; it is recorded from outside: %s", process->outside, outside_kinds(process));
        else if (!request->quiet)
            say_begun(process, request->recorder.budget);
        if (code == 0 && process->is_recorded) process->unseen = attach_unseen(&process->attached);
        if (process->unseen && !request->quiet)
            error_print("process %d: calls of %s are not seen: they go through no slot of the loader, or one that "
                        "holds another function",
                        (int)process->attached.pid, process->unseen);
    }
    if (begun) return begin_outside(running, err);
    return error_fail(err, "no process was attached to");
}

bool running_outside_runs(const struct running_processes *running) {
    for (size_t i = 0; i < running->count; i++)
        if (running->processes[i].outside && !attach_has_ended(running->processes[i].attached.pid)) return true;
    return false;
}

void running_free(struct running_processes *running) {
    for (size_t i = 0; i < running->count; i++) {
        free(running->processes[i].outside);
        free(running->processes[i].unseen);
    }
    free(running->processes);
    *running = (struct running_processes){0};
}

void running_look_again(struct running_processes *running) {
    int64_t now = clock_monotonic_ns();
    if (now - running->looked_ns < LOOK_AGAIN_NS) return;
    running->looked_ns = now;
    for (size_t i = 0; i < running->count; i++) {
        struct running_process *process = &running->processes[i];
        struct error ignored = {0};
        uint64_t modules = process->is_recorded ? modules_of(process->attached.pid) : 0;
        if (!modules || modules == process->modules) continue;
        process->modules = modules;
        attach_again(&process->attached, &ignored);
    }
}

/* Those that were forked meanwhile are recorded too, and have the hooks. */
static void add_children(struct running_processes *running) {
    int copy = openat(running->recording->directory.file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        bool is_known = !strstr(entry->d_name, ".seg") || pid <= 0;
        for (size_t i = 0; i < running->count && !is_known; i++)
            is_known = running->processes[i].attached.pid == pid;
        if (is_known || !attach_is_there(pid)) continue;
        running->processes = xrealloc(running->processes, (running->count + 1) * sizeof *running->processes);
        running->processes[running->count++] =
            (struct running_process){.attached.pid = pid, .is_recorded = true, .is_child = true};
    }
    if (directory) closedir(directory);
}

void running_end(struct running_processes *running) {
    add_children(running);
    for (size_t i = 0; i < running->count; i++) {
        struct error failure = {0};
        if (running->processes[i].is_recorded && attach_end(&running->processes[i].attached, &failure))
            error_print("warning: %s; it has the hooks still, and clear detach %d takes them out", failure.message,
                        (int)running->processes[i].attached.pid);
    }
}

void running_leave(struct running_processes *running) {
    nanosleep(&(struct timespec){.tv_nsec = ATTACH_SETTLE_NS}, NULL);
    for (size_t i = 0; i < running->count; i++) {
        struct error ignored = {0};
        if (running->processes[i].is_recorded) attach_leave(&running->processes[i].attached, &ignored);
    }
}

/* Whether it was here when the recording began: children come later. */
static bool was_before(const struct running_process *process) {
    return (process->is_recorded || process->outside) && !process->is_child;
}

struct collector_before running_before(const struct running_processes *running) {
    struct collector_before before = {.is_exact = true};
    for (size_t i = 0; i < running->count; i++) {
        const struct attached *attached = &running->processes[i].attached;
        if (!was_before(&running->processes[i])) continue;
        int64_t age = age_ns(attached->pid);
        if (age > before.age_ns) before.age_ns = age;
        before.is_exact &= attached->is_before_exact;
        before.bytes = before.bytes < 0 || attached->before_bytes < 0 ? -1 : before.bytes + attached->before_bytes;
    }
    return before;
}

static void add_before(struct buffer *text, const struct attached *attached) {
    if (attached->before_bytes < 0) return;
    buffer_printf(text, attached->is_before_exact ? " and had %s allocated" : " and had %s of memory",
                  units_bytes(attached->before_bytes).text);
}

char *running_since_text(const struct running_processes *running) {
    struct buffer text = {0};
    buffer_add_text(&text, "# attached: nothing from before is recorded; ");
    for (size_t i = 0; i < running->count; i++) {
        int64_t age = age_ns(running->processes[i].attached.pid);
        if (!was_before(&running->processes[i])) continue;
        buffer_printf(&text, "%sprocess %d had run for %s", i ? ", " : "", (int)running->processes[i].attached.pid,
                      age > 0 ? units_ns(age).text : "an unknown time");
        add_before(&text, &running->processes[i].attached);
        if (running->processes[i].unseen)
            buffer_printf(&text, "; its calls of %s are not seen", running->processes[i].unseen);
    }
    char *whole = xstrdup(buffer_text(&text));
    buffer_free(&text);
    return whole;
}

char *running_outside_text(const struct running_processes *running) {
    struct buffer text = {0};
    buffer_add_text(&text,
                    "# WARNING: recorded from outside alone, without allocations, locks and what it waits for: ");
    size_t before = text.size;
    for (size_t i = 0; i < running->count; i++)
        if (running->processes[i].outside)
            buffer_printf(&text, "%s%s", text.size > before ? "; " : "", running->processes[i].outside);
    if (text.size > before) return buffer_take(&text);
    buffer_free(&text);
    return NULL;
}
