/* look.c: what stands against recording a process that runs already, as far as it can be read. */
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ingest/attach/attach.h"
#include "ingest/attach/running.h"

/* Sets the error to why the process cannot be entered. */
#define enter_not(err, ...) (error_fail(err, __VA_ARGS__), ATTACH_OUTSIDE)

static int number_in(pid_t pid, const char *name) {
    char text[64];
    return running_status(pid, name, text, sizeof text) ? atoi(text) : 0;
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

static int check_existence(pid_t pid, struct error *err) {
    char state[64], path[64];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (access("/proc/self/status", F_OK) != 0)
        return error_fail(err, "/proc is not mounted, and a process is looked at there: mount -t proc proc /proc");
    if (running_status(pid, "State", state, sizeof state)) return 0;
    if (kill(pid, 0) != 0 && errno == ESRCH) return error_usage(err, "there is no process %d", (int)pid);
    return error_fail(err, "process %d is hidden: /proc is mounted with hidepid here; root sees it", (int)pid);
}

/* The machine's own namespace of processes, of which the kernel has fixed the number. Process 1 of another one is a container's program. */
static bool is_first_namespace(void) {
    struct stat status;
    return stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == 0xeffffffc;
}

/* Another clear that enters it at this moment is waited for (attach.c). */
static bool is_clear(pid_t tracer) {
    char path[64];
    struct stat own, its;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)tracer);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &its) == 0 && own.st_dev == its.st_dev &&
           own.st_ino == its.st_ino;
}

static int check_kind(pid_t pid, struct error *err) {
    char state[64] = "", kernel[64] = "";
    int id = (int)pid;
    running_status(pid, "State", state, sizeof state);
    if (pid == getpid()) return error_usage(err, "process %d is this clear itself", id);
    if (number_in(pid, "Tgid") != id)
        return error_usage(err, "%d is a thread of process %d: give that", id, number_in(pid, "Tgid"));
    if (*state == 'Z' || *state == 'X')
        return error_fail(err, "process %d has ended (a zombie), and its parent has not asked for its status yet", id);
    running_status(pid, "Kthread", kernel, sizeof kernel); /* Linux 6.9 and later */
    if (*kernel == '0' && !number_in(pid, "VmSize")) return error_fail(err, "process %d ends at this moment", id);
    if (*kernel == '1' || !number_in(pid, "VmSize")) return error_fail(err, "process %d is a thread of the kernel", id);
    if (pid == 1 && is_first_namespace())
        return enter_not(err, "process 1 is init: the machine would end with it, so nothing is loaded into it");
    if (*state == 'T') return error_fail(err, "process %d is stopped: kill -CONT %d first", id, id);
    if ((*state == 't' || number_in(pid, "TracerPid")) && !is_clear((pid_t)number_in(pid, "TracerPid")))
        return enter_not(err, "process %d is traced by process %d (a debugger?), and a process has one tracer", id,
                         number_in(pid, "TracerPid"));
    return 0;
}

/* In a child of vfork, what is loaded would be loaded into its parent too. */
static int check_own_memory(pid_t pid, struct error *err) {
    int parent = number_in(pid, "PPid");
    if (parent <= 0 || syscall(SYS_kcmp, pid, parent, KCMP_VM, 0, 0) != 0) return 0;
    return error_fail(err,
                      "process %d shares the memory of process %d, which waits until it calls exec (vfork): try again",
                      (int)pid, parent);
}

/* ---- rights ------------------------------------------------------------------------------------------------------ */

static int read_ptrace_scope(void) {
    int scope = 0;
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file && fscanf(file, "%d", &scope) != 1) scope = 0;
    if (file) fclose(file);
    return scope;
}

static int check_rights(const struct running *running, struct error *err) {
    int id = (int)running->pid, uid = number_in(running->pid, "Uid");
    if (running->memory >= 0) return 0;
    if (geteuid() != 0 && uid != (int)geteuid())
        return error_fail(
            err, "process %d belongs to another user (%d): as that user, or as root, it can be attached to", id, uid);
    if (read_ptrace_scope() > 0 && geteuid() != 0)
        return error_fail(err,
                          "this system lets a process trace its own children only (kernel.yama.ptrace_scope is %d): "
                          "run clear as root, or sysctl kernel.yama.ptrace_scope=0",
                          read_ptrace_scope());
    return enter_not(err, "process %d may not be traced (it changed its rights, or a security module forbids it)", id);
}

static int check_seccomp(pid_t pid, struct error *err) {
    if (!number_in(pid, "Seccomp")) return 0;
    return enter_not(err,
                     "process %d has a filter of system calls (seccomp), which may end it at a call that it has not "
                     "made before",
                     (int)pid);
}

static int check_shadow_stack(pid_t pid, struct error *err) {
    char features[256];
    running_status(pid, "x86_Thread_features", features, sizeof features);
    if (!strstr(features, "shstk")) return 0;
    return enter_not(err,
                     "process %d has a shadow stack (x86_Thread_features), by which a call from outside would end it",
                     (int)pid);
}

static bool is_same_namespace(pid_t pid, const char *kind) {
    char path[64], own[64], there[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    ssize_t own_size = readlink(path, own, sizeof own);
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, kind);
    ssize_t size = readlink(path, there, sizeof there);
    return size < 0 || own_size < 0 || (size == own_size && memcmp(own, there, (size_t)size) == 0);
}

