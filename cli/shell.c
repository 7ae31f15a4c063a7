#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/shell_setup.h"

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

/* Never returns where it succeeds. The shell's safe mode refuses what reaches out of the warehouse: .shell, .open,
 * .output, ATTACH, readfile(). */
static int start(const char *path, const struct shell_setup *setup, char **sql, int count, struct error *err) {
    const char *mode = isatty(STDOUT_FILENO) ? "-box" : "-column";
    /* sqlite3 3.40 knows no "--": a name that looks like an option is given as a path. */
    char *file_name = xasprintf("%s%s", *path == '-' ? "./" : "", path);
    const char *fixed[] = {"sqlite3", "-safe", "-readonly", "-header", mode};
    size_t size = sizeof fixed / sizeof *fixed;
    const char **words = xcalloc(size + 2 * setup->count + (size_t)count + 2, sizeof *words);
    memcpy(words, fixed, sizeof fixed);
    for (size_t i = 0; i < setup->count; i++) {
        words[size++] = "-cmd";
        words[size++] = setup->statements[i];
    }
    words[size++] = file_name;
    memcpy(words + size, sql, (size_t)count * sizeof *words);
    fflush(stdout);
    execvp("sqlite3", (char **)(uintptr_t)words);
    error_fail(err,
               errno == ENOENT ? "sqlite3 is not in PATH; install it with: apt-get install sqlite3" : "sqlite3: %s",
               strerror(errno));
    free(words);
    free(file_name);
    return -1;
}

struct shell_options {
    const char *db;
};
const struct option_group shell_options[] = {CLI_WAREHOUSE(shell_options, db), CLI_OPTIONS_END};

int command_shell(int argc, char **argv, struct error *err) {
    struct shell_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    struct shell_setup setup = {.db = &db};
    int code = cli_open(&db, options.db, DB_READ, err);
    if (code == 0) {
        code = make_setup(&setup, err);
        db_close(&db, err);
    }
    if (code == 0) code = start(cli_database(options.db), &setup, argv + 1, argc - 1, err);
    shell_setup_free(&setup);
    return code;
}
