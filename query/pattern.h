/* pattern.h: regular expressions of users, over names.
 *
 * PCRE2 with a limit on the steps of one match, so that no pattern can hang a report. pprof's patterns are RE2's; those
 * that both know mean the same here, but for these: a pattern is bytes, matched as UTF-8 where it is valid; \C is refused;
 * look-around and back references, which RE2 refuses, work; (?U), (?s), (?i), (?m) and \pN, \Q..\E, \z, \A work alike; POSIX
 * classes too; `$` is the very end of the text. RE2 takes the leftmost match as PCRE2 does; only whether it matches is
 * asked. */
#ifndef CLEAR_QUERY_PATTERN_H
#define CLEAR_QUERY_PATTERN_H

#include <stdbool.h>

#include "base/error.h"

struct pattern; /* compiled */

/* NULL with a usage error that names `option` ("--focus"), the pattern and the place in it. */
struct pattern *pattern_compile(const char *option, const char *regex, struct error *err);
/* Does it match anywhere in the text? A match that takes too many steps, and one that cannot be tried, is none; how many
 * there were says pattern_gave_up. */
bool pattern_matches(struct pattern *pattern, const char *text);
unsigned pattern_gave_up(const struct pattern *pattern);
void pattern_free(struct pattern *pattern); /* NULL is fine */

#endif
