/* load_types.h: which sample types a kind of profile of several runs has: part of profile_load. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_LOAD_TYPES_H
#define CLEAR_QUERY_PROFILE_LOAD_LOAD_TYPES_H

#include "base/arena.h"
#include "query/profile/model.h"
#include "query/runs/run_set.h"
#include "schema/kinds.h"

struct load_types {
    struct profile_type *types;
    size_t count;
    bool is_stored;           /* all of it came in with sample types of its own: these are they */
    const struct kind *table; /* in whose table the values of these types stand */
    struct arena texts;
};

/* A run without the kind is a failure that says what it has, unless it may have none. Profiles that came in with unlike types
 * are a usage error, unless something that was recorded is among them: then the kind's own types are what they have in common. */
int load_types_find(struct load_types *types, struct db *db, const struct run_set *runs, const char *kind,
                    bool may_have_none, struct error *err);
void load_types_free(struct load_types *types);

#endif
