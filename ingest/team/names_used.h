/* names_used.h: which names some runs of a store use, and what these names use, as temporary tables on the server. */
#ifndef CLEAR_INGEST_TEAM_NAMES_USED_H
#define CLEAR_INGEST_TEAM_NAMES_USED_H

#include "ingest/team/layout.h"
#include "ingest/team/team_server.h"

struct names_used {
    const char *prefix; /* of the tables, each with the columns project and key: used_traces, ... */
    const char *runs;   /* SQL behind FROM TABLE AS item, that leaves the rows of these runs */
};

/* In a transaction, with whose end the tables go. */
int names_used_find(struct team_server *server, const struct layout *layout, const struct names_used *used,
                    struct error *err);

#endif
