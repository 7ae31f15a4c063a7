#include "cli/cli.h"
#include "cli/upkeep/edit.h"
#include "ingest/writer/run_seal.h"
#include "schema/facts.h"

struct reseal_options {
    const char *db;
};

const struct option_group reseal_options[] = {CLI_WAREHOUSE(reseal_options, db), CLI_OPTIONS_END};

static int reseal(struct db *db, int64_t run_id, const void *context, struct error *err) {
    (void)context;
    return run_seal(db, run_id, err);
}

/* In pieces: who is interrupted goes on with the next command. */
static int reseal_all(struct db *db, struct error *err) {
    return db_exec(db, "DELETE FROM seals", err) ? -1 : facts_seal_pending(db, err);
}

int command_reseal(int argc, char **argv, struct error *err) {
    struct reseal_options options = {0};
    struct run_set set;
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    int code = edit_open(&db, options.db, argc > 1 ? argv[1] : "all", &set, err);
    for (int i = 2; code == 0 && i < argc; i++)
        code = run_set_add(&set, &db, argv[i], err);
    if (code == 0) code = argc > 1 ? edit_each(&db, &set, reseal, NULL, err) : reseal_all(&db, err);
    if (code == 0) edit_say(&set, "sealed again");
    if (db_close(&db, err)) code = -1;
    run_set_free(&set);
    return code;
}
