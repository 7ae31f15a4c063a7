#include "serve/parameters.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/number.h"

/* ---- decoding ---- */

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int url_decode(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '%') {
            int high = digit(at[1]), low = high < 0 ? -1 : digit(at[2]);
            if (low < 0) return -1;
            c = (unsigned char)(high << 4 | low);
            at += 2;
        } else if (c == '+') {
            c = ' ';
        }
        if (c < ' ' || c == 127) return -1;
        *to++ = (char)c;
    }
    *to = '\0';
    return 0;
}

/* ---- values ---- */

static int take_text(char **to, const char *value) {
    *to = xstrdup(value);
    return 0;
}

static int take_run(struct parameters *parameters, const char *value, struct error *err) {
    (void)err;
    return take_text(&parameters->run, value);
}

static int take_format(struct parameters *parameters, const char *value, struct error *err) {
    (void)err;
    return take_text(&parameters->format, value);
}

static int take_type(struct parameters *parameters, const char *value, struct error *err) {
    (void)err;
    return take_text(&parameters->type, value);
}

static int take_seconds(struct parameters *parameters, const char *value, struct error *err) {
    parameters->has_seconds = true;
    return number_duration("seconds", value, 1000000, SECONDS_MAX_NS, &parameters->seconds_ns, err);
}

static int take_from(struct parameters *parameters, const char *value, struct error *err) {
    parameters->from = xstrdup(value);
    return timespan_read_edge(&parameters->span.from, "from", parameters->from, err);
}

static int take_to(struct parameters *parameters, const char *value, struct error *err) {
    parameters->to = xstrdup(value);
    return timespan_read_edge(&parameters->span.to, "to", parameters->to, err);
}

static int take_window(struct parameters *parameters, const char *value, struct error *err) {
    return timespan_read_window(&parameters->span.window, "window", value, err);
}

static int take_debug(struct parameters *parameters, const char *value, struct error *err) {
    int64_t level = 0;
    int code = number_count("debug", value, 0, 2, &level, err);
    parameters->is_text = level > 0;
    return code;
}

/* Go runs its garbage collector first; here there is nothing to do. */
static int take_gc(struct parameters *parameters, const char *value, struct error *err) {
    (void)parameters;
    (void)value;
    (void)err;
    return 0;
}

static int take_state(struct parameters *parameters, const char *value, struct error *err) {
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return error_usage(err, "state= must be on or off, not '%.40s'", value);
    return take_text(&parameters->state, value);
}

static int refuse_token(struct parameters *parameters, const char *value, struct error *err) {
    (void)parameters;
    (void)value;
    return error_usage(err, "a token in a URL ends up in logs: send it as the header Authorization: Bearer TOKEN");
}

/* ---- names ---- */

const struct parameter parameters_of_profile[] = {{"run", take_run},         {"from", take_from},
                                                  {"to", take_to},           {"window", take_window},
                                                  {"seconds", take_seconds}, {"debug", take_debug},
                                                  {"format", take_format},   {"type", take_type},
                                                  {"gc", take_gc},           {0}};
const struct parameter parameters_of_toggle[] = {
    {"state", take_state}, {"token", refuse_token}, {"access_token", refuse_token}, {0}};

const struct parameter parameters_of_dump[] = {{"token", refuse_token}, {"access_token", refuse_token}, {0}};

static int unknown(const struct parameter *known, const char *name, struct error *err) {
    struct buffer names = {0};
    for (const struct parameter *one = known; one->name; one++)
        if (one->take != refuse_token && one->take != take_gc)
            buffer_printf(&names, "%s%s", names.size ? ", " : "", one->name);
    error_usage(err, "unknown parameter '%.40s'; %s%s", name, names.size ? "parameters are " : "there are none",
                buffer_text(&names));
    buffer_free(&names);
    return -1;
}

static int take(struct parameters *parameters, const struct parameter *known, unsigned *given, char *pair,
                struct error *err) {
    char *value = strchr(pair, '=');
    if (value) *value++ = '\0';
    if (!*pair && !value) return 0; /* && or a last & */
    if (url_decode(pair) || (value && url_decode(value)))
        return error_usage(err, "the query is not valid URL encoding");
    int i = 0;
    while (known[i].name && strcmp(known[i].name, pair) != 0)
        i++;
    if (!known[i].name) return unknown(known, pair, err);
    if (*given & 1u << i) return error_usage(err, "%s is given twice", pair);
    *given |= 1u << i;
    if (!value || !*value) return error_usage(err, "%s= needs a value", pair);
    return known[i].take(parameters, value, err);
}

int parameters_read(struct parameters *parameters, const struct parameter *known, char *text, struct error *err) {
    unsigned given = 0;
    *parameters = (struct parameters){0};
    for (char *pair; (pair = strsep(&text, "&"));)
        if (take(parameters, known, &given, pair, err)) return -1;
    bool has_stretch = parameters->from || parameters->to;
    if (parameters->has_seconds + has_stretch + (parameters->span.window != 0) > 1)
        return error_usage(err,
                           "seconds= is about the future, from=, to= and window= about the past: give one of them");
    if (parameters->is_text && parameters->format)
        return error_usage(err, "debug=1 means format=folded: give one of them");
    return 0;
}

void parameters_free(struct parameters *parameters) {
    free(parameters->run);
    free(parameters->format);
    free(parameters->type);
    free(parameters->from);
    free(parameters->to);
    free(parameters->state);
    *parameters = (struct parameters){0};
}
