/* git_tags.h: the commit of a work tree, as tags of the runs that are recorded in it: git_commit, git_branch, git_dirty.
 *
 * The commit and branch are read from the files of the repository, without git. Whether tracked files differ from the commit is asked of git,
 * for a second at most, with a configuration of ours in place of the repository's, which could name programs to run (filters, monitors): no
 * hook runs, no lock is taken, nothing is fetched, no submodule is entered. A repository of a user who is not trusted (base/owner.h) is
 * none. */
#ifndef CLEAR_CLI_GIT_TAGS_H
#define CLEAR_CLI_GIT_TAGS_H

#include <stdbool.h>

/* Of the work tree that the working directory is in; each NULL: not known. git_state_free it. */
struct git_state {
    char *top, *directory, *common; /* of the work tree, of its .git, and where the branches are */
    char *commit, *branch;          /* hexadecimal; its short name, NULL for a detached HEAD */
};

void git_state_read(struct git_state *state);
void git_state_free(struct git_state *state);
/* 1: a tracked file is not as in the commit, 0: all are, -1: not known. */
int git_state_is_dirty(const struct git_state *state);

#endif
