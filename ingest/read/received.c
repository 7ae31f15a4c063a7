#include "ingest/read/received.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"
#include "ingest/read/input.h"
#include "ingest/writer/run_seal.h"
#include "ingest/writer/run_uuid.h"
#include "schema/schema.h"

enum {
    KINDS_MAX = 1000, /* of one name with unlike types in one run */
    OVER_MAX = 2,     /* runs whose time is over that one request seals */
    SPANS = 8         /* that far back they are looked for; received_settle finds the others */
};
#define DAY_NS       INT64_C(86400000000000)
#define DURATION_MAX (366 * DAY_NS)
#define RECEIVING    "receiving"
#define TIME_FORMAT  "%" PRId64 " ns since 1970"

/* ---- the run ---- */

/* In runs.content_hash, which every run that was not recorded here has. It is that of this run alone: another file may have received profiles of the same
 * service, host and span, and clear merge must not take one for the other. */
static void hash_uuid(const char *uuid, char hex[2 * SHA256_DIGEST_SIZE + 1]) {
    struct sha256_ctx sha;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, strlen(uuid), (const uint8_t *)uuid);
    sha256_digest(&sha, sizeof digest, digest);
    hex_bytes(hex, digest, sizeof digest);
}

static int check_times(struct ingest *ingest, struct error *err) {
    struct received *received = ingest->received;
    const char *path = ingest->input->path;
    int64_t time_ns = received->time_ns;
    if (time_ns < 0) return error_fail(err, "%s: a time before 1970", path);
    if (time_ns > received->now_ns + DAY_NS)
        return error_fail(err, "%s: its time is more than a day ahead (" TIME_FORMAT "): set the clock of the sender",
                          path, time_ns);
    if (received->duration_ns < 0 || received->duration_ns > DURATION_MAX)
        return error_fail(err, "%s: it lasted longer than a year", path);
    return 0;
}

static int check_text(struct ingest *ingest, const char *text, size_t most, const char *what, struct error *err) {
    size_t size = strlen(text);
    if (size > most)
        return error_fail(err, "%s: %s of %zu bytes; at most %zu are stored", ingest->input->path, what, size, most);
    if (utf8_bad_byte(text, size) == size) return 0;
    return error_fail(err, "%s: %s that is no UTF-8", ingest->input->path, what);
}

/* What anybody may send is asked for by name, and shown in lists. */
static int check_tags(struct ingest *ingest, const struct run_tags *tags, struct error *err) {
    if (tags && tags->count > RECEIVED_TAGS_MAX)
        return error_fail(err, "%s: %zu attributes or labels; at most %d are stored", ingest->input->path, tags->count,
                          RECEIVED_TAGS_MAX);
    for (size_t i = 0; tags && i < tags->count; i++)
        if (check_text(ingest, tags->items[i].key, RECEIVED_KEY_MAX, "the name of a label", err) ||
            check_text(ingest, tags->items[i].value, RECEIVED_VALUE_MAX, "the value of a label", err))
            return -1;
    return 0;
}

static void take_times(struct received *received, const struct ingest_run *run) {
    int64_t said_ns =
        received->from_ns && received->until_ns > received->from_ns ? received->until_ns - received->from_ns : 0;
    received->time_ns = run->started_ns ? run->started_ns : received->from_ns ? received->from_ns : received->now_ns;
    received->duration_ns = run->duration_ns ? run->duration_ns : said_ns;
}

static int insert_run(struct ingest *ingest, const char *service, const char *host, struct error *err) {
    char uuid[RUN_UUID_SIZE], hash[2 * SHA256_DIGEST_SIZE + 1];
    sqlite3_stmt *insert = db_prepare(ingest->db, embedded_text("ingest/received/begin"), err);
    if (!insert || run_uuid(uuid, err) != 0) return -1;
    hash_uuid(uuid, hash);
    db_bind_text(insert, ":uuid", uuid);
    db_bind_text(insert, ":command", service);
    db_bind_int(insert, ":started", ingest->received->time_ns);
    db_bind_int(insert, ":duration", ingest->received->duration_ns);
    db_bind_text(insert, ":host", host);
    db_bind_text(insert, ":hash", hash);
    if (db_run(ingest->db, insert, err) != 0) return -1;
    ingest->run_id = sqlite3_last_insert_rowid(ingest->db->handle);
    return 0;
}

