#include "cli/manual/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/wrap.h"
#include "cli/manual/page.h"

enum { OPTION_COLUMN = 26 };

/* ---- the text ---- */

static void add_paragraph(struct buffer *out, const struct page_block *block, const char *before, size_t width) {
    struct buffer line = {0};
    page_plain(&line, block->text, block->size);
    buffer_add_text(out, before);
    page_wrap(out, buffer_text(&line), strlen(before), strlen(before), width);
    buffer_free(&line);
}

/* A literal, each line behind `first` or `others` in the place of the indentation that it has in the source. */
static void add_literal(struct buffer *out, const struct page_block *block, const char *first, const char *others) {
    const char *before = first;
    for (size_t at = 0; at < block->size; before = others) {
        const char *line = block->text + at, *stop = memchr(line, '\n', block->size - at);
        size_t size = stop ? (size_t)(stop - line) : block->size - at, indent = size < 4 ? size : 4;
        buffer_printf(out, "%s%.*s\n", before, (int)(size - indent), line + indent);
        at += size + 1;
    }
}

static void add_synopsis(struct buffer *out, const char *text) {
    struct page_range section = page_section(text, "SYNOPSIS");
    struct page_block block;
    if (page_next(&section, &block)) add_literal(out, &block, "usage: ", "       ");
}

static void add_first_paragraph(struct buffer *out, const char *text, const char *heading, size_t width) {
    struct page_range section = page_section(text, heading), other;
    struct page_block block;
    if (!page_next(&section, &block)) return;
    if (block.kind == PAGE_DIRECTIVE) {
        other = page_included(&block);
        if (!page_next(&other, &block)) return;
    }
    buffer_add_char(out, '\n');
    add_paragraph(out, &block, "", width);
}

static void add_examples(struct buffer *out, const char *text, size_t width) {
    enum { EXAMPLES_SHOWN = 2 };
    struct page_range section = page_section(text, "EXAMPLES");
    struct page_block block;
    for (int shown = 0; shown < EXAMPLES_SHOWN && page_next(&section, &block);) {
        if (block.kind != PAGE_LITERAL) {
            buffer_add_text(out, "\n");
            add_paragraph(out, &block, "  # ", width);
            continue;
        }
        add_literal(out, &block, "  ", "  ");
        shown++;
    }
}

/* ---- options ---- */

/* A name and its help, over several lines where it is long. */
static void add_row(struct buffer *out, const char *name, const char *help, size_t width) {
    struct buffer line = {0};
    page_plain(&line, help, strlen(help));
    bool is_long = strlen(name) + 4 > OPTION_COLUMN;
    buffer_printf(out, "  %s%s%*s", name, is_long ? "\n" : "", OPTION_COLUMN - (is_long ? 0 : (int)strlen(name) + 2),
                  "");
    page_wrap(out, buffer_text(&line), OPTION_COLUMN, OPTION_COLUMN, width);
    buffer_free(&line);
}

/* The list of the section FORMATS, where there is one. */
static void add_formats(struct buffer *out, const char *text, manual_list *list, size_t width) {
    struct page_range section = page_section(text, "FORMATS");
    struct page_block block;
    if (!page_next(&section, &block) || block.kind != PAGE_DIRECTIVE) return;
    struct buffer name = {0}, term = {0};
    struct manual_entry entry;
    page_plain(&name, block.text + 1, block.size - 1);
    buffer_add_text(out, "\nFormats:\n");
    for (size_t i = 0; list(buffer_text(&name), i, &entry); i++) {
        page_plain(&term, entry.term, strlen(entry.term));
        add_row(out, buffer_text(&term), entry.text, width);
        buffer_clear(&term);
    }
    buffer_free(&name);
    buffer_free(&term);
}

static char *option_text(const struct option_row *row) {
    const char letter[] = {'-', row->letter, ',', ' ', '\0'};
    return xasprintf("%s--%s%s%s", row->letter ? letter : "", row->name, option_takes_value(row) ? " " : "",
                     row->argument ? row->argument : "");
}

static void add_option(struct buffer *out, const struct option_row *row, size_t width) {
    char *name = option_text(row);
    add_row(out, name, row->help, width);
    free(name);
}

static void add_options(struct buffer *out, const struct option_group *groups, size_t width) {
    const struct option_group *last = NULL;
    for (struct option_walk walk = {.group = groups}; option_next(&walk);) {
        if (!walk.row->help) continue;
        if (walk.group != last) buffer_printf(out, "\n%s:\n", walk.group->heading);
        last = walk.group;
        add_option(out, walk.row, width);
    }
}

void usage_print(const struct command *command, manual_list *list, FILE *out) {
    const char *text = page_text(command->name);
    size_t width = (size_t)report_width(out);
    struct buffer page = {0};
    add_synopsis(&page, text);
    add_examples(&page, text, width);
    add_first_paragraph(&page, text, "DESCRIPTION", width);
    add_formats(&page, text, list, width);
    add_options(&page, command->options, width);
    add_first_paragraph(&page, text, "NAMING RUNS", width);
    fputs(buffer_text(&page), out);
    buffer_free(&page);
}

/* ---- a page of the manual that is of no command ---- */

static void add_blocks(struct buffer *out, struct page_range *section, manual_list *list, size_t width);

