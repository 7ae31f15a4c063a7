/* store_status.h: what a store holds: for clear store status. */
#ifndef CLEAR_INGEST_TEAM_STORE_STATUS_H
#define CLEAR_INGEST_TEAM_STORE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct store_status {
    char *address; /* without options */
    int64_t version, server_version,
        bytes; /* server_version: 150018 is 15.18; bytes: of all tables with their indexes */
    struct store_project {
        char *name;
        int64_t runs, oldest_ns, newest_ns;
    } * projects;
    struct store_table {
        char *name;
        int64_t bytes, rows; /* rows: the server's estimate; -1: it has none yet */
    } * tables;              /* the largest first */
    struct store_shard {
        char *project, *address; /* without options */
    } * shards;                  /* projects whose runs are on other servers: no other number here is about them */
    size_t project_count, table_count, shard_count;
};

/* store_status_free it, whatever it returns. */
int store_status_read(struct store_status *status, const char *uri, struct error *err);
/* Of all that, the shards alone. */
int store_shards_read(struct store_status *status, const char *uri, struct error *err);
void store_status_free(struct store_status *status);

#endif
