#include "base/wrap.h"

#include <string.h>

#include "base/grid.h"

void wrap_print(FILE *out, const char *indent, const char *text) {
    int column = 0;
    while (*text) {
        int size = (int)strcspn(text, " \n"), width = grid_width(text, (size_t)size);
        if (column && column + 1 + width > REPORT_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column ? " " : indent, size, text);
        column += width + (column ? 1 : (int)strlen(indent));
        text += size;
        text += strspn(text, " \n");
    }
    if (column) fputc('\n', out);
}
