/* output.h: writes a report to standard output or to a file. A file is written completely or not at all. */
#ifndef CLEAR_CLI_REPORT_OUTPUT_H
#define CLEAR_CLI_REPORT_OUTPUT_H

#include "query/report/report.h"

/* A filter_note that prints on standard error. */
void report_print_note(void *context, const char *message);

/* Writes what report_write made. `path` NULL or "-" is standard output; what is not for terminals does not go to one.
 * Errors of standard output are for whoever owns the stream (main does, at the end). */
int report_output(const struct report_format *format, const struct buffer *out, const char *path, struct error *err);

#endif
