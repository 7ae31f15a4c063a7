#include "ingest/record/toolchain.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "base/split.h"
#include "ingest/record/recordable.h"

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* A program is recorded as it runs in earnest, but for calls of malloc that a compiler knows to be without effect: it
 * would leave them out, and for tail calls, which would take the function that allocates out of the stack. Frame pointers make stack walks cheapest. The prefix map keeps the private directory's name out
 * of the program, so that the same source gives the same build id. zig links libc, because nothing can be preloaded into
 * a static program. */
#define NO_BUILTIN "-fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free"
#define C_SAID     "-O2 -g -fno-omit-frame-pointer -fno-builtin-malloc"
#define C_FLAGS                                                                                                        \
    "-O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls " NO_BUILTIN                                           \
    " -fdebug-prefix-map={build}={directory} -o {output} {source} "                                                    \
    "-pthread"
#define ZIG_SAID  "zig build-exe -O ReleaseSafe -fno-strip -fno-omit-frame-pointer -lc"
#define RUST_SAID "rustc -g -C opt-level=2 -C force-frame-pointers=yes"

static const struct {
    const char *ending, *rule, *said;
} rules[] = {
    {".c", "cc " C_FLAGS " -lm", "cc " C_SAID},
    {".cc", "c++ " C_FLAGS, "c++ " C_SAID},
    {".cpp", "c++ " C_FLAGS, "c++ " C_SAID},
    {".cxx", "c++ " C_FLAGS, "c++ " C_SAID},
    {".zig", ZIG_SAID " -femit-bin={output} {source}", ZIG_SAID},
    {".rs", RUST_SAID " -o {output} {source}", RUST_SAID},
};

static size_t find_rule(const char *ending) {
    size_t i = 0;
    while (i < sizeof rules / sizeof *rules && strcmp(rules[i].ending, ending) != 0)
        i++;
    return i;
}

const char *toolchain_rule(const char *ending) {
    size_t i = find_rule(ending);
    return i < sizeof rules / sizeof *rules ? rules[i].rule : NULL;
}

const char *toolchain_said(const char *ending) {
    size_t i = find_rule(ending);
    return i < sizeof rules / sizeof *rules ? rules[i].said : "";
}

bool toolchain_needs_rule(const char *ending) {
    return strcmp(ending, ".cht") == 0;
}

/* On some file systems every file is executable, so the content is checked too. */
static bool is_program(const char *path) {
    char start[SELFMAG] = "";
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0) return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return true;
    ssize_t size = read(file, start, sizeof start);
    close(file);
    return size >= 2 && (memcmp(start, "#!", 2) == 0 || memcmp(start, ELFMAG, SELFMAG) == 0);
}

