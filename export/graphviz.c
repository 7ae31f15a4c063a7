/* The call graph drawn by graphviz's own program: svg, png, pdf, ps, gif. */
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "export/format.h"

/* A graph that takes graphviz this long is not one that anybody could read. */
static const struct child_limits limits = {.output_max = (size_t)1 << 30, .seconds = 600};

/* graphviz refuses quoted strings of more than 16384 bytes. */
enum { STRING_MAX = 4000 };

/* The length of what graphviz would take for a character of HTML ("&lt;", "&#7;"); 0: it is an ampersand. */
static size_t entity_size(const char *at) {
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t sign = at[1] == '#' ? 2 : 1, size = strspn(at + sign, letters);
    return size && at[sign + size] == ';' ? sign + size + 1 : 0;
}

/* The bytes at `at` that no picture in XML can have: control characters, and the two code points that are no characters. */
static size_t unprintable_size(const char *at) {
    unsigned char c = (unsigned char)*at;
    if (strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0) return 3;
    return (c < ' ' && c != '\n' && c != '\t') || c == 127;
}

/* One piece of the text that must not be cut; its size in `dot`. */
static size_t add_piece(struct buffer *out, const char *at) {
    size_t unprintable = unprintable_size(at), size = 1;
    if (unprintable) {
        unsigned code = unprintable == 1 ? (unsigned char)*at : (unsigned char)at[2] == 0xbe ? 0xfffeu : 0xffffu;
        buffer_printf(out, "\\\\u%04x", code);
        return unprintable;
    }
    if (*at == '&' && entity_size(at)) {
        buffer_add_text(out, "&amp;");
        return 1;
    }
    if (*at == '\\' && at[1]) size = 2;
    while (size < 4 && ((unsigned char)at[size] & 0xc0) == 0x80)
        size++;
    buffer_add(out, at, size);
    return size;
}

/* The graph with names that graphviz takes, whatever a profile says: every character is one that a picture can have, and is shown as it is
 * in the profile; very long ones end in "…". */
static void add_drawable(struct buffer *out, const char *dot) {
    size_t begin = 0; /* of the string in `out`; 0: outside of one */
    while (*dot) {
        if (*dot == '"') {
            buffer_add_char(out, *dot++);
            begin = begin ? 0 : out->size;
            continue;
        }
        dot += add_piece(out, dot);
        if (!begin || out->size < begin + STRING_MAX) continue;
        buffer_add_text(out, "…");
        while (*dot && *dot != '"')
            dot += *dot == '\\' && dot[1] ? 2 : 1;
    }
}

/* Appends what `dot -Tformat` (svg, png, pdf, ps, gif) makes of `dot`, whose texts may hold anything: what graphviz does not take is made
 * visible, or cut behind 4,000 bytes. Without graphviz a failure that says how to get it. */
static int graphviz_draw(const char *format, const struct buffer *dot, struct buffer *out, struct error *err) {
    char *type = xasprintf("-T%s", format);
    const char *const arguments[] = {"dot", type, NULL};
    struct buffer drawable = {0};
    add_drawable(&drawable, buffer_text(dot));
    enum child_end end = child_read(arguments, &drawable, &limits, out, err);
    buffer_free(&drawable);
    free(type);
    if (end == CHILD_MISSING) return error_fail(err, "%s needs graphviz (Debian: apt-get install graphviz)", format);
    return end == CHILD_DONE ? 0 : error_prefix(err, "the graph as %s: ", format);
}

int picture_write(struct report *report, struct buffer *out, struct error *err) {
    struct buffer dot = {0};
    int code = dot_write(report, &dot, err);
    if (code == 0) code = graphviz_draw(report->format->name, &dot, out, err);
    buffer_free(&dot);
    return code;
}
