/* push_names.h: names of a file on their way into a store. */
#ifndef CLEAR_INGEST_TEAM_PUSH_NAMES_H
#define CLEAR_INGEST_TEAM_PUSH_NAMES_H

#include "ingest/team/names.h"
#include "ingest/team/team.h"

struct push_names {
    struct db *db;
    int64_t bytes; /* of rows that were sent */
    struct push_kind {
        struct map ids; /* id in the file -> place in items */
        struct push_name {
            struct content_key key;
            char *row; /* in COPY's format, without the project; NULL once it is in the store */
        } * items;
        size_t count, sent; /* sent: those before are in the store */
    } kinds[SOURCE_NAMES];
};

void push_names_free(struct push_names *names);
/* The key of a row of the file, and of all that it names: they are sent with the next push_names_send. */
int push_names_key(struct push_names *names, enum source_name kind, int64_t id, int64_t *key, struct error *err);
/* Puts what the store lacks there, in the open transaction. A key with another definition in the store is a failure. */
int push_names_send(struct push_names *names, struct team *team, struct error *err);
/* The transaction was committed. */
void push_names_sent(struct push_names *names);

#endif
