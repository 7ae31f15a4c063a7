#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/team/edit_store.h"
#include "cli/upkeep/edit.h"
#include "ingest/upkeep/edit_runs.h"

struct tag_options {
    const char *db;
};
const struct option_group tag_options[] = {CLI_EDITABLE(tag_options, db), CLI_OPTIONS_END};

static int check_word(const char *word, struct error *err) {
    const char *equals = strchr(word, '=');
    if (equals && equals != word) return 0;
    return error_usage(err, "'%s' is no tag: write KEY=VALUE, or KEY= to remove the tag", word);
}

static int change_tags(struct db *db, int64_t run_id, const void *context, struct error *err) {
    for (char *const *word = context; *word; word++) {
        char *key = xasprintf("%.*s", (int)(strchr(*word, '=') - *word), *word);
        int code = run_set_tag(db, run_id, key, strchr(*word, '=') + 1, err);
        free(key);
        if (code) return -1;
    }
    return 0;
}

static void say_tags(const struct run_set *set, char *const *words) {
    struct buffer text = {0};
    for (char *const *word = words; *word; word++) {
        bool is_removed = !strchr(*word, '=')[1];
        buffer_printf(&text, "%s%.*s%s", word == words ? "" : ", ", (int)strlen(*word) - is_removed, *word,
                      is_removed ? " removed" : "");
    }
    edit_say(set, buffer_text(&text));
    buffer_free(&text);
}

int command_tag(int argc, char **argv, struct error *err) {
    struct tag_options options = {0};
    struct run_set set;
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (argc < 3) return error_usage(err, "give runs and tags: clear tag RUNS KEY=VALUE...");
    for (char **word = argv + 2; *word; word++)
        if (check_word(*word, err)) return -1;
    if (cli_is_store(options.db)) return edit_store_tag(options.db, argv[1], argv + 2, err);
    int code = edit_open(&db, options.db, argv[1], &set, err);
    if (code == 0) code = edit_each(&db, &set, change_tags, argv + 2, err);
    if (db_close(&db, err)) code = -1;
    if (code == 0) say_tags(&set, argv + 2);
    run_set_free(&set);
    return code;
}
