#include "cli/manual/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schema/schema.h"

enum { LITERAL_INDENT = 4 };

const char *page_text(const char *name) {
    char *path = xasprintf("cli/manual/%s.md", name);
    const char *text = embedded_text(path);
    free(path);
    return text;
}

/* ---- lines ---- */

static size_t line_size(const char *at, const char *end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? (size_t)(stop - at) : (size_t)(end - at);
}

static const char *next_line(const char *at, const char *end) {
    size_t size = line_size(at, end);
    return at + size < end ? at + size + 1 : end;
}

static bool is_blank(const char *at, const char *end) {
    return line_size(at, end) == 0;
}

static bool is_literal(const char *at, const char *end) {
    return end - at > LITERAL_INDENT && strncmp(at, "    ", LITERAL_INDENT) == 0;
}

static bool is_definition(const char *at, const char *end) {
    return end - at > 2 && at[0] == ':' && at[1] == ' ';
}

/* ---- sections ---- */

bool page_next_section(const char **text, char *heading, struct page_range *section) {
    const char *at = *text, *end = at + strlen(at);
    while (at < end && strncmp(at, "# ", 2) != 0)
        at = next_line(at, end);
    if (at == end) return false;
    size_t size = line_size(at, end) - 2;
    if (size >= PAGE_HEADING_MAX) bug("a heading of %zu bytes", size);
    memcpy(heading, at + 2, size);
    heading[size] = '\0';
    section->at = at = next_line(at, end);
    while (at < end && strncmp(at, "# ", 2) != 0)
        at = next_line(at, end);
    section->end = *text = at;
    return true;
}

struct page_range page_section(const char *text, const char *heading) {
    char found[PAGE_HEADING_MAX];
    struct page_range section;
    while (page_next_section(&text, found, &section))
        if (strcmp(found, heading) == 0) return section;
    return (struct page_range){0};
}

/* ---- blocks ---- */

/* The end of the lines from `at` that are like the first one: not blank, and literal or not as it is. A definition
 * starts a block of its own. */
static const char *block_end(const char *at, const char *end) {
    bool literal = is_literal(at, end);
    const char *last = next_line(at, end);
    for (at = last; at < end; at = next_line(at, end)) {
        if (literal && is_blank(at, end)) continue; /* part of it where more of it follows */
        if (is_blank(at, end) || is_literal(at, end) != literal || is_definition(at, end)) break;
        last = next_line(at, end);
    }
    return last;
}

static enum page_kind kind_of(const struct page_block *block, const char *end) {
    const char *after = block->text + block->size;
    if (is_literal(block->text, after)) return PAGE_LITERAL;
    if (block->text[0] == '@') return PAGE_DIRECTIVE;
    if (is_definition(block->text, after)) return PAGE_DEFINITION;
    return is_definition(after, end) ? PAGE_TERM : PAGE_PARAGRAPH;
}

bool page_next(struct page_range *page, struct page_block *block) {
    while (page->at < page->end && is_blank(page->at, page->end))
        page->at = next_line(page->at, page->end);
    if (page->at >= page->end) return false;
    const char *stop = block_end(page->at, page->end);
    *block = (struct page_block){.text = page->at, .size = (size_t)(stop - page->at)};
    block->kind = kind_of(block, page->end);
    if (block->kind == PAGE_DEFINITION) {
        block->text += 2;
        block->size -= 2;
    }
    page->at = stop;
    return true;
}

struct page_range page_included(const struct page_block *directive) {
    static const char word[] = "@include ";
    char heading[PAGE_HEADING_MAX];
    struct page_range section = {0};
    struct buffer name = {0};
    page_plain(&name, directive->text, directive->size);
    if (strncmp(buffer_text(&name), word, strlen(word)) != 0) bug("no text is included by %s", buffer_text(&name));
    const char *text = page_text(buffer_text(&name) + strlen(word));
    page_next_section(&text, heading, &section);
    buffer_free(&name);
    return section;
}

struct page_range page_definition(const char *text, const char *heading, const char *term) {
    struct page_range section = page_section(text, heading), found = {0};
    struct page_block block;
    for (bool is_found = false; page_next(&section, &block);) {
        bool is_term = block.kind == PAGE_TERM, matches = false;
        if (is_term) {
            struct buffer plain = {0};
            page_plain(&plain, block.text, block.size);
            matches = strcmp(buffer_text(&plain), term) == 0;
            buffer_free(&plain);
        }
        if (is_found && is_term) return found;
        if (is_found) found.end = section.at;
        if (matches) found = (struct page_range){section.at, section.at};
        is_found = is_found || matches;
    }
    return found;
}

/* ---- as plain text ---- */

void page_plain(struct buffer *out, const char *text, size_t size) {
    bool in_code = false;
    size_t start = out->size;
    for (size_t i = 0; i < size; i++) {
        bool is_space = isspace((unsigned char)text[i]);
        if (text[i] == '`')
            in_code = !in_code;
        else if (is_space && (out->size == start || out->data[out->size - 1] == ' '))
            continue;
        else if (in_code || text[i] != '*')
            buffer_add_char(out, is_space ? ' ' : text[i]);
    }
    while (out->size > start && out->data[out->size - 1] == ' ')
        out->data[--out->size] = '\0';
}

void page_wrap(struct buffer *out, const char *line, size_t start, size_t indent, size_t width) {
    size_t column = start;
    bool is_first = true;
    while (*line) {
        size_t size = strcspn(line, " ");
        if (!is_first && column + 1 + size > width) {
            buffer_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            buffer_add_char(out, ' ');
            column++;
        }
        buffer_add(out, line, size);
        column += size;
        is_first = false;
        line += size + (line[size] == ' ');
    }
    buffer_add_char(out, '\n');
}
