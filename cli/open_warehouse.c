#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static struct config config; /* lives as long as the process, as the command line does */
static bool is_loaded;
static const char default_name[] = "runs.sqlite";

int cli_load_config(const char *path, struct error *err) {
    struct config loaded;
    if (config_read(&loaded, path, err)) return -1;
    config_free(&config); /* --config twice: the last one counts */
    config = loaded;
    is_loaded = true;
    return 0;
}

int cli_find_config(struct error *err) {
    char *passed;
    if (is_loaded) return 0;
    char *path = config_find(&passed);
    if (passed)
        fprintf(stderr, "clear: %s belongs to another user and is not read; --config %s reads it\n", passed, passed);
    int code = path ? cli_load_config(path, err) : 0;
    is_loaded = true;
    free(passed);
    free(path);
    return code;
}

const struct config *cli_config(void) {
    return &config;
}

const char *cli_database(const char *option) {
    const char *variable = getenv("CLEAR_DB");
    if (option) return option;
    if (variable && *variable) return variable;
    return config.database ? config.database : default_name;
}

/* The user who called sudo is no stranger. */
static bool is_own_file(const struct stat *status) {
    const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    return status->st_uid == geteuid() || status->st_uid == 0 || (sudo && strtoul(sudo, NULL, 10) == status->st_uid);
}

int cli_check_owner(const char *option, struct error *err) {
    const char *path = cli_database(option);
    struct stat status;
    if (path != default_name || stat(path, &status) || is_own_file(&status)) return 0;
    return error_fail(err, "%s belongs to another user and is not opened by default: --db %s opens it", path, path);
}

int cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err) {
    if (cli_check_owner(option, err)) return -1;
    if (db_open(db, cli_database(option), mode, err)) return -1;
    if (config_apply(&config, db, err) == 0) return 0;
    struct error ignored = {0};
    db_close(db, &ignored);
    return -1;
}
