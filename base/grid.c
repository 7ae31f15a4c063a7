#include "base/grid.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/error.h"

/* mbrtowc and wcwidth use the locale of the thread, which may be C. C.UTF-8 is built into glibc since 2.35. */
static locale_t utf8_locale(void) {
    static locale_t locale;
    if (!locale) locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    return locale;
}

/* The size of the character at `at`, and its width: -1 for control characters. Size 0 for a byte that is not UTF-8. */
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

/* The number of printable ASCII characters at the start: nearly all of most texts, and each one column wide. */
static size_t plain_ascii(const char *text, size_t size) {
    size_t plain = 0;
    while (plain < size && text[plain] >= ' ' && text[plain] <= '~')
        plain++;
    return plain;
}

/* Adds text in a form that is safe on a terminal, and returns the columns that it takes. */
static int add_visible(struct buffer *out, const char *text, size_t size) {
    locale_t before = uselocale(utf8_locale());
    int total = 0;
    for (size_t i = 0; i < size;) {
        int width = 0;
        size_t plain = plain_ascii(text + i, size - i);
        if (plain) {
            buffer_add(out, text + i, plain);
            total += (int)plain;
            i += plain;
            continue;
        }
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
    cell->style = NULL;
}

void grid_left(struct grid *grid, const char *text) {
    grid_add(grid, text, strlen(text), false);
}

void grid_right(struct grid *grid, const char *text) {
    grid_add(grid, text, strlen(text), true);
}

void grid_style(struct grid *grid, const char *style) {
    if (grid->count) grid->cells[grid->count - 1].style = style;
}

void grid_note(struct grid *grid, const char *line) {
    if (grid->note_count == grid->note_capacity) {
        grid->note_capacity = grid->note_capacity ? grid->note_capacity * 2 : 16;
        grid->notes = xrealloc(grid->notes, grid->note_capacity * sizeof *grid->notes);
    }
    grid->notes[grid->note_count++] = (struct grid_note){grid->count / grid->columns, xstrdup(line)};
}

void grid_visible(struct buffer *out, const char *text, int width) {
    size_t size = strlen(text), start = out->size;
    if (add_visible(out, text, size) <= width) return;
    /* Binary search for the longest start that leaves room for the dots. */
    size_t fits = 0;
    for (size_t step = size; step; step /= 2)
        while (fits + step <= size && grid_width(text, fits + step) <= width - 3)
            fits += step;
    while (fits && ((unsigned char)text[fits] & 0xc0) == 0x80)
        fits--; /* not inside a character */
    out->size = start;
    add_visible(out, text, fits);
    buffer_add_text(out, "...");
}

/* One huge cell must not make blanks of its width in each row: it stands out of its column. */
enum { WIDTH_MAX = 300 };

static int64_t put_repeated(FILE *out, int c, int times) {
    int64_t written = times > 0 ? times : 0;
    while (times-- > 0)
        fputc(c, out);
    return written;
}

struct grid_layout {
    int *widths; /* of the columns */
    int gap;     /* between them */
};

/* The widest of the columns whose cells may be cut, that is, of those with a text on the left in the last row; `columns`: none. */
static size_t widest_text(const struct grid *grid, const int *widths) {
    const struct grid_cell *row = grid->cells + (grid->count / grid->columns - 1) * grid->columns;
    size_t widest = grid->columns;
    for (size_t column = 0; column < grid->columns; column++)
        if (!row[column].right && (widest == grid->columns || widths[column] > widths[widest])) widest = column;
    return widest;
}

static void cut_columns(const struct grid *grid, int *widths, int excess) {
    enum { LEAST = 4 };
    for (; excess > 0; excess--) {
        size_t widest = widest_text(grid, widths);
        if (widest == grid->columns || widths[widest] <= LEAST) return;
        widths[widest]--;
    }
}

static struct grid_layout lay_out(const struct grid *grid) {
    struct grid_layout layout = {xcalloc(grid->columns, sizeof *layout.widths), 2};
    int sum = grid->indent ? (int)strlen(grid->indent) : 0;
    for (size_t i = 0; i < grid->count; i++)
        if (grid->cells[i].width > layout.widths[i % grid->columns])
            layout.widths[i % grid->columns] = grid->cells[i].width < WIDTH_MAX ? grid->cells[i].width : WIDTH_MAX;
    for (size_t column = 0; column < grid->columns; column++)
        sum += layout.widths[column] + (column ? layout.gap : 0);
    if (!grid->width || sum <= grid->width) return layout;
    layout.gap = 1;
    if (grid->is_cut) cut_columns(grid, layout.widths, sum - (int)(grid->columns - 1) - grid->width);
    return layout;
}

/* The text of a cell is visible already: only its end changes. */
static int64_t print_text(const struct grid *grid, const struct grid_cell *cell, int width, FILE *out) {
    struct buffer cut = {0};
    const char *text = grid->text.data + cell->start;
    if (!grid->is_cut || cell->width <= width) return (int64_t)fwrite(text, 1, cell->size, out);
    char *whole = xcalloc(cell->size + 1, 1);
    memcpy(whole, text, cell->size);
    grid_visible(&cut, whole, width);
    int64_t written = (int64_t)fwrite(cut.data, 1, cut.size, out);
    buffer_free(&cut);
    free(whole);
    return written;
}

/* The number of bytes that it wrote, without styles. */
static int64_t print_row(const struct grid *grid, const struct grid_cell *row, const struct grid_layout *layout,
                         const bool *right, FILE *out) {
    int behind = 0; /* pending blanks, written only when text follows */
    int64_t written = 1;
    fputs(grid->indent ? grid->indent : "", out);
    for (size_t column = 0; column < grid->columns; column++) {
        int padding = layout->widths[column] > row[column].width ? layout->widths[column] - row[column].width : 0;
        bool to_right = right ? right[column] : row[column].right;
        if (row[column].size) {
            written += put_repeated(out, ' ', behind + (to_right ? padding : 0));
            if (row[column].style) fputs(row[column].style, out);
            written += print_text(grid, &row[column], layout->widths[column], out);
            if (row[column].style) fputs(GRID_PLAIN, out);
            behind = to_right ? 0 : padding;
        } else {
            behind += layout->widths[column];
        }
        behind += layout->gap;
    }
    fputc('\n', out);
    return written;
}

/* The header and the line below it. Each cell is aligned as that of the first row. */
static void print_header(const struct grid *grid, const struct grid_layout *layout, FILE *out) {
    bool *right = xcalloc(grid->columns, sizeof *right);
    for (size_t i = grid->columns; i < 2 * grid->columns && i < grid->count; i++)
        right[i - grid->columns] = grid->cells[i].right;
    (void)print_row(grid, grid->cells, layout, right, out);
    fputs(grid->indent ? grid->indent : "", out);
    for (size_t column = 0; column < grid->columns; column++) {
        put_repeated(out, ' ', column ? layout->gap : 0);
        put_repeated(out, '-', layout->widths[column]);
    }
    fputc('\n', out);
    free(right);
}

int64_t grid_print(const struct grid *grid, FILE *out, bool header) {
    if (!grid->columns || !grid->count) return 0;
    int64_t written = 0;
    struct grid_layout layout = lay_out(grid);
    size_t note = 0;
    if (header) print_header(grid, &layout, out);
    for (size_t row = header; row < grid->count / grid->columns && !ferror(out); row++) {
        written += print_row(grid, grid->cells + row * grid->columns, &layout, NULL, out);
        for (; note < grid->note_count && grid->notes[note].row <= row + 1; note++)
            fprintf(out, "%s\n", grid->notes[note].line);
    }
    free(layout.widths);
    return written;
}

void grid_free(struct grid *grid) {
    for (size_t i = 0; i < grid->note_count; i++)
        free(grid->notes[i].line);
    free(grid->notes);
    buffer_free(&grid->text);
    free(grid->cells);
    *grid =
        (struct grid){.columns = grid->columns, .indent = grid->indent, .width = grid->width, .is_cut = grid->is_cut};
}
