#include "cli/web/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

int program_start(const char *program, const char *option, const char *what) {
    const char *words[] = {program, option ? option : what, option ? what : NULL, NULL};
    pid_t pid;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none); /* a server blocks the signals that end it */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int why = posix_spawnp(&pid, program, &actions, &attributes, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return why;
}

/* The browsers that pprof tries, in its order. */
int browser_open(const char *what) {
    static const char *const browsers[] = {"chrome", "google-chrome", "chromium", "firefox", "sensible-browser"};
    const char *own = getenv("BROWSER");
    if (own && *own && program_start(own, NULL, what) == 0) return 0;
    for (size_t i = 0; i < sizeof browsers / sizeof *browsers; i++)
        if (program_start(browsers[i], NULL, what) == 0) return 0;
    return getenv("DISPLAY") ? program_start("xdg-open", NULL, what) : ENOENT;
}
