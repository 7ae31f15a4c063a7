/* companions.h: who may have written the files that SQLite keeps beside a warehouse.
 *
 * FILE-journal, FILE-wal and FILE-shm are parts of the warehouse: SQLite takes rows from them when it opens the file. In a directory that
 * others may write to, anybody can put them there. So each of them is looked at when SQLite opens it, and not before: one whose owner
 * could not have written to the warehouse itself, or that is no regular file, is not opened. */
#ifndef CLEAR_SCHEMA_COMPANIONS_H
#define CLEAR_SCHEMA_COMPANIONS_H

/* From now on, for every connection of the process. */
void companions_guard(void);

/* The path of the one that was refused since the last call on this thread, or "". Valid until the next one is refused. */
const char *companions_refused(void);

#endif