/* Whether the path leads the process to the directory that it leads us to, if it leads us to any. */
static bool is_same_directory(pid_t pid, const char *path) {
    char there[64];
    struct stat own, its;
    snprintf(there, sizeof there, "/proc/%d/root%s", (int)pid, path);
    if (stat(path, &own) != 0) return true;
    return stat(there, &its) == 0 && own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

/* A service of systemd has mounts of its own, mostly over the system's files: there it opens the recording's directory as we do. */
static bool has_our_files(pid_t pid) {
    return is_same_namespace(pid, "mnt") || (is_same_directory(pid, "/") && is_same_directory(pid, "/dev/shm"));
}

/* Its number inside: the last one. */
static int number_inside(pid_t pid) {
    char text[256];
    if (!running_status(pid, "NSpid", text, sizeof text)) return (int)pid;
    const char *last = text;
    for (const char *at = text; *at; at++)
        if (*at == '\t' || *at == ' ') last = at + 1;
    return atoi(last);
}

static int check_namespaces(pid_t pid, struct error *err) {
    bool is_same_user = is_same_namespace(pid, "user"), is_same_pid = is_same_namespace(pid, "pid");
    int id = (int)pid, inside = number_inside(pid);
    if (is_same_user && is_same_pid && has_our_files(pid)) return 0;
    return error_fail(err,
                      "process %d is in a container (other namespaces than clear's), where it is process %d and clear "
                      "can record it: nsenter --target %d%s%s%s clear profile --pid %d",
                      id, inside, id, is_same_user ? "" : " --user --preserve-credentials",
                      is_same_namespace(pid, "mnt") ? "" : " --mount", is_same_pid ? "" : " --pid", inside);
}

/* What one that was of another user before has in /proc belongs to root, and its user may not enter it. */
static bool has_changed_user(pid_t pid, int uid) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    return stat(path, &status) == 0 && (int)status.st_uid != uid;
}

static int check_user(pid_t pid, struct error *err) {
    int uid = number_in(pid, "Uid");
    if (uid == (int)geteuid()) return 0;
    if (geteuid() == 0 && has_changed_user(pid, uid))
        return enter_not(err,
                         "process %d has changed its user to %d, who may not trace it and cannot open what clear "
                         "makes as root",
                         (int)pid, uid);
    return error_fail(
        err, "process %d belongs to user %d, who cannot open what clear makes as user %d: run clear as that user",
        (int)pid, uid, (int)geteuid());
}

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

static bool has_module(const struct running *running, const char *name) {
    return running_module(running, name) != NULL;
}

static int check_program(const struct running *running, struct error *err) {
    int id = (int)running->pid;
    char path[64];
    unsigned char head[20] = {0};
    snprintf(path, sizeof path, "/proc/%d/exe", id);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    bool is_64 = size == sizeof head && head[4] == 2 && head[18] == 62 && head[19] == 0;
    if (!is_64) return enter_not(err, "process %d is no program for x86-64, and the runtime is", id);
    if (has_module(running, "ld-musl") || has_module(running, "libc.musl"))
        return enter_not(err, "process %d uses musl, and the runtime needs the GNU C library", id);
    if (!has_module(running, "libc.so.6"))
        return enter_not(err, "process %d is statically linked: there is no loader in it to load the runtime", id);
    return 0;
}

/* Two runtimes would hook each other. */
static int check_recorders(const struct running *running, struct error *err) {
    static const char *const others[] = {
        "libclear_rt.so", "libheaptrack_preload.so", "libheaptrack_inject.so", "libasan.so",
        "libtsan.so",     "libclang_rt.asan",        "libclang_rt.tsan",       "vgpreload_core"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!has_module(running, others[i])) continue;
        if (i == 0)
            return error_fail(err, "process %d was started by clear profile, which records it (%s)", (int)running->pid,
                              others[i]);
        return enter_not(err, "process %d has another runtime that replaces its allocator (%s)", (int)running->pid,
                         others[i]);
    }
    return 0;
}

static int check_processor(pid_t pid, struct error *err) {
#ifdef __x86_64__
    (void)pid, (void)err;
    return 0;
#else
    return enter_not(err, "process %d: entering works on x86-64 alone", (int)pid);
#endif
}

static int check_contents(pid_t pid, struct error *err) {
    struct running running;
    int code = running_open(&running, pid, err);
    if (code == 0 && running.mapping_count == 0)
        code = error_fail(err, "process %d has no memory that may be read: as root it may", (int)pid);
    if (code == 0) code = check_rights(&running, err);
    if (code == 0) code = check_program(&running, err);
    if (code == 0) code = check_recorders(&running, err);
    running_close(&running);
    return code;
}

enum attach_way attach_look(pid_t pid, struct error *err) {
    static int (*const checks[])(pid_t, struct error *) = {check_existence,    check_kind,     check_own_memory,
                                                           check_namespaces,   check_user,     check_seccomp,
                                                           check_shadow_stack, check_contents, check_processor};
    int way = ATTACH_ENTER;
    for (size_t i = 0; way == ATTACH_ENTER && i < sizeof checks / sizeof *checks; i++)
        way = checks[i](pid, err);
    return (enum attach_way)way;
}
