/* take_options.h: the options about how a command is run and recorded that `clear bench` and `clear bisect` share. */
#ifndef CLEAR_CLI_HISTORY_TAKE_OPTIONS_H
#define CLEAR_CLI_HISTORY_TAKE_OPTIONS_H

#include "base/option.h"
#include "cli/history/take_run.h"

/* Zeroed: none given. take_options_free it. */
struct take_options {
    struct run_tags tags;
    const char *label, *input, *output;
    char **record; /* options of clear profile; NULL-terminated, or NULL */
    size_t record_count;
    bool is_shown, ignores_failure;
};

/* Of a group whose offset is that of a struct take_options. */
extern const struct option_row take_option_rows[];

/* What take_run needs besides tags and directory. The words stay the caller's. */
struct take_run take_options_run(const struct take_options *options, const char *database, char *const *command);
void take_options_free(struct take_options *options);

#endif
