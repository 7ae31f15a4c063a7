#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

static bool is_paged;
static int paged_width;

bool terminal_is_shown(FILE *out) {
    return (is_paged && out == stdout) || isatty(fileno(out));
}

int terminal_width(FILE *out) {
    struct winsize window;
    if (is_paged && out == stdout) return paged_width;
    return isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

void terminal_set_paged(int width) {
    is_paged = true;
    paged_width = width;
}
