#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/passing.h"
#include "cli/sql/shell_setup.h"

/* ---- the greeting ---- */

static int print_banner(struct shell_setup *setup, struct error *err) {
    int64_t runs, newest;
    if (db_int(setup->db, "SELECT count(*) FROM runs", 0, &runs, err) ||
        db_int(setup->db, "SELECT run_id FROM run_order WHERE place = 1", 0, &newest, err))
        return -1;
    printf("%s, read-only: %s", setup->db->path, units_things(runs, "run").text);
    if (runs) printf(", the latest is %lld", (long long)newest);
    printf(
        "\nviews: run_summary heap lock_use cell_use channel_use cpu_use hardware frames stacks site_history doctor\n"
        "saved queries, for the latest run:%s\n"
        "example: SELECT * FROM run_summary;    columns: .schema heap    leave: .quit\n\n",
        buffer_text(&setup->views));
    return 0;
}

/* ---- the command ---- */

static int make_setup(struct shell_setup *setup, struct error *err) {
    if (shell_setup_make(setup, err)) return -1;
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? print_banner(setup, err) : 0;
}

/* `sql` ends with NULL. */
static char **make_words(char *file_name, const struct shell_setup *setup, char **sql) {
    const char *mode = isatty(STDOUT_FILENO) ? "-box" : "-column";
    const char *fixed[] = {"sqlite3", "-safe", "-readonly", "-header", mode};
    size_t size = sizeof fixed / sizeof *fixed, count = 0;
    while (sql[count])
        count++;
    const char **words = xcalloc(size + 2 * setup->count + count + 2, sizeof *words);
    memcpy(words, fixed, sizeof fixed);
    for (size_t i = 0; i < setup->count; i++) {
        words[size++] = "-cmd";
        words[size++] = setup->statements[i];
    }
    words[size++] = file_name;
    memcpy(words + size, sql, count * sizeof *words);
    return (char **)(uintptr_t)words;
}

static int fail_to_start(struct error *err) {
    return error_fail(
        err, errno == ENOENT ? "sqlite3 is not in PATH; install it with: apt-get install sqlite3" : "sqlite3: %s",
        strerror(errno));
}

static volatile sig_atomic_t started; /* the process that gets what this one is sent */

static void pass_on(int signal) {
    if (started > 0) kill((pid_t)started, signal);
}

/* Ctrl-C reaches both, and is for sqlite3. */
static void take_signals(bool is_taken) {
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    static struct sigaction before[sizeof signals / sizeof *signals];
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        bool is_key = signals[i] == SIGINT || signals[i] == SIGQUIT;
        const struct sigaction action = {.sa_handler = is_key ? SIG_IGN : pass_on};
        sigaction(signals[i], is_taken ? &action : &before[i], is_taken ? &before[i] : NULL);
    }
}

static int spawn(char **words) {
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid = 0;
    sigfillset(&defaults);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int why = posix_spawnp(&pid, words[0], NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    started = pid;
    return why;
}

/* Its exit status. */
static int run_and_wait(char **words, struct error *err) {
    int status = 0, code = 0;
    take_signals(true);
    if ((errno = spawn(words))) code = fail_to_start(err);
    while (code == 0 && waitpid((pid_t)started, &status, 0) < 0)
        if (errno != EINTR) code = error_fail(err, "waiting for sqlite3: %s", strerror(errno));
    take_signals(false);
    if (code) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Of a file it never returns where it succeeds; what was fetched is removed after it. The shell's safe mode refuses what reaches out of
 * the warehouse: .shell, .open, .output, ATTACH, readfile(). */
static int start(const char *path, const struct shell_setup *setup, char **sql, bool is_fetched, struct error *err) {
    /* sqlite3 3.40 knows no "--": a name that looks like an option is given as a path. */
    char *file_name = xasprintf("%s%s", *path == '-' ? "./" : "", path);
    char **words = make_words(file_name, setup, sql);
    int code = -1;
    fflush(stdout);
    if (is_fetched) {
        code = run_and_wait(words, err);
    } else {
        execvp(words[0], words);
        fail_to_start(err);
    }
    free(words);
    free(file_name);
    return code;
}

/* The file: the warehouse, or one with the runs of a store. */
static int find_file(struct passing *passing, const char *option, const char **path, struct error *err) {
    *path = option;
    if (!cli_is_store(option)) return 0;
    if (passing_make(passing, err) || cli_fetch(option, passing->db, "latest", err)) return -1;
    *path = passing->db;
    return 0;
}

struct shell_options {
    const char *db;
};
const struct option_group shell_options[] = {CLI_WAREHOUSE_OR_STORE(shell_options, db), CLI_OPTIONS_END};

int command_shell(int argc, char **argv, struct error *err) {
    struct shell_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    struct shell_setup setup = {.db = &db};
    struct passing passing = {0};
    const char *path;
    int code = find_file(&passing, options.db, &path, err);
    if (code == 0) code = cli_open(&db, path, DB_READ, err);
    if (code == 0) {
        code = make_setup(&setup, err);
        db_close(&db, err);
    }
    if (code == 0) code = start(cli_database(path), &setup, argv + 1, path != options.db, err);
    shell_setup_free(&setup);
    passing_remove(&passing);
    return code;
}
