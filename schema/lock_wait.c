#include "schema/lock_wait.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/lock_holder.h"

/* Who waits for longer than a second is told within one; twelve recorders that write one file wait 50 ms for each other as a rule. A wait that
 * may last no longer than a second is its caller's to tell. */
enum { TELL_MS = 400, QUIET_PATIENCE_MS = 1000, PAUSE_MOST_MS = 50 };

static db_tell *tell_user;

void db_on_wait(db_tell *tell) {
    tell_user = tell;
}

/* Where SQLite's locks are (its file format, "The Lock-Byte Page" and "WAL-Index Format"): of the file itself PENDING, RESERVED and 510
 * bytes SHARED; of the -shm the bytes WRITE, CKPT and RECOVER. In WAL mode each reader has the file itself locked, and is in nobody's way. */
static char *holder(const char *path) {
    static const struct lock_range file = {0x40000000, 0x40000000 + 511, false},
                                   exclusive = {0x40000000, 0x40000000 + 511, true}, index = {120, 122, true};
    char *shared = xasprintf("%s-shm", path);
    bool is_wal = access(shared, F_OK) == 0;
    char *found = is_wal ? lock_holder(shared, &index) : NULL;
    if (!found) found = lock_holder(path, is_wal ? &exclusive : &file);
    free(shared);
    return found;
}

char *db_locked_by(const char *path) {
    char *found = holder(path);
    char *text = found ? xasprintf("another process (%s)", found) : xstrdup("another process");
    free(found);
    return text;
}

/* SQLite takes a file on which locks do not work (ENOLCK of NFS without its lock daemon) for a locked one, which it would be for ever. */
static void look(struct db *db) {
    char *found = holder(db->path);
    if (!found) db->lock_failure = lock_failure(db->path);
    if (!db->lock_failure && db->patience_ms > QUIET_PATIENCE_MS && tell_user) {
        char *locked_by = db_locked_by(db->path);
        tell_user(db->path, locked_by, db->patience_ms);
        free(locked_by);
    }
    free(found);
}

bool lock_wait_step(struct db *db, int tries) {
    int64_t now_ns = clock_monotonic_ns();
    if (tries == 0) db->waiting_since_ns = now_ns;
    int64_t waited_ms = (now_ns - db->waiting_since_ns) / 1000000;
    if (waited_ms >= TELL_MS && !db->has_looked) {
        db->has_looked = true;
        look(db);
    }
    if (waited_ms >= db->patience_ms || db->lock_failure) return false;
    int64_t pause_ms = tries + 1, left_ms = db->patience_ms - waited_ms;
    if (pause_ms > PAUSE_MOST_MS) pause_ms = PAUSE_MOST_MS;
    usleep((useconds_t)(pause_ms < left_ms ? pause_ms : left_ms) * 1000);
    return true;
}

static int on_busy(void *context, int tries) {
    return lock_wait_step(context, tries);
}

void lock_wait_set_up(struct db *db) {
    sqlite3_busy_handler(db->handle, on_busy, db);
}

char *lock_wait_reason(const struct db *db) {
    if (db->lock_failure)
        return xasprintf("its file cannot be locked (%s), which SQLite needs: keep it on another file system",
                         strerror(db->lock_failure));
    char *locked_by = db_locked_by(db->path);
    char *text = xasprintf("database is locked by %s", locked_by);
    free(locked_by);
    return text;
}
