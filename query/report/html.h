/* html.h: text from outside in a page of ours. */
#ifndef CLEAR_QUERY_REPORT_HTML_H
#define CLEAR_QUERY_REPORT_HTML_H

#include "base/buffer.h"

/* Appends text such that it is text and nothing else, in an element or in a quoted attribute. What is not UTF-8, and control
 * characters but tabs and newlines, become U+FFFD. */
void html_add(struct buffer *out, const char *text);
/* A line of source: tabs become blanks up to the next column of 8. */
void html_add_source(struct buffer *out, const char *line);

#endif
