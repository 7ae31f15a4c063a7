/* escape.h: appends a text that may hold anything to a document, so that it stays a text there and nothing else. For
 * JSON see buffer_add_json_string (base/buffer.h). */
#ifndef CLEAR_BASE_ESCAPE_H
#define CLEAR_BASE_ESCAPE_H

#include "base/buffer.h"

/* A field of a CSV file (RFC 4180): in quotes where it holds a quote, a comma or a line end, else as it is. */
void escape_csv(struct buffer *out, const char *text, size_t size);

/* The text with '?' in the place of each control character but tabs and line ends: for what is looked at on terminals. */
void escape_controls(struct buffer *out, const char *text, size_t size);

/* One word for a POSIX shell: as it is where that is safe, else in single quotes. */
void escape_shell(struct buffer *out, const char *word);
/* A command line of such words, NULL-terminated, a blank between two. */
void escape_shell_words(struct buffer *out, char *const *words);

/* XML or HTML, in an element or in a quoted attribute. What is not UTF-8, and control characters but tabs and newlines,
 * which XML does not know, become U+FFFD. */
void escape_xml(struct buffer *out, const char *text);

/* The same of the first character alone; the number of bytes that it took, 0 at the end of the text. */
size_t escape_xml_character(struct buffer *out, const char *text);

#endif
