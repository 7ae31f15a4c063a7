/* nearest.h: "did you mean ...?": the known word that a misspelt one is closest to. */
#ifndef CLEAR_BASE_NEAREST_H
#define CLEAR_BASE_NEAREST_H

#include <stddef.h>

/* Collects the nearest of the words that are offered. Zeroed but for `word`, it has seen none. Words are not copied. */
struct nearest {
    const char *word;
    const char *found; /* NULL where none is near: further away than two edits it is a guess, no help */
    size_t edits;
};
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
