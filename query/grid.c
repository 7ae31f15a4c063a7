#include "query/grid.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/error.h"

/* mbrtowc and wcwidth ask the thread's locale, and a user's may be C. C.UTF-8 is built into glibc since 2.35. */
static locale_t utf8_locale(void) {
    static locale_t locale;
    if (!locale) locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    return locale;
}

/* Size of the character at `at`, and its width: -1 for control characters, size 0 for a byte that is no UTF-8. */
static size_t next_character(const char *at, size_t left, int *width) {
    mbstate_t state = {0};
    wchar_t wide;
    size_t size = mbrtowc(&wide, at, left, &state);
    if (size == (size_t)-1 || size == (size_t)-2) return 0;
    *width = wcwidth(wide);
    return size ? size : 1; /* a NUL is one byte, of width 0: shown as a control character */
}

static void escape(struct buffer *out, unsigned char byte) {
    if (byte == '\n')
        buffer_add_text(out, "\\n");
    else if (byte == '\t')
        buffer_add_text(out, "\\t");
    else
        buffer_printf(out, "\\x%02x", byte);
}

/* Adds text in a form that is safe on a terminal, and returns the columns that it takes. */
static int add_visible(struct buffer *out, const char *text, size_t size) {
    locale_t before = uselocale(utf8_locale());
    int total = 0;
    for (size_t i = 0; i < size;) {
        int width = 0;
        size_t length = next_character(text + i, size - i, &width);
        size_t start = out->size;
        if (length == 0) {
            buffer_add_text(out, "\xef\xbf\xbd");
            total++;
            i++;
            continue;
        }
        if (width < 0 || text[i] == '\0') {
            for (size_t j = 0; j < length; j++)
                escape(out, (unsigned char)text[i + j]);
            total += (int)(out->size - start);
        } else {
            buffer_add(out, text + i, length);
            total += width;
        }
        i += length;
    }
    uselocale(before);
    return total;
}

int grid_width(const char *text, size_t size) {
    struct buffer scratch = {0};
    int width = add_visible(&scratch, text, size);
    buffer_free(&scratch);
    return width;
}

void grid_add(struct grid *grid, const char *text, size_t size, bool right) {
    if (grid->count == grid->capacity) {
        grid->capacity = grid->capacity ? grid->capacity * 2 : 64;
        grid->cells = xrealloc(grid->cells, grid->capacity * sizeof *grid->cells);
    }
    struct grid_cell *cell = &grid->cells[grid->count++];
    cell->start = grid->text.size;
    cell->width = add_visible(&grid->text, text, size);
    cell->size = grid->text.size - cell->start;
    cell->right = right;
}

void grid_left(struct grid *grid, const char *text) {
    grid_add(grid, text, strlen(text), false);
}

void grid_right(struct grid *grid, const char *text) {
    grid_add(grid, text, strlen(text), true);
}

static void put_repeated(FILE *out, int c, int times) {
    while (times-- > 0)
        fputc(c, out);
}

static void print_row(const struct grid *grid, const struct grid_cell *row, const int *widths, const bool *right,
                      FILE *out) {
    int behind = 0; /* blanks that are owed: written only when something follows */
    fputs(grid->indent ? grid->indent : "", out);
    for (size_t column = 0; column < grid->columns; column++) {
        int padding = widths[column] - row[column].width;
        bool to_right = right ? right[column] : row[column].right;
        if (row[column].size) {
            put_repeated(out, ' ', behind + (to_right ? padding : 0));
            fwrite(grid->text.data + row[column].start, 1, row[column].size, out);
            behind = to_right ? 0 : padding;
        } else {
            behind += widths[column];
        }
        behind += 2;
    }
    fputc('\n', out);
}

void grid_print(const struct grid *grid, FILE *out, bool header) {
    if (!grid->columns) return;
    int *widths = xcalloc(grid->columns, sizeof *widths);
    bool *right = xcalloc(grid->columns, sizeof *right);
    for (size_t i = 0; i < grid->count; i++)
        if (grid->cells[i].width > widths[i % grid->columns]) widths[i % grid->columns] = grid->cells[i].width;
    for (size_t i = grid->columns; i < 2 * grid->columns && i < grid->count; i++)
        right[i - grid->columns] = grid->cells[i].right;
    size_t at = 0;
    if (header && grid->count) {
        print_row(grid, grid->cells, widths, right, out);
        fputs(grid->indent ? grid->indent : "", out);
        for (size_t column = 0; column < grid->columns; column++) {
            put_repeated(out, ' ', column ? 2 : 0);
            put_repeated(out, '-', widths[column]);
        }
        fputc('\n', out);
        at = grid->columns;
    }
    for (; at + grid->columns <= grid->count && !ferror(out); at += grid->columns)
        print_row(grid, grid->cells + at, widths, NULL, out);
    free(widths);
    free(right);
}

void grid_free(struct grid *grid) {
    buffer_free(&grid->text);
    free(grid->cells);
    *grid = (struct grid){.columns = grid->columns, .indent = grid->indent};
}
