/* select.h: finds the run that a name means. "Newest" is the order of the view run_order. A name is
 *   latest, latest~N   the newest run by start, or the Nth before it
 *   NUMBER             its id
 *   TAG=VALUE          the newest with that tag
 *   anything else      the newest with that label, else the one whose uuid begins with it (8 or more characters) */
#ifndef CLEAR_QUERY_RUNS_SELECT_H
#define CLEAR_QUERY_RUNS_SELECT_H

#include "base/buffer.h"
#include "schema/db.h"

/* The id of the run; NULL is latest. A name without a run is a usage error that says which runs there are, and so is an empty
 * one. */
int select_run(struct db *db, const char *name, int64_t *run_id, struct error *err);

/* For a command that the user may type: the words that choose the warehouse, "--db FILE" (with --project of a store), and the word that
 * chooses the run there: its number, or the beginning of its uuid where it came from a store, which has no numbers. */
void warehouse_words_add(struct buffer *line, const struct db *db);
int run_word_add(struct buffer *line, struct db *db, int64_t run_id, struct error *err);

#endif
