#include "cli/history/take_options.h"

#include <stdlib.h>

#include "cli/new_run_tags.h"

#define AT(member) offsetof(struct take_options, member)

static int take_record(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct take_options *options = into;
    if (*text != '-')
        return error_usage(err, "--%s needs an option of clear profile, as in --%s=--leaks", row->name, row->name);
    options->record = xrealloc(options->record, (options->record_count + 2) * sizeof *options->record);
    options->record[options->record_count++] = xstrdup(text);
    options->record[options->record_count] = NULL;
    return 0;
}

const struct option_row take_option_rows[] = {
    {"tag", .type = OPTION_TAKE, .take = tags_take, .offset = AT(tags), .is_repeatable = true, .argument = "KEY=VALUE",
     .words = "<tag>", .help = "Tag each run, as in `branch=main`."},
    {"label", .type = OPTION_TEXT, .offset = AT(label), .argument = "NAME", .words = "<label>",
     .help = "Label each run."},
    {"record", .type = OPTION_TAKE, .take = take_record, .is_repeatable = true, .argument = "OPTION",
     .help = "Give `clear profile` this option, as in `--record=--no-locks`."},
    {"ignore-failure", .letter = 'i', .type = OPTION_SWITCH, .offset = AT(ignores_failure),
     .help = "Use a run whose program failed like any other."},
    {"input", .type = OPTION_TEXT, .offset = AT(input), .argument = "FILE", .words = "<file>",
     .help = "Standard input of each run. Default: empty."},
    {"output", .letter = 'o', .type = OPTION_TEXT, .offset = AT(output), .argument = "FILE", .words = "<file>",
     .help = "Append what the program prints to FILE. Default: it is discarded, and the end of its standard error is "
             "shown if it fails."},
    {"show-output", .type = OPTION_SWITCH, .offset = AT(is_shown), .help = "Let the program print here."},
    {0},
};
#undef AT

struct take_run take_options_run(const struct take_options *options, const char *database, char *const *command) {
    return (struct take_run){.database = database,
                             .command = command,
                             .tags = &options->tags,
                             .label = options->label,
                             .options = options->record,
                             .input = options->input,
                             .output = options->output,
                             .is_shown = options->is_shown};
}

void take_options_free(struct take_options *options) {
    for (size_t i = 0; i < options->record_count; i++)
        free(options->record[i]);
    free(options->record);
    run_tags_free(&options->tags);
}
