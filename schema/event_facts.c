#include "schema/event_facts.h"

#include <stdlib.h>

#include "base/sum.h"
#include "schema/event_regions.h"
#include "schema/event_sweep.h"
#include "schema/schema.h"

/* What is made of a process. */
struct making {
    struct db *db;
    int64_t run_id, process_id;
    const struct event_log *log;
    const int64_t *addresses; /* of the log's locks */
    struct error *err;
};

static sqlite3_stmt *begin_row(const struct making *making, const char *file) {
    sqlite3_stmt *row = db_prepare(making->db, embedded_text(file), making->err);
    if (!row) return NULL;
    db_bind_int(row, ":run", making->run_id);
    db_bind_int(row, ":process", making->process_id);
    return row;
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

static int put_depth(const struct making *making, int64_t address, int64_t waiters, int64_t count) {
    sqlite3_stmt *row = begin_row(making, "event_facts/put_convoy_depth.sql");
    if (!row) return -1;
    db_bind_int(row, ":address", address);
    db_bind_int(row, ":waiters", waiters);
    db_bind_int(row, ":count", count);
    return db_run(making->db, row, making->err);
}

static int put_convoy(const struct making *making, int64_t address, const struct sweep_queue *queue) {
    const struct event *longest = &making->log->events[queue->longest - 1];
    sqlite3_stmt *row = begin_row(making, "event_facts/put_convoy.sql");
    if (!row) return -1;
    db_bind_int(row, ":address", address);
    db_bind_int(row, ":object", longest->object_id);
    db_bind_int(row, ":trace", longest->trace_id);
    db_bind_int(row, ":count", queue->waits);
    db_bind_int(row, ":time", queue->time_ns);
    db_bind_int(row, ":most", queue->most);
    if (db_run(making->db, row, making->err)) return -1;
    int64_t count = 0;
    for (uint32_t i = queue->most; i-- > 0;)
        if (put_depth(making, address, (int64_t)i + 1, count += queue->depths[i])) return -1;
    return 0;
}

/* The floors of convoy_facts and blocked_lock_facts: no sensible threshold makes a finding of less. */
static int put_convoys(const struct making *making, const struct event_sweep *sweep) {
    enum { WAITS_LEAST = 10, WAITERS_LEAST = 2 };
    for (size_t i = 0; i < sweep->queue_count; i++) {
        const struct sweep_queue *queue = &sweep->queues[i];
        if (queue->waits < WAITS_LEAST || queue->most < WAITERS_LEAST) continue;
        if (put_convoy(making, making->addresses[i], queue)) return -1;
    }
    return 0;
}

static int put_blocks(const struct making *making, const struct event_sweep *sweep) {
    enum { TIME_LEAST_NS = 100000 };
    for (size_t i = 0; i < sweep->block_count; i++) {
        const struct sweep_block *block = &sweep->blocks[i];
        if (block->time_ns < TIME_LEAST_NS) continue;
        sqlite3_stmt *row = begin_row(making, "event_facts/put_blocked_lock.sql");
        if (!row) return -1;
        db_bind_int(row, ":address", making->addresses[block->lock]);
        db_bind_int(row, ":trace", block->trace);
        db_bind_int(row, ":object", block->object);
        db_bind_int(row, ":waiter_trace", block->waiter_trace);
        db_bind_int(row, ":count", block->waits);
        db_bind_int(row, ":time", block->time_ns);
        if (db_run(making->db, row, making->err)) return -1;
    }
    return 0;
}

/* ---- two locks in both orders ------------------------------------------------------------------------------------ */

/* The orders of all threads for a pair of locks: first of the one with the lower address. */
struct lock_pair {
    uint32_t lock, other;
    int64_t object, other_object, trace, back_trace, count, back_count, time_ns;
};

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void add_order(struct lock_pair *pair, const struct sweep_order *order) {
    bool is_back = order->outer != pair->lock;
    pair->object = greater(pair->object, is_back ? order->inner_object : order->outer_object);
    pair->other_object = greater(pair->other_object, is_back ? order->outer_object : order->inner_object);
    if (is_back)
        pair->back_trace = greater(pair->back_trace, order->trace);
    else
        pair->trace = greater(pair->trace, order->trace);
    *(is_back ? &pair->back_count : &pair->count) += order->count;
    sum_add_capped(&pair->time_ns, order->time_ns);
}

static int put_pair(const struct making *making, const struct lock_pair *pair) {
    if (!pair->count || !pair->back_count) return 0;
    sqlite3_stmt *row = begin_row(making, "event_facts/put_lock_order.sql");
    if (!row) return -1;
    db_bind_int(row, ":address", making->addresses[pair->lock]);
    db_bind_int(row, ":other_address", making->addresses[pair->other]);
    db_bind_int(row, ":object", pair->object);
    db_bind_int(row, ":other", pair->other_object);
    db_bind_int(row, ":trace", pair->trace);
    db_bind_int(row, ":back_trace", pair->back_trace);
    db_bind_int(row, ":count", pair->count);
    db_bind_int(row, ":back_count", pair->back_count);
    db_bind_int(row, ":time", pair->time_ns);
    return db_run(making->db, row, making->err);
}

static int put_orders(const struct making *making, const struct event_sweep *sweep) {
    struct map places = {0};
    struct lock_pair *pairs = xcalloc(sweep->order_count + 1, sizeof *pairs);
    for (size_t i = 0; i < sweep->order_count; i++) {
        const struct sweep_order *order = &sweep->orders[i];
        bool is_back = making->addresses[order->outer] > making->addresses[order->inner];
        const uint32_t key[] = {is_back ? order->inner : order->outer, is_back ? order->outer : order->inner};
        bool added;
        struct map_entry *entry = map_put(&places, key, sizeof key, &added);
        if (added) entry->value = (int64_t)places.count - 1;
        struct lock_pair *pair = &pairs[entry->value];
        pair->lock = key[0];
        pair->other = key[1];
        add_order(pair, order);
    }
    int code = 0;
    for (size_t i = 0; code == 0 && i < places.count; i++)
        code = put_pair(making, &pairs[i]);
    map_free(&places);
    free(pairs);
    return code;
}

/* ---- all of a run ------------------------------------------------------------------------------------------------ */

static int64_t *addresses_of(const struct event_log *log) {
    int64_t *addresses = xcalloc(log->locks.count + 1, sizeof *addresses);
    for (size_t i = 0; i < log->locks.count; i++)
        addresses[i] = *(const int64_t *)log->locks.entries[i].key;
    return addresses;
}

static int fill_process(struct making *making, struct regions *regions) {
    struct event_log log;
    struct event_sweep sweep = {0};
    int code = event_log_read(&log, making->db, making->process_id, making->err);
    if (code == 0) {
        int64_t *addresses = addresses_of(&log);
        making->log = &log;
        making->addresses = addresses;
        sweep_events(&sweep, &log);
        code = put_convoys(making, &sweep) || put_orders(making, &sweep) || put_blocks(making, &sweep) ? -1 : 0;
        regions_add(regions, &log, making->process_id);
        free(addresses);
    }
    sweep_free(&sweep);
    event_log_free(&log);
    return code;
}

int event_facts_fill(struct db *db, int64_t run_id, struct error *err) {
    struct regions regions = {0};
    struct making making = {.db = db, .run_id = run_id, .err = err};
    sqlite3_stmt *process = db_prepare(db, embedded_text("event_facts/processes.sql"), err);
    if (!process) return -1;
    db_bind_int(process, ":run", run_id);
    int code;
    while ((code = db_step(db, process, err)) == 1) {
        making.process_id = sqlite3_column_int64(process, 0);
        if (fill_process(&making, &regions) == 0) continue;
        sqlite3_reset(process);
        code = -1;
        break;
    }
    if (code == 0) code = regions_put(&regions, db, run_id, err);
    regions_free(&regions);
    return code;
}
