/* team_edit.h: changes runs of a store, as its owner: tags, labels, pins, and deletes them. All of it is one transaction. */
#ifndef CLEAR_INGEST_TEAM_TEAM_EDIT_H
#define CLEAR_INGEST_TEAM_TEAM_EDIT_H

#include "ingest/team/team_runs.h"

struct team_edit {
    struct team team;
    struct team_runs runs;
};

/* Begins to change the runs of `sets`, which end with NULL. A failure if the user is not the owner of the store. team_edit_end it, whatever it
 * returns. */
int team_edit_begin(struct team_edit *edit, const char *address, const char *project, char *const *sets,
                    struct error *err);
/* Keeps the changes, or takes them back. */
int team_edit_end(struct team_edit *edit, bool is_kept, struct error *err);

/* Of all of the runs. `value` "": no such tag any more; `label` "": none; `why` NULL: not pinned. */
int team_edit_tag(struct team_edit *edit, const char *key, const char *value, struct error *err);
int team_edit_label(struct team_edit *edit, const char *label, struct error *err);
int team_edit_pin(struct team_edit *edit, const char *why, struct error *err);
/* Names and stacks stay for clear store gc; a push does not bring the runs back. *rows: that they had. */
int team_edit_remove(struct team_edit *edit, int64_t *rows, struct error *err);

/* A usage error that names a run which is pinned. */
int team_edit_refuse_pinned(struct team_edit *edit, struct error *err);

#endif
