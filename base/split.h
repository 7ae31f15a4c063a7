/* split.h: splits a command line into words at blanks, without a shell: '...' and "..." keep what they hold together, and no other
 * character is special. */
#ifndef CLEAR_BASE_SPLIT_H
#define CLEAR_BASE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

/* What stands for a placeholder in braces; `at` points at its '{'. NULL: it is no placeholder. */
typedef const char *split_value(const void *context, const char *at);

/* The words, NULL-terminated; none: the first is NULL. `value_of` may be NULL. NULL: the quote `*open` is not closed. split_free it. */
char **split_words(const char *text, split_value *value_of, const void *context, char *open);
void split_free(char **words);

/* Whether a list of words such as "functions files lines" has that one. */
bool split_has(const char *list, const char *word);

#endif
