#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/team/edit_store.h"
#include "cli/upkeep/edit.h"
#include "ingest/upkeep/edit_runs.h"

struct label_options {
    const char *db;
};
const struct option_group label_options[] = {CLI_EDITABLE(label_options, db), CLI_OPTIONS_END};

static int change_label(struct db *db, int64_t run_id, const void *context, struct error *err) {
    return run_set_label(db, run_id, context, err);
}

static void say_label(const struct run_set *set, const char *label) {
    struct buffer text = {0};
    buffer_printf(&text, *label ? "label %s" : "no label", label);
    edit_say(set, buffer_text(&text));
    buffer_free(&text);
}

int command_label(int argc, char **argv, struct error *err) {
    struct label_options options = {0};
    struct run_set set;
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(2, argc, argv, err)) return -1;
    if (argc < 3) return error_usage(err, "give runs and a label: clear label RUNS TEXT");
    if (cli_is_store(options.db)) return edit_store_label(options.db, argv[1], argv[2], err);
    int code = edit_open(&db, options.db, argv[1], &set, err);
    if (code == 0) code = edit_each(&db, &set, change_label, argv[2], err);
    if (db_close(&db, err)) code = -1;
    if (code == 0) say_label(&set, argv[2]);
    run_set_free(&set);
    return code;
}
