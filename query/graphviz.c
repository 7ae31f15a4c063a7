#include "query/graphviz.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The graph in a file of its own: graphviz reads all of it before it writes, but pipes on both sides could still wait for each other. */
static int input_of(const struct buffer *dot, struct error *err) {
    int file = memfd_create("graph.dot", MFD_CLOEXEC);
    if (file < 0) return error_fail(err, "graph: %s", strerror(errno));
    for (size_t done = 0; done < dot->size;) {
        ssize_t size = write(file, dot->data + done, dot->size - done);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) {
            error_fail(err, "graph: %s", strerror(errno));
            close(file);
            return -1;
        }
        done += (size_t)size;
    }
    lseek(file, 0, SEEK_SET);
    return file;
}

static int start(const char *format, int input, int output, pid_t *pid) {
    char *type = xasprintf("-T%s", format), *const arguments[] = {(char *)(uintptr_t) "dot", type, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int why = posix_spawnp(pid, "dot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(type);
    return why;
}

static int read_all(int file, struct buffer *out) {
    char piece[65536];
    ssize_t size;
    while ((size = read(file, piece, sizeof piece)) != 0) {
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return -1;
        buffer_add(out, piece, (size_t)size);
    }
    return 0;
}

int graphviz_draw(const char *format, const struct buffer *dot, struct buffer *out, struct error *err) {
    int ends[2], status = 0;
    pid_t pid;
    int input = input_of(dot, err);
    if (input < 0) return -1;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(input);
        return error_fail(err, "pipe: %s", strerror(errno));
    }
    int why = start(format, input, ends[1], &pid);
    close(input);
    close(ends[1]);
    int code = why ? 0 : read_all(ends[0], out);
    close(ends[0]);
    if (why == ENOENT) return error_fail(err, "%s needs graphviz (Debian: apt-get install graphviz)", format);
    if (why) return error_fail(err, "dot: %s", strerror(why));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (code < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_fail(err, "graphviz could not draw the graph as %s", format);
    return 0;
}
