#include "ingest/upkeep/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/path.h"
#include "ingest/upkeep/give_back.h"

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* Where SQLite makes the temporary copy. */
static const char *temporary_directory(void) {
    const char *const places[] = {getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp"};
    struct stat about;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && stat(places[i], &about) == 0 && S_ISDIR(about.st_mode) && access(places[i], W_OK | X_OK) == 0)
            return places[i];
    return ".";
}

static int64_t room_at(const char *path, dev_t *device) {
    struct statvfs room;
    struct stat about;
    if (statvfs(path, &room) || stat(path, &about)) return 0;
    *device = about.st_dev;
    return (int64_t)room.f_bavail * (int64_t)room.f_frsize;
}

/* A copy in the temporary directory, and a -wal as large beside the file; a tenth more for what grows meanwhile. */
static int64_t missing_room(const char *warehouse, int64_t bytes) {
    dev_t here = 0, there = 0;
    int64_t needed = bytes + bytes / 10;
    int64_t beside = room_at(warehouse, &here), copy = room_at(temporary_directory(), &there);
    if (here == there) return beside < needed * 2 ? needed * 2 : 0;
    return beside < needed || copy < needed ? needed : 0;
}

/* ---- whether ----------------------------------------------------------------------------------------------------- */

static int is_loose(struct db *db, int64_t bytes_before, int64_t *used, bool *is, struct error *err) {
    int64_t pages, unused, size;
    bool does;
    if (db_int(db, "PRAGMA page_count", 0, &pages, err) || db_int(db, "PRAGMA freelist_count", 0, &unused, err) ||
        db_int(db, "PRAGMA page_size", 0, &size, err) || gives_back(db, &does, err))
        return -1;
    *used = (pages - unused) * size;
    *is = *used < bytes_before / 2 || (!does && unused > pages / 10);
    return 0;
}

int rewrite_if_loose(struct db *db, int64_t bytes_before, int64_t *room_needed, struct error *err) {
    int64_t used;
    bool is;
    *room_needed = 0;
    if (is_loose(db, bytes_before, &used, &is, err)) return -1;
    if (is) *room_needed = missing_room(db->path, used);
    return is && !*room_needed ? db_exec(db, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM", err) : 0;
}
