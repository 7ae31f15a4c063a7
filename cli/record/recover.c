#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/push_after.h"
#include "ingest/record/lost.h"

struct recover_options {
    const char *db;
    bool list, json;
};

struct recover {
    struct recover_options options;
    size_t recovered, listed, failed, shown; /* shown: objects of --json */
    size_t running, others;                  /* left: their programs run; of other warehouses */
    int64_t last_run;
};

#define AT(member) offsetof(struct recover_options, member)
static const struct option_row recover_rows[] = {
    {"list", .letter = 'l', .type = OPTION_SWITCH, .offset = AT(list),
     .help = "List what can be recovered, of all warehouses, and change nothing."},
    {"json", .type = OPTION_SWITCH, .offset = AT(json), .help = "Print a JSON array: one object for each recording."},
    {0},
};
#undef AT
const struct option_group recover_options[] = {
    {"Output", recover_rows, 0}, CLI_WAREHOUSE(recover_options, db), CLI_OPTIONS_END};

static void warn(const char *message) {
    error_print("warning: %s; it is left out", message);
}

static const char *state_of(const struct lost *lost) {
    return lost->running ? "its program runs" : "complete";
}

/* ---- output ---- */

/* `run_id` 0: it was not stored. */
static void print_json(struct recover *recover, const struct lost *lost, const char *path, int64_t run_id) {
    struct buffer text = {0};
    buffer_add_text(&text, recover->shown++ ? ",\n{" : "[{");
    buffer_add_json_field(&text, "directory", path);
    buffer_add_char(&text, ',');
    buffer_add_json_field(&text, "warehouse", lost->warehouse);
    buffer_add_char(&text, ',');
    buffer_add_json_field(&text, "uuid", lost->uuid);
    buffer_add_char(&text, ',');
    buffer_add_json_field(&text, "command", lost->command);
    buffer_add_text(&text, ",\"label\":");
    if (lost->label)
        buffer_add_json_text(&text, lost->label);
    else
        buffer_add_text(&text, "null");
    buffer_printf(&text, ",\"started_ns\":%" PRId64 ",\"bytes\":%" PRId64 ",\"processes\":%zu,\"running\":%zu,\"run\":",
                  lost->started_ns, lost->bytes, lost->segments, lost->running);
    if (run_id)
        buffer_printf(&text, "%" PRId64 "}", run_id);
    else
        buffer_add_text(&text, "null}");
    fwrite(text.data, 1, text.size, stdout);
    buffer_free(&text);
}

static void print_text(const char *path, const struct lost *lost, const char *what) {
    struct buffer text = {0};
    buffer_printf(&text, "%s: %s", path, what);
    if (lost->label) buffer_printf(&text, ", label %s", lost->label);
    buffer_printf(&text, ", of %s, %s: %s", units_time(lost->started_ns).text,
                  units_things((int64_t)lost->segments, "process").text, lost->command);
    buffer_make_visible(&text);
    puts(text.data);
    buffer_free(&text);
}

/* ---- one recording ---- */

static void list_one(struct recover *recover, const struct lost *lost) {
    recover->listed++;
    if (recover->options.json) {
        print_json(recover, lost, lost->directory.path, 0);
        return;
    }
    char *what = xasprintf("%s, for %s, %s", units_bytes(lost->bytes).text, lost->warehouse, state_of(lost));
    print_text(lost->directory.path, lost, what);
    free(what);
}

/* The directories that were named go to the file of --db, if it is given, else to their own warehouse. */
static const char *warehouse_of(const struct recover *recover, const struct lost *lost, bool is_named) {
    return is_named && !recover->options.db ? lost->warehouse : cli_database(recover->options.db);
}

