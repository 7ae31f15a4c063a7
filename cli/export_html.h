/* export_html.h: clear export --html. */
#ifndef CLEAR_CLI_EXPORT_HTML_H
#define CLEAR_CLI_EXPORT_HTML_H

#include "base/error.h"

struct export_html {
    const char *db;         /* of --db, or NULL */
    const char *run, *base; /* words for runs or a file; base: or NULL */
    const char
        *source_path; /* directories whose sources may be in the file besides that of the warehouse; NULL: none */
    const char *output;
};

int export_html(const struct export_html *request, struct error *err);

#endif
