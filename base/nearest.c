#include "base/nearest.h"

#include <string.h>

enum { WORD_MAX = NEAREST_WORD_MAX, EDITS_MAX = 2 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap of neighbours) that turn one short word into the other. */
static size_t distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b), cost[WORD_MAX + 1][WORD_MAX + 1];
    if (rows > WORD_MAX || columns > WORD_MAX) return WORD_MAX;
    for (size_t i = 0; i <= rows; i++)
        cost[i][0] = i;
    for (size_t j = 0; j <= columns; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            cost[i][j] = least(cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]), 1 + least(cost[i - 1][j], cost[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[rows][columns];
}

void nearest_offer(struct nearest *nearest, const char *candidate) {
    size_t edits = distance(nearest->word, candidate);
    if (edits > EDITS_MAX || edits >= strlen(candidate) || (*nearest->found && edits >= nearest->edits)) return;
    nearest->edits = edits;
    strcpy(nearest->found, candidate);
}
