#include "cli/report/view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const struct prompt_view prompt_views[] = {
    {"web", "svg", "svg", "show the call graph in a web browser ($BROWSER)", {NULL}},
    {"weblist", "weblist", "html", "show matching functions line by line in a web browser", {NULL}},
    {"eog", "svg", "svg", "show the call graph in eog", {"eog"}},
    {"evince", "pdf", "pdf", "show the call graph in evince", {"evince"}},
    {"gv", "ps", "ps", "show the call graph in gv", {"gv", "--noantialias"}},
    {"kcachegrind", "callgrind", "grind", "show the calls in kcachegrind", {"kcachegrind"}},
    {0},
};

const struct prompt_view *prompt_view_find(const char *name) {
    for (const struct prompt_view *view = prompt_views; view->name; view++)
        if (strcmp(view->name, name) == 0) return view;
    return NULL;
}

static int make_directory(struct prompt_viewed *viewed, struct error *err) {
    const char *parent = getenv("TMPDIR");
    char *path = xasprintf("%s/clear-XXXXXX", parent && *parent ? parent : "/tmp");
    if (mkdtemp(path))
        viewed->directory = arena_text(&viewed->arena, path, strlen(path));
    else
        error_fail(err, "%s: %s", path, strerror(errno));
    free(path);
    return viewed->directory ? 0 : -1;
}

const char *prompt_view_file(struct prompt_viewed *viewed, const struct prompt_view *view, struct error *err) {
    if (!viewed->directory && make_directory(viewed, err) < 0) return NULL;
    char *path = xasprintf("%s/report%zu.%s", viewed->directory, ++viewed->count, view->suffix);
    const char *kept = arena_text(&viewed->arena, path, strlen(path));
    free(path);
    word_list_add(&viewed->files, kept);
    return kept;
}

/* 0, or an errno value. The program gets its own session, so that ^C at the prompt does not reach it. */
static int start(const char *program, const char *option, const char *path) {
    const char *words[] = {program, option ? option : path, option ? path : NULL, NULL};
    pid_t pid;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int why = posix_spawnp(&pid, program, &actions, &attributes, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return why;
}

/* The browsers that pprof tries, in its order. */
static int start_browser(const char *path) {
    static const char *const browsers[] = {"chrome", "google-chrome", "chromium", "firefox", "sensible-browser"};
    const char *own = getenv("BROWSER");
    if (own && *own && start(own, NULL, path) == 0) return 0;
    for (size_t i = 0; i < sizeof browsers / sizeof *browsers; i++)
        if (start(browsers[i], NULL, path) == 0) return 0;
    return getenv("DISPLAY") ? start("xdg-open", NULL, path) : ENOENT;
}

int prompt_view_open(struct prompt_viewed *viewed, const struct prompt_view *view, const char *path,
                     struct error *err) {
    const char *program = view->program[0];
    while (waitpid(-1, NULL, WNOHANG) > 0) /* programs that have ended */
        continue;
    int why = program ? start(program, view->program[1], path) : start_browser(path);
    if (why == 0) return 0;
    viewed->files.count--; /* the newest file: it is kept */
    if (!program) return error_fail(err, "no web browser was found (set BROWSER); the page is %s", path);
    return error_fail(err, "%s: %s; the page is %s", program, strerror(why), path);
}

void prompt_viewed_close(struct prompt_viewed *viewed) {
    enum { SECONDS_TO_READ = 1 }; /* for a browser that was just started */
    if (viewed->files.count) sleep(SECONDS_TO_READ);
    for (size_t i = 0; i < viewed->files.count; i++)
        (void)unlink(viewed->files.items[i]);
    if (viewed->directory) (void)rmdir(viewed->directory);
    free(viewed->files.items);
    arena_free(&viewed->arena);
}
