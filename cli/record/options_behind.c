#include "cli/record/options_behind.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "ingest/record/toolchain.h"

static bool is_source(const char *target) {
    const char *ending = toolchain_ending(target);
    return ending && (config_toolchain(cli_config(), ending) || toolchain_rule(ending) || toolchain_needs_rule(ending));
}

static const struct option_row *row_of_letter(char letter) {
    for (struct option_walk walk = {.group = profile_options}; option_next(&walk);)
        if (walk.row->letter == letter) return walk.row;
    return NULL;
}

/* The option of ours that the word is, written out; NULL for none. --help is every program's. */
static const struct option_row *our_option(const char *word) {
    const struct option_row *row = NULL;
    if (word[0] != '-' || !word[1]) return NULL;
    if (word[1] == '-') {
        char *name = xstrdup(word + 2);
        name[strcspn(name, "=")] = '\0';
        row = *name ? option_find(profile_options, NULL, name).row : NULL;
        free(name);
    } else if (!word[2]) {
        row = row_of_letter(word[1]);
    }
    return row && row->type != OPTION_HELP ? row : NULL;
}

/* Moves what is ours to the front, behind the command's name, and the target with the rest behind it. How many words are ours. */
static int sort_words(int argc, char **argv) {
    char **ours = xcalloc((size_t)argc, sizeof *ours), **others = xcalloc((size_t)argc, sizeof *others);
    int our_count = 0, other_count = 0, at = 1;
    others[other_count++] = argv[at++];
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        const struct option_row *row = our_option(argv[at]);
        if (!row) {
            others[other_count++] = argv[at];
            continue;
        }
        ours[our_count++] = argv[at];
        if (option_takes_value(row) && !strchr(argv[at], '=') && at + 1 < argc) ours[our_count++] = argv[++at];
    }
    memcpy(argv + 1, ours, (size_t)our_count * sizeof *ours);
    memcpy(argv + 1 + our_count, others, (size_t)other_count * sizeof *others);
    free(ours);
    free(others);
    return our_count;
}

/* Once, of the first such word. A single letter is an option of most programs, and nobody is surprised. */
static void tell(const struct profile_request *request, int argc, char **argv) {
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0 && !request->quiet; i++) {
        const struct option_row *row = our_option(argv[i]);
        if (!row || argv[i][1] != '-') continue;
        bool has_value = option_takes_value(row) && !strchr(argv[i], '=') && i + 1 < argc;
        error_print(
            "%s is given to %s; for clear profile it stands before it: clear profile %s%s%s %s (and behind -- it is "
            "%s's without this line)",
            argv[i], argv[1], argv[i], has_value ? " " : "", has_value ? argv[i + 1] : "", argv[1], argv[1]);
        return;
    }
}

int options_behind_target(struct profile_request *request, bool is_over, int *argc, char **argv, struct error *err) {
    if (*argc < 3 || is_over) return 0;
    if (!is_source(argv[1])) {
        tell(request, *argc, argv);
        return 0;
    }
    int ours = sort_words(*argc, argv);
    return ours && cli_options(argc, argv, request, err) < 0 ? -1 : 0;
}
