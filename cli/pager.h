/* pager.h: long output on a terminal goes through a pager, as git's does. */
#ifndef CLEAR_CLI_PAGER_H
#define CLEAR_CLI_PAGER_H

/* Call it before the first output of what may be long. Where standard output is a terminal, starts the command of
 * $CLEAR_PAGER, else $PAGER, else `less` (which ends at once if everything fits on the screen), and standard output goes
 * there. An empty command, `cat`, or one that is not found: there is no pager. A second call does nothing. */
void pager_start(void);

/* At the end of the process: waits until the reader has finished. */
void pager_wait(void);

#endif
