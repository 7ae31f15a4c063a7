#include "cli/new_run_tags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

int tags_take(void *into, const struct option_row *row, const char *text, struct error *err) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return error_usage(err, "--%s must be KEY=VALUE, not '%s'", row->name, text);
    char *key = xasprintf("%.*s", (int)(equals - text), text);
    run_tags_add((struct run_tags *)(void *)((char *)into + row->offset), key, equals + 1);
    free(key);
    return 0;
}

/* The first line that a command prints, or NULL if it fails or prints none. */
static char *first_line(const char *command) {
    char line[512] = "";
    FILE *pipe = popen(command, "re");
    if (!pipe) return NULL;
    bool has_line = fgets(line, sizeof line, pipe) != NULL;
    bool succeeded = pclose(pipe) == 0;
    line[strcspn(line, "\n")] = '\0';
    return has_line && succeeded && *line ? xstrdup(line) : NULL;
}

/* NULL: git has no answer. free() it. */
static char *value_of(const struct config_pair *tag) {
    if (strcmp(tag->value, "auto") != 0) return xstrdup(tag->value);
    /* There is none in a repository without a commit, and no branch with a detached HEAD. */
    if (strcmp(tag->key, "git_commit") == 0) return first_line("git rev-parse --verify HEAD 2>/dev/null");
    return first_line("git symbolic-ref --short HEAD 2>/dev/null");
}

void tags_add_configured(struct run_tags *tags) {
    const struct config *config = cli_config();
    for (size_t i = 0; i < config->tag_count; i++) {
        char *value = run_tags_has(tags, config->tags[i].key) ? NULL : value_of(&config->tags[i]);
        if (value) run_tags_add(tags, config->tags[i].key, value);
        free(value);
    }
}
