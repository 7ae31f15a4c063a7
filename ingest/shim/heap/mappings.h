/* mappings.h: what a process knows of the mappings that the program makes itself. */
#ifndef CLEAR_SHIM_MAPPINGS_H
#define CLEAR_SHIM_MAPPINGS_H

#include <stdbool.h>

/* Whether the program gave back 1 MiB or more of private anonymous memory that it had mapped itself, whole mappings, in the last 0.13 to 0.27 s
 * (munmap), and that is half of all that it ever gave back so: the clean-up of a heap of its own. A block that only this memory pointed at looks lost
 * then. Ruby unmaps the pages of its objects at its end, and not the blocks that they own: 16,000 blocks of a healthy script. */
bool unmapped_lately(void);

#endif
