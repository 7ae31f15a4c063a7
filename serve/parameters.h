/* parameters.h: what stands behind the ? of a URL. */
#ifndef CLEAR_SERVE_PARAMETERS_H
#define CLEAR_SERVE_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "query/runs/timespan.h"

#define SECONDS_MAX_NS INT64_C(3600000000000)

struct parameters {
    char *run, *format, *type, *from, *to; /* NULL: not given */
    char *state;                           /* of toggle: "on" or "off" */
    bool has_seconds;
    int64_t seconds_ns;           /* > 0, at most SECONDS_MAX_NS */
    struct timespan_request span; /* of from=, to= and window=; its texts are ours */
    bool is_text;                 /* debug=1 or more */
};

/* Decodes %XX in place. -1: one that is broken, or a control character, which no name of ours has. */
int url_decode(char *text);

/* Which there are: ends with a NULL name. */
struct parameter {
    const char *name;
    int (*take)(struct parameters *parameters, const char *value, struct error *err);
};
extern const struct parameter parameters_of_profile[], parameters_of_toggle[];

/* `text` is changed. A name that is not in `known`, a value that is wrong or a name that is given twice is a usage error. Free the
 * parameters in any case. */
int parameters_read(struct parameters *parameters, const struct parameter *known, char *text, struct error *err);
void parameters_free(struct parameters *parameters);

#endif
