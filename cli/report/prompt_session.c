#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/prompt.h"

/* ---- words ---- */

char *prompt_trim(char *text) {
    text += strspn(text, prompt_blanks);
    size_t size = strlen(text);
    while (size && strchr(prompt_blanks, text[size - 1]))
        size--;
    text[size] = '\0';
    return text;
}

char *prompt_word(char **line) {
    char *word = *line + strspn(*line, prompt_blanks);
    if (!*word) return NULL;
    char *end = word + strcspn(word, prompt_blanks);
    *line = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* ---- what is said ---- */

static void print_place(const struct prompt *prompt) {
    if (!prompt->is_terminal) fprintf(stderr, "clear: line %zu: ", prompt->line);
}

void prompt_print_error(const struct prompt *prompt, const struct error *err) {
    print_place(prompt);
    fprintf(stderr, "%s\n", err->message);
}

void prompt_print_note(void *context, const char *message) {
    print_place(context);
    fprintf(stderr, "%s\n", message);
}

/* ---- the target ---- */

static void close_target(struct prompt_target *target) {
    if (!target) return;
    profile_free(&target->profile);
    report_target_close(&target->target);
    free(target);
}

static struct prompt_target *open_target(const struct prompt *prompt, const struct word_list *targets, const char *kind,
                                         struct error *err) {
    const struct report_target *asked = &prompt->command->target;
    struct prompt_target *opened = xcalloc(1, sizeof *opened);
    struct report_target *target = &opened->target;
    target->db = asked->db;
    target->overrides = asked->overrides;
    target->fetch = asked->fetch;
    target->kind = kind;
    target->is_diff = asked->is_diff;
    target->normalize = prompt->command->options.normalize;
    for (size_t i = 0; i < targets->count; i++) /* copied, because the line does not live as long */
        word_list_add(&target->targets,
                      arena_text(&prompt->command->arena, targets->items[i], strlen(targets->items[i])));
    for (size_t i = 0; i < asked->bases.count; i++)
        word_list_add(&target->bases, asked->bases.items[i]);
    if (report_target_open(target, err) == 0 && report_target_load(target, &opened->profile, err) == 0) return opened;
    report_target_close(target);
    free(opened);
    return NULL;
}

/* Resets sample_index if the new profile does not have it. */
static void keep_sample_index(struct prompt *prompt) {
    struct report_options *options = &prompt->command->options;
    struct error ignored = {0};
    size_t type;
    if (profile_find_type(&prompt->in_use->profile, options->sample_index, &type, &ignored) < 0)
        options->sample_index = "";
}

/* The words live as long as the command: the target keeps them. */
static struct word_list keep_words(struct arena *arena, const struct word_list *words) {
    struct word_list kept = {0};
    for (size_t i = 0; i < words->count; i++)
        word_list_add(&kept, arena_text(arena, words->items[i], strlen(words->items[i])));
    return kept;
}

int prompt_use(struct prompt *prompt, const struct word_list *targets, const char *kind, struct error *err) {
    struct arena *arena = &prompt->command->arena;
    struct word_list wanted = keep_words(arena, targets ? targets : &prompt->targets);
    if (kind) kind = arena_text(arena, kind, strlen(kind));
    struct prompt_target *opened = open_target(prompt, &wanted, kind, err);
    if (!opened) {
        free(wanted.items);
        return -1;
    }
    close_target(prompt->in_use);
    prompt->in_use = opened;
    free(prompt->targets.items);
    prompt->targets = wanted;
    prompt->command->options.sources = &opened->target.sources;
    keep_sample_index(prompt);
    return 0;
}

void prompt_leave(struct prompt *prompt) {
    close_target(prompt->in_use);
    free(prompt->targets.items);
}
