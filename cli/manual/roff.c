#include "cli/manual/roff.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/manual/page.h"

enum { LITERAL_INDENT = 4, TERM_INDENT = 7, TERM_MAX = 24 };

struct roff {
    struct buffer *out;
    manual_list *list;
    const char *names;   /* the synopsis: words in capitals that stand in it are italic */
    bool wants_no_break; /* a heading was written: the paragraph below it needs no request */
};

/* ---- text ---- */

/* A character of running text. In bold text a hyphen is a minus, which can be copied from a terminal. */
static void add_char(struct buffer *out, char c, bool is_code) {
    bool at_start = !out->size || out->data[out->size - 1] == '\n';
    if (at_start && (c == '.' || c == '\'')) buffer_add_text(out, "\\&");
    if (c == '\\')
        buffer_add_text(out, "\\e");
    else if (is_code && c == '-')
        buffer_add_text(out, "\\-");
    else if (is_code && c == '\'')
        buffer_add_text(out, "\\(aq");
    else if (is_code && c == '~')
        buffer_add_text(out, "\\(ti");
    else if (is_code && c == '^')
        buffer_add_text(out, "\\(ha");
    else
        buffer_add_char(out, c);
}

static void add_code(struct buffer *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        add_char(out, text[i], true);
}

static void add_styled(struct buffer *out, char font, const char *text, size_t size) {
    if (size == 0) return;
    buffer_printf(out, "\\f%c", font);
    add_code(out, text, size);
    buffer_add_text(out, "\\fR");
}

static size_t capitals(const char *text, size_t size) {
    size_t length = 0;
    while (length < size && (isupper((unsigned char)text[length]) || (length && text[length] == '_')))
        length++;
    return length < size && isalnum((unsigned char)text[length]) ? 0 : length;
}

/* Does a word in capitals stand for a value, as TARGET in the synopsis does? */
static bool is_name(const char *names, const char *word, size_t size) {
    for (const char *at = names; size && at && *at; at++) {
        size_t length = capitals(at, strlen(at));
        if (length == size && strncmp(at, word, size) == 0) return true;
        if (length) at += length - 1;
    }
    return false;
}

/* The size of "clear-profile(1)" at `text`; 0: it is something else. */
static size_t reference(const char *text, size_t size) {
    size_t name = 0;
    while (name < size && (isalnum((unsigned char)text[name]) || strchr("-._", text[name])))
        name++;
    bool is_one = name && size - name >= 3 && text[name] == '(' && isdigit((unsigned char)text[name + 1]);
    return is_one && text[name + 2] == ')' ? name : 0;
}

/* A span of running text: `code`, *this*, NAME, page(1), or a word. Gives its size. */
static size_t add_span(struct roff *roff, const char *text, size_t size) {
    const char *end = *text == '`' || *text == '*' ? memchr(text + 1, *text, size - 1) : NULL;
    size_t name = reference(text, size), word = capitals(text, size), other = 1;
    if (end) {
        add_styled(roff->out, *text == '`' ? 'B' : 'I', text + 1, (size_t)(end - text - 1));
        return (size_t)(end - text) + 1;
    }
    if (name || is_name(roff->names, text, word)) {
        add_styled(roff->out, name ? 'B' : 'I', text, name ? name : word);
        return name ? name : word;
    }
    while (other < size && isalnum((unsigned char)text[other - 1]) && isalnum((unsigned char)text[other]))
        other++;
    for (size_t i = 0; i < other; i++)
        add_char(roff->out, text[i], false);
    return other;
}

/* Each sentence begins a line: man breaks the others itself. */
static void add_text(struct roff *roff, const char *text, size_t size) {
    bool is_blank = true;
    for (size_t i = 0; i < size;) {
        if (isspace((unsigned char)text[i])) {
            bool is_end = i && strchr(".?!", text[i - 1]) && i + 1 < size;
            if (!is_blank) buffer_add_char(roff->out, is_end ? '\n' : ' ');
            is_blank = true;
            i++;
            continue;
        }
        is_blank = false;
        i += add_span(roff, text + i, size - i);
    }
    while (roff->out->size && roff->out->data[roff->out->size - 1] == ' ')
        roff->out->data[--roff->out->size] = '\0';
    buffer_add_char(roff->out, '\n');
}

