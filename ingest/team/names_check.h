/* names_check.h: SQL by which a store itself tells whether a name is what its key says. */
#ifndef CLEAR_INGEST_TEAM_NAMES_CHECK_H
#define CLEAR_INGEST_TEAM_NAMES_CHECK_H

#include "ingest/team/names.h"

/* Adds the triggers that refuse a name whose key is not that of its columns, whoever puts it there. */
void names_check_add_triggers(struct buffer *sql);

/* Adds a condition: true of a row of the kind's table that is another name than its key says. */
void names_check_add_wrong(struct buffer *sql, enum source_name kind);

#endif
