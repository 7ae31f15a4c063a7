#include "cli/report/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/report/output.h"
#include "cli/web/browser.h"

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

int prompt_view_open(struct prompt_viewed *viewed, const struct prompt_view *view, const char *path,
                     struct error *err) {
    const char *program = view->program[0];
    while (waitpid(-1, NULL, WNOHANG) > 0) /* programs that have ended */
        continue;
    int why = program ? program_start(program, view->program[1], path) : browser_open(path);
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

int prompt_view_show(const struct prompt_view *view, const struct report_format *format, const struct buffer *out,
                     struct error *err) {
    struct prompt_viewed viewed = {0};
    const char *path = prompt_view_file(&viewed, view, err);
    int code = path ? report_output(format, out, path, err) : -1;
    if (path && code < 0) {
        prompt_viewed_close(&viewed);
        return -1;
    }
    if (code == 0) code = prompt_view_open(&viewed, view, path, err);
    if (code == 0) error_print("%s shows %s", view->program[0] ? view->program[0] : "the browser", path);
    free(viewed.files.items);
    arena_free(&viewed.arena);
    return code;
}
