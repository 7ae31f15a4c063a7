#include "ingest/shim/core/service.h"

#include <cpuid.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ingest/shim/core/control.h"

/* --- the variables -------------------------------------------------------------------------------------------- */

/* The value of CLEAR_RUN, which is written in place: before main, or in a forked child, in one thread. NULL where it is not as long as a
 * name: then programs that this one executes have directories of their own. */
static char *run_variable(void) {
    static const char start[] = SERVICE_RUN_VARIABLE "=";
    if (!secure_getenv(SERVICE_RUN_VARIABLE)) return NULL;
    for (char **variable = environ; *variable; variable++)
        if (strncmp(*variable, start, sizeof start - 1) == 0)
            return strlen(*variable + sizeof start - 1) == SERVICE_RUN_LENGTH ? *variable + sizeof start - 1 : NULL;
    return NULL;
}

static bool is_run(const char *run) {
    for (size_t i = 0; i < SERVICE_RUN_LENGTH; i++) {
        bool is_dash = i == SERVICE_RUN_TIME - 1 || i == SERVICE_RUN_RANDOM - 1;
        bool is_digit = (run[i] >= '0' && run[i] <= '9') || (i >= SERVICE_RUN_RANDOM && run[i] >= 'a' && run[i] <= 'f');
        if (is_dash ? run[i] != '-' : !is_digit) return false;
    }
    return memcmp(run, SERVICE_NO_RUN, SERVICE_RUN_LENGTH) != 0;
}

/* CLEAR_DIR, if the path of a directory in it has room. */
static const char *root_directory(void) {
    const char *root = secure_getenv(SERVICE_DIR_VARIABLE);
    bool fits = root && *root == '/' && strlen(root) + 1 + SERVICE_RUN_LENGTH < CONTROL_DIRECTORY_SIZE;
    return fits ? root : NULL;
}

static void write_path(char *directory, const char *root, const char *run) {
    size_t length = strlen(root);
    memcpy(directory, root, length);
    directory[length] = '/';
    memcpy(directory + length + 1, run, SERVICE_RUN_LENGTH);
    directory[length + 1 + SERVICE_RUN_LENGTH] = '\0';
}

/* NAME=NUMBER,...: false where a name is not known or a number is none. */
static bool read_settings(const char *text, struct control *control) {
    static const struct {
        const char *name;
        size_t at, size;
    } known[] = {
#define X(name) {#name "=", offsetof(struct control, name), sizeof((struct control *)0)->name},
        SERVICE_SETTINGS(X)
#undef X
    };
    while (text && *text) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strncmp(text, known[i].name, strlen(known[i].name)) != 0)
            i++;
        if (i == sizeof known / sizeof *known) return false;
        uint64_t value = 0;
        text += strlen(known[i].name);
        if (*text < '0' || *text > '9') return false;
        for (; *text >= '0' && *text <= '9'; text++)
            value = value * 10 + (uint64_t)(*text - '0');
        memcpy((char *)control + known[i].at, &value, known[i].size);
        if (*text && *text++ != ',') return false;
    }
    return control->depth >= 1 && control->depth <= SEGMENT_DEPTH_MAX;
}

/* --- what is in the files ------------------------------------------------------------------------------------- */

/* At most `size` bytes of a file of the kernel's; 0 where it cannot be read. */
static size_t read_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, text, size);
    if (file >= 0) close(file);
    return got > 0 ? (size_t)got : 0;
}

/* As the recorder decides it (ingest/record/collector.c). */
static bool tsc_is_usable(void) {
    unsigned a, b, c, d;
    char source[8];
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8)) return false;
    return read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source) >= 4 &&
           memcmp(source, "tsc\n", 4) == 0;
}

static bool make_control(struct control *control) {
    const char *settings = secure_getenv(SERVICE_RECORD_VARIABLE);
    *control = (struct control){.magic = SEGMENT_MAGIC, .version = SEGMENT_VERSION, .size = sizeof *control};
    if (!settings || !read_settings(settings, control)) return false;
    control->features &= ~(uint32_t)(FEATURE_TSC | FEATURE_TRACE | FEATURE_WALL);
    if (tsc_is_usable()) control->features |= FEATURE_TSC;
    control->first_pid = getpid();
    return true;
}

static void name_program(struct service_note *note) {
    ssize_t length = readlink("/proc/self/exe", note->executable, sizeof note->executable - 1);
    note->executable[length > 0 ? length : 0] = '\0';
    note->arguments_size = (uint32_t)read_file("/proc/self/cmdline", note->arguments, sizeof note->arguments);
}

