#include "cli/new_run_tags.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/git_tags.h"

int tags_take(void *into, const struct option_row *row, const char *text, struct error *err) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return error_usage(err, "--%s must be KEY=VALUE, not '%s'", row->name, text);
    char *key = xasprintf("%.*s", (int)(equals - text), text);
    run_tags_add((struct run_tags *)(void *)((char *)into + row->offset), key, equals + 1);
    free(key);
    return 0;
}

/* NULL: git has no answer. free() it. */
static char *value_of(const struct config_pair *tag) {
    struct git_state state;
    if (strcmp(tag->value, "auto") != 0) return xstrdup(tag->value);
    /* There is none in a repository without a commit, and no branch with a detached HEAD. */
    git_state_read(&state);
    const char *value = strcmp(tag->key, "git_commit") == 0 ? state.commit : state.branch;
    char *copy = value ? xstrdup(value) : NULL;
    git_state_free(&state);
    return copy;
}

void tags_add_configured(struct run_tags *tags) {
    const struct config *config = cli_config();
    for (size_t i = 0; i < config->tag_count; i++) {
        char *value = run_tags_has(tags, config->tags[i].key) ? NULL : value_of(&config->tags[i]);
        if (value) run_tags_add(tags, config->tags[i].key, value);
        free(value);
    }
}

/* A tag that was given says what the run is of. */
void tags_add_git(struct run_tags *tags) {
    struct git_state state;
    if (run_tags_has(tags, "git_commit") || run_tags_has(tags, "commit")) return;
    git_state_read(&state);
    int is_dirty = git_state_is_dirty(&state);
    if (state.commit) run_tags_add(tags, "git_commit", state.commit);
    if (state.branch && !run_tags_has(tags, "git_branch")) run_tags_add(tags, "git_branch", state.branch);
    if (is_dirty >= 0 && !run_tags_has(tags, "git_dirty")) run_tags_add(tags, "git_dirty", is_dirty ? "yes" : "no");
    git_state_free(&state);
}
