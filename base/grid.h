/* grid.h: prints text in aligned columns. A zeroed struct with `columns` set is an empty grid. Cells are added row by
 * row; texts are copied. Widths are those of a terminal (UTF-8, with wide and combining characters). Control characters
 * are shown as \n, \t, \x1b, so a name in a profile cannot move the cursor. No line ends in blanks. */
#ifndef CLEAR_BASE_GRID_H
#define CLEAR_BASE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

struct grid_cell {
    size_t start, size; /* in `text` */
    int width;          /* columns of the terminal */
    bool right;         /* aligned to the right */
    const char *style;  /* written before the text, with GRID_PLAIN after it; NULL for none */
};

/* A line between two rows, outside of the columns. */
struct grid_note {
    size_t row; /* number of rows before it */
    char *line;
};

#define GRID_PLAIN "\033[0m"

struct grid {
    size_t columns;
    const char *indent; /* before every line; NULL for none */
    int width;          /* wider rows have columns one blank apart instead of two; 0: none is too wide */
    bool is_cut; /* and cells on the left side of their columns are cut, the widest most, with "..." at their ends */
    struct buffer text;
    struct grid_cell *cells;
    size_t count, capacity;
    struct grid_note *notes;
    size_t note_count, note_capacity;
};

void grid_add(struct grid *grid, const char *text, size_t size, bool right);
void grid_left(struct grid *grid, const char *text);
void grid_right(struct grid *grid, const char *text);
void grid_style(struct grid *grid, const char *style); /* of the cell added last; the text is not copied */
void grid_note(struct grid *grid, const char *line);   /* after the last complete row */
/* Adds text in the form of cells, cut to `width` columns with "..." at its end. */
void grid_visible(struct buffer *out, const char *text, int width);
/* Columns are two blanks apart (one where `width` asks for it) and at most 300 wide; a wider cell stands out. With `header` the first row is underlined, and each of
 * its cells is aligned as the one below it. The number of bytes that the rows took. */
int64_t grid_print(const struct grid *grid, FILE *out, bool header);
void grid_free(struct grid *grid);

/* The width of UTF-8 text in columns of a terminal. A byte that is not UTF-8 takes one. */
int grid_width(const char *text, size_t size);

#endif
