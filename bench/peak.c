/* peak PROGRAM ARGUMENT...: runs the program and prints its peak memory (KB) and CPU time (ms) on standard error. The
 * peak of a child starts at that of its parent, so this program is smaller than what it measures. Exits as the program
 * did. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long milliseconds(const struct timeval *time) {
    return time->tv_sec * 1000 + time->tv_usec / 1000;
}

int main(int argc, char **argv) {
    struct rusage usage;
    int status = 1;
    if (argc < 2) return 2;
    pid_t child = vfork();
    if (child == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) return 1;
    fprintf(stderr, "%ld %ld\n", usage.ru_maxrss, milliseconds(&usage.ru_utime) + milliseconds(&usage.ru_stime));
    return WEXITSTATUS(status);
}
