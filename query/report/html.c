#include "query/report/html.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the UTF-8 character at `at`; 0: there is none. As the standard has it: nothing overlong, no surrogates. */
static size_t character_size(const unsigned char *at) {
    size_t size = *at < 0x80                  ? 1
                  : *at >= 0xc2 && *at < 0xe0 ? 2
                  : *at >= 0xe0 && *at < 0xf0 ? 3
                  : *at >= 0xf0 && *at < 0xf5 ? 4
                                              : 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) ||
        (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    return size;
}

static size_t add_character(struct buffer *out, const char *at) {
    size_t size = character_size((const unsigned char *)at);
    bool is_control = (unsigned char)*at < ' ' || *at == 0x7f;
    switch (*at) {
    case '&': buffer_add_text(out, "&amp;"); return 1;
    case '<': buffer_add_text(out, "&lt;"); return 1;
    case '>': buffer_add_text(out, "&gt;"); return 1;
    case '"': buffer_add_text(out, "&quot;"); return 1;
    case '\'': buffer_add_text(out, "&#39;"); return 1;
    case '\t':
    case '\n': buffer_add_char(out, *at); return 1;
    default: break;
    }
    if (size == 0 || is_control) {
        buffer_add_text(out, "\xef\xbf\xbd");
        return 1;
    }
    buffer_add(out, at, size);
    return size;
}

void html_add(struct buffer *out, const char *text) {
    while (*text)
        text += add_character(out, text);
}

void html_add_source(struct buffer *out, const char *line) {
    enum { TAB = 8 };
    for (size_t column = 0; *line; column++) {
        if (*line != '\t') {
            line += add_character(out, line);
            continue;
        }
        for (line++; column % TAB != TAB - 1; column++)
            buffer_add_char(out, ' ');
        buffer_add_char(out, ' ');
    }
}