static int run_statement(struct ingest *ingest, const char *name, int64_t run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(ingest->db, embedded_text(name), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    return db_run(ingest->db, statement, err);
}

static int remove_unlike(struct ingest *ingest, const struct run_tags *tags, struct error *err) {
    for (size_t i = 0; tags && i < tags->count; i++) {
        sqlite3_stmt *statement = db_prepare(ingest->db, embedded_text("ingest/received/unlike_tag"), err);
        if (!statement) return -1;
        db_bind_int(statement, ":run", ingest->run_id);
        db_bind_text(statement, ":key", tags->items[i].key);
        db_bind_text(statement, ":value", tags->items[i].value);
        if (db_run(ingest->db, statement, err) != 0) return -1;
    }
    return 0;
}

static int go_on(struct ingest *ingest, const struct ingest_run *run, struct error *err) {
    const struct received *received = ingest->received;
    sqlite3_stmt *update = db_prepare(ingest->db, embedded_text("ingest/received/go_on"), err);
    if (!update) return -1;
    db_bind_int(update, ":run", ingest->run_id);
    db_bind_int(update, ":started", received->time_ns);
    db_bind_int(update, ":ended", received->time_ns + received->duration_ns);
    return db_run(ingest->db, update, err) || remove_unlike(ingest, received->tags, err) ||
                   remove_unlike(ingest, run->tags, err) ||
                   run_statement(ingest, "ingest/received/forget_contexts", ingest->run_id, err)
               ? -1
               : 0;
}

static void note_run(struct received *received, int64_t run_id, int64_t profiles) {
    for (size_t i = 0; i < received->run_count; i++)
        if (received->runs[i].id == run_id) return;
    received->runs = xrealloc(received->runs, (received->run_count + 1) * sizeof *received->runs);
    received->runs[received->run_count++] = (struct received_run){run_id, profiles};
}

/* 1: there is one, whose id is ingest->run_id; 0, -1. */
static int find_run(struct ingest *ingest, const char *service, const char *host, int64_t *profiles,
                    struct error *err) {
    const struct received *received = ingest->received;
    int64_t from_ns = received->time_ns - received->time_ns % received->every_ns, until_ns;
    sqlite3_stmt *select = db_prepare(ingest->db, embedded_text("ingest/received/find"), err);
    *profiles = 0;
    if (!select) return -1;
    if (__builtin_add_overflow(from_ns, received->every_ns, &until_ns)) until_ns = INT64_MAX;
    db_bind_int(select, ":from", from_ns);
    db_bind_int(select, ":until", until_ns);
    db_bind_text(select, ":service", service);
    db_bind_text(select, ":host", host);
    int state = db_step(ingest->db, select, err);
    if (state != 1) return state;
    ingest->run_id = sqlite3_column_int64(select, 0);
    *profiles = sqlite3_column_int64(select, 1);
    sqlite3_reset(select);
    return 1;
}

static const char *first_text(const char *one, const char *other, const char *last) {
    return one && *one ? one : other && *other ? other : last;
}

int received_begin_run(struct ingest *ingest, const struct ingest_run *run, struct error *err) {
    struct received *received = ingest->received;
    const char *service = first_text(received->service, run->service, RECEIVED_SERVICE);
    const char *host = first_text(received->host, run->host, "");
    int64_t profiles;
    if (received->has_begun) return 0;
    take_times(received, run);
    if (check_times(ingest, err) || check_text(ingest, service, RECEIVED_VALUE_MAX, "the name of a service", err) ||
        check_text(ingest, host, RECEIVED_VALUE_MAX, "the name of a host", err) ||
        check_tags(ingest, received->tags, err) || check_tags(ingest, run->tags, err))
        return -1;
    int state = find_run(ingest, service, host, &profiles, err);
    if (state < 0) return -1;
    received->has_begun = true;
    received->is_new = !state;
    int code = state ? go_on(ingest, run, err) : insert_run(ingest, service, host, err);
    if (code == 0) note_run(received, ingest->run_id, profiles);
    if (code == 0 && !state)
        code = run_tags_insert(received->tags, ingest->db, ingest->run_id, err) ||
               run_tags_insert(run->tags, ingest->db, ingest->run_id, err);
    return code ? -1 : 0;
}

/* ---- kinds ---- */

/* 1: the run has it with other types; 0, -1. */
static int is_unlike(struct ingest *ingest, const char *kind, const char *types, struct error *err) {
    sqlite3_stmt *select = db_prepare(ingest->db, embedded_text("ingest/received/unlike_kind"), err);
    if (!select) return -1;
    db_bind_int(select, ":run", ingest->run_id);
    db_bind_text(select, ":kind", kind);
    db_bind_text(select, ":types", types);
    int state = db_step(ingest->db, select, err);
    if (state == 1) sqlite3_reset(select);
    return state;
}

const char *received_kind(struct ingest *ingest, const char *kind, const char *otherwise,
                          const struct ingest_type *types, size_t count, struct arena *names, struct error *err) {
    char *json = ingest_types_json(types, count);
    int state = is_unlike(ingest, kind, json, err);
    for (int number = 2; state == 1 && number < KINDS_MAX; number++) {
        char *name = xasprintf("%s_%d", otherwise, number);
        kind = arena_text(names, name, strlen(name));
        free(name);
        state = is_unlike(ingest, kind, json, err);
    }
    free(json);
    if (state == 1)
        error_fail(err, "%s: %d kinds of profile with one name and unlike sample types", ingest->input->path,
                   KINDS_MAX);
    return state == 0 ? kind : NULL;
}

/* ---- states ---- */

/* Adds the rows of the statement, which has the keys and values of `sums`. */
static int add_rows(struct ingest *ingest, const char *name, const char *kind, struct sums *sums, struct error *err) {
    int64_t row[8];
    sqlite3_stmt *select = db_prepare(ingest->db, embedded_text(name), err);
    if (!select) return -1;
    db_bind_int(select, ":run", ingest->run_id);
    db_bind_int(select, ":profile", ingest->profile_id);
    db_bind_text(select, ":series", ingest->received->series ? ingest->received->series : "");
    if (kind) db_bind_text(select, ":kind", kind);
    int state, code = 0;
    while (code == 0 && (state = db_step(ingest->db, select, err)) == 1) {
        for (size_t i = 0; i < sums->width; i++)
            row[i] = sqlite3_column_int64(select, (int)i);
        if (sums_add(sums, row) != 0)
            code = error_fail(err, "%s: the difference to its run exceeds 64 bits", ingest->input->path);
    }
    sqlite3_reset(select);
    return code == 0 && state == 0 ? 0 : -1;
}

static int has_states(struct ingest *ingest, struct error *err) {
    sqlite3_stmt *select = db_prepare(ingest->db, embedded_text("ingest/received/has_states"), err);
    if (!select) return -1;
    db_bind_int(select, ":profile", ingest->profile_id);
    int state = db_step(ingest->db, select, err);
    if (state == 1) state = sqlite3_column_int(select, 0);
    sqlite3_reset(select);
    return state;
}

int received_states(struct ingest *ingest, const char *kind, struct sums *sites, struct sums *samples,
                    struct error *err) {
    enum { SITE_WIDTH = 6, SAMPLE_WIDTH = 3 };
    if (strcmp(kind, "heap") == 0 && sites->width == SITE_WIDTH) {
        int state = has_states(ingest, err);
        return state <= 0 ? state : add_rows(ingest, "ingest/received/in_use", NULL, sites, err);
    }
    if (strncmp(kind, "goroutine", strlen("goroutine")) == 0 && samples->width == SAMPLE_WIDTH)
        return add_rows(ingest, "ingest/received/goroutines", kind, samples, err);
    return 0;
}

/* ---- what is refused ---- */

bool received_is_our_fault(const struct db *db) {
    switch (sqlite3_errcode(db->handle) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_READONLY:
    case SQLITE_INTERRUPT:
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
    case SQLITE_NOTADB: return true;
    default: return false;
    }
}

int received_reject(struct ingest *ingest, uint64_t profiles, struct error *err) {
    struct received *received = ingest->received;
    if (received_is_our_fault(ingest->db)) return -1;
    if (!received->rejected) snprintf(received->why, sizeof received->why, "%s", err->message);
    received->rejected += profiles;
    *err = (struct error){0};
    return 0;
}

/* ---- seals ---- */

/* As long as this is the same, the facts are near enough: each of the first 16 profiles, then a sixteenth more. */
static int64_t step_of(int64_t profiles) {
    enum { STEPS = 16 };
    if (profiles < STEPS) return profiles;
    int power = 63 - __builtin_clzll((unsigned long long)profiles);
    return STEPS * (int64_t)power + (profiles >> (power - 4));
}

static int mark(struct db *db, int64_t run_id, const char *flags, struct error *err) {
    sqlite3_stmt *update = db_prepare(db, embedded_text("ingest/received/mark"), err);
    if (!update) return -1;
    db_bind_int(update, ":run", run_id);
    db_bind_text(update, ":flags", flags);
    return db_run(db, update, err);
}

static int seal(struct db *db, int64_t run_id, struct error *err) {
    return run_seal(db, run_id, err) || mark(db, run_id, "", err) ? -1 : 0;
}

static int seal_if_due(struct ingest *ingest, const struct received_run *run, struct error *err) {
    sqlite3_stmt *select = db_prepare(ingest->db, embedded_text("ingest/received/count"), err);
    if (!select) return -1;
    db_bind_int(select, ":run", run->id);
    if (db_step(ingest->db, select, err) < 0) return -1;
    int64_t profiles = sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
    if (step_of(profiles) != step_of(run->profiles_before)) return seal(ingest->db, run->id, err);
    return mark(ingest->db, run->id, RECEIVING, err) ||
                   run_statement(ingest, "ingest/received/forget_totals", run->id, err)
               ? -1
               : 0;
}

/* 1: `run_id` is one that has to be sealed and started in these times; 0, -1. */
static int find_over(struct db *db, int64_t from_ns, int64_t until_ns, int64_t *run_id, struct error *err) {
    sqlite3_stmt *select = db_prepare(db, embedded_text("ingest/received/over"), err);
    if (!select) return -1;
    db_bind_int(select, ":from", from_ns);
    db_bind_int(select, ":until", until_ns);
    int state = db_step(db, select, err);
    if (state == 1) *run_id = sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
    return state;
}

int received_end(struct ingest *ingest, struct error *err) {
    const struct received *received = ingest->received;
    int64_t until_ns = received->now_ns - 2 * received->every_ns, from_ns = until_ns - SPANS * received->every_ns;
    int state = 0;
    for (size_t i = 0; i < received->run_count; i++)
        if (seal_if_due(ingest, &received->runs[i], err) != 0) return -1;
    for (int i = 0; i < OVER_MAX; i++) {
        int64_t run_id;
        if ((state = find_over(ingest->db, from_ns, until_ns, &run_id, err)) != 1) break;
        if (seal(ingest->db, run_id, err) != 0) return -1;
    }
    return state < 0 ? -1 : 0;
}

int received_settle(struct db *db, struct error *err) {
    for (;;) {
        int64_t run_id;
        int state = find_over(db, INT64_MIN, INT64_MAX, &run_id, err);
        if (state != 1) return state;
        if (db_begin(db, err) != 0) return -1;
        if (seal(db, run_id, err) != 0) {
            db_rollback(db);
            return -1;
        }
        if (db_commit(db, err) != 0) return -1;
    }
}

void received_free(struct received *received) {
    free(received->runs);
    received->runs = NULL;
    received->run_count = 0;
}
