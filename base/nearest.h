/* nearest.h: "did you mean ...?": finds the known word that is most similar to a misspelt one. */
#ifndef CLEAR_BASE_NEAREST_H
#define CLEAR_BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_WORD_MAX = 32 }; /* bytes; there is no suggestion for a longer word */

/* Collects the candidate with the fewest edits; of two equal ones the first. Initialise it with `word` and zeros. */
struct nearest {
    const char *word;                 /* not copied */
    char found[NEAREST_WORD_MAX + 1]; /* empty if no candidate has at most two edits */
    size_t edits;
};
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
