#include "cli/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/error.h"
#include "base/terminal.h"

static pid_t pager;

/* NULL for none. */
static const char *pager_command(void) {
    const char *term = getenv("TERM"), *command = getenv("CLEAR_PAGER");
    if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0) return NULL;
    if (!command) command = getenv("PAGER");
    if (!command) command = "less";
    return !*command || strcmp(command, "cat") == 0 ? NULL : command;
}

/* Is the first word of the command a program? A shell would only say so when the output is lost. */
static bool is_there(const char *command) {
    const char *path = getenv("PATH");
    char *word = xasprintf("%.*s", (int)strcspn(command, " \t"), command);
    char *file = strchr(word, '/') ? xstrdup(word) : child_find(word, path ? path : "/usr/bin:/bin");
    bool is_found = file != NULL;
    free(word);
    free(file);
    return is_found;
}

/* -F: ends if everything fits; -R: colours; -X: what was shown stays on the screen. */
_Noreturn static void become_pager(const char *command, const int ends[2]) {
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

void pager_start(void) {
    const char *command = pager ? NULL : pager_command();
    int ends[2], width = terminal_width(stdout);
    if (!command || !is_there(command) || pipe2(ends, O_CLOEXEC) != 0) return;
    fflush(stdout);
    pager = fork();
    if (pager == 0) become_pager(command, ends);
    close(ends[0]);
    if (pager > 0) {
        dup2(ends[1], STDOUT_FILENO);
        terminal_set_paged(width);
        signal(SIGINT, SIG_IGN); /* it is the pager's: without this the prompt would come back under it */
    }
    close(ends[1]);
}

void pager_wait(void) {
    if (pager <= 0) return;
    fflush(stdout);
    close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0)
        continue;
}