/* What "@include NAME" or "@LIST" stands for. */
static void add_directive(struct buffer *out, const struct page_block *block, manual_list *list, size_t width) {
    static const char include[] = "@include ";
    if (block->size > strlen(include) && memcmp(block->text, include, strlen(include)) == 0) {
        struct page_range included = page_included(block);
        add_blocks(out, &included, list, width);
        return;
    }
    struct buffer name = {0}, term = {0};
    struct manual_entry entry;
    page_plain(&name, block->text + 1, block->size - 1);
    for (size_t i = 0; list(buffer_text(&name), i, &entry); i++) {
        buffer_clear(&term);
        page_plain(&term, entry.term, strlen(entry.term));
        add_row(out, buffer_text(&term), entry.text, width);
    }
    buffer_free(&name);
    buffer_free(&term);
}

static void add_term(struct buffer *out, struct page_range *section, const struct page_block *term, size_t width) {
    struct buffer name = {0}, text = {0};
    struct page_block definition;
    page_plain(&name, term->text, term->size);
    if (page_next(section, &definition)) buffer_add(&text, definition.text, definition.size);
    add_row(out, buffer_text(&name), buffer_text(&text), width);
    buffer_free(&name);
    buffer_free(&text);
}

static void add_blocks(struct buffer *out, struct page_range *section, manual_list *list, size_t width) {
    static const char *const before[] = {[PAGE_PARAGRAPH] = "  ", [PAGE_DEFINITION] = "                          "};
    struct page_block block;
    for (size_t count = 0; page_next(section, &block); count++) {
        if (count > 0 && block.kind == PAGE_PARAGRAPH) buffer_add_char(out, '\n');
        if (block.kind == PAGE_DIRECTIVE) {
            add_directive(out, &block, list, width);
        } else if (block.kind == PAGE_TERM) {
            add_term(out, section, &block, width);
        } else if (block.kind == PAGE_LITERAL) {
            add_literal(out, &block, "    ", "    ");
        } else {
            add_paragraph(out, &block, before[block.kind], width);
        }
    }
}

void usage_print_page(const char *name, manual_list *list, FILE *out) {
    const char *text = page_text(name);
    char heading[PAGE_HEADING_MAX];
    struct page_range section;
    struct buffer page = {0};
    while (page_next_section(&text, heading, &section)) {
        buffer_printf(&page, "%s%s\n", page.size ? "\n" : "", heading);
        add_blocks(&page, &section, list, (size_t)report_width(out));
    }
    fputs(buffer_text(&page), out);
    buffer_free(&page);
}

/* ---- options as a table of Markdown ---- */

/* A bar would end the cell. */
static void add_cell(struct buffer *out, const char *text) {
    for (; *text; text++) {
        if (*text == '|') buffer_add_char(out, '\\');
        buffer_add_char(out, *text);
    }
}

static void add_markdown_row(struct buffer *out, const struct option_row *row) {
    char *name = option_text(row);
    buffer_add_text(out, "| `");
    add_cell(out, name);
    buffer_add_text(out, "` | ");
    add_cell(out, row->help);
    buffer_add_text(out, " |\n");
    free(name);
}

static bool is_wanted(const char *heading, char *const *headings) {
    for (char *const *wanted = headings; *wanted; wanted++)
        if (strcmp(*wanted, heading) == 0) return true;
    return !*headings;
}

int usage_print_markdown(const struct command *command, char *const *headings, FILE *out, struct error *err) {
    struct buffer table = {0};
    for (struct option_walk walk = {.group = command->options}; option_next(&walk);)
        if (walk.row->help && is_wanted(walk.group->heading, headings)) add_markdown_row(&table, walk.row);
    if (table.size) fprintf(out, "| option | meaning |\n|---|---|\n%s", buffer_text(&table));
    int code = table.size ? 0 : error_usage(err, "clear %s has no options under %s", command->name, *headings);
    buffer_free(&table);
    return code;
}

/* ---- all commands ---- */

const char *const command_purposes[COMMAND_PURPOSES] = {"record", "look", "keep", "ask", "move", "help"};

/* The next command that has a line of its own; `names` gets those before it. */
static const struct command *take_line(const struct command *command, struct buffer *names) {
    const char *together = command->together;
    buffer_clear(names);
    buffer_add_text(names, command->name);
    for (command++; together && command->together && strcmp(command->together, together) == 0; command++)
        buffer_printf(names, ", %s", command->name);
    return command;
}

void usage_print_all(const struct command *commands, FILE *out) {
    fputs("usage: clear COMMAND [OPTION]... [ARGUMENT]...\n"
          "Keeps profiles of programs in one SQLite file. Start with these three:\n"
          "  clear profile ./program    clear doctor    clear top\n"
          "\n",
          out);
    enum command_purpose purpose = COMMAND_PURPOSES;
    struct buffer names = {0};
    for (const struct command *command = commands, *next; command->name; command = next) {
        bool is_first = command->purpose != purpose;
        purpose = command->purpose;
        next = take_line(command, &names);
        fprintf(out, "%-7s %-8s %s%s\n", is_first ? command_purposes[purpose] : "", names.data,
                names.size > 8 ? " " : "", command->together ? command->together : command->help);
    }
    buffer_free(&names);
    fputs("\n"
          "clear COMMAND --help explains a command. A unique prefix is enough: clear exp.\n",
          out);
}
