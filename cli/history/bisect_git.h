/* bisect_git.h: the repository that `clear bisect` searches, through git itself.
 *
 * Nothing in the user's checkout is touched: commits are checked out in work trees of our own (git worktree) in a private directory, and
 * `git bisect` runs in one of them, whose marks git keeps apart from those of other work trees. git runs without hooks, and in a process
 * group of its own, so that Ctrl-C does not stop it halfway. */
#ifndef CLEAR_CLI_HISTORY_BISECT_GIT_H
#define CLEAR_CLI_HISTORY_BISECT_GIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

/* The three work trees: the ends stay built, so that they can be run again at any time. */
enum bisect_tree { TREE_GOOD, TREE_BAD, TREE_COMMIT, TREES };

struct bisect_git {
    char *top;    /* of the user's checkout */
    char *common; /* the directory of the repository itself */
    char *prefix; /* of the working directory below `top`: "", "sub/" */
    char *place;  /* the private directory of our work trees; NULL: not made yet */
};

/* The repository of the working directory. Call bisect_git_close after a failure too. */
int bisect_git_open(struct bisect_git *git, struct error *err);
void bisect_git_close(struct bisect_git *git);

/* The whole hash of a commit that the user named; free() it. NULL with a usage error. */
char *bisect_git_commit(const struct bisect_git *git, const char *name, struct error *err);
/* "1a2b3c4d5e", as long as git finds it needs to be. free() it. */
char *bisect_git_short(const struct bisect_git *git, const char *hash);

/* Makes the private directory. */
int bisect_git_make_place(struct bisect_git *git, struct error *err);
/* The directory in a tree that the working directory of the user is in his. free() it. */
char *bisect_git_directory(const struct bisect_git *git, enum bisect_tree tree);
/* Makes a work tree with that commit checked out, in place of one that may be there. */
int bisect_git_add_tree(const struct bisect_git *git, enum bisect_tree tree, const char *hash, struct error *err);
/* Removes all work trees and the private directory. */
void bisect_git_remove(struct bisect_git *git);

/* Starts `git bisect` in TREE_COMMIT, which it makes. */
int bisect_git_start(const struct bisect_git *git, const char *good, const char *bad, struct error *err);
/* The same from the log of an earlier one. */
int bisect_git_replay(const struct bisect_git *git, const char *log_file, struct error *err);
/* Whether TREE_COMMIT is there, with a bisect in it. */
bool bisect_git_is_there(const struct bisect_git *git);

enum bisect_word { BISECT_GOOD, BISECT_BAD, BISECT_SKIP };
/* Tells git about a commit; git then checks out the next one. */
int bisect_git_mark(const struct bisect_git *git, enum bisect_word word, const char *hash, struct error *err);
/* The commit that is checked out. free() it; NULL with the error set. */
char *bisect_git_head(const struct bisect_git *git, struct error *err);
int bisect_git_log(const struct bisect_git *git, struct buffer *log, struct error *err);

/* A list of hashes, in one text. Zeroed is empty. */
struct bisect_commits {
    struct buffer text;
    const char **hashes;
    size_t count;
};
void bisect_commits_free(struct bisect_commits *commits);
/* The commits between the ends, the oldest first, with `bad` and without `good`. */
int bisect_git_range(const struct bisect_git *git, const char *good, const char *bad, struct bisect_commits *commits,
                     struct error *err);
/* Those that may still be the first bad one, in the same order, without the newest (which is bad) and skipped ones. */
int bisect_git_left(const struct bisect_git *git, struct bisect_commits *commits, struct error *err);
int bisect_git_parents(const struct bisect_git *git, const char *hash, struct bisect_commits *commits,
                       struct error *err);

struct bisect_conclusion {
    char *first_bad;                /* NULL: not found yet, or not to be told apart from skipped ones */
    struct bisect_commits possible; /* then it is one of these; none: not found yet */
};
int bisect_git_conclusion(const struct bisect_git *git, struct bisect_conclusion *conclusion, struct error *err);
void bisect_conclusion_free(struct bisect_conclusion *conclusion);

/* What people know a commit by. Texts may hold anything. */
struct bisect_about {
    char *subject, *author, *date; /* date: of the author, ISO 8601 with the time zone */
};
int bisect_git_about(const struct bisect_git *git, const char *hash, struct bisect_about *about, struct error *err);
void bisect_about_free(struct bisect_about *about);

#endif
