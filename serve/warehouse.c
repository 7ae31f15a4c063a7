#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "query/profile/load/series.h"
#include "serve/exchange.h"

#define REST_NS      INT64_C(2000000000)
#define FLUSH_GAP_NS INT64_C(10000000) /* the shortest --interval: clients cannot make the collector flush more often */

/* True if another file has taken its name, and ours has none any more. */
static bool is_replaced(const struct server *server) {
    struct stat status;
    return stat(server->own.path, &status) || status.st_dev != server->device || status.st_ino != server->inode;
}

void marks_forget(struct server *server) {
    server->generation++;
    while (server->mark_count)
        profile_series_free(server->marks[--server->mark_count].series);
}

static int open_own(struct server *server, struct error *err) {
    struct stat status;
    if (server->source.open(server->source.context, &server->own, err)) return -1;
    server->is_open = true;
    if (stat(server->own.path, &status) == 0) {
        if (status.st_dev != server->device || status.st_ino != server->inode) marks_forget(server);
        server->device = status.st_dev;
        server->inode = status.st_ino;
    }
    return 0;
}

struct db *warehouse_db(struct server *server, struct error *err) {
    if (server->source.db) return server->source.db;
    if (server->is_open && is_replaced(server)) warehouse_close(server);
    if (!server->is_open && open_own(server, err)) return NULL;
    server->asked_ns = clock_monotonic_ns();
    return &server->own;
}

static bool has_wal(const char *path) {
    struct stat status;
    char *name = xasprintf("%s-wal", path);
    bool is_there = stat(name, &status) == 0;
    free(name);
    return is_there;
}

/* A recorder that ended while the file was open here could not write its -wal into the file, and a reader that closes last cannot
 * either. Opening it once more does, now that nobody else has it. */
void warehouse_close(struct server *server) {
    struct error ignored = {0};
    if (!server->is_open) return;
    bool is_left = has_wal(server->own.path) && !is_replaced(server);
    db_close(&server->own, &ignored);
    cache_clear(&server->cache);
    server->is_open = false;
    if (!is_left || server->source.open(server->source.context, &server->own, &ignored)) return;
    db_close(&server->own, &ignored);
}

void warehouse_rest(struct server *server) {
    if (server->is_open && server->waiting_count == 0 && clock_monotonic_ns() - server->asked_ns > REST_NS)
        warehouse_close(server);
}

int warehouse_flush(struct server *server, int64_t run_id, struct error *err) {
    if (!server->source.flush || run_id != server->source.run_id) return 0;
    if (clock_monotonic_ns() - server->flushed_ns < FLUSH_GAP_NS) return 0;
    int code = server->source.flush(server->source.context, err);
    server->flushed_ns = clock_monotonic_ns();
    return code;
}