const char *toolchain_ending(const char *name) {
    struct stat about;
    const char *base = path_base(name), *dot = strrchr(base, '.');
    if (!dot || dot == base || !dot[1]) return NULL;
    if (stat(name, &about) != 0 || !S_ISREG(about.st_mode) || is_program(name)) return NULL;
    return dot;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

struct rule_values {
    const struct build *build;
    const char *directory; /* of the source */
};

static const char *value_of(const void *context, const char *at) {
    const struct rule_values *known = context;
    const struct build *build = known->build;
    const struct {
        const char *name, *value;
    } values[] = {{"{source}", build->source},
                  {"{output}", build->program},
                  {"{directory}", known->directory},
                  {"{build}", build->place}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strncmp(values[i].name, at, strlen(values[i].name)) == 0) return values[i].value;
    return NULL;
}

static char **split_rule(const struct build *build, const char *rule, struct error *err) {
    char *directory = xstrdup(build->source), open;
    *strrchr(directory, '/') = '\0';
    const struct rule_values values = {build, *directory ? directory : "/"};
    char **words = split_words(rule, value_of, &values, &open);
    free(directory);
    if (words && *words) return words;
    if (!words)
        error_usage(err, "%s: a quote (%c) is not closed in the rule that builds it", build->source, open);
    else
        error_usage(err, "%s: the rule that builds it is empty", build->source);
    split_free(words);
    return NULL;
}

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

/* In the child. */
_Noreturn static void run_compiler(const struct build *build, const char *path, char **words, int log) {
    int input = open("/dev/null", O_RDONLY);
    if (input >= 0) dup2(input, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (chdir(build->place) == 0) execv(path, words);
    dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

/* Waits with ^C and ^\ ignored, as system(3) does: they end the compiler, and we remove its files. */
static int wait_for_compiler(pid_t pid) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int status = 0;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return status;
}

static void show_log(int log) {
    char block[4096];
    ssize_t size;
    lseek(log, 0, SEEK_SET);
    while ((size = read(log, block, sizeof block)) > 0)
        if (write(STDERR_FILENO, block, (size_t)size) != size) return;
}

static int judge(const struct build *build, const char *compiler, int status, struct error *err) {
    struct stat about;
    if (WIFSIGNALED(status))
        return error_fail(err, "%s: not built: %s was ended by signal %d", build->source, compiler, WTERMSIG(status));
    if (WEXITSTATUS(status))
        return error_fail(err, "%s: not built: %s exited with status %d", build->source, compiler, WEXITSTATUS(status));
    if (stat(build->program, &about) != 0 || !S_ISREG(about.st_mode))
        return error_fail(err, "%s: not built: %s exited with status 0, but made no {output}", build->source, compiler);
    return 0;
}

static int compile(const struct build *build, const char *path, char **words, struct error *err) {
    int log = openat(build->directory.file, "compiler.log", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (log < 0) return error_fail(err, "%s/compiler.log: %s", build->directory.path, strerror(errno));
    pid_t pid = fork();
    if (pid == 0) run_compiler(build, path, words, log);
    int code = pid < 0 ? error_fail(err, "fork: %s", strerror(errno)) : 0;
    if (code == 0) code = judge(build, words[0], wait_for_compiler(pid), err);
    if (code) show_log(log);
    close(log);
    return code;
}

static char *find_compiler(const struct build *build, const char *name, const char *base, struct error *err) {
    struct error missing = {0};
    if (*name != '/' && strchr(name, '/')) return xasprintf("%s/%s", base, name);
    char *path = recordable_find(name, &missing);
    if (!path)
        error_usage(err,
                    "%s: the rule that builds it runs %s, which is not found in PATH; clear.yaml can set another, as "
                    "in  toolchain: {%s: \"COMPILER -o {output} {source}\"}",
                    build->source, name, strrchr(build->source, '.'));
    return path;
}

/* ---- a build ----------------------------------------------------------------------------------------------------- */

static char *absolute(const char *path) {
    if (*path == '/') return xstrdup(path);
    char *here = getcwd(NULL, 0), *made;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    made = xasprintf("%s/%s", here && strcmp(here, "/") != 0 ? here : "", path);
    free(here);
    return made;
}

int build_make(struct build *build, const char *source, const char *rule, const char *base, struct error *err) {
    const char *name = path_base(source);
    *build = (struct build){.directory = {.file = -1, .owner = -1}};
    if (private_dir_make_for_programs(&build->directory, err)) return -1;
    build->source = absolute(source);
    build->name = xasprintf("%.*s", (int)(strrchr(name, '.') - name), name);
    build->place = xasprintf("%s/build", build->directory.path);
    build->program = xasprintf("%s/%s", build->place, build->name);
    if (mkdir(build->place, 0700) != 0) return error_fail(err, "%s: %s", build->place, strerror(errno));
    char **words = split_rule(build, rule, err);
    char *path = words ? find_compiler(build, words[0], base, err) : NULL;
    int code = path ? compile(build, path, words, err) : -1;
    free(path);
    split_free(words);
    return code;
}

void build_remove(struct build *build) {
    private_dir_remove(&build->directory);
    free(build->place);
    free(build->source);
    free(build->name);
    free(build->program);
    *build = (struct build){.directory = {.file = -1, .owner = -1}};
}
