/* Functions line by line with their source, and the machine code behind each line, as one page: weblist.
 *
 * The page needs nothing else: no script, no network; what stands in it from a profile, a source or a binary is escaped. The code
 * of a line is shown when its line is clicked, which is a checkbox that is out of sight. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/path.h"
#include "base/sum.h"
#include "query/profile/scale.h"
#include "query/report/line_code.h"

/* ---- the page ---- */

/* The policy forbids all that the page does not need: whatever slipped through could neither run nor call home. */
static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri "
    "'none'; "
    "form-action 'none'\">\n"
    "<meta name=viewport content=\"width=device-width\">\n"
    "<meta name=referrer content=no-referrer>\n"
    "<style>\n"
    ":root { color-scheme: light dark; --back: #fff; --text: #1c2127; --dim: #7b8794; --rule: #dfe3e8; --bar: "
    "#f5f7f9;\n"
    "  --hot: 214 84 26; --link: #1a5fb4; --code: #0b6e4f; --call: #5b3ea6; }\n"
    "@media (prefers-color-scheme: dark) { :root { --back: #15181c; --text: #e3e7eb; --dim: #86909b; --rule: #2d333a;\n"
    "  --bar: #1d2126; --hot: 255 138 76; --link: #7ab4ff; --code: #6fd3a7; --call: #b9a2ff; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; background: var(--back); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }\n"
    "header, section { padding: 0 24px; }\n"
    "header { border-bottom: 1px solid var(--rule); padding-bottom: 16px; }\n"
    "h1 { font-size: 20px; margin: 20px 0 4px; overflow-wrap: anywhere; }\n"
    "h2 { font-size: 16px; margin: 28px 0 0; overflow-wrap: anywhere; }\n"
    ".legend { margin: 0 0 12px; padding: 0; list-style: none; color: var(--dim); overflow-wrap: anywhere; }\n"
    ".note { color: var(--dim); }\n"
    ".file { margin: 0 0 6px; color: var(--dim); overflow-wrap: anywhere; }\n"
    "nav { max-height: 40vh; overflow: auto; }\n"
    "nav a { display: flex; color: var(--link); text-decoration: none; }\n"
    "nav a:hover { background: var(--bar); }\n"
    "nav .s { padding-left: 16px; overflow-wrap: anywhere; }\n"
    ".code { border: 1px solid var(--rule); border-radius: 6px; overflow-x: auto; }\n"
    ".code, nav, .sum { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", "
    "monospace; }\n"
    ".sum { display: flex; margin-bottom: 6px; font-weight: 600; }\n"
    ".sum::before { content: \"total\"; width: 56px; color: var(--dim); font-weight: 400; }\n"
    ".head, .l > label, .row, .asm > div { display: flex; white-space: pre; min-width: max-content; "
    "}\n"
    ".head { color: var(--dim); background: var(--bar); border-bottom: 1px solid var(--rule); }\n"
    ".n { width: 56px; flex: none; padding-right: 8px; text-align: right; color: var(--dim); }\n"
    ".f, .c { width: 88px; flex: none; text-align: right; padding-right: 10px; }\n"
    ".q { width: 64px; flex: none; text-align: right; color: var(--dim); }\n"
    ".s { padding: 0 16px 0 10px; }\n"
    ".l { position: relative; }\n"
    ".l > input { position: absolute; opacity: 0; width: 1px; height: 1px; }\n"
    ".l > label { cursor: pointer; }\n"
    ".l > label .n::before { content: \"\\25B8\"; float: left; padding-left: 8px; }\n"
    ".l > input:checked + label .n::before { content: \"\\25BE\"; }\n"
    ".l > label:hover, .l > input:focus-visible + label { outline: 1px solid var(--link); outline-offset: -1px; }\n"
    ".asm { display: none; background: var(--bar); border-block: 1px solid var(--rule); padding: 2px 0; color: "
    "var(--code); }\n"
    ".l > input:checked ~ .asm, #all:checked ~ main .asm { display: block; }\n"
    ".asm > div::before { content: \"\"; width: 56px; flex: none; }\n"
    ".a { width: 104px; flex: none; text-align: right; color: var(--dim); }\n"
    ".a:not(:empty)::after { content: \":\"; }\n"
    ".t { min-width: 80ch; padding-left: 10px; }\n"
    ".p { color: var(--dim); padding: 0 16px; }\n"
    ".i .t { color: var(--call); }\n"
    ".gap { color: var(--dim); padding-left: 176px; }\n"
    ".h1 { background: rgb(var(--hot) / .04); } .h2 { background: rgb(var(--hot) / .08); }\n"
    ".h3 { background: rgb(var(--hot) / .13); } .h4 { background: rgb(var(--hot) / .18); }\n"
    ".h5 { background: rgb(var(--hot) / .24); } .h6 { background: rgb(var(--hot) / .30); }\n"
    ".h7 { background: rgb(var(--hot) / .36); } .h8 { background: rgb(var(--hot) / .42); }\n"
    ".h9 { background: rgb(var(--hot) / .48); }\n"
    "#all { margin: 14px 6px 0 24px; }\n"
    "footer { height: 48px; }\n"
    "@media print { .code { overflow: visible; } .l > label { cursor: auto; } #all, #all + label { display: none; } }\n"
    "</style>\n";

