#include "cli/web/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/child.h"

int program_start(const char *program, const char *option, const char *what) {
    const char *words[] = {program, option ? option : what, option ? what : NULL, NULL};
    pid_t pid;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return errno;
    const struct child_start how = {.argv = words, .files = {nothing, nothing, STDERR_FILENO}, .group = CHILD_SESSION};
    int why = child_start(&how, &pid);
    close(nothing);
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
