#include "ingest/symbols/source_rows.h"

#include <nettle/sha2.h>
#include <string.h>

#include "base/hex.h"
#include "schema/schema.h"

static void hash_text(const char *text, char hex[2 * SHA256_DIGEST_SIZE + 1]) {
    struct sha256_ctx sha;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, strlen(text), (const uint8_t *)text);
    sha256_digest(&sha, sizeof digest, digest);
    hex_bytes(hex, digest, sizeof digest);
}

int64_t sources_put_text(struct db *db, const char *text, struct error *err) {
    char hash[2 * SHA256_DIGEST_SIZE + 1];
    hash_text(text, hash);
    sqlite3_stmt *insert =
        db_prepare(db, "INSERT OR IGNORE INTO main.source_texts(hash, text) VALUES (:hash, :text)", err);
    if (!insert) return -1;
    db_bind_text(insert, ":hash", hash);
    db_bind_text(insert, ":text", text);
    if (db_run(db, insert, err)) return -1;
    sqlite3_stmt *find = db_prepare(db, "SELECT id FROM main.source_texts WHERE hash = :hash", err);
    if (!find) return -1;
    db_bind_text(find, ":hash", hash);
    int64_t id = db_step(db, find, err) == 1 ? sqlite3_column_int64(find, 0) : -1;
    sqlite3_reset(find);
    return id;
}

int sources_put(struct db *db, int64_t run_id, const char *path, const char *role, const char *text,
                struct error *err) {
    int64_t id = sources_put_text(db, text, err);
    sqlite3_stmt *insert = id < 0 ? NULL
                                  : db_prepare(db,
                                               "INSERT OR REPLACE INTO sources(run_id, path, role, text_id)"
                                               " VALUES (:run, :path, :role, :text)",
                                               err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", run_id);
    db_bind_text(insert, ":path", path);
    db_bind_text(insert, ":role", role);
    db_bind_int(insert, ":text", id);
    return db_run(db, insert, err);
}

int sources_store(struct source_map *map, struct db *db, int64_t run_id, struct error *err) {
    for (size_t i = 0; i < map->mapped_count; i++) {
        struct source_map_file *file = map->mapped[i];
        if (file->is_stored) continue;
        if (sources_put(db, run_id, file->path, TRANSPILED_ROLE, file->text, err)) return -1;
        if (file->source_text && sources_put(db, run_id, file->source, SOURCE_ROLE, file->source_text, err)) return -1;
        file->is_stored = true;
    }
    return 0;
}

void sources_rolled_back(struct source_map *map) {
    for (size_t i = 0; i < map->mapped_count; i++)
        map->mapped[i]->is_stored = false;
}

int sources_inherit(struct db *db, int64_t run_id, int64_t mapping_id, struct error *err) {
    sqlite3_stmt *insert = db_prepare(db, embedded_text("ingest/inherit_sources.sql"), err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", run_id);
    db_bind_int(insert, ":mapping", mapping_id);
    return db_run(db, insert, err);
}
