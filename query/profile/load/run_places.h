/* run_places.h: the order in which exports list the stacks and label sets of a run (table run_places). */
#ifndef CLEAR_QUERY_PROFILE_LOAD_RUN_PLACES_H
#define CLEAR_QUERY_PROFILE_LOAD_RUN_PLACES_H

#include "base/map.h"
#include "schema/db.h"

enum run_place_thing { RUN_PLACE_TRACE, RUN_PLACE_LABEL_SET, RUN_PLACE_THINGS };

struct run_places {
    int64_t run_id;
    size_t count;                        /* 0: the order is that of the ids */
    struct map things[RUN_PLACE_THINGS]; /* id -> place */
};

int run_places_read(struct run_places *places, struct db *db, int64_t run_id, struct error *err);
/* The id itself where it has no place. */
int64_t run_places_find(const struct run_places *places, enum run_place_thing thing, int64_t id);
void run_places_free(struct run_places *places);

#endif
