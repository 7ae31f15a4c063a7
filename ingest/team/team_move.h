/* team_move.h: moves a project of a store to the store of another server, or some of its runs to another project of the same store. */
#ifndef CLEAR_INGEST_TEAM_TEAM_MOVE_H
#define CLEAR_INGEST_TEAM_TEAM_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct team_move_wish {
    const char *project;
    const char *to_address; /* the store of another server, or NULL */
    const char *to_project; /* another project of this store, or NULL */
    const char *until;      /* of these, YYYY-MM-01: the last month whose runs go, NULL: the last of all */
    const char *program;    /* and the program whose runs go, without its directory; NULL: of all */
    bool is_trial;          /* change nothing, and count */
};

struct team_move {
    int64_t runs; /* that were moved now, or would be */
    int64_t
        known; /* that the other has already: of a server, by a move that was interrupted; of a project, they stay */
    int64_t bytes; /* of rows that went to another server */
};

/* To another server: copies the runs in transactions of at most 50, while all read and push here. Then, while nobody pushes, what came meanwhile, and
 * says that the project is there; from that moment it is read there, and deleted here. After an interruption the same call goes on. To another
 * project: a transaction a month. Either gives way to who holds the tables for longer than 0.9 s, and is tried for a minute. */
int team_move(struct team_move *move, const char *uri, const struct team_move_wish *wish, struct error *err);

#endif