/* A synopsis line or the value of an option: capitals are italic, brackets and dots plain, the rest bold. */
static void add_syntax(struct buffer *out, const char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        size_t word = capitals(text + i, size - i), plain = strspn(text + i, " []|=<.@"), bold;
        if (word) {
            add_styled(out, 'I', text + i, word);
            i += word;
            continue;
        }
        if (plain > size - i) plain = size - i;
        add_code(out, text + i, plain);
        i += plain;
        for (bold = 0;
             i + bold < size && !strchr(" []|=<@", text[i + bold]) && strncmp(text + i + bold, "...", 3) != 0;)
            bold += 1;
        if (plain && capitals(text + i, size - i)) continue;
        add_styled(out, 'B', text + i, bold);
        i += bold;
    }
}

/* ---- blocks ---- */

static void break_paragraph(struct roff *roff, const char *request) {
    if (!roff->wants_no_break) buffer_printf(roff->out, "%s\n", request);
    roff->wants_no_break = false;
}

/* `columns`: its indentation from that of the section; 0: the synopsis. */
static void add_literal(struct roff *roff, const struct page_block *block, int columns) {
    bool is_synopsis = columns == 0;
    if (!is_synopsis) buffer_printf(roff->out, ".RS %d\n", columns);
    buffer_add_text(roff->out, ".nf\n");
    for (size_t at = 0; at < block->size;) {
        const char *line = block->text + at, *stop = memchr(line, '\n', block->size - at);
        size_t size = stop ? (size_t)(stop - line) : block->size - at;
        size_t indent = size < LITERAL_INDENT ? size : LITERAL_INDENT;
        (is_synopsis ? add_syntax : add_code)(roff->out, line + indent, size - indent);
        buffer_add_char(roff->out, '\n');
        at += size + 1;
    }
    buffer_add_text(roff->out, is_synopsis ? ".fi\n" : ".fi\n.RE\n");
}

/* The columns that the terms of a list need, if that is not too many to have the text beside them. */
static size_t term_width(struct roff *roff, const char *list) {
    struct manual_entry entry;
    size_t width = 0;
    for (size_t i = 0; roff->list(list, i, &entry); i++) {
        struct buffer term = {0};
        page_plain(&term, entry.term, strlen(entry.term));
        if (term.size > width) width = term.size;
        buffer_free(&term);
    }
    return width > TERM_MAX ? TERM_INDENT : width + 2;
}

static void add_entries(struct roff *roff, const struct page_block *block) {
    struct buffer name = {0};
    struct manual_entry entry;
    page_plain(&name, block->text + 1, block->size - 1);
    size_t width = term_width(roff, buffer_text(&name));
    for (size_t i = 0; roff->list(buffer_text(&name), i, &entry); i++) {
        buffer_printf(roff->out, "%s.TP %zu\n", i == 1 ? ".PD 0\n" : "", width);
        add_text(roff, entry.term, strlen(entry.term));
        add_text(roff, entry.text, strlen(entry.text));
    }
    buffer_add_text(roff->out, ".PD\n");
    roff->wants_no_break = false;
    buffer_free(&name);
}

/* `continued` begins a paragraph: ".PP", or ".IP" inside the text of a term. */
static void add_blocks(struct roff *roff, struct page_range page, const char *continued) {
    struct page_block block;
    while (page_next(&page, &block)) {
        switch (block.kind) {
        case PAGE_PARAGRAPH:
            break_paragraph(roff, continued);
            add_text(roff, block.text, block.size);
            break;
        case PAGE_LITERAL:
            add_literal(roff, &block, strcmp(continued, ".IP") == 0 ? TERM_INDENT + LITERAL_INDENT : LITERAL_INDENT);
            break;
        case PAGE_TERM:
            buffer_add_text(roff->out, ".TP\n");
            add_text(roff, block.text, block.size);
            roff->wants_no_break = true;
            break;
        case PAGE_DEFINITION:
            break_paragraph(roff, ".IP");
            add_text(roff, block.text, block.size);
            break;
        case PAGE_DIRECTIVE:
            if (strncmp(block.text, "@include ", 9) == 0)
                add_blocks(roff, page_included(&block), continued);
            else
                add_entries(roff, &block);
            break;
        }
    }
}

/* ---- options ---- */

