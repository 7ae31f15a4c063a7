/* sqlite_memory.h: the memory of SQLite. Whenever a file is opened SQLite parses its views: 47,000 mallocs, a quarter of the instructions of a
 * short command in glibc, whose malloc is made for threads and merges what is free. A list of free pieces for each size does without both. */
#ifndef CLEAR_SCHEMA_SQLITE_MEMORY_H
#define CLEAR_SCHEMA_SQLITE_MEMORY_H

/* Before SQLite is used. What was small and is freed is used again by the thread that freed it, and given back to the system when the process
 * ends. Without effect in a build with AddressSanitizer, which looks at each malloc. */
void sqlite_memory_use(void);

#endif
