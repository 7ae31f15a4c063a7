/* team.h: a team's store: the runs of many machines on a PostgreSQL server, schema `clear`.
 *
 * Runs belong to a project. Names are shared within a project, by content. A run is pushed and pulled as a whole. */
#ifndef CLEAR_INGEST_TEAM_TEAM_H
#define CLEAR_INGEST_TEAM_TEAM_H

#include "ingest/team/layout.h"
#include "ingest/team/team_server.h"

/* Of the tables that layout.c does not make, of how it makes the others, and of the columns of facts (tests/facts.sh). */
enum { TEAM_VERSION = 8 };

struct team {
    struct team_server server;
    struct layout layout; /* after team_open */
    int64_t project;
    char project_number[24]; /* the same for a parameter */
    const char *project_name;
    bool is_shard; /* the store that was asked for sent us to this one */
};

/* Connects, and checks that the store is there and of this version. A project that the store's table `shards` names is on another server: then
 * the connection is to that one. team_close it, whatever it returns. */
int team_open(struct team *team, const char *uri, const char *project, struct error *err);
void team_close(struct team *team);

/* Whether the project was moved to another server since team_open; then the connection is to that one, and what was read before is to be asked again.
 * Not in a transaction. */
int team_follow(struct team *team, bool *has_moved, struct error *err);

/* Whether the project's runs are on another server by the present transaction's snapshot: then what that reads may be some of them, or none. */
int team_is_elsewhere(struct team *team, bool *is_elsewhere, struct error *err);

/* The version of the store's tables; a failure if there is no store, or it is not of this clear. */
int team_read_version(struct team_server *server, int64_t *version, struct error *err);

/* Makes the store's tables, or adds to a store of an older clear what it lacks: one transaction. *version: before; 0: there was none.
 * *is_mended: the version was this clear's, and something was not there, or of an older text, such as the views of a dump that was restored. */
int team_make(const char *uri, bool may_make, int64_t *version, bool *is_mended, struct error *err);

/* Makes the roles clear_push and clear_read, and gives them what they need. */
int team_grant(const char *uri, struct error *err);

/* From now on the runs of the project go to the store at `shard`, and come from there. A project that has runs here is refused: they would be
 * found no more. */
int team_put_shard(const char *uri, const char *project, const char *shard, struct error *err);

/* A failure where the user is not the owner of the store's tables. */
int team_check_owner(struct team_server *server, struct error *err);

/* A usage error where the store has no project of that name. */
int team_check_project(struct team_server *server, const char *name, struct error *err);

/* Who holds the tables of the store, as the failure of one who waited in vain; without such a one the error that is set stays. Returns -1. */
int team_give_way(struct team_server *server, struct error *err);

/* Does what takes a lock that others hold for longer than 0.9 s (lock_timeout) again, until they have ended, with a second between in which others go on:
 * for a minute, then gives way. A transaction that failed is taken back. */
int team_attempt(struct team_server *server, int (*act)(void *context, struct error *err), void *context,
                 struct error *err);

/* Whether a text is a uuid as a store writes it: no other text of a server becomes part of the name of a file. */
bool team_is_uuid(const char *text);

/* The month's first day of a moment, as PostgreSQL reads it. */
struct team_month {
    char text[16];
};
struct team_month team_month(int64_t ns);

#endif
