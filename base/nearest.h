/* nearest.h: "did you mean ...?": the known word that a misspelt one is closest to. */
#ifndef CLEAR_BASE_NEAREST_H
#define CLEAR_BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_WORD_MAX = 32 }; /* bytes; a longer word is near nothing */

/* Collects the nearest of the words that are offered; of two that are equally near, the first. Zeroed but for `word`,
 * it has seen none. */
struct nearest {
    const char *word;                 /* not copied */
    char found[NEAREST_WORD_MAX + 1]; /* empty where none is near: further away than two edits it is a guess, no help */
    size_t edits;
};
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
