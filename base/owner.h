/* owner.h: whose links and files are believed. One rule for whatever is opened by its name to be written, or says what clear does.
 *
 * In a directory that others may write to, any of them can make a name lead elsewhere, and put files beside ours. So a symbolic link
 * is followed, at any place of a path, only if it belongs to a user who is trusted: this user, root, or the user who called sudo. */
#ifndef CLEAR_BASE_OWNER_H
#define CLEAR_BASE_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

bool owner_is_trusted(uid_t user);
/* True if what that user says is as good as what is in `file`: trusted, its owner, or a user whom its permissions let write to it. */
bool owner_may_write(uid_t user, const struct stat *file);

/* The path that `path` leads to, which has no symbolic link; what does not exist stays as it is named. free() it. NULL with the error
 * set where a link of another user is on the way. Who opens it says O_NOFOLLOW: a directory of others may have changed since. */
char *owner_resolve(const char *path, struct error *err);

#endif
