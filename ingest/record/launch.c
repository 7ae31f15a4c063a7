#include "ingest/record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ingest/record/kernel/recorder_share.h"
#include "ingest/record/supervisor_link.h"
#include "ingest/segment.h"

extern char **environ;

/* ---- the runtime ------------------------------------------------------------------------------------------------- */

static char *beside_executable(const char *relative) {
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size <= 0) return NULL;
    self[size] = '\0';
    *strrchr(self, '/') = '\0';
    char *joined = xasprintf("%s/%s", self, relative);
    char *path = realpath(joined, NULL);
    free(joined);
    return path;
}

static char *find_runtime(struct error *err) {
    const char *named = getenv("CLEAR_RT_LIBRARY");
    if (access("/proc/self/exe", F_OK) != 0) {
        error_fail(err,
                   "/proc is not mounted, and a program is recorded by what it says there: mount -t proc proc /proc");
        return NULL;
    }
    if (named && *named) {
        char *path = realpath(named, NULL);
        if (!path) error_usage(err, "CLEAR_RT_LIBRARY=%s: %s", named, strerror(errno));
        return path;
    }
    char *path = beside_executable("libclear_rt.so");
    if (!path) path = beside_executable("../lib/clear/libclear_rt.so");
    if (!path)
        error_fail(err,
                   "libclear_rt.so is neither beside the clear executable nor in ../lib/clear; set CLEAR_RT_LIBRARY");
    return path;
}

char *launch_runtime(const char *directory, struct error *err) {
    char *path = find_runtime(err);
    if (!path || !strpbrk(path, " :\t\n")) return path;
    if (!directory) {
        error_fail(err, "%s: LD_PRELOAD cannot hold a path with a blank or a colon", path);
        free(path);
        return NULL;
    }
    char *link = xasprintf("%s/libclear_rt.so", directory);
    if (symlink(path, link)) error_fail(err, "%s: %s", link, strerror(errno));
    free(path);
    if (err->status == ERROR_NONE) return link;
    free(link);
    return NULL;
}

/* ---- the environment --------------------------------------------------------------------------------------------- */

/* `name` ends at its '=' or at its end. */
static bool is_variable(const char *entry, const char *name) {
    size_t size = strcspn(name, "=");
    return strncmp(entry, name, size) == 0 && entry[size] == '=';
}

static bool is_replaced(const char *entry, char *const *variables) {
    for (; variables && *variables; variables++)
        if (is_variable(entry, *variables)) return true;
    return is_variable(entry, "LD_PRELOAD") || is_variable(entry, CLEAR_RT_DIR_VARIABLE);
}

/* Our environment with these variables, and with the two of the runtime if there is one. The caller frees the array and
 * its first two entries. */
static char **make_environment(const char *runtime, const char *directory, char *const *variables) {
    if (!runtime) return environ;
    size_t count = 0, more = 0;
    while (environ[count])
        count++;
    while (variables && variables[more])
        more++;
    char **made = xcalloc(count + more + 3, sizeof *made);
    const char *before = getenv("LD_PRELOAD");
    made[0] = before && *before ? xasprintf("LD_PRELOAD=%s:%s", runtime, before) : xasprintf("LD_PRELOAD=%s", runtime);
    made[1] = xasprintf("%s=%s", CLEAR_RT_DIR_VARIABLE, directory);
    size_t used = 2;
    for (size_t i = 0; i < more; i++)
        if (strchr(variables[i], '=')) made[used++] = variables[i];
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(environ[i], variables)) made[used++] = environ[i];
    return made;
}

static void free_environment(char **made) {
    if (made == environ) return;
    free(made[0]);
    free(made[1]);
    free(made);
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* Signals that launch_wait takes from the queue. */
static void waited_signals(sigset_t *set) {
    /* Signals that are not blocked: our own faults, and SIGTTIN and SIGTTOU, which stop us as any other program. */
    static const int others[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP,   SIGABRT,
                                 SIGSYS,  SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ, SIGPROF, SIGVTALRM, SIGXCPU};
    sigfillset(set);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        sigdelset(set, others[i]);
}

/* Signals that are blocked and not waited for: a write that fails must return EPIPE or EFBIG, and not end the
 * recording; nor may it end us afterwards. */
static void blocked_signals(sigset_t *set) {
    waited_signals(set);
    sigaddset(set, SIGPIPE);
    sigaddset(set, SIGXFSZ);
}

/* Sent by the terminal to the whole process group, the child included. */
static bool came_from_terminal(const siginfo_t *info) {
    switch (info->si_signo) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGCONT:
    case SIGHUP:
    case SIGWINCH: return info->si_code > 0; /* SI_KERNEL; what kill and sigqueue send is 0 or less */
    default: return false;
    }
}

