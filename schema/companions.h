/* companions.h: who may have written the files that SQLite keeps beside a warehouse, and where it makes temporary ones.
 *
 * FILE-journal, FILE-wal and FILE-shm are parts of the warehouse: SQLite takes rows from them when it opens the file. In a directory that
 * others may write to, anybody can put them there. So each of them is looked at when SQLite opens it, and not before: one whose owner
 * could not have written to the warehouse itself, or that is no regular file, is not opened.
 *
 * What does not fit into memory (a sort, what a statement must be able to undo, a copy) goes to files without a name in the first
 * of $SQLITE_TMPDIR, $TMPDIR, /var/tmp, /usr/tmp, /tmp and the working directory that can be written to. On a server whose root is
 * read-only that is none of them, and SQLite then fails with "disk I/O error". */
#ifndef CLEAR_SCHEMA_COMPANIONS_H
#define CLEAR_SCHEMA_COMPANIONS_H

#include <sqlite3.h>

/* From now on, for every connection of the process. */
void companions_guard(void);

/* The path of the one that was refused since the last call on this thread, or "". Valid until the next one is refused. */
const char *companions_refused(void);

/* Where none of the usual places can be written to: has every connection of the process make its temporary files in the directory of the
 * warehouse, the first that can be written to, and this one keep them in memory if there is none. file: the absolute path of the warehouse, or NULL:
 * it has none. */
void companions_set_temporary(sqlite3 *handle, const char *file);

/* The directory that SQLite makes them in. NULL: there is none. Valid while the process has a connection and its environment is not changed. */
const char *companions_temporary(void);

#endif
