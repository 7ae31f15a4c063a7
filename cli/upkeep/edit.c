#include "cli/upkeep/edit.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/units.h"
#include "cli/cli.h"

int edit_open(struct db *db, const char *option, const char *runs, struct run_set *set, struct error *err) {
    const char *path = cli_database(option);
    struct stat about;
    *db = (struct db){0};
    *set = (struct run_set){0};
    /* To open it for writing would make an empty one. */
    if (stat(path, &about) || about.st_size == 0) return cli_open(db, option, DB_READ, err);
    return cli_open(db, option, DB_WRITE, err) || (runs && run_set_add(set, db, runs, err)) ? -1 : 0;
}

int edit_each(struct db *db, const struct run_set *set,
              int (*change)(struct db *db, int64_t run_id, const void *context, struct error *err), const void *context,
              struct error *err) {
    if (db_begin(db, err)) return -1;
    for (size_t i = 0; i < set->count; i++) {
        if (change(db, set->ids[i], context, err) == 0) continue;
        db_rollback(db);
        return -1;
    }
    return db_commit(db, err);
}

void edit_say(const struct run_set *set, const char *what) {
    struct buffer line = {0};
    if (set->count == 1)
        buffer_printf(&line, "run %" PRId64 ": %s", set->ids[0], what);
    else
        buffer_printf(&line, "%s: %s", units_things((int64_t)set->count, "run").text, what);
    buffer_make_visible(&line);
    puts(buffer_text(&line));
    buffer_free(&line);
}
