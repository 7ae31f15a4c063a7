/* thrash — a neighbour that uses the last-level cache: it writes to each line of 256 MiB, again and again, until it is killed or its parent ends. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
int main(void) {
    enum { SIZE = 256 << 20, LINE = 64 };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    volatile char *memory = malloc(SIZE);
    if (!memory) return 1;
    for (;;)
        for (long at = 0; at < SIZE; at += LINE)
            memory[at]++;
}
