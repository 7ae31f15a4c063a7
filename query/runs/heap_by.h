/* heap_by.h: the figures of allocations that --by chooses from, with their names in options, headings and profiles. */
#ifndef CLEAR_QUERY_RUNS_HEAP_BY_H
#define CLEAR_QUERY_RUNS_HEAP_BY_H

#include "base/error.h"

enum heap_by { HEAP_BYTES, HEAP_ALLOCS, HEAP_INUSE_BYTES, HEAP_INUSE_ALLOCS };

/* From "bytes", "allocs", "inuse_bytes" or "inuse_allocs"; any other name is a usage error that lists them. */
int heap_by_of(const char *name, enum heap_by *by, struct error *err);
const char *heap_by_heading(enum heap_by by); /* "allocated bytes" */
const char *heap_by_type(enum heap_by by);    /* the sample type of a heap profile: alloc_space */

#endif
