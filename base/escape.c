#include "base/escape.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

void escape_csv(struct buffer *out, const char *text, size_t size) {
    bool is_plain = true;
    for (size_t i = 0; i < size && is_plain; i++)
        is_plain = text[i] != '"' && text[i] != ',' && text[i] != '\n' && text[i] != '\r';
    if (is_plain) {
        buffer_add(out, text, size);
        return;
    }
    buffer_add_char(out, '"');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"') buffer_add_char(out, '"');
        buffer_add_char(out, text[i]);
    }
    buffer_add_char(out, '"');
}

void escape_controls(struct buffer *out, const char *text, size_t size) {
    for (size_t i = 0, length; i < size; i += length) {
        bool is_layout = text[i] && strchr("\t\n\r", text[i]);
        length = utf8_length(text + i, size - i);
        length += !length; /* a byte that is no UTF-8 */
        if (utf8_is_control(text + i, size - i) && !is_layout)
            buffer_add_char(out, '?');
        else
            buffer_add(out, text + i, length);
    }
}

void escape_shell(struct buffer *out, const char *word) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && strspn(word, safe) == strlen(word)) {
        buffer_add_text(out, word);
        return;
    }
    buffer_add_char(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') buffer_add_text(out, "'\\'");
        buffer_add_char(out, *word);
    }
    buffer_add_char(out, '\'');
}

void escape_shell_words(struct buffer *out, char *const *words) {
    for (char *const *word = words; *word; word++) {
        if (word > words) buffer_add_char(out, ' ');
        escape_shell(out, *word);
    }
}

static const char *entity_of(char c) {
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

size_t escape_xml_character(struct buffer *out, const char *text) {
    enum { LONGEST = 4 };
    const char *entity = entity_of(*text);
    size_t size = utf8_length(text, strnlen(text, LONGEST));
    bool is_control = ((unsigned char)*text < ' ' && *text != '\t' && *text != '\n') || *text == 0x7f;
    if (!*text) return 0;
    if (entity)
        buffer_add_text(out, entity);
    else if (size == 0 || is_control)
        buffer_add_text(out, "\xef\xbf\xbd");
    else
        buffer_add(out, text, size);
    return size ? size : 1;
}

void escape_xml(struct buffer *out, const char *text) {
    for (size_t size; (size = escape_xml_character(out, text)); text += size)
        continue;
}
