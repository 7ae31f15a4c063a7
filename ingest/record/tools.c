#include "ingest/record/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "ingest/record/recordable.h"

/* The events of the hardware diagnoses, and software events that every machine counts. */
#define COUNTERS                                                                                                       \
    "cycles,instructions,branches,branch-misses,cache-references,cache-misses,LLC-loads,LLC-load-misses,page-faults,"  \
    "task-clock,context-switches,cpu-migrations"

enum { READY_MS = 10000 }; /* perf reads /proc and opens an event for each CPU; that takes 10 to 100 ms */

extern char **environ;

static const char *name_of(enum tool tool) {
    return tool == TOOL_STRACE ? "strace" : "perf";
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

struct argument_list {
    char **items;
    size_t count;
};

static void add_argument(struct argument_list *arguments, const char *word) {
    arguments->items = xrealloc(arguments->items, (arguments->count + 2) * sizeof *arguments->items);
    arguments->items[arguments->count++] = xstrdup(word);
    arguments->items[arguments->count] = NULL;
}

static void free_arguments(struct argument_list *arguments) {
    for (size_t i = 0; i < arguments->count; i++)
        free(arguments->items[i]);
    free(arguments->items);
}

/* The tool and its options. */
static struct argument_list arguments_of(enum tool tool, uint32_t hz, const char *output) {
    static const char *const common[][8] = {
        [TOOL_PERF_RECORD] = {"perf", "record", "-q", "-g", "-e", "cpu-clock"},
        [TOOL_PERF_STAT] = {"perf", "stat", "-x;", "-e", COUNTERS},
        /* errors is the last column, because it is blank when there are none. */
        [TOOL_STRACE] = {"strace", "-f", "-qq", "-c", "-U", "calls,time-total,name,errors"},
    };
    char number[16];
    struct argument_list arguments = {0};
    for (const char *const *word = common[tool]; *word; word++)
        add_argument(&arguments, *word);
    if (tool == TOOL_PERF_RECORD) {
        snprintf(number, sizeof number, "%u", hz);
        add_argument(&arguments, "-F");
        add_argument(&arguments, number);
    }
    add_argument(&arguments, "-o");
    add_argument(&arguments, output);
    return arguments;
}

/* ---- running one ------------------------------------------------------------------------------------------------- */

/* In the child. Output goes to the log. Signals that are meant for the program must not end the tool. */
static void become_tool(const char *log) {
    sigset_t none;
    int input = open("/dev/null", O_RDONLY), output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (input >= 0) dup2(input, STDIN_FILENO);
    if (output >= 0) dup2(output, STDOUT_FILENO), dup2(output, STDERR_FILENO);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGINT); /* on which both finish their files */
    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void run_tool(const char *path, char *const *arguments, const char *log) {
    become_tool(log);
    setenv("LC_ALL", "C", 1);
    execv(path, arguments);
    _exit(127);
}

static pid_t start_tool(const char *path, const struct argument_list *arguments, const char *log, struct error *err) {
    pid_t pid = fork();
    if (pid == 0) run_tool(path, arguments->items, log);
    if (pid < 0) error_fail(err, "fork: %s", strerror(errno));
    return pid;
}

static int wait_for(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

/* The first line of the tool's output that is not blank; NULL for none. free() it. */
static char *first_line_of_output(const char *log) {
    FILE *file = fopen(log, "re");
    char line[512];
    char *found = NULL;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const char *text = line + strspn(line, " \t");
        if (*text && strcmp(text, "Error:") != 0) found = xstrdup(text);
    }
    if (file) fclose(file);
    return found;
}

/* perf 6.12 ends well where it finds no processors in /sys, and its file has nothing of the program: not even its mappings. */
static bool records_nothing(const char *output) {
    enum { DATA_SIZE_AT = 48, OWN_EVENTS = 256 /* what perf writes of itself stays below */ };
    FILE *file = fopen(output, "re");
    uint64_t size = 0;
    bool is_read = file && fseek(file, DATA_SIZE_AT, SEEK_SET) == 0 && fread(&size, sizeof size, 1, file) == 1;
    if (file) fclose(file);
    return !is_read || size < OWN_EVENTS;
}

/* ---- whether it can ---------------------------------------------------------------------------------------------- */

static int try_tool(enum tool tool, const char *path, const char *option, const char *directory, struct error *err) {
    char *output = xasprintf("%s/trial", directory), *log = xasprintf("%s/trial.log", directory);
    struct argument_list arguments = arguments_of(tool, 99, output);
    add_argument(&arguments, "--");
    add_argument(&arguments, "true");
    bool needs_sys = tool != TOOL_STRACE && access("/sys/devices/system/cpu", F_OK) != 0;
    const char *sys = needs_sys ? "; /sys is not mounted: mount -t sysfs sysfs /sys" : "";
    pid_t pid = start_tool(path, &arguments, log, err);
    if (pid > 0 && wait_for(pid) != 0) {
        char *why = first_line_of_output(log);
        error_usage(err, "%s: %s is not permitted here: %s%s", option, arguments.items[0],
                    why ? why : "without a message", sys);
        free(why);
    } else if (tool == TOOL_PERF_RECORD && err->status == ERROR_NONE && records_nothing(output)) {
        error_usage(err, "%s: perf records nothing here%s", option, sys);
    }
    free_arguments(&arguments);
    unlink(output);
    unlink(log);
    free(output);
    free(log);
    return err->status == ERROR_NONE ? 0 : -1;
}

int tool_check(enum tool tool, const char *option, const char *directory, struct error *err) {
    struct error missing = {0};
    char *path = recordable_find(name_of(tool), &missing);
    if (!path)
        return error_usage(err, "%s needs %s, which is not installed (Debian: apt-get install %s)", option,
                           name_of(tool), tool == TOOL_STRACE ? "strace" : "linux-perf");
    int code = try_tool(tool, path, option, directory, err);
    free(path);
    return code;
}

/* ---- perf beside a program --------------------------------------------------------------------------------------- */

static int wait_for_answer(const struct watcher *watcher, struct error *err) {
    char text[16];
    struct pollfd ready = {.fd = watcher->answer, .events = POLLIN};
    if (poll(&ready, 1, READY_MS) == 1 && read(watcher->answer, text, sizeof text) > 0) return 0;
    char *why = first_line_of_output(watcher->log);
    error_fail(err, "perf does not attach to the program%s%s", why ? ": " : "", why ? why : "");
    free(why);
    return -1;
}

/* Writes "enable" to perf's control pipe; perf answers "ack" when its events are enabled. */
static int enable(const struct watcher *watcher, struct error *err) {
    return write(watcher->control, "enable\n", 7) == 7 ? wait_for_answer(watcher, err)
                                                       : error_fail(err, "perf has ended");
}

static int start_perf(struct watcher *watcher, uint32_t hz, pid_t target, int control, int answer, struct error *err) {
    char text[64], *path = recordable_find("perf", err);
    if (!path) return -1;
    struct argument_list arguments = arguments_of(watcher->tool, hz, watcher->output);
    snprintf(text, sizeof text, "--control=fd:%d,%d", control, answer);
    add_argument(&arguments, text);
    add_argument(&arguments, "--delay=-1"); /* nothing is counted before "enable" */
    add_argument(&arguments, "-p");
    snprintf(text, sizeof text, "%d", (int)target);
    add_argument(&arguments, text);
    watcher->pid = start_tool(path, &arguments, watcher->log, err);
    free_arguments(&arguments);
    free(path);
    return watcher->pid > 0 ? 0 : -1;
}

static int make_pipe(int ends[2], struct error *err) {
    ends[0] = ends[1] = -1;
    return pipe2(ends, O_CLOEXEC) ? error_fail(err, "pipe: %s", strerror(errno)) : 0;
}

static void close_ends(int first, int second) {
    if (first >= 0) close(first);
    if (second >= 0) close(second);
}

/* What has begun but does not answer is ended. */
static int give_up(struct watcher *watcher) {
    close_ends(watcher->pid > 0 ? -1 : watcher->control, watcher->pid > 0 ? -1 : watcher->answer);
    watcher_abandon(watcher);
    return -1;
}

int watcher_start(struct watcher *watcher, enum tool tool, uint32_t hz, pid_t target, const char *output,
                  struct error *err) {
    *watcher = (struct watcher){.tool = tool, .output = xstrdup(output), .log = xasprintf("%s.log", output)};
    int control[2], answer[2];
    int code = make_pipe(control, err) || make_pipe(answer, err) ? -1 : 0;
    if (code == 0) {
        fcntl(control[0], F_SETFD, 0); /* perf's ends */
        fcntl(answer[1], F_SETFD, 0);
        code = start_perf(watcher, hz, target, control[0], answer[1], err);
    }
    close_ends(control[0], answer[1]);
    watcher->control = control[1];
    watcher->answer = answer[0];
    return code == 0 && enable(watcher, err) == 0 ? 0 : give_up(watcher);
}

/* In the child. It has nothing of ours open, so that nobody waits for the end of a pipe that it has. What it says goes to the log. */
static void run_outside(const struct outside_request *request, const struct watcher *watcher, int answer) {
    struct error failure = {0};
    become_tool(watcher->log);
    if (answer > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, (unsigned)answer - 1, 0);
    close_range((unsigned)answer + 1, ~0u, 0);
    if (outside_record(request, watcher->output, answer, &failure) == 0) _exit(0);
    dprintf(STDERR_FILENO, "%s\n", failure.message);
    _exit(1);
}

int watcher_start_outside(struct watcher *watcher, const struct outside_request *request, const char *output,
                          struct error *err) {
    *watcher = (struct watcher){
        .tool = TOOL_PERF_RECORD, .control = -1, .output = xstrdup(output), .log = xasprintf("%s.log", output)};
    int answer[2], code = make_pipe(answer, err);
    if (code == 0) watcher->pid = fork();
    if (watcher->pid == 0 && code == 0) run_outside(request, watcher, answer[1]);
    if (watcher->pid < 0) code = error_fail(err, "fork: %s", strerror(errno));
    close_ends(-1, answer[1]);
    watcher->answer = answer[0];
    return code == 0 && wait_for_answer(watcher, err) == 0 ? 0 : give_up(watcher);
}

static void forget(struct watcher *watcher) {
    if (watcher->pid > 0) close_ends(watcher->control, watcher->answer);
    free(watcher->output);
    free(watcher->log);
    *watcher = (struct watcher){0};
}

int watcher_end(struct watcher *watcher, struct error *err) {
    if (watcher->pid <= 0) return 0;
    kill(watcher->pid, SIGINT); /* processes of the target may still run, and perf would wait for them */
    int status = wait_for(watcher->pid), code = 0;
    bool ended_well =
        (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
        (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT); /* perf finishes its file and then ends by this signal */
    if (!ended_well || access(watcher->output, R_OK)) {
        char *why = first_line_of_output(watcher->log);
        code = error_fail(err, "perf %s failed%s%s", watcher->tool == TOOL_PERF_STAT ? "stat" : "record",
                          why ? ": " : "", why ? why : "");
        free(why);
    }
    unlink(watcher->log);
    forget(watcher);
    return code;
}

void watcher_abandon(struct watcher *watcher) {
    if (watcher->pid > 0) {
        kill(watcher->pid, SIGKILL);
        wait_for(watcher->pid);
    }
    if (watcher->log) unlink(watcher->log);
    if (watcher->output) unlink(watcher->output);
    forget(watcher);
}

/* ---- strace around a program ------------------------------------------------------------------------------------- */

char **strace_arguments(const char *program, char *const *arguments, const char *output, char **path,
                        struct error *err) {
    *path = recordable_find("strace", err);
    if (!*path) return NULL;
    struct argument_list list = arguments_of(TOOL_STRACE, 0, output);
    add_argument(&list, "--");
    add_argument(&list, program);
    for (size_t i = 1; arguments[i]; i++)
        add_argument(&list, arguments[i]);
    return list.items;
}
