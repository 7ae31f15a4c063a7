/* take_run.h: records a command once, as `clear profile` does it, and says which run that is. For commands that need many runs
 * (bench, bisect, gate).
 *
 * The recorder is a process of its own (this program as `clear profile --uuid UUID`). The run is found by its UUID, so other
 * recordings into the same warehouse at the same time are not mistaken for it. Its status in the table `runs`, and not that of the
 * process, says how the program ended, so a program that fails is told apart from a recording that fails. */
#ifndef CLEAR_CLI_HISTORY_TAKE_RUN_H
#define CLEAR_CLI_HISTORY_TAKE_RUN_H

#include <stdio.h>

#include "cli/history/stop.h"
#include "ingest/writer/run_tags.h"
#include "schema/db.h"

struct take_run {
    const char *database;        /* the value of --db, or NULL */
    char *const *command;        /* the program and its arguments; NULL-terminated */
    const struct run_tags *tags; /* NULL: none but the configuration's */
    const char *label;           /* NULL: none */
    char *const *options;        /* further options of clear profile; NULL-terminated; NULL: none */
    const char *directory;       /* where the program runs; NULL: here */
    const char *input;           /* the file that it reads as standard input; NULL: an empty one */
    const char *output;          /* the file that its output is appended to, both streams; NULL: nowhere */
    bool is_shown;               /* its streams are ours, `output` is not used */
};

struct taken_run {
    int64_t run_id;  /* 0: there is none */
    int wait_status; /* of the program, as from waitpid(2) */
    struct buffer
        said; /* the end of what it and the recorder wrote to standard error, unless that is shown or in a file */
};

/* Records one run into the warehouse. The program runs in our process group and on our terminal, under `stop`.
 *   0   the run is stored, whatever the status of the program is
 *   -1  the error is set: the program could not be started, or its run is not stored as a whole. The message ends with what the
 *       recorder said. Where stop->signal is set, that is why.
 * A run that was stopped may be stored all the same: stop->signal is set then, and the caller decides. Call taken_run_free in every
 * case. */
int take_run(const struct take_run *wanted, struct stop *stop, struct taken_run *taken, struct error *err);
/* Runs another command, as one that builds the program: words[0] is a path, its input is empty, and the end of both its outputs goes to
 * `said`. run_id stays 0. */
int take_command(char *const *words, const char *directory, struct stop *stop, struct taken_run *said,
                 struct error *err);
void taken_run_free(struct taken_run *taken);

/* "exit status 3", "signal 11 (Segmentation fault)"; NULL: the program succeeded. free() it. */
char *taken_run_failure(const struct taken_run *taken);
/* The last lines that it said, each with `indent` in front, control characters visible. */
void taken_run_print_said(const struct taken_run *taken, const char *indent, FILE *out);

#endif