/* pkill(1) reaches both processes of a recording: what the supervisor passes on is meant. */
static bool take_own(struct launch *launch, const siginfo_t *info) {
    uint64_t own = launch->own_signals & UINT64_C(1) << info->si_signo % 64;
    if (launch->link && info->si_pid != getppid()) return false;
    launch->arrived |= own;
    return own != 0;
}

static void pass_on(struct launch *launch, const siginfo_t *info) {
    pid_t pid = launch->pid;
    if (take_own(launch, info) || launch->link || info->si_signo == SIGCHLD || info->si_pid == pid ||
        came_from_terminal(info))
        return;
    if (info->si_code == SI_QUEUE)
        sigqueue(pid, info->si_signo, info->si_value);
    else
        kill(pid, info->si_signo);
}

/* Stops us by the signal that stopped the child: SIGTSTP, SIGTTIN or SIGTTOU. We continue when the shell continues the
 * job. */
static void stop_with_child(int signal) {
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* From the child through a pipe: that it executes the program now, and then why it could not. A parent on a busy machine runs again
 * when the program has run for a while. */
struct exec_report {
    uint64_t started_ns;
    int why; /* errno, or 0 */
};

static void report_exec(int report, int why) {
    const struct exec_report message = {.started_ns = (uint64_t)clock_monotonic_ns(), .why = why};
    ssize_t ignored = write(report, &message, sizeof message);
    (void)ignored;
}

/* systemd names the process that its sockets (sd_listen_fds) and its watchdog are for: it started clear, and means the program. In the child. */
static void take_over_numbers(char **environment) {
    static const char *const names[] = {"LISTEN_PID", "WATCHDOG_PID"};
    static char texts[sizeof names / sizeof *names][48];
    for (; *environment; environment++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            bool is_clear = is_variable(*environment, names[i]) &&
                            strtol(*environment + strlen(names[i]) + 1, NULL, 10) == getppid();
            if (!is_clear) continue;
            snprintf(texts[i], sizeof texts[i], "%s=%d", names[i], (int)getpid());
            *environment = texts[i];
        }
}

_Noreturn static void run_child(const struct launch *launch, const char *path, char *const *arguments,
                                char **environment, int report) {
    sigaction(SIGCHLD, &launch->child_before, NULL);
    sigprocmask(SIG_SETMASK, launch->mask ? launch->mask : &launch->before, NULL);
    for (int i = 0; launch->files && i < 3; i++)
        if (launch->files[i] != i) dup2(launch->files[i], i);
    take_over_numbers(environment);
    report_exec(report, 0);
    execve(path, arguments, environment);
    report_exec(report, errno);
    _exit(127);
}

/* The errno of the exec, or 0: a successful exec closes the pipe. Sets launch->started_ns. */
static int exec_result(struct launch *launch, int report) {
    struct exec_report message;
    ssize_t size;
    int why = 0;
    while ((size = read(report, &message, sizeof message)) != 0) {
        if (size < 0 && errno == EINTR) continue;
        if (size != (ssize_t)sizeof message) break;
        launch->started_ns = message.started_ns;
        why = message.why;
    }
    return why;
}

/* The child's side of before_exec: waits until the parent writes a byte. If the pipe is closed without one, the child
 * exits. */
static void wait_at(const int gate[2]) {
    char go;
    ssize_t size;
    close(gate[1]);
    do
        size = read(gate[0], &go, 1);
    while (size < 0 && errno == EINTR);
    if (size != 1) _exit(127);
}

/* The parent's side. */
static int open_gate(const struct launch *launch, const int gate[2], struct error *err) {
    int code = launch->before_exec(launch->context, launch->pid, err);
    const struct link_message born = {.word = LINK_BORN, .pid = launch->pid, .own_signals = launch->own_signals};
    if (code == 0 && launch->link) link_tell(*launch->link, &born);
    if (code == 0 && write(gate[1], "g", 1) != 1) code = error_fail(err, "pipe: %s", strerror(errno));
    return code;
}

/* Sees the end of the program while the recorder is busy with a flush. The zombie is left for launch_wait; if that is
 * faster, waitid fails. */
static void *watch_end(void *context) {
    struct launch *launch = context;
    siginfo_t info;
    while (waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        continue;
    launch->ended_ns = (uint64_t)clock_monotonic_ns();
    return NULL;
}

/* The program runs. */
static void start_watch(struct launch *launch) {
    const struct link_message started = {.word = LINK_STARTED, .started_ns = launch->started_ns};
    if (launch->link)
        link_tell(*launch->link, &started);
    else
        launch->is_watched = pthread_create(&launch->watch, NULL, watch_end, launch) == 0;
}

/* The program was reaped. */
static void end_watch(struct launch *launch) {
    if (launch->is_watched) pthread_join(launch->watch, NULL);
    launch->is_watched = false;
    if (!launch->ended_ns) launch->ended_ns = (uint64_t)clock_monotonic_ns(); /* there was no thread */
}

static void close_both(const int ends[2]) {
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
}

static int make_pipes(const struct launch *launch, int report[2], int gate[2], struct error *err) {
    report[0] = report[1] = gate[0] = gate[1] = -1;
    if (pipe2(report, O_CLOEXEC) == 0 && (!launch->before_exec || pipe2(gate, O_CLOEXEC) == 0)) return 0;
    close_both(report);
    return error_fail(err, "pipe: %s", strerror(errno));
}

/* With a supervisor the child is not ours but its own: our end does not change whose it is. The child only calls the kernel, so it needs
 * nothing of what fork(3) does for the locks of libc. */
static pid_t fork_child(const struct launch *launch) {
    if (!launch->link) return fork();
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

static int fork_and_exec(struct launch *launch, const char *path, char *const *arguments, char **environment,
                         struct error *err) {
    int report[2], gate[2];
    if (make_pipes(launch, report, gate, err)) return -1;
    launch->pid = fork_child(launch);
    if (launch->pid == 0) {
        if (launch->before_exec) wait_at(gate);
        run_child(launch, path, arguments, environment, report[1]);
    }
    int code = launch->pid < 0 ? error_fail(err, "fork: %s", strerror(errno)) : 0;
    if (code == 0 && launch->link) recorder_share_take(); /* not before: the program stays in the user's session */
    if (code == 0 && launch->before_exec) code = open_gate(launch, gate, err);
    close_both(gate);
    close(report[1]);
    int why = code == 0 ? exec_result(launch, report[0]) : 0;
    close(report[0]);
    if (launch->pid > 0 && !launch->link && (code || why)) waitpid(launch->pid, NULL, 0);
    if (code == 0 && !why) start_watch(launch);
    return why ? error_usage(err, "%s: cannot be executed: %s", path, strerror(why)) : code;
}

static int open_signals(struct launch *launch, struct error *err) {
    sigset_t waited;
    bool is_needed = launch->attended || launch->link;
    waited_signals(&waited);
    launch->signals = is_needed ? signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
    return is_needed && launch->signals < 0 ? error_fail(err, "signalfd: %s", strerror(errno)) : 0;
}

int launch_block(struct launch *launch, struct error *err) {
    sigset_t blocked;
    /* Some parents leave SIGCHLD ignored. Then the kernel would keep no exit status for us. */
    struct sigaction standard = {.sa_handler = SIG_DFL};
    blocked_signals(&blocked);
    sigprocmask(SIG_BLOCK, &blocked, &launch->before);
    sigaction(SIGCHLD, &standard, &launch->child_before);
    int code = open_signals(launch, err);
    if (code) launch_end(launch);
    return code;
}

int launch_start(struct launch *launch, const char *path, char *const *arguments, const char *runtime,
                 const char *directory, struct error *err) {
    if (launch_block(launch, err)) return -1;
    char **environment = make_environment(runtime, directory, launch->variables);
    int code = fork_and_exec(launch, path, arguments, environment, err);
    free_environment(environment);
    if (code) launch_end(launch);
    return code;
}

static bool asks_to_end(int signal) {
    return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

bool launch_is_asked_to_end(void) {
    sigset_t waited;
    siginfo_t info;
    bool is_asked = false;
    blocked_signals(&waited);
    for (int signal; (signal = sigtimedwait(&waited, &info, &(struct timespec){0})) > 0;)
        is_asked = is_asked || asks_to_end(signal);
    return is_asked;
}

void launch_end(struct launch *launch) {
    /* Drops pending signals: one that came after the end of the program must not end us before the run is written. */
    (void)launch_is_asked_to_end();
    if (launch->signals >= 0) close(launch->signals);
    launch->signals = -1;
    sigaction(SIGCHLD, &launch->child_before, NULL);
    sigprocmask(SIG_SETMASK, &launch->before, NULL);
}

/* ---- wait -------------------------------------------------------------------------------------------------------- */

static uint64_t nanoseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* What the supervisor saw. When it is gone, so are we: the kernel kills us a moment later than it ends the link. */
static bool is_told(struct launch *launch, int *wait_status) {
    struct link_message message;
    int got = link_take(*launch->link, &message);
    if (got < 0) raise(SIGKILL);
    if (got == 0 || message.word != LINK_ENDED) return false;
    *wait_status = message.wait_status;
    launch->ended_ns = message.ended_ns;
    launch->user_ns = message.user_ns;
    launch->kernel_ns = message.kernel_ns;
    launch->waits = message.waits;
    return true;
}

static bool has_ended(struct launch *launch, int *wait_status) {
    struct rusage usage;
    if (launch->link) return is_told(launch, wait_status);
    pid_t got = wait4(launch->pid, wait_status, WNOHANG | WUNTRACED, &usage);
    if (got != launch->pid) return false;
    if (!WIFSTOPPED(*wait_status)) {
        launch->waits = (uint64_t)usage.ru_nvcsw;
        launch->user_ns = nanoseconds(usage.ru_utime);
        launch->kernel_ns = nanoseconds(usage.ru_stime);
        end_watch(launch);
        return true;
    }
    int signal = WSTOPSIG(*wait_status);
    if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) stop_with_child(signal);
    return false;
}

/* Without this each orphan stays a zombie, which a container's limit of processes counts. Behind a child of ours they wait until that is taken. */
static void reap_adopted(const struct launch *launch) {
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
           info.si_pid != launch->pid && info.si_pid != launch->beside) {
        waitpid(info.si_pid, NULL, WNOHANG);
        info = (siginfo_t){0};
    }
}

/* Waits for a signal as sigtimedwait does, or until *attended is readable (*is_attended), or the supervisor says something. signalfd
 * only says that there is a signal: its own records lack what sigqueue sends. */
static int wait_signal(const struct launch *launch, const sigset_t *waited, siginfo_t *info,
                       const struct timespec *timeout, bool *is_attended) {
    if (launch->signals < 0) return sigtimedwait(waited, info, timeout);
    struct pollfd polled[] = {{.fd = launch->attended ? *launch->attended : -1, .events = POLLIN},
                              {.fd = launch->link ? *launch->link : -1, .events = POLLIN},
                              {.fd = launch->signals, .events = POLLIN}};
    ppoll(polled, 3, timeout, NULL);
    *is_attended = polled[0].revents != 0;
    return sigtimedwait(waited, info, &(struct timespec){0});
}

/* What came by the link before the signal was sent may say that the program is there. A look before the signal was taken tells nothing of that. */
static bool is_behind_a_message(const struct launch *launch) {
    struct pollfd attended = {.fd = launch->attended ? *launch->attended : -1, .events = POLLIN};
    return poll(&attended, 1, 0) > 0;
}

/* Passes the signal on, or holds it until the caller has read what *attended has; false then. */
static bool pass_on_or_hold(struct launch *launch, const siginfo_t *info) {
    launch->is_held = is_behind_a_message(launch);
    launch->held = *info;
    if (!launch->is_held) pass_on(launch, info);
    return !launch->is_held;
}

static void pass_on_held(struct launch *launch) {
    if (launch->is_held) pass_on(launch, &launch->held);
    launch->is_held = false;
}

bool launch_wait(struct launch *launch, uint64_t timeout_ns, int *wait_status) {
    uint64_t until = (uint64_t)clock_monotonic_ns() + timeout_ns;
    bool is_attended = false;
    sigset_t waited;
    waited_signals(&waited);
    while (!has_ended(launch, wait_status)) {
        if (launch->adopts) reap_adopted(launch);
        pass_on_held(launch);
        if (launch->arrived) return false;
        uint64_t now = (uint64_t)clock_monotonic_ns(), left = until > now ? until - now : 0;
        siginfo_t info;
        struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};
        bool is_signal = wait_signal(launch, &waited, &info, &timeout, &is_attended) > 0;
        if (is_signal ? !pass_on_or_hold(launch, &info) : !left || is_attended) return false;
        if (launch->arrived) return has_ended(launch, wait_status);
    }
    return true;
}

bool launch_wait_more(struct launch *launch, uint64_t timeout_ns) {
    uint64_t until = (uint64_t)clock_monotonic_ns() + timeout_ns;
    sigset_t waited;
    waited_signals(&waited);
    for (bool is_attended = false; !is_attended;) {
        uint64_t now = (uint64_t)clock_monotonic_ns(), left = until > now ? until - now : 0;
        siginfo_t info;
        struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};
        int signal = wait_signal(launch, &waited, &info, &timeout, &is_attended);
        if (signal > 0) take_own(launch, &info);
        if (launch->arrived) return false;
        if (signal == SIGTSTP) stop_with_child(signal);
        if (asks_to_end(signal)) return true;
        if (signal <= 0 && !left) return false;
    }
    return false;
}

int launch_exit_status(int wait_status) {
    if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
    int signal = WTERMSIG(wait_status);
    struct rlimit none = {0, 0};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0); /* a core_pattern that pipes ignores the limit */
    sigaction(signal, &standard, NULL);
    sigemptyset(&one);
    sigaddset(&one, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return 128 + signal; /* if even that signal does not end us */
}
