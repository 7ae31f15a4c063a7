#include "cli/history/bisect_search.h"

#include <stdlib.h>

#include "base/units.h"

enum { SAME_RUNS = 3 }; /* of each end, after which a figure that does not vary is taken for the same */

/* ---- the ends ---- */

static const char *end_hash(const struct bisect *bisect, enum bisect_tree end) {
    return end == TREE_GOOD ? bisect->state.good : bisect->state.bad;
}

static const struct side_values *end_values(struct bisect *bisect, enum bisect_tree end) {
    return &bisect_runs_commit(&bisect->runs, end_hash(bisect, end))->values;
}

static bool ends_are_exact(struct bisect *bisect) {
    return side_is_exact(end_values(bisect, TREE_GOOD), end_values(bisect, TREE_BAD));
}

static bool ends_differ(struct bisect *bisect) {
    return side_ends_differ(end_values(bisect, TREE_GOOD), end_values(bisect, TREE_BAD));
}

/* An end that cannot be tested is no skipped commit: nothing can be searched without it. */
static enum attempt take_end(struct bisect *bisect, enum bisect_tree end, struct error *err) {
    enum attempt attempt = bisect_take(bisect, end, end_hash(bisect, end), err);
    if (attempt != ATTEMPT_UNTESTABLE) return attempt;
    error_fail(err, "the %s commit %.10s cannot be tested: %s", end == TREE_GOOD ? "good" : "bad",
               end_hash(bisect, end), bisect->why);
    return ATTEMPT_FAILED;
}

static bool are_same(struct bisect *bisect) {
    const struct side_values *good = end_values(bisect, TREE_GOOD), *bad = end_values(bisect, TREE_BAD);
    return good->count >= SAME_RUNS && bad->count >= SAME_RUNS && ends_are_exact(bisect) &&
           good->values[0] == bad->values[0];
}

/* The end that has fewer runs, of equal ones the good one. */
static enum bisect_tree end_to_run(struct bisect *bisect) {
    return end_values(bisect, TREE_BAD)->count < end_values(bisect, TREE_GOOD)->count ? TREE_BAD : TREE_GOOD;
}

static void print_end(struct bisect *bisect, enum bisect_tree end) {
    const char *hash = end_hash(bisect, end);
    bisect_print_commit(&bisect->report, hash, bisect_runs_find(&bisect->runs, hash), end == TREE_GOOD ? "good" : "bad",
                        NULL);
}

enum attempt bisect_settle_ends(struct bisect *bisect, struct error *err) {
    enum attempt attempt = ATTEMPT_DONE;
    while (attempt == ATTEMPT_DONE && !ends_differ(bisect)) {
        enum bisect_tree end = end_to_run(bisect);
        bool is_over = (int64_t)end_values(bisect, end)->count >= bisect->options.most;
        if (are_same(bisect) || is_over) {
            print_end(bisect, TREE_GOOD);
            print_end(bisect, TREE_BAD);
            error_fail(err, "%s is the same at both commits%s: there is nothing to search", bisect->options.figure,
                       is_over ? ", but for noise" : "");
            return ATTEMPT_FAILED;
        }
        attempt = take_end(bisect, end, err);
    }
    if (attempt != ATTEMPT_DONE) return attempt;
    print_end(bisect, TREE_GOOD);
    print_end(bisect, TREE_BAD);
    return ATTEMPT_DONE;
}

/* ---- the commits in between ---- */

static enum side side_of_commit(struct bisect *bisect, const char *hash) {
    const struct bisect_commit *commit = bisect_runs_find(&bisect->runs, hash);
    if (!commit) return SIDE_UNSURE;
    return side_of(end_values(bisect, TREE_GOOD), end_values(bisect, TREE_BAD), &commit->values, bisect->error);
}

int bisect_keep_log(struct bisect *bisect, struct error *err) {
    struct buffer log = {0};
    int code = bisect_git_log(&bisect->git, &log, err);
    if (code == 0) code = bisect_store_write_log(&bisect->store, &log, err);
    buffer_free(&log);
    return code;
}