static uint64_t realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void make_note(struct service_note *note, const struct control *control) {
    *note = (struct service_note){.magic = SERVICE_MAGIC,
                                  .version = SEGMENT_VERSION,
                                  .size = sizeof *note,
                                  .pid = getpid(),
                                  .start_realtime_ns = realtime_ns(),
                                  .start_monotonic_ns = clock_monotonic_ns()};
    note->start_ticks = control->features & FEATURE_TSC ? __builtin_ia32_rdtsc() : note->start_monotonic_ns;
    size_t size = read_file("/proc/sys/kernel/random/boot_id", note->boot_id, sizeof note->boot_id - 1);
    note->boot_id[size && note->boot_id[size - 1] == '\n' ? size - 1 : size] = '\0';
    name_program(note);
}

/* --- the directory -------------------------------------------------------------------------------------------- */

static char *append_digits(char *at, uint64_t number, size_t count, unsigned base) {
    for (size_t i = count; i--; number /= base)
        at[i] = "0123456789abcdef"[number % base];
    return at + count;
}

static bool name_run(char run[SERVICE_RUN_LENGTH]) {
    uint64_t random;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) return false;
    char *at = append_digits(run, (uint64_t)getpid(), SERVICE_RUN_TIME - 1, 10);
    *at++ = '-';
    at = append_digits(at, realtime_ns(), SERVICE_RUN_RANDOM - SERVICE_RUN_TIME - 1, 10);
    *at++ = '-';
    append_digits(at, random, SERVICE_RUN_LENGTH - SERVICE_RUN_RANDOM, 16);
    return true;
}

/* Writing beyond the limit of file sizes (ulimit -f) would send SIGXFSZ. */
static bool may_write(size_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size;
}

static bool write_file(int directory, const char *name, const void *bytes, size_t size) {
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_written = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    if (file >= 0) close(file);
    return is_written;
}

static bool is_ours(int directory) {
    struct stat status;
    return fstat(directory, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

/* Others who may write to the root could put a directory of theirs in the place of one. */
static bool is_safe(int root) {
    struct stat status;
    return fstat(root, &status) == 0 && (!(status.st_mode & 022) || status.st_mode & S_ISVTX);
}

static void remove_from(int root, const char *run, int directory) {
    if (directory >= 0) {
        unlinkat(directory, "control", 0);
        unlinkat(directory, "service", 0);
        close(directory);
    }
    unlinkat(root, run, AT_REMOVEDIR);
}

static bool make_in(int root, const char *run, const struct control *control, const struct service_note *note) {
    if (!is_safe(root) || !may_write(sizeof *note) || mkdirat(root, run, 0700) != 0) return false;
    int directory = openat(root, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory >= 0 && is_ours(directory) && write_file(directory, "service", note, sizeof *note) &&
        write_file(directory, "control", control, sizeof *control)) {
        close(directory);
        return true;
    }
    remove_from(root, run, directory);
    return false;
}

/* The process that made the directory that is used now; it stays true across a fork, in which the pid is another. */
static int32_t maker;

bool service_make(char *directory) {
    static struct control control; /* the two are some KiB: more than the stack of the caller may have */
    static struct service_note note;
    char run[SERVICE_RUN_LENGTH + 1] = "";
    const char *root = root_directory();
    if (!root || !make_control(&control) || !name_run(run)) return false;
    make_note(&note, &control);
    int file = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return false;
    bool is_made = make_in(file, run, &control, &note);
    close(file);
    if (!is_made) return false;
    char *variable = run_variable();
    if (variable) memcpy(variable, run, SERVICE_RUN_LENGTH);
    write_path(directory, root, run);
    maker = getpid();
    return true;
}

/* The first process became another program, which gives the run its name. */
static void rename_program(int directory) {
    static struct service_note note;
    int file = openat(directory, "service", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return;
    bool is_first =
        may_write(sizeof note) && read(file, &note, sizeof note) == (ssize_t)sizeof note && note.pid == getpid();
    if (is_first) {
        name_program(&note);
        ssize_t ignored = pwrite(file, &note, sizeof note, 0);
        (void)ignored;
    }
    close(file);
}

bool service_join(char *directory) {
    const char *root = root_directory(), *run = root ? run_variable() : NULL;
    if (!run || !is_run(run)) return false;
    write_path(directory, root, run);
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    bool is_private = is_ours(file);
    if (is_private) rename_program(file);
    close(file);
    return is_private;
}

void service_unmake(const char *directory) {
    size_t length = strlen(directory);
    if (maker != getpid() || length <= SERVICE_RUN_LENGTH) return;
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0) remove_from(AT_FDCWD, directory, file);
}

bool service_is_writable(const char *directory) {
    return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0;
}
