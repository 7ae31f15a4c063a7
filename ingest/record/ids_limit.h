/* ids_limit.h: how many distinct stacks of a process are recorded where the user gives no limit. */
#ifndef CLEAR_INGEST_RECORD_IDS_LIMIT_H
#define CLEAR_INGEST_RECORD_IDS_LIMIT_H

#include <stdint.h>

/* As many as the recorder keeps in a 64th of the memory of the machine, or of what its control group may use: 64 Ki to
 * 256 Ki (a stack takes about 1.3 KiB in the recorder, and 15 us of its time). */
uint64_t ids_limit_default(void);

#endif
