/* sites.h: which allocation site of one run is which of another. Private to query/diff.
 *
 * A signature (schema/signature.h) names the functions of a stack. Two calls in one function have one signature: they are told apart
 * by their places, that is by the line and column of each frame, the line counted from where its function begins. Between builds
 * places move, but keep their order.
 *
 * A stack may lack functions on one side alone: a call at the end of a function leaves no frame where the compiler made a jump of it,
 * and without debug information inlined functions have no names. Then the shorter list of functions is part of the longer one. */
#ifndef CLEAR_QUERY_DIFF_SITES_H
#define CLEAR_QUERY_DIFF_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "schema/db.h"

/* The frames of a stack, root first, a function that follows itself once. */
struct site_place {
    uint64_t build; /* hash of the build id of the leaf's module; 0: unknown */
    uint64_t lines; /* hash of the lines and columns */
    uint64_t names; /* a bit for each function: a place that lacks a bit cannot contain this one */
    size_t count;
    struct site_frame {
        uint64_t function;    /* hash of its name */
        int64_t line, column; /* the first line of the function is 1; 0: unknown, then `column` is the address */
    } frames[];
};

/* Reads the place of a stack into the arena; NULL with the error set. */
const struct site_place *site_place_read(struct db *db, int64_t trace_id, struct arena *arena, struct error *err);

/* By lines and columns, root first: the order of the source. */
int site_place_order(const struct site_place *a, const struct site_place *b);
/* Both are known to be of one build, where equal sites have equal places. */
bool site_place_same_build(const struct site_place *a, const struct site_place *b);

/* Matches places of one signature, both lists in order: match[i] is the index in `old` that new[i] is, or SIZE_MAX. As many are matched
 * as can be, in order, so that places move least. */
void site_places_match(const struct site_place *const *old, size_t old_count, const struct site_place *const *new,
                       size_t new_count, size_t *match);

/* Whether the functions of one are those of the other, and some more (*missing of them; *moved: how far the others are apart). */
bool site_place_contains(const struct site_place *a, const struct site_place *b, size_t *missing, int64_t *moved);

#endif
