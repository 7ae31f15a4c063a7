/* bisect_search.h: the search of `clear bisect`: getting values of a figure from commits (bisect_take.c), and deciding by them which one
 * git shall look at next (bisect_search.c). bisect.c begins it, ends it and prints what was found. */
#ifndef CLEAR_CLI_HISTORY_BISECT_SEARCH_H
#define CLEAR_CLI_HISTORY_BISECT_SEARCH_H

#include "cli/history/bisect_report.h"
#include "cli/history/bisect_state.h"
#include "cli/history/take_options.h"

struct bisect_options {
    const char *db, *good, *bad, *figure, *of, *build;
    int64_t most; /* --max-runs */
    bool json, takes_new_only, continues, aborts;
    struct take_options take;
};

/* What became of an attempt to get a value. */
enum attempt { ATTEMPT_DONE, ATTEMPT_UNTESTABLE, ATTEMPT_STOPPED, ATTEMPT_FAILED };

struct bisect {
    struct bisect_options options;
    char *const *command;
    char **words; /* of --continue: the options are in here */
    struct bisect_git git;
    struct bisect_store store;
    struct bisect_state state;
    struct stop stop;
    struct bisect_runs runs;
    struct bisect_commits range;
    struct bisect_report report;
    char *built[TREES]; /* the commit that each tree is built of; NULL: none */
    char *why;          /* the latest commit that could not be tested */
    size_t end_turns;   /* how often an end was run again */
    double error;
};

/* Builds the commit in that tree if it is not built, runs the program once, and adds the value to bisect->runs. Where that cannot be
 * done, bisect->why says why (ATTEMPT_UNTESTABLE). The error is set for ATTEMPT_FAILED alone. */
enum attempt bisect_take(struct bisect *bisect, enum bisect_tree tree, const char *hash, struct error *err);
/* Sets bisect->why, which it owns. */
enum attempt bisect_untestable(struct bisect *bisect, char *why);

/* Runs the good and the bad commit by turns until they differ. A failure where they do not, or cannot be tested. */
enum attempt bisect_settle_ends(struct bisect *bisect, struct error *err);
/* Asks commits until git knows the first bad one, or cannot know it: then ATTEMPT_DONE, and the conclusion is set. */
enum attempt bisect_search(struct bisect *bisect, struct bisect_conclusion *conclusion, struct error *err);
/* Keeps a copy of git's log, from which the search can be taken up without its work trees. */
int bisect_keep_log(struct bisect *bisect, struct error *err);

#endif