static int store_one(struct recover *recover, struct lost *lost, bool is_named, struct error *err) {
    struct db db;
    char *path = xstrdup(lost->directory.path);
    if (cli_open(&db, warehouse_of(recover, lost, is_named), DB_WRITE, err)) {
        free(path);
        return -1;
    }
    bool was_over = false;
    int64_t run_id = lost_store(lost, &db, warn, &was_over, err);
    if (run_id < 0) db_take_back(&db);
    int code = db_close(&db, err) || run_id < 0 ? -1 : 0;
    if (code == 0) {
        char *what = xasprintf("run %" PRId64 "%s", run_id, was_over ? ", which was whole already" : "");
        if (recover->options.json)
            print_json(recover, lost, path, run_id);
        else
            print_text(path, lost, what);
        free(what);
        recover->recovered++;
        recover->last_run = run_id;
        if (!was_over || !lost->is_foreign) lost_remove(lost); /* what another user recorded is not in that run */
    }
    free(path);
    return code;
}

static int take_one(struct recover *recover, const char *path, bool is_named, struct error *err) {
    struct lost lost;
    int code = lost_open(&lost, path, err);
    bool is_gone = code < 0 && !is_named && access(path, F_OK) != 0; /* another one has recovered it meanwhile */
    if (code < 0) return is_gone ? 0 : -1;
    if (code == 0 && is_named) return error_fail(err, "%s: is being recorded, or recovered, now", path);
    if (code == 0) return 0;
    code = 0;
    if (is_named && lost.is_foreign && !recover->options.db && !recover->options.list)
        code =
            error_usage(err, "%s: is a recording of another user, who also says where it goes: give --db FILE", path);
    else if (recover->options.list)
        list_one(recover, &lost);
    else if (!is_named && !lost_is_of(&lost, cli_database(recover->options.db)))
        recover->others++;
    else if (!is_named && lost.running)
        recover->running++;
    else
        code = store_one(recover, &lost, is_named, err);
    lost_close(&lost);
    return code;
}

/* ---- the command ---- */

static void refuse(struct recover *recover, char *path) {
    recover->failed++;
    fflush(stdout);
    error_print("%s: was put there by another user, or others may write to it, and is not read: remove it, or name "
                "what is in it "
                "with --db FILE",
                path);
    free(path);
}

static void take_all(struct recover *recover, char *const *paths, bool are_named) {
    for (; *paths; paths++) {
        struct error err = {0};
        if (take_one(recover, *paths, are_named, &err) == 0) continue;
        recover->failed++;
        fflush(stdout);
        error_print("%s", err.message);
    }
}

static void print_rest(const struct recover *recover) {
    if (!recover->recovered && !recover->listed && !recover->failed) printf("nothing to recover\n");
    fflush(stdout);
    if (recover->running)
        fprintf(stderr,
                "clear: %s left, because the program runs; clear recover DIRECTORY stores what it did until now (clear "
                "recover --list)\n",
                units_things((int64_t)recover->running, "recording").text);
    if (recover->others)
        fprintf(stderr, "clear: %s for other warehouses: clear recover --list\n",
                units_things((int64_t)recover->others, "recording").text);
}

static void print_next(const struct recover *recover, const char *warehouse) {
    struct buffer db = {0};
    if (!warehouse) return;
    escape_shell(&db, warehouse);
    fflush(stdout);
    fprintf(stderr, "clear: next: clear doctor --db %s %" PRId64 "\n", buffer_text(&db), recover->last_run);
    buffer_free(&db);
}

int command_recover(int argc, char **argv, struct error *err) {
    struct recover recover = {0};
    if (cli_options(&argc, argv, &recover.options, err) < 0) return -1;
    const char *warehouse = cli_database(recover.options.db);
    bool are_named = argc > 1;
    char *refused = NULL, **paths = are_named ? argv + 1 : lost_find(warehouse, &refused);
    take_all(&recover, paths, are_named);
    if (refused) refuse(&recover, refused);
    if (recover.options.json)
        puts(recover.shown ? "]" : "[]");
    else
        print_rest(&recover);
    if (recover.recovered && !recover.failed) print_next(&recover, are_named ? NULL : warehouse);
    if (recover.recovered && !are_named) push_after_recording(warehouse, recover.options.json);
    for (char **path = paths; !are_named && *path; path++)
        free(*path);
    if (!are_named) free(paths);
    return recover.failed ? ERROR_FAILURE : 0;
}