static const char page_body[] =
    "</title>\n</head>\n<body>\n<input type=checkbox id=all><label for=all>show all machine code</label>\n"
    "<main>\n";

static const char page_end[] = "</main>\n<footer></footer>\n</body>\n</html>\n";

enum {
    MERGE = 20, /* lines between two of one function that are shown with them */
    MARGIN = 5, /* lines shown before and behind a function */
    HEATS = 9,  /* shades of lines */
    TAB = 8,
};

struct part { /* a part of a file: lines of one function, begin <= line < end */
    const char *path, *function;
    size_t first, last; /* entries */
    int64_t begin, end, flat, cum;
};

struct web_listing {
    struct report *report;
    struct line_code lines;
    struct part *parts;
    size_t part_count;
    struct buffer *out;
    struct map files; /* path -> index + 1 into sources */
    struct source_file *sources;
    size_t source_count, boxes;
};

/* ---- sources ---- */

/* The line, or NULL: there is no such file, or it has no such line. */
static const char *source_line(struct web_listing *page, const char *path, int64_t line) {
    bool added;
    struct map_entry *entry = map_put(&page->files, path, strlen(path), &added);
    if (added) {
        char *why = NULL;
        page->sources = xrealloc(page->sources, (page->source_count + 1) * sizeof *page->sources);
        (void)report_open_source(page->report, &page->sources[page->source_count], path, &why);
        entry->value = (int64_t)page->source_count++;
        free(why);
    }
    const struct source_file *file = &page->sources[entry->value];
    return line >= 1 && line <= (int64_t)file->count ? file->lines[line - 1] : NULL;
}

static void close_sources(struct web_listing *page) {
    for (size_t i = 0; i < page->source_count; i++)
        source_close(&page->sources[i]);
    free(page->sources);
    map_free(&page->files);
}

/* ---- parts: the lines of each function, with their neighbourhood ---- */

static void sum_line(struct web_listing *page, size_t first, size_t last, int64_t *flat, int64_t *cum) {
    *flat = *cum = 0;
    for (size_t i = first; i < last; i++) {
        const struct code_point *point = &page->lines.points[page->lines.entries[i].point];
        sum_add(flat, point->flat, &page->lines.overflows);
        sum_add(cum, point->cum, &page->lines.overflows);
    }
}

static size_t end_of_line(const struct line_code *lines, size_t first) {
    size_t last = first + 1;
    while (last < lines->entry_count && lines->entries[last].path == lines->entries[first].path &&
           lines->entries[last].line == lines->entries[first].line)
        last++;
    return last;
}

