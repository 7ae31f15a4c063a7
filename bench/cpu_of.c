/* cpu_of FILE PIDFILE COMMAND [ARGUMENT]...: writes the process id of COMMAND into PIDFILE, waits for its end and writes its CPU time, with that of the
 * children that it has waited for, in seconds into FILE. Ends as it did. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv) {
    struct rusage used;
    int status = 0;
    if (argc < 4) return 2;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    FILE *pid_file = fopen(argv[2], "w"), *file;
    if (!pid_file || fprintf(pid_file, "%d\n", (int)pid) < 0 || fclose(pid_file) != 0) return 1;
    if (waitpid(pid, &status, 0) != pid || getrusage(RUSAGE_CHILDREN, &used) != 0) return 1;
    file = fopen(argv[1], "w");
    if (!file || fprintf(file, "%f\n", seconds(used.ru_utime) + seconds(used.ru_stime)) < 0 || fclose(file) != 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
