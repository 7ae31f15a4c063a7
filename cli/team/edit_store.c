#include "cli/team/edit_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli.h"
#include "ingest/team/team_edit.h"

static int begin(struct team_edit *edit, const char *option, char *const *sets, struct error *err) {
    return team_edit_begin(edit, cli_database(option), cli_project(), sets, err);
}

/* "run 5b98686a" or "12 runs", and what was done to them. */
static void say(size_t count, const char *uuid, const char *what) {
    struct buffer line = {0};
    if (count == 1)
        buffer_printf(&line, "run %.8s: %s", uuid, what);
    else
        buffer_printf(&line, "%s: %s", units_things((int64_t)count, "run").text, what);
    buffer_make_visible(&line);
    puts(buffer_text(&line));
    buffer_free(&line);
}

/* Ends it, and says what was done where it was. */
static int end(struct team_edit *edit, int code, const char *what, struct error *err) {
    char uuid[sizeof edit->runs.items->name.uuid] = "";
    size_t count = edit->runs.count;
    if (count) memcpy(uuid, edit->runs.items[0].name.uuid, sizeof uuid);
    if (team_edit_end(edit, code == 0, err)) code = -1;
    if (code == 0) say(count, uuid, what);
    return code;
}

int edit_store_tag(const char *option, char *set, char *const *words, struct error *err) {
    struct team_edit edit;
    struct buffer what = {0};
    char *const sets[] = {set, NULL};
    int code = begin(&edit, option, sets, err);
    for (char *const *word = words; code == 0 && *word; word++) {
        const char *value = strchr(*word, '=') + 1;
        char *key = xasprintf("%.*s", (int)(value - 1 - *word), *word);
        code = team_edit_tag(&edit, key, value, err);
        buffer_printf(&what, "%s%s", word == words ? "" : ", ", *value ? *word : key);
        if (!*value) buffer_add_text(&what, " removed");
        free(key);
    }
    code = end(&edit, code, buffer_text(&what), err);
    buffer_free(&what);
    return code;
}

int edit_store_label(const char *option, char *set, const char *label, struct error *err) {
    struct team_edit edit;
    char *const sets[] = {set, NULL};
    char *what = *label ? xasprintf("label %s", label) : xstrdup("no label");
    int code = begin(&edit, option, sets, err) || team_edit_label(&edit, label, err) ? -1 : 0;
    code = end(&edit, code, what, err);
    free(what);
    return code;
}

int edit_store_pin(const char *option, char *set, const char *why, struct error *err) {
    struct team_edit edit;
    char *const sets[] = {set, NULL};
    char *what = why && *why ? xasprintf("pinned: %s", why) : xstrdup(why ? "pinned" : "not pinned");
    int code = begin(&edit, option, sets, err) || team_edit_pin(&edit, why, err) ? -1 : 0;
    code = end(&edit, code, what, err);
    free(what);
    return code;
}

/* ---- deleting ---------------------------------------------------------------------------------------------------- */

static void print_removed(const struct team_runs *runs, int64_t rows, const struct edit_store_rm *how) {
    for (size_t i = 0; i < runs->count; i++) {
        const struct team_run_item *item = &runs->items[i];
        if (how->is_json)
            printf("%s\"%s\"", i ? "," : "{\"runs\":[", item->name.uuid);
        else
            printf("%s  %s\n", item->name.uuid, units_time(item->started_ns).text);
    }
    if (how->is_json)
        printf("],\"rows\":%" PRId64 ",\"deleted\":%s}\n", rows, how->is_trial ? "false" : "true");
    else
        printf("%s %s: %s; clear store gc frees names that no run uses, VACUUM the space\n",
               how->is_trial ? "would delete" : "deleted", units_things((int64_t)runs->count, "run").text,
               units_things(rows, "row").text);
}

static int check(struct team_edit *edit, const struct edit_store_rm *how, struct error *err) {
    if (how->is_forced) return 0;
    if (edit->runs.count > 1 && !how->is_trial)
        return error_usage(err, "%s would be deleted: --force deletes them, --dry-run lists them",
                           units_things((int64_t)edit->runs.count, "run").text);
    return team_edit_refuse_pinned(edit, err);
}

/* A trial deletes too, and takes it back. */
int edit_store_rm(const char *option, char *const *sets, const struct edit_store_rm *how, struct error *err) {
    struct team_edit edit;
    struct team_runs removed = {0};
    int64_t rows = 0;
    int code =
        begin(&edit, option, sets, err) || check(&edit, how, err) || team_edit_remove(&edit, &rows, err) ? -1 : 0;
    if (code == 0) {
        removed = edit.runs;
        edit.runs = (struct team_runs){0};
    }
    if (team_edit_end(&edit, code == 0 && !how->is_trial, err)) code = -1;
    if (code == 0) print_removed(&removed, rows, how);
    team_runs_free(&removed);
    return code;
}
