/* page.h: the texts of the manual, cli/manual/NAME.md: what --help and the manual pages say beside the options. They are
 * read as a small part of Markdown:
 *
 *     # SECTION
 *     a paragraph over several lines
 *         an example, indented by four blanks, kept as it is
 *     `a term`
 *     : its definition, a paragraph
 *
 *     : a further paragraph of it
 *
 * Blank lines end a paragraph; a term stands directly above its definition. In paragraphs `code` is bold and *this* is
 * italic in a manual page. A line "@name" stands for what a generator puts there; "@include NAME" for another text. */
#ifndef CLEAR_CLI_MANUAL_PAGE_H
#define CLEAR_CLI_MANUAL_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum page_kind { PAGE_PARAGRAPH, PAGE_LITERAL, PAGE_TERM, PAGE_DEFINITION, PAGE_DIRECTIVE };

struct page_block {
    enum page_kind kind;
    const char *text; /* not terminated; lines still have their breaks, a literal its indentation */
    size_t size;
};

/* What is left to read of a section. Zeroed, nothing. */
struct page_range {
    const char *at, *end;
};

/* The sections of the text of a command in turn: the heading goes into `heading` (64 bytes), false after the last one.
 * `*text` starts as page_text(NAME). */
enum { PAGE_HEADING_MAX = 64 };
const char *page_text(const char *name);
bool page_next_section(const char **text, char *heading, struct page_range *section);
/* The section of that heading; one that is not there is empty. */
struct page_range page_section(const char *text, const char *heading);
bool page_next(struct page_range *page, struct page_block *block);
/* The blocks that "@include NAME" stands for: the first section of NAME. */
struct page_range page_included(const struct page_block *directive);
/* The definition of a term: what follows it up to the next term. Empty where there is none. */
struct page_range page_definition(const char *text, const char *heading, const char *term);

/* The block as one line without marks. */
void page_plain(struct buffer *out, const char *text, size_t size);
/* A plain line, broken at blanks into lines of `width` columns. The first line starts at column `start`, others are
 * indented by `indent`; it ends with a line break. */
void page_wrap(struct buffer *out, const char *line, size_t start, size_t indent, size_t width);

#endif
