#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/team/edit_store.h"
#include "cli/upkeep/edit.h"
#include "ingest/upkeep/edit_runs.h"

struct pin_options {
    const char *db;
    bool unpin;
};

#define AT(member) offsetof(struct pin_options, member)
static const struct option_row pin_rows[] = {
    {"unpin", .letter = 'u', .type = OPTION_SWITCH, .offset = AT(unpin), .help = "Take the pin away."},
    {0},
};
#undef AT
const struct option_group pin_options[] = {
    {"What is done", pin_rows, 0}, CLI_EDITABLE(pin_options, db), CLI_OPTIONS_END};

static int change_pin(struct db *db, int64_t run_id, const void *context, struct error *err) {
    return run_set_pin(db, run_id, context, err);
}

static void say_pin(const struct run_set *set, const char *why) {
    struct buffer text = {0};
    buffer_add_text(&text, why ? "pinned" : "not pinned");
    if (why && *why) buffer_printf(&text, ": %s", why);
    edit_say(set, buffer_text(&text));
    buffer_free(&text);
}

int command_pin(int argc, char **argv, struct error *err) {
    struct pin_options options = {0};
    struct run_set set;
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (argc < 2) return error_usage(err, "give the runs that are to be kept: clear pin RUNS [WHY]");
    if (cli_at_most(options.unpin ? 1 : 2, argc, argv, err)) return -1;
    const char *why = options.unpin ? NULL : argc > 2 ? argv[2] : "";
    if (cli_is_store(options.db)) return edit_store_pin(options.db, argv[1], why, err);
    int code = edit_open(&db, options.db, argv[1], &set, err);
    if (code == 0) code = edit_each(&db, &set, change_pin, why, err);
    if (db_close(&db, err)) code = -1;
    if (code == 0) say_pin(&set, why);
    run_set_free(&set);
    return code;
}
