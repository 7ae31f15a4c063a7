#define PCRE2_CODE_UNIT_WIDTH 8
#include "query/profile/pattern.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/grid.h"

/* Steps of one match. A sane pattern over a name of a kilobyte takes some thousands; this many take milliseconds. */
enum { MATCH_LIMIT = 200000 };

struct pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    char *option, *regex;
    char *gave_up; /* the first text whose match was not carried out; NULL for none */
    int why;       /* PCRE2's number */
};

static int refuse(const char *option, const char *regex, int number, size_t place, struct error *err) {
    PCRE2_UCHAR message[160];
    pcre2_get_error_message(number, message, sizeof message);
    return error_usage(err, "%s '%s': %s, at character %zu", option, regex, (const char *)message, place + 1);
}

struct pattern *pattern_compile(const char *option, const char *regex, struct error *err) {
    size_t place;
    return pattern_compile_at(option, regex, &place, err);
}

struct pattern *pattern_compile_at(const char *option, const char *regex, size_t *place, struct error *err) {
    int number;
    *place = 0;
    struct pattern *pattern = xcalloc(1, sizeof *pattern);
    uint32_t flags = PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE;
    /* RE2 reads UTF-8 and takes what is none for single bytes; so does PCRE2 with MATCH_INVALID_UTF, for the texts. */
    pattern->code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, flags | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
                                  &number, place, NULL);
    if (!pattern->code) {
        refuse(option, regex, number, *place, err);
        free(pattern);
        return NULL;
    }
    (void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE); /* slower without it, but not wrong */
    pattern->option = xstrdup(option);
    pattern->regex = xstrdup(regex);
    pattern->data = pcre2_match_data_create_from_pattern(pattern->code, NULL);
    pattern->context = pcre2_match_context_create(NULL);
    if (!pattern->data || !pattern->context) {
        error_fail(err, "not enough memory for the pattern of %s", option);
        pattern_free(pattern);
        return NULL;
    }
    pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
    return pattern;
}

bool pattern_matches(struct pattern *pattern, const char *text) {
    int found = pcre2_match(pattern->code, (PCRE2_SPTR)text, strlen(text), 0, 0, pattern->data, pattern->context);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH && !pattern->gave_up) {
        pattern->gave_up = xstrdup(text);
        pattern->why = found;
    }
    return found >= 0;
}

int pattern_check(const struct pattern *pattern, struct error *err) {
    PCRE2_UCHAR message[160];
    if (!pattern || !pattern->gave_up) return 0;
    struct buffer name = {0};
    pcre2_get_error_message(pattern->why, message, sizeof message);
    grid_visible(&name, pattern->gave_up, 60);
    error_usage(err, "%s '%s': cannot be matched with '%s' (%s): use an expression without nested repetition",
                pattern->option, pattern->regex, buffer_text(&name), (const char *)message);
    buffer_free(&name);
    return -1;
}

void pattern_free(struct pattern *pattern) {
    if (!pattern) return;
    free(pattern->option);
    free(pattern->regex);
    free(pattern->gave_up);
    pcre2_code_free(pattern->code);
    pcre2_match_data_free(pattern->data);
    pcre2_match_context_free(pattern->context);
    free(pattern);
}