static int mark(struct bisect *bisect, const char *hash, enum side side, struct error *err) {
    static const enum bisect_word words[] = {
        [SIDE_UNSURE] = BISECT_SKIP, [SIDE_GOOD] = BISECT_GOOD, [SIDE_BAD] = BISECT_BAD};
    static const char *const names[] = {[SIDE_UNSURE] = "skip", [SIDE_GOOD] = "good", [SIDE_BAD] = "bad"};
    bisect_print_commit(&bisect->report, hash, bisect_runs_find(&bisect->runs, hash), names[side],
                        side == SIDE_UNSURE ? bisect->why : NULL);
    if (bisect_git_mark(&bisect->git, words[side], hash, err)) return -1;
    return bisect_keep_log(bisect, err);
}

/* Marks commits whose stored runs tell their side, the one in the middle first, until no further one helps. */
static int narrow(struct bisect *bisect, struct error *err) {
    for (;;) {
        struct bisect_commits left;
        int code = bisect_git_left(&bisect->git, &left, err);
        enum side *sides = xcalloc(left.count + 1, sizeof *sides);
        for (size_t i = 0; i < left.count && code == 0; i++)
            sides[i] = side_of_commit(bisect, left.hashes[i]);
        size_t next = code == 0 ? side_next_known(sides, left.count) : SIZE_MAX;
        if (next != SIZE_MAX) code = mark(bisect, left.hashes[next], sides[next], err);
        free(sides);
        bisect_commits_free(&left);
        if (code || next == SIZE_MAX) return code;
    }
}

/* Where nothing varies, further runs of the ends would say nothing new. */
static bool has_noise(struct bisect *bisect, const char *hash) {
    const struct bisect_commit *commit = bisect_runs_find(&bisect->runs, hash);
    return !ends_are_exact(bisect) || (commit && side_varies(&commit->values));
}

/* Takes runs of the commit until its side is sure, and runs of the ends by turns with them. */
static enum attempt decide(struct bisect *bisect, const char *hash, enum side *side, struct error *err) {
    enum attempt attempt = ATTEMPT_DONE;
    *side = side_of_commit(bisect, hash);
    while (attempt == ATTEMPT_DONE && *side == SIDE_UNSURE) {
        const struct bisect_commit *commit = bisect_runs_find(&bisect->runs, hash);
        if (commit && (int64_t)commit->values.count >= bisect->options.most)
            return bisect_untestable(
                bisect, xasprintf("not sure after %s", units_things((int64_t)commit->values.count, "run").text));
        attempt = bisect_take(bisect, TREE_COMMIT, hash, err);
        if (attempt == ATTEMPT_DONE) *side = side_of_commit(bisect, hash);
        if (attempt == ATTEMPT_DONE && *side == SIDE_UNSURE && has_noise(bisect, hash)) {
            attempt = take_end(bisect, bisect->end_turns++ % 2 ? TREE_BAD : TREE_GOOD, err);
            *side = side_of_commit(bisect, hash);
        }
    }
    return attempt;
}

enum attempt bisect_search(struct bisect *bisect, struct bisect_conclusion *conclusion, struct error *err) {
    for (;;) {
        if (narrow(bisect, err) || bisect_git_conclusion(&bisect->git, conclusion, err)) return ATTEMPT_FAILED;
        if (conclusion->first_bad || conclusion->possible.count) return ATTEMPT_DONE;
        bisect_conclusion_free(conclusion);
        enum side side = SIDE_UNSURE;
        char *hash = bisect_git_head(&bisect->git, err);
        enum attempt attempt = hash ? decide(bisect, hash, &side, err) : ATTEMPT_FAILED;
        if (attempt == ATTEMPT_DONE || attempt == ATTEMPT_UNTESTABLE) {
            if (mark(bisect, hash, side, err)) attempt = ATTEMPT_FAILED;
        }
        free(hash);
        if (attempt == ATTEMPT_STOPPED || attempt == ATTEMPT_FAILED) return attempt;
    }
}
