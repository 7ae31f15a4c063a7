/* pattern.h: regular expressions of users, over names.
 *
 * PCRE2 with a limit on the steps of one match, so that no pattern can hang a report; whether it matches anywhere is all
 * that is asked. pprof's patterns are RE2's. What both know means the same: literals, classes, POSIX and Unicode classes,
 * repetition, alternation, (?i) (?s) (?m), \b \A \z \Q..\E; `$` is the very end of the text. They differ in that
 * look-around and possessive repetition, which RE2 refuses, work here; greediness decides nothing about whether there is a
 * match; \C and back references by number are refused. */
#ifndef CLEAR_QUERY_PROFILE_PATTERN_H
#define CLEAR_QUERY_PROFILE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pattern; /* compiled */

/* NULL with a usage error that names `option` ("--focus"), the pattern and the place in it. */
struct pattern *pattern_compile(const char *option, const char *regex, struct error *err);
/* The same for a caller that draws a caret: where it fails, *place is the byte of `regex` at which it stopped making sense. */
struct pattern *pattern_compile_at(const char *option, const char *regex, size_t *place, struct error *err);
/* Does it match anywhere in the text? A match that takes too many steps, and one that cannot be tried, is none: whoever is
 * about to show what the answers made must ask pattern_check first. */
bool pattern_matches(struct pattern *pattern, const char *text);
/* 0 where every match so far was carried out; else a usage error that names the option, the pattern and the first text that
 * it gave up on. NULL is fine. */
int pattern_check(const struct pattern *pattern, struct error *err);
void pattern_free(struct pattern *pattern); /* NULL is fine */

#endif
