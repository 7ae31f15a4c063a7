/* parameters.h: what stands behind the ? of a URL. */
#ifndef CLEAR_SERVE_PARAMETERS_H
#define CLEAR_SERVE_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "query/timespan.h"

#define SECONDS_MAX_NS INT64_C(3600000000000)

struct parameters {
    char *run, *format, *type, *from, *to; /* NULL: not given */
    bool has_seconds;
    int64_t seconds_ns;           /* > 0, at most SECONDS_MAX_NS */
    struct timespan_request span; /* of from=, to= and window=; its texts are ours */
    bool is_text;                 /* debug=1 or more */
};

/* Decodes %XX in place. -1: one that is broken, or a control character, which no name of ours has. */
int url_decode(char *text);

/* `text` is changed. A name that is unknown, a value that is wrong or a name that is given twice is a usage error. Free the
 * parameters in any case. */
int parameters_read(struct parameters *parameters, char *text, struct error *err);
void parameters_free(struct parameters *parameters);

#endif