static void find_parts(struct web_listing *page) {
    const struct line_code *lines = &page->lines;
    page->parts = xcalloc(lines->entry_count + 1, sizeof *page->parts);
    for (size_t first = 0, last; first < lines->entry_count; first = last) {
        const struct line_entry *entry = &lines->entries[first];
        struct part *part = page->part_count ? &page->parts[page->part_count - 1] : NULL;
        const char *function = line_code_readable(lines, entry->function);
        int64_t flat, cum;
        last = end_of_line(lines, first);
        sum_line(page, first, last, &flat, &cum);
        if (!part || part->path != entry->path || strcmp(part->function, function) != 0 ||
            entry->line - part->end >= MERGE) {
            part = &page->parts[page->part_count++];
            *part = (struct part){.path = entry->path, .function = function, .first = first, .begin = entry->line};
        }
        part->last = last;
        part->end = entry->line + 1;
        sum_add(&part->flat, flat, &page->lines.overflows);
        sum_add(&part->cum, cum, &page->lines.overflows);
    }
}

/* Line 0 is that of code whose line is not known: it has no neighbourhood. */
static void widen_parts(struct web_listing *page) {
    for (size_t i = 0; i < page->part_count; i++) {
        struct part *part = &page->parts[i], *before = i && part[-1].path == part->path ? part - 1 : NULL;
        bool is_last = i + 1 == page->part_count || part[1].path != part->path;
        if (before) {
            int64_t half = (part->begin - before->end) / 2;
            if (half > MARGIN) half = MARGIN;
            before->end += half;
            part->begin -= half;
        } else if (part->begin > MARGIN) {
            part->begin -= MARGIN;
        } else if (part->begin > 1) {
            part->begin = 1;
        }
        if (is_last) part->end += MARGIN;
    }
}

/* ---- values ---- */

static void add_value(struct web_listing *page, const char *class, int64_t value) {
    struct buffer text = {0};
    if (value)
        report_add_value(page->report, &text, value);
    else
        buffer_add_char(&text, '.');
    buffer_printf(page->out, "<span class=%s>", class);
    escape_xml(page->out, buffer_text(&text));
    buffer_add_text(page->out, "</span>");
    buffer_free(&text);
}

static int64_t size_of(int64_t value) {
    return value < 0 ? (int64_t)(0 - (uint64_t)value) : value;
}

/* The shade of a line: none for 0, else by its part of the function's value. */
static int heat_of(int64_t value, int64_t whole) {
    if (value == 0 || whole == 0) return 0;
    double part = (double)size_of(value) / (double)size_of(whole);
    int heat = 1 + (int)(part * (HEATS - 1) + 0.5);
    return heat > HEATS ? HEATS : heat;
}

/* ---- code ---- */

static size_t indentation(const char *line) {
    size_t column = 0;
    for (; *line == ' ' || *line == '\t'; line++)
        column = *line == '\t' ? (column / TAB + 1) * TAB : column + 1;
    return column;
}

static void add_place(struct web_listing *page, const char *file, int64_t line) {
    buffer_add_text(page->out, "<span class=p>");
    if (*file) escape_xml(page->out, path_base(file));
    if (*file) buffer_printf(page->out, ":%lld", (long long)line);
    buffer_add_text(page->out, "</span>");
}

/* The call that was inlined, for the code below it. */
static void add_call(struct web_listing *page, const struct code_frame *call, size_t indent) {
    const char *line = source_line(page, call->file, call->line);
    buffer_printf(page->out,
                  "<div class=i><span class=f></span><span class=c></span><span class=a></span><span "
                  "class=t>%*s",
                  (int)indent, "");
    if (line) escape_xml(page->out, line + strspn(line, " \t"));
    buffer_add_text(page->out, "</span>");
    add_place(page, call->file, call->line);
    buffer_add_text(page->out, "</div>\n");
}

