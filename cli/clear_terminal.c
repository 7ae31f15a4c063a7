#include "cli/clear_terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* They define common words as macros, so nothing of ours is included after them. */
#include <curses.h>
#include <term.h>

struct clear_options {
    const char *type;
    bool keeps_scrollback;
};

/* False at the first word that is no option of clear(1). */
static bool read_options(struct clear_options *options, int argc, char *const *argv) {
    for (int i = 1; i < argc; i++) {
        const char *letters = argv[i] + 1;
        if (argv[i][0] != '-' || !*letters) return false;
        for (; *letters == 'x'; letters++)
            options->keeps_scrollback = true;
        if (!*letters) continue;
        if (*letters != 'T') return false;
        options->type = letters[1] ? letters + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (!options->type) return false;
    }
    return true;
}

bool clear_terminal_is_meant(int argc, char *const *argv) {
    return read_options(&(struct clear_options){0}, argc, argv);
}

static int put_capability(const char *name) {
    const char *text = tigetstr(name);
    if (!text || text == (const char *)-1) return -1;
    return tputs(text, tigetnum("lines") > 0 ? tigetnum("lines") : 1, putchar);
}

int clear_terminal(int argc, char *const *argv) {
    struct clear_options options = {.type = getenv("TERM")};
    int found;
    read_options(&options, argc, argv);
    if (!options.type || !*options.type) {
        fprintf(stderr, "clear: TERM is not set, so it is not known how to clear the terminal (clear help lists the "
                        "commands)\n");
        return EXIT_FAILURE;
    }
    if (setupterm(options.type, STDOUT_FILENO, &found) != OK) {
        fprintf(stderr, "clear: '%s' is not a known type of terminal (clear help lists the commands)\n", options.type);
        return EXIT_FAILURE;
    }
    int code = put_capability("clear");
    if (code != -1 && !options.keeps_scrollback) put_capability("E3");
    return code == -1 ? EXIT_FAILURE : EXIT_SUCCESS;
}