static void add_option(struct roff *roff, const struct option_row *row, const char *text) {
    struct buffer *out = roff->out;
    char *term = xasprintf("--%s", row->name);
    buffer_add_text(out, ".TP\n");
    if (row->letter) {
        add_styled(out, 'B', (const char[]){'-', row->letter}, 2);
        buffer_add_text(out, ", ");
    }
    add_styled(out, 'B', term, strlen(term));
    if (row->argument) {
        if (option_takes_value(row)) buffer_add_char(out, ' ');
        add_syntax(out, row->argument, strlen(row->argument));
    }
    buffer_add_char(out, '\n');
    struct roff inside = *roff;
    inside.names = row->argument ? row->argument : "";
    add_text(&inside, row->help, strlen(row->help));
    if (row->is_repeatable) add_text(roff, "Can be given more than once.", strlen("Can be given more than once."));
    inside = *roff;
    add_blocks(&inside, page_definition(text, "OPTIONS", term), ".IP");
    free(term);
}

static void add_options(struct roff *roff, const struct command *command, const char *text) {
    const struct option_group *last = NULL;
    for (struct option_walk walk = {.group = command->options}; option_next(&walk);) {
        if (!walk.row->help) continue;
        if (walk.group != last) buffer_printf(roff->out, ".SS %s\n", walk.group->heading);
        last = walk.group;
        add_option(roff, walk.row, text);
    }
}

/* The paragraphs before the first term. */
static void add_introduction(struct roff *roff, const char *text) {
    struct page_range section = page_section(text, "OPTIONS");
    struct page_block block;
    while (page_next(&section, &block) && block.kind == PAGE_PARAGRAPH) {
        break_paragraph(roff, ".PP");
        add_text(roff, block.text, block.size);
    }
}

/* ---- pages ---- */

static void add_title(struct buffer *out, const char *name, int section) {
    buffer_add_text(out, ".TH ");
    for (; *name; name++)
        add_char(out, (char)toupper((unsigned char)*name), true);
    buffer_printf(out, " %d \"\" \"clear %s\" \"clear manual\"\n.nh\n.ad l\n", section, CLEAR_VERSION);
}

static void add_synopsis(struct roff *roff, struct page_range section) {
    struct page_block block;
    if (page_next(&section, &block)) add_literal(roff, &block, 0);
}

/* "clear - record profiles", of which man makes an index. */
static void add_name(struct roff *roff, struct page_range section) {
    struct buffer line = {0};
    struct page_block block;
    if (page_next(&section, &block)) page_plain(&line, block.text, block.size);
    const char *dash = strstr(buffer_text(&line), " - ");
    if (!dash) bug("a section NAME without \" - \"");
    buffer_printf(roff->out, "%.*s \\- %s\n", (int)(dash - buffer_text(&line)), buffer_text(&line), dash + 3);
    buffer_free(&line);
}

/* The sections as they stand in the text; `command` may be NULL. */
static void add_sections(struct roff *roff, const char *text, const struct command *command) {
    char heading[PAGE_HEADING_MAX];
    struct page_range section;
    for (const char *at = text; page_next_section(&at, heading, &section);) {
        buffer_printf(roff->out, ".SH %s\n", heading);
        roff->wants_no_break = true;
        if (strcmp(heading, "NAME") == 0) {
            add_name(roff, section);
        } else if (strcmp(heading, "SYNOPSIS") == 0) {
            add_synopsis(roff, section);
        } else if (command && strcmp(heading, "OPTIONS") == 0) {
            add_introduction(roff, text);
            add_options(roff, command, text);
        } else {
            add_blocks(roff, section, ".PP");
        }
    }
}

/* The words of the synopsis, which are the names that the text below it speaks of. free() it. */
static char *names_of(const char *text) {
    struct page_range section = page_section(text, "SYNOPSIS");
    return section.at ? xasprintf("%.*s", (int)(section.end - section.at), section.at) : xstrdup("");
}

void roff_command(struct buffer *out, const struct command *command, manual_list *list) {
    const char *text = page_text(command->name);
    char *names = names_of(text), *title = xasprintf("clear-%s", command->name);
    struct roff roff = {.out = out, .list = list, .names = names};
    add_title(out, title, 1);
    buffer_printf(out, ".SH NAME\n%s \\- %s\n", title, command->help);
    add_sections(&roff, text, command);
    free(title);
    free(names);
}

void roff_page(struct buffer *out, const char *name, int section, manual_list *list) {
    const char *text = page_text(name);
    char *names = names_of(text);
    struct roff roff = {.out = out, .list = list, .names = names};
    add_title(out, name, section);
    add_sections(&roff, text, NULL);
    free(names);
}
