/* parameters.h: decodes and checks the parameters of a URL. */
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
    struct timespan_request span; /* of from=, to= and window=; the struct owns its texts */
    bool is_text;                 /* debug=1 or more */
};

/* Decodes %XX in place. -1: invalid, or a control character, which no valid name has. */
int url_decode(char *text);

/* The known parameters; ends with a NULL name. */
struct parameter {
    const char *name;
    int (*take)(struct parameters *parameters, const char *value, struct error *err);
};
extern const struct parameter parameters_of_profile[], parameters_of_toggle[], parameters_of_dump[];

/* `text` is changed. A name that is not in `known`, an invalid value and a name that is given twice are usage errors. Call
 * parameters_free after a failure too. */
int parameters_read(struct parameters *parameters, const struct parameter *known, char *text, struct error *err);
void parameters_free(struct parameters *parameters);

#endif
