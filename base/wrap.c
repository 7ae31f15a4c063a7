#include "base/wrap.h"

#include <string.h>

#include "base/grid.h"
#include "base/terminal.h"

int report_width(FILE *out) {
    int columns = terminal_width(out);
    if (!columns || columns > REPORT_WIDTH) return REPORT_WIDTH;
    return columns < REPORT_WIDTH_MIN ? REPORT_WIDTH_MIN : columns;
}

void wrap_print(FILE *out, int width, const char *indent, const char *text) {
    int column = 0;
    while (*text) {
        int size = (int)strcspn(text, " \n"), columns = grid_width(text, (size_t)size);
        if (column && column + 1 + columns > width) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column ? " " : indent, size, text);
        column += columns + (column ? 1 : (int)strlen(indent));
        text += size;
        text += strspn(text, " \n");
    }
    if (column) fputc('\n', out);
}
