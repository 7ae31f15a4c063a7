/* pull_names.h: names of a store on their way into a file. */
#ifndef CLEAR_INGEST_TEAM_PULL_NAMES_H
#define CLEAR_INGEST_TEAM_PULL_NAMES_H

#include "ingest/team/names.h"
#include "ingest/team/team.h"
#include "ingest/writer/row_writer.h"

struct pull_names {
    struct team *team;
    struct row_writer *store; /* of the file; the caller's */
    struct pull_kind {
        struct map ids;       /* key -> id in the file, of names that were put */
        struct map fetched;   /* key -> place in rows, of names that the store gave */
        struct buffer wanted; /* int64_t: keys to fetch */
        struct map asked;     /* keys that are wanted or fetched */
        struct pull_row {
            struct buffer *fields; /* a text a column of name_kinds; arrays as int64_t */
        } * rows;
        size_t count;
    } kinds[SOURCE_NAMES];
};

void pull_names_free(struct pull_names *names);
/* The name is needed; 0, which is none, may be. */
void pull_names_want(struct pull_names *names, enum source_name kind, int64_t key);
/* Fetches what is wanted, and all that it names. What does not have the key that its content makes is a failure: the store is damaged. */
int pull_names_fetch(struct pull_names *names, struct error *err);
/* The id in the file of a name that was fetched, which is put there if it is new. -1 with the error set. */
int64_t pull_names_id(struct pull_names *names, enum source_name kind, int64_t key, struct error *err);

#endif