static bool is_same_call(const struct code_frame *a, const struct code_frame *b) {
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Callees are kept innermost first, and shown outermost first. */
static void add_calls(struct web_listing *page, const struct line_entry *entry, const struct line_entry *before,
                      size_t indent) {
    size_t same = 0;
    for (size_t i = 0; i < entry->callee_count; i++) {
        const struct code_frame *call = &entry->callees[entry->callee_count - 1 - i];
        if (before && same == i && i < before->callee_count &&
            is_same_call(&before->callees[before->callee_count - 1 - i], call)) {
            same++;
            continue;
        }
        add_call(page, call, indent + 4 * i);
    }
}

static void add_instruction(struct web_listing *page, const struct code_point *point, int64_t whole, size_t indent) {
    buffer_printf(page->out, "<div class=h%d>", heat_of(point->cum, whole));
    add_value(page, "f", point->flat);
    add_value(page, "c", point->cum);
    buffer_printf(page->out, "<span class=a>%llx</span><span class=t>%*s", (unsigned long long)point->in_file,
                  (int)indent, "");
    escape_xml(page->out, point->text);
    buffer_add_text(page->out, "</span>");
    add_place(page, point->place.file, point->place.line);
    buffer_add_text(page->out, "</div>\n");
}

/* A mark where code that is not adjacent follows. */
static void add_code(struct web_listing *page, size_t first, size_t last, int64_t whole, size_t indent) {
    const struct line_code *lines = &page->lines;
    const struct line_entry *before = NULL;
    buffer_add_text(page->out, "<div class=asm>\n");
    for (size_t i = first; i < last; i++) {
        const struct line_entry *entry = &lines->entries[i];
        const struct code_point *point = &lines->points[entry->point];
        const struct code_point *past = before ? &lines->points[before->point] : NULL;
        if (past && (past->file != point->file || past->address + past->length != point->address))
            buffer_add_text(page->out, "<div class=gap>⋮</div>\n");
        add_calls(page, entry, before, indent + 4);
        if (*point->text) add_instruction(page, point, whole, indent + 4 + 4 * entry->callee_count);
        before = entry;
    }
    buffer_add_text(page->out, "</div>");
}

/* ---- lines ---- */

/* Is there more to show than the line? */
static bool has_code(const struct web_listing *page, size_t first, size_t last) {
    for (size_t i = first; i < last; i++)
        if (page->lines.entries[i].callee_count || *page->lines.points[page->lines.entries[i].point].text) return true;
    return false;
}

static const char *text_of_line(struct web_listing *page, const char *path, int64_t line, bool has_entries) {
    const char *text = source_line(page, path, line);
    if (text || !has_entries) return text;
    return line == 0 ? "<instructions with unknown line numbers>" : "???";
}

/* Tabs become blanks up to the next column of 8. */
static void add_source(struct buffer *out, const char *line) {
    for (size_t column = 0; *line; column++) {
        if (*line != '\t') {
            line += escape_xml_character(out, line);
            continue;
        }
        for (line++; column % TAB != TAB - 1; column++)
            buffer_add_char(out, ' ');
        buffer_add_char(out, ' ');
    }
}

static void add_line(struct web_listing *page, const struct part *part, int64_t line, size_t first, size_t last) {
    const char *text = text_of_line(page, part->path, line, first < last);
    int64_t flat, cum;
    if (!text) return;
    sum_line(page, first, last, &flat, &cum);
    bool opens = has_code(page, first, last);
    buffer_printf(page->out, "<div class=\"l h%d\">", heat_of(cum, part->cum));
    if (opens)
        buffer_printf(page->out, "<input type=checkbox id=x%zu><label for=x%zu>", page->boxes, page->boxes);
    else
        buffer_add_text(page->out, "<div class=row>");
    page->boxes += opens;
    buffer_printf(page->out, "<span class=n>%lld</span>", (long long)line);
    add_value(page, "f", flat);
    add_value(page, "c", cum);
    buffer_add_text(page->out, "<span class=s>");
    add_source(page->out, text);
    buffer_add_text(page->out, opens ? "</span></label>" : "</span></div>");
    if (opens) add_code(page, first, last, part->cum, indentation(text));
    buffer_add_text(page->out, "</div>\n");
}

static void add_total(struct web_listing *page, const struct part *part) {
    buffer_add_text(page->out, "<div class=sum>");
    add_value(page, "f", part->flat);
    add_value(page, "c", part->cum);
    buffer_printf(page->out, "<span class=q>%s</span>", scale_percentage(part->cum, page->report->total).text);
    buffer_add_text(page->out, "</div>\n");
}

static void add_part(struct web_listing *page, const struct part *part, size_t number) {
    size_t at = part->first, next;
    buffer_printf(page->out, "<section id=f%zu>\n<h2>", number);
    escape_xml(page->out, *part->function ? part->function : "(no name)");
    buffer_add_text(page->out, "</h2>\n<p class=file>");
    escape_xml(page->out, *part->path ? part->path : "(no source file is known)");
    buffer_add_text(page->out, "</p>\n");
    add_total(page, part);
    buffer_add_text(page->out,
                    "<div class=code>\n<div class=head><span class=n>line</span><span class=f>flat</span><span "
                    "class=c>cum</span><span class=s>source</span></div>\n");
    for (int64_t line = part->begin; line < part->end; line++, at = next) {
        bool has_entries = at < part->last && page->lines.entries[at].line == line;
        next = has_entries ? end_of_line(&page->lines, at) : at;
        add_line(page, part, line, at, next);
    }
    buffer_add_text(page->out, "</div>\n</section>\n");
}

/* ---- the page ---- */

static void add_legend(struct web_listing *page) {
    struct buffer labels = {0};
    report_add_profile_labels(page->report, &labels);
    buffer_add_text(page->out, "<header>\n<h1>");
    escape_xml(page->out, page->report->options.symbol);
    buffer_add_text(page->out, "</h1>\n<ul class=legend>\n");
    for (char *rest = labels.data, *line; rest && *rest;) {
        line = strsep(&rest, "\n");
        if (!*line) continue;
        buffer_add_text(page->out, "<li>");
        escape_xml(page->out, line);
        buffer_add_text(page->out, "</li>\n");
    }
    buffer_add_text(page->out, "<li>Total: ");
    buffer_clear(&labels);
    report_add_value(page->report, &labels, page->report->total);
    escape_xml(page->out, buffer_text(&labels));
    buffer_add_text(page->out, "</li>\n</ul>\n");
    if (page->lines.left_out)
        buffer_printf(page->out, "<p class=note>%zu more places are shown without their machine code.</p>\n",
                      page->lines.left_out);
    buffer_free(&labels);
}

/* Which functions there are, the heaviest first. */
static int compare_parts(const void *left, const void *right) {
    const struct part *a = *(const struct part *const *)left, *b = *(const struct part *const *)right;
    if (size_of(a->cum) != size_of(b->cum)) return size_of(a->cum) > size_of(b->cum) ? -1 : 1;
    return (a > b) - (a < b);
}

static void add_contents(struct web_listing *page) {
    const struct part **sorted = xcalloc(page->part_count + 1, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < page->part_count; i++)
        if (page->parts[i].cum) sorted[count++] = &page->parts[i];
    if (count) qsort(sorted, count, sizeof *sorted, compare_parts);
    buffer_add_text(page->out, "<nav>\n");
    for (size_t i = 0; i < count; i++) {
        buffer_printf(page->out, "<a href=\"#f%td\">", sorted[i] - page->parts);
        add_value(page, "f", sorted[i]->flat);
        add_value(page, "c", sorted[i]->cum);
        buffer_printf(page->out, "<span class=q>%s</span><span class=s>",
                      scale_percentage(sorted[i]->cum, page->report->total).text);
        escape_xml(page->out, *sorted[i]->function ? sorted[i]->function : "(no name)");
        buffer_add_text(page->out, "</span></a>\n");
    }
    buffer_add_text(page->out, "</nav>\n</header>\n");
    free(sorted);
}

static void add_page(struct web_listing *page) {
    buffer_add_text(page->out, page_head);
    buffer_add_text(page->out, "<title>");
    escape_xml(page->out, page->report->options.symbol);
    buffer_add_text(page->out, page_body);
    find_parts(page);
    widen_parts(page);
    add_legend(page);
    add_contents(page);
    for (size_t i = 0; i < page->part_count; i++)
        if (page->parts[i].cum) add_part(page, &page->parts[i], i);
    buffer_add_text(page->out, page_end);
}

int report_weblist(struct report *report, struct buffer *out, struct error *err) {
    struct web_listing page = {.report = report, .out = out};
    struct code machine;
    struct pattern *pattern = pattern_compile("weblist", report->options.symbol, err);
    if (!pattern) return -1;
    report_open_code(report, &machine);
    int code = line_code_find(&page.lines, report, &machine, pattern, err);
    if (code == 0) add_page(&page);
    report->overflows |= page.lines.overflows;
    close_sources(&page);
    free(page.parts);
    line_code_free(&page.lines);
    code_close(&machine);
    pattern_free(pattern);
    return code;
}
