#include "query/profile/load/run_places.h"

#include <string.h>

#include "schema/schema.h"

int run_places_read(struct run_places *places, struct db *db, int64_t run_id, struct error *err) {
    *places = (struct run_places){.run_id = run_id};
    sqlite3_stmt *row = db_prepare(db, embedded_text("profile/run_places.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        const char *thing = db_text(row, 0);
        int64_t id = sqlite3_column_int64(row, 1);
        places->count++;
        if (strcmp(thing, "trace") == 0)
            map_put(&places->things[RUN_PLACE_TRACE], &id, sizeof id, NULL)->value = sqlite3_column_int64(row, 2);
        else if (strcmp(thing, "label_set") == 0)
            map_put(&places->things[RUN_PLACE_LABEL_SET], &id, sizeof id, NULL)->value = sqlite3_column_int64(row, 2);
    }
    return code;
}

int64_t run_places_find(const struct run_places *places, enum run_place_thing thing, int64_t id) {
    const struct map_entry *entry = map_find(&places->things[thing], &id, sizeof id);
    return entry ? entry->value : id;
}

void run_places_free(struct run_places *places) {
    for (int i = 0; i < RUN_PLACE_THINGS; i++)
        map_free(&places->things[i]);
    *places = (struct run_places){0};
}
