/* source_places.h: which files of this machine are read because a profile names them.
 *
 * A profile may be a stranger's, and its names are then a stranger's wish: /etc/shadow is one. So a source file is read only below
 * a directory that has to do with the profile, links resolved: no link leads out of it. */
#ifndef CLEAR_QUERY_CODE_SOURCE_PLACES_H
#define CLEAR_QUERY_CODE_SOURCE_PLACES_H

#include <stdbool.h>

#include "query/profile/model.h"

/* Directories; where it says tree, the git work tree that the directory is in, if it is in one of a user who is trusted (base/owner.h). What
 * begins with a dot ("~/.ssh") is read only below a directory that was given. */
struct source_places {
    const char *given;     /* "a:b" of -source_path; "" none */
    const char *warehouse; /* its directory; NULL none */
    bool is_only;          /* nothing else: for readers who are not the user of this machine. Else also: */
    const struct profile *
        profile; /* the tree of each binary of it that is here with the same build id, which a stranger does not know; and the tree of the working directory */
};

/* The text of the file, or NULL with *why set; free() both. A relative path is looked for in the given directories or else in the
 * working directory and in that of the warehouse, and above each within its tree. */
char *source_places_read(const struct source_places *places, const char *path, char **why);

#endif
