#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static struct config config; /* lives as long as the process, as the command line does */
static bool is_loaded;

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
    return config.database ? config.database : "runs.sqlite";
}

int cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err) {
    if (db_open(db, cli_database(option), mode, err)) return -1;
    if (config_apply(&config, db, err) == 0) return 0;
    struct error ignored = {0};
    db_close(db, &ignored);
    return -1;
}
