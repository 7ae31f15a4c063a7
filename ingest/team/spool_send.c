#include "ingest/team/spool_send.h"

#include <string.h>

struct sending {
    struct db *db;
    struct spool_sent *sent;
    struct team team;
    struct push push;
    const struct spool_entry *open; /* whose store and project `team` is; NULL: none */
    const struct spool *spool;
    size_t at;
};

static bool is_same_store(const struct spool_entry *a, const struct spool_entry *b) {
    return strcmp(a->address, b->address) == 0 && strcmp(a->project, b->project) == 0;
}

static void close_store(struct sending *sending) {
    if (!sending->open) return;
    sending->sent->bytes += sending->push.bytes + sending->push.names.bytes;
    push_end(&sending->push);
    team_close(&sending->team);
    sending->open = NULL;
}

static int open_store(struct sending *sending, const struct spool_entry *entry, struct error *err) {
    if (sending->open && is_same_store(sending->open, entry)) return 0;
    close_store(sending);
    if (team_open(&sending->team, entry->address, entry->project, err)) {
        team_close(&sending->team);
        return -1;
    }
    push_begin(&sending->push, &sending->team, sending->db);
    sending->open = entry;
    return 0;
}

int spool_find_run(struct db *db, const char *uuid, int64_t *id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT id FROM main.runs WHERE uuid = :uuid", err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", uuid);
    int code = db_step(db, row, err);
    *id = code == 1 ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static int send_entry(struct sending *sending, const struct spool_entry *entry, struct error *err) {
    enum push_outcome outcome = PUSH_KNOWN;
    int64_t run_id;
    if (spool_find_run(sending->db, entry->uuid, &run_id, err)) return -1;
    if (run_id) {
        if (open_store(sending, entry, err) || push_run(&sending->push, run_id, &outcome, err)) return -1;
        sending->sent->counts[outcome]++;
    }
    if (outcome != PUSH_STORED && outcome != PUSH_KNOWN) return 0;
    return spool_remove(sending->db->path, entry, err);
}

/* A run that the store refuses does not hold up the others; a store that is away would refuse all. */
static bool is_away(struct sending *sending) {
    struct error ignored = {0};
    return !sending->open || team_run(&sending->team.server, "SELECT 1", &ignored) != 0;
}

static void send_store(struct sending *sending, const struct spool_entry *first, struct error *err) {
    for (size_t i = sending->at; i < sending->spool->count; i++) {
        struct error failure = {0};
        const struct spool_entry *entry = &sending->spool->entries[i];
        if (!is_same_store(entry, first) || send_entry(sending, entry, &failure) == 0) continue;
        error_fail(err, "%s", failure.message);
        if (is_away(sending)) return;
    }
}

/* Whether an entry before it has the same store, whose entries were all sent with that one. */
static bool is_done(const struct spool *spool, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (is_same_store(&spool->entries[i], &spool->entries[at])) return true;
    return false;
}

int spool_send(struct db *db, const char *address, const char *project, struct spool_sent *sent, struct error *err) {
    struct spool spool;
    struct error failure = {0};
    struct sending sending = {.db = db, .sent = sent, .spool = &spool};
    if (spool_read(&spool, db->path, err)) {
        spool_free(&spool);
        return -1;
    }
    for (; sending.at < spool.count; sending.at++) {
        const struct spool_entry *entry = &spool.entries[sending.at];
        bool is_wanted =
            (!address || strcmp(entry->address, address) == 0) && (!project || strcmp(entry->project, project) == 0);
        if (is_wanted && !is_done(&spool, sending.at)) send_store(&sending, entry, &failure);
    }
    close_store(&sending);
    spool_free(&spool);
    return failure.status == ERROR_NONE ? 0 : error_fail(err, "%s", failure.message);
}
