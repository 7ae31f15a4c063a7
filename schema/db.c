#include "schema/db.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/owner.h"
#include "schema/companions.h"
#include "schema/diagnoses.h"
#include "schema/empty_file.h"
#include "schema/lock_wait.h"
#include "schema/schema.h"
#include "schema/sqlite_memory.h"
#include "schema/window_sums.h"

enum { SHOWN_SQL = 160 };

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* The last entries of SQLite's log on this thread: the statement that failed, and the system call of an I/O error. Its error
 * message, such as "database is locked" or "disk I/O error", names neither. */
static _Thread_local struct {
    char statement[SHOWN_SQL];
    char system[SHOWN_SQL * 2];
} last_log;

static void copy_line(char *to, size_t size, const char *text) {
    size_t at = 0;
    bool blank = true;
    for (; *text && at + 4 < size; text++) {
        bool is_blank = isspace((unsigned char)*text);
        if (is_blank && blank) continue;
        to[at++] = is_blank ? ' ' : *text;
        blank = is_blank;
    }
    if (*text) at += (size_t)(stpcpy(to + at, "...") - (to + at));
    to[at] = '\0';
}

static void on_log(void *context, int code, const char *message) {
    (void)context;
    int primary = code & 0xff;
    if (primary == SQLITE_NOTICE || primary == SQLITE_WARNING || primary == SQLITE_SCHEMA) return;
    if (strncmp(message, "os_", 3) == 0) copy_line(last_log.system, sizeof last_log.system, message);
    /* "statement aborts at 9: [SQL] why" or "abort at 9 in [SQL]: why" */
    const char *sql = strstr(message, "abort") ? strchr(message, '[') : NULL;
    const char *end = sql ? strrchr(sql, ']') : NULL;
    if (!end) return;
    char text[SHOWN_SQL * 2];
    snprintf(text, sizeof text, "%.*s", (int)(end - sql - 1), sql + 1);
    copy_line(last_log.statement, sizeof last_log.statement, text);
}

static void hook_log(void) {
    /* Fails only if the process used SQLite before: then messages are shorter, nothing else. */
    (void)sqlite3_config(SQLITE_CONFIG_LOG, on_log, NULL);
    /* clear never asks how much memory SQLite uses: without its counters, and the mutex of each malloc, an ingest takes 4 % less time. Those of what
     * connections share (the locks of a file, the index of its -wal) stay, for db_open_beside: 0.06 % more instructions than without. */
    (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite_memory_use();
    (void)sqlite3_initialize();
}

static char *reason(const struct db *db) {
    switch (sqlite3_errcode(db->handle) & 0xff) {
    case SQLITE_FULL: return xstrdup("no space left on the disk");
    case SQLITE_BUSY: return lock_wait_reason(db);
    case SQLITE_CORRUPT: return xstrdup("the file is damaged; `sqlite3 FILE .recover` recovers what can be read");
    case SQLITE_INTERRUPT:
        return xstrdup("stopped, because it takes too long: a view in the file, or a damaged table, may have no end");
    default: return xstrdup(sqlite3_errmsg(db->handle));
    }
}

int db_error(struct db *db, const char *doing, struct error *err) {
    const char *refused = companions_refused();
    if (*refused)
        return error_fail(
            err,
            "%s: %s belongs to another user, and what it says would become part of the warehouse: remove it, "
            "or move it away",
            db->path, refused);
    const char *statement = strstr(doing, "running ") ? "" : last_log.statement;
    int primary = sqlite3_errcode(db->handle) & 0xff;
    bool system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL;
    char line[600];
    db->was_locked = (primary == SQLITE_BUSY || primary == SQLITE_LOCKED) && !db->lock_failure;
    char *why = reason(db);
    copy_line(line, sizeof line, why);
    free(why);
    error_fail(err, "%s: %s: %s%s%s%s%s%s%s", db->path, doing, line, *statement ? " (in " : "", statement,
               *statement ? ")" : "", system && *last_log.system ? " (" : "", system ? last_log.system : "",
               system && *last_log.system ? ")" : "");
    last_log.statement[0] = last_log.system[0] = '\0';
    return -1;
}

void db_set_patience(struct db *db, int ms) {
    db->patience_ms = ms;
    lock_wait_set_up(db);
}

static int statement_error(struct db *db, const char *sql, struct error *err) {
    if (strcmp(sqlite3_errmsg(db->handle), "integer overflow") == 0) /* of sum() */
        return error_fail(err, "%s: a sum is larger than 2^63 - 1", db->path);
    char shown[SHOWN_SQL], doing[SHOWN_SQL + 16] = "running ";
    copy_line(shown, sizeof shown, sql);
    strcat(doing, shown);
    return db_error(db, doing, err);
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static sqlite3_stmt *compile(struct db *db, const char *sql, unsigned flags, const char **tail, struct error *err) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(db->handle, sql, -1, flags, &statement, tail) != SQLITE_OK) {
        statement_error(db, sql, err);
        return NULL;
    }
    return statement;
}

/* True if SQL that was compiled up to `tail` has another statement after it; comments and blanks are not one. */
static bool has_more(struct db *db, const char *tail) {
    while (*tail) {
        const char *next = tail;
        sqlite3_stmt *more = NULL;
        int code = sqlite3_prepare_v3(db->handle, tail, -1, 0, &more, &next);
        sqlite3_finalize(more);
        if (code != SQLITE_OK || more) return true;
        if (next == tail) break;
        tail = next;
    }
    return false;
}

/* True if the statement was compiled from that text, which SQLite keeps up to its semicolon. */
static bool is_text_of(sqlite3_stmt *statement, const char *sql) {
    const char *known = sqlite3_sql(statement);
    size_t size = strlen(known);
    if (strncmp(known, sql, size) != 0) return false;
    return !sql[size + strspn(sql + size, "\n")];
}

/* The cached statement of that text, or NULL. Texts are mostly literals or embedded files, so their address finds them; then the text
 * itself is compared, because a buffer may be reused. */
static sqlite3_stmt *find_statement(struct db *db, const char *sql) {
    size_t slot = ((uintptr_t)sql >> 3 ^ (uintptr_t)sql >> 9) % (sizeof db->recent / sizeof *db->recent);
    sqlite3_stmt *statement = db->recent[slot].statement;
    if (statement && db->recent[slot].sql == sql && is_text_of(statement, sql)) return statement;
    struct map_entry *known = map_find(&db->statements, sql, strlen(sql));
    if (!known) return NULL;
    db->recent[slot].sql = sql;
    return db->recent[slot].statement = (sqlite3_stmt *)(intptr_t)known->value;
}

sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct error *err) {
    sqlite3_stmt *found = find_statement(db, sql);
    if (found) {
        sqlite3_reset(found);
        sqlite3_clear_bindings(found);
        return found;
    }
    const char *tail = sql;
    sqlite3_stmt *statement = compile(db, sql, SQLITE_PREPARE_PERSISTENT, &tail, err);
    if (!statement) {
        error_fail(err, "%s: the SQL contains no statement", db->path);
        return NULL;
    }
    if (has_more(db, tail)) {
        sqlite3_finalize(statement);
        error_fail(err, "%s: more than one statement in: %.100s", db->path, sql);
        return NULL;
    }
    map_put(&db->statements, sql, strlen(sql), NULL)->value = (int64_t)(intptr_t)statement;
    return statement;
}

/* True where only blanks, semicolons and comments are left. Looks at the text alone: to compile a PRAGMA is to run it. */
static bool is_blank(const char *text) {
    while (*text) {
        if (isspace((unsigned char)*text) || *text == ';') {
            text++;
        } else if (text[0] == '-' && text[1] == '-') {
            text += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            text = end ? end + 2 : text + strlen(text);
        } else {
            return false;
        }
    }
    return true;
}

/* Of a definition that was made to be one statement: nothing of a second one runs. */
static int create_view(struct db *db, const char *sql, struct error *err) {
    const char *tail = sql;
    sqlite3_stmt *statement = compile(db, sql, 0, &tail, err);
    int code = -1;
    if (statement && !is_blank(tail))
        error_fail(err, "%s: the text of a view has a second statement, which was not run: %.60s", db->path, tail);
    else if (statement)
        code = db_step(db, statement, err);
    sqlite3_finalize(statement);
    return code;
}

int db_create_temp_view(struct db *db, const char *text, struct error *err) {
    char *sql = xasprintf("CREATE TEMP VIEW %s", text); /* layers-ok: a whole definition, no value */
    int code = create_view(db, sql, err);
    free(sql);
    return code;
}

/* Only what this may do is allowed while the text is compiled: to add a view to the schema, and to read and call in it what it likes. */
static int authorize_view(void *context, int action, const char *first, const char *second, const char *database,
                          const char *trigger) {
    (void)context;
    (void)second;
    (void)database;
    (void)trigger;
    switch (action) {
    case SQLITE_CREATE_VIEW:
    case SQLITE_READ:
    case SQLITE_SELECT:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE: return strncmp(first, "sqlite_", 7) == 0 ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

int db_create_view(struct db *db, const char *text, struct error *err) {
    static const char create[] = "CREATE VIEW ";
    if (strncmp(text, create, strlen(create)) != 0) return error_fail(err, "its text does not make a view");
    sqlite3_set_authorizer(db->handle, authorize_view, NULL);
    int code = create_view(db, text, err);
    db_guard(db);
    return code;
}

static int parameter(sqlite3_stmt *statement, const char *name) {
    int index = sqlite3_bind_parameter_index(statement, name);
    if (!index) bug("no parameter %s in: %s", name, sqlite3_sql(statement));
    return index;
}

static void bound(sqlite3_stmt *statement, const char *name, int code) {
    /* The only cause is a statement that is bound while it runs: SQLITE_MISUSE. */
    if (code != SQLITE_OK) bug("binding %s (%s) in: %s", name, sqlite3_errstr(code), sqlite3_sql(statement));
}

void db_bind_int(sqlite3_stmt *statement, const char *name, int64_t value) {
    bound(statement, name, sqlite3_bind_int64(statement, parameter(statement, name), value));
}

void db_bind_real(sqlite3_stmt *statement, const char *name, double value) {
    bound(statement, name, sqlite3_bind_double(statement, parameter(statement, name), value));
}

void db_bind_text(sqlite3_stmt *statement, const char *name, const char *text) {
    bound(statement, name, sqlite3_bind_text(statement, parameter(statement, name), text, -1, SQLITE_TRANSIENT));
}

int db_step(struct db *db, sqlite3_stmt *statement, struct error *err) {
    /* SQLite itself rolls back after a full disk or an I/O error. Rows written after that would each be committed alone. */
    if (db->depth && sqlite3_get_autocommit(db->handle)) {
        sqlite3_reset(statement);
        return error_fail(err, "%s: the transaction was rolled back after an earlier error", db->path);
    }
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) return 1;
    if (code != SQLITE_DONE) statement_error(db, sqlite3_sql(statement), err);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

int db_run(struct db *db, sqlite3_stmt *statement, struct error *err) {
    int code = db_step(db, statement, err);
    if (code == 1) bug("rows from: %s", sqlite3_sql(statement));
    return code;
}

const char *db_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

int db_exec(struct db *db, const char *sql, struct error *err) {
    while (*sql) {
        const char *tail = sql;
        sqlite3_stmt *statement = compile(db, sql, 0, &tail, err);
        if (!statement && err->status != ERROR_NONE) return -1;
        int code = 0;
        while (statement && (code = db_step(db, statement, err)) == 1)
            continue;
        sqlite3_finalize(statement);
        if (code < 0) return -1;
        sql = tail;
    }
    return 0;
}

int db_write_schema(struct db *db, bool allowed, struct error *err) {
    struct error ignored = {0};
    if (allowed) sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    int code =
        db_exec(db, allowed ? "PRAGMA writable_schema = ON" : "PRAGMA writable_schema = RESET", err ? err : &ignored);
    if (!allowed || code) sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return code;
}

int db_int(struct db *db, const char *sql, int64_t otherwise, int64_t *value, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return -1;
    int code = db_step(db, statement, err);
    if (code < 0) return -1;
    *value = code ? sqlite3_column_int64(statement, 0) : otherwise;
    sqlite3_reset(statement);
    return 0;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Virtual machine steps between two looks at the clock: about 0.1 ms. */
enum { STEPS_BETWEEN_LOOKS = 10000, VALUE_BYTES_MAX = 64 << 20 };

static int on_progress(void *context) {
    const struct db *db = context;
    return clock_monotonic_ns() >= db->deadline_ns;
}

bool db_allows_function(const char *name) {
    static const char *const harmful[] = {"load_extension", "readfile",       "writefile",           "edit",
                                          "fsdir",          "fts3_tokenizer", "sqlite_rename_table", NULL};
    for (const char *const *other = harmful; *other; other++)
        if (sqlite3_stricmp(name, *other) == 0) return false;
    return true;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
    (void)context;
    (void)first;
    (void)database;
    (void)trigger;
    return action == SQLITE_FUNCTION && second && !db_allows_function(second) ? SQLITE_DENY : SQLITE_OK;
}

/* Without trust SQLite 3.40 also refuses the JSON functions in a view, which the diagnoses call. So views are trusted while an authorizer
 * looks at the functions that they call. */
void db_guard(struct db *db) {
    sqlite3_set_authorizer(db->handle, authorize, db);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1, NULL);
}

void db_limit(struct db *db, int64_t ns) {
    db->deadline_ns = clock_monotonic_ns() + ns;
    db->value_bytes = sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    sqlite3_progress_handler(db->handle, STEPS_BETWEEN_LOOKS, on_progress, db);
}

void db_unlimit(struct db *db) {
    sqlite3_progress_handler(db->handle, 0, NULL, NULL);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, db->value_bytes);
    db->deadline_ns = 0;
}

/* ---- transactions ------------------------------------------------------------------------------------------------ */

/* Savepoints with the same name nest: RELEASE and ROLLBACK TO mean the newest. */
int db_begin(struct db *db, struct error *err) {
    if (db_exec(db, db->depth ? "SAVEPOINT nested" : "BEGIN IMMEDIATE", err)) return -1;
    db->depth++;
    return 0;
}

int db_commit(struct db *db, struct error *err) {
    if (!db->depth) bug("db_commit without db_begin");
    if (db_exec(db, db->depth > 1 ? "RELEASE nested" : "COMMIT", err)) {
        db_rollback(db);
        return -1;
    }
    db->depth--;
    return 0;
}

void db_rollback(struct db *db) {
    if (!db->depth) return;
    /* SQLite itself may have rolled back already. */
    if (!sqlite3_get_autocommit(db->handle)) {
        struct error ignored = {0};
        (void)db_exec(db, db->depth > 1 ? "ROLLBACK TO nested; RELEASE nested" : "ROLLBACK", &ignored);
    }
    db->depth--;
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static bool is_memory(const char *path) {
    return strcmp(path, ":memory:") == 0;
}

/* The directory of a path; free() it. */
static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return xstrdup(".");
    char *directory = xstrdup(path);
    directory[slash == path ? 1 : slash - path] = '\0';
    return directory;
}

static int check_directory(const char *path, const char *file, struct error *err) {
    char *directory = directory_of(file);
    int code = 0;
    if (access(directory, W_OK | X_OK))
        code = error_fail(err, "%s: cannot write in directory %s: %s", path, directory, strerror(errno));
    free(directory);
    return code;
}

/* For all of these SQLite says only "unable to open database file". `file` is what the path leads to. */
static int check_file(const char *path, const char *file, enum db_mode mode, struct error *err) {
    struct stat status;
    if (is_memory(path)) return 0;
    if (stat(file, &status)) {
        if (errno != ENOENT) return error_fail(err, "%s: %s", path, strerror(errno));
        if (mode == DB_SOURCE) return error_fail(err, "%s: no such file", path);
        if (mode == DB_READ)
            return error_fail(err, "%s: no such file; `clear profile --db %s TARGET` creates it", path, path);
        return check_directory(path, file, err);
    }
    if (S_ISDIR(status.st_mode)) return error_fail(err, "%s: is a directory, not a warehouse", path);
    if (!S_ISREG(status.st_mode)) return error_fail(err, "%s: is not a regular file", path);
    if (access(file, R_OK)) return error_fail(err, "%s: cannot be read: %s", path, strerror(errno));
    if (mode != DB_WRITE) return 0;
    if (access(file, W_OK)) return error_fail(err, "%s: cannot be written: %s", path, strerror(errno));
    return check_directory(path, file, err);
}

/* What the path leads to; free() it. NULL with the error set. A file that is only copied from may be anybody's, and so may its links. */
static char *resolve(const char *path, enum db_mode mode, struct error *err) {
    char *file = NULL;
    if (!*path)
        error_usage(err, "the name of the database is empty: give --db FILE");
    else if (is_memory(path))
        file = xstrdup(path);
    else if (mode == DB_SOURCE && (file = realpath(path, NULL)) == NULL)
        file = xstrdup(path);
    else if (!file)
        file = owner_resolve(path, err);
    if (!file || check_file(path, file, mode, err) == 0) return file;
    free(file);
    return NULL;
}

static bool can_write(const struct db *db) {
    struct error ignored = {0};
    return check_file(db->path, db->file, DB_WRITE, &ignored) == 0;
}

static int64_t size_of_companion(const char *path, const char *suffix) {
    char *name = xasprintf("%s%s", path, suffix);
    struct stat status;
    int64_t size = stat(name, &status) ? -1 : (int64_t)status.st_size;
    free(name);
    return size;
}

/* Byte 18 of the file says whether its -wal must be read too. */
static bool is_in_wal_mode(const char *path) {
    unsigned char header[20] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t size = pread(file, header, sizeof header, 0);
    close(file);
    return size == (ssize_t)sizeof header && header[18] == 2;
}

/* The path as a "file:" URI, with the special characters of URIs escaped; free() it. */
static char *immutable_uri(const char *path) {
    struct buffer uri = {0};
    buffer_add_text(&uri, *path == '/' ? "file://" : "file:");
    for (; *path; path++) {
        if (strchr("%?#", *path))
            buffer_printf(&uri, "%%%02X", (unsigned char)*path);
        else
            buffer_add_char(&uri, *path);
    }
    buffer_add_text(&uri, "?immutable=1");
    return buffer_take(&uri);
}

static int open_handle(struct db *db, const char *name, int flags, const char *vfs, struct error *err) {
    /* One thread per connection, so no mutex: locking it in every call took a fifth of the instructions of an export. */
    flags |= SQLITE_OPEN_NOMUTEX | (db->file && !is_memory(db->file) ? SQLITE_OPEN_NOFOLLOW : 0);
    companions_guard();
    if (sqlite3_open_v2(name, &db->handle, flags, vfs) != SQLITE_OK) return db_error(db, "opening", err);
    sqlite3_extended_result_codes(db->handle, 1);
    companions_set_temporary(db->handle, db->file);
    lock_wait_set_up(db);
    /* A misspelt "column" is an error and not a string. The file may come from a stranger: its views call only functions that the
     * guard allows, no SQL can damage the file itself, and its triggers do not run. */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    db_guard(db);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    return db_exec(db, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON", err);
}

static void close_handle(struct db *db) {
    for (size_t i = 0; i < db->statements.count; i++)
        sqlite3_finalize((sqlite3_stmt *)(intptr_t)db->statements.entries[i].value);
    map_free(&db->statements);
    db->statements = (struct map){0};
    memset(db->recent, 0, sizeof db->recent);
    sqlite3_close_v2(db->handle);
    db->handle = NULL;
    db->bulk_source = NULL;
    db->takes_rows = false;
    db->depth = 0;
    db->is_inspected = false;
}

/* SQLite reads the file at the first statement: let that fail here, and not in the middle of a command. */
static int first_read(struct db *db, struct error *err) {
    if (sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) == SQLITE_OK) return 0;
    if ((sqlite3_errcode(db->handle) & 0xff) == SQLITE_NOTADB)
        return error_fail(err, "%s: is not a warehouse: not a SQLite database", db->path);
    return db_error(db, "opening", err);
}

/* Some file systems have no memory that processes share: folders that a virtual machine has of its host, some of FUSE and 9p. */
static bool cannot_map(const struct db *db) {
    return sqlite3_extended_errcode(db->handle) == SQLITE_IOERR_SHMMAP;
}

/* A file in WAL mode whose writer was killed, in a directory that cannot be written, or where none can be: SQLite cannot make the shared index. With an empty
 * -wal the file is complete and can be read as immutable. Otherwise that would lose the -wal: then the index is kept in memory, which
 * needs exclusive mode, and a VFS without locks, because a read-only file cannot be locked exclusively. Without a -shm no
 * writer is alive, so this is safe. */
static int open_stranded(struct db *db, struct error *err) {
    bool whole = size_of_companion(db->file, "-wal") <= 0;
    char *uri = whole ? immutable_uri(db->file) : NULL;
    close_handle(db);
    int code = whole ? open_handle(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL, err)
                     : open_handle(db, db->file, SQLITE_OPEN_READONLY, "unix-none", err);
    free(uri);
    if (code == 0 && !whole) code = db_exec(db, "PRAGMA locking_mode = EXCLUSIVE", err);
    return code ? -1 : first_read(db, err);
}

static int open_reader(struct db *db, struct error *err) {
    struct error first = {0};
    if (open_handle(db, db->file, SQLITE_OPEN_READONLY, NULL, err)) return -1;
    int code = first_read(db, &first);
    int primary = sqlite3_errcode(db->handle) & 0xff;
    bool has_no_index =
        (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) && size_of_companion(db->file, "-shm") < 0;
    if (code && (has_no_index || cannot_map(db)) && is_in_wal_mode(db->file))
        code = open_stranded(db, err);
    else if (code)
        *err = first;
    return code;
}

/* Not by mmap: SQLite keeps no mapped page, so cell_size_check looked through each page anew at every visit, and a diagnosis of 1,000,000
 * events took 20 s instead of 11 s. A page in the cache is checked once. */
void db_cache_more(struct db *db) {
    if (!db->is_private) sqlite3_exec(db->handle, "PRAGMA cache_size = -65536", NULL, NULL, NULL);
}

/* SQLite would let everybody read a new file, and a run has the command line of a program. The -wal and -shm get its permissions. */
static void create_for_owner(struct db *db) {
    struct stat status;
    if (is_memory(db->path) || stat(db->file, &status) == 0) return;
    char *directory = directory_of(db->file);
    db->has_made_file = empty_file_create(directory, db->file);
    free(directory);
    int file = db->has_made_file ? -1 : open(db->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return; /* what is wrong here, SQLite meets too */
    db->has_made_file = true;
    close(file);
}

/* After each commit. SQLite's own checkpoints leave the -wal as large as it ever was, and never start it again while readers come and
 * go: beyond WAL_PAGES_MOST it is emptied, for which readers are waited for a moment. What fails here is tried after the next commit. */
static int on_wal(void *context, sqlite3 *handle, const char *name, int pages) {
    enum { WAL_PAGES = 1000, WAL_PAGES_MOST = 4096, WAIT_MS = 50 };
    struct db *db = context;
    db->has_stored = true;
    if (pages < WAL_PAGES) return SQLITE_OK;
    int patience_ms = db->patience_ms;
    if (pages >= WAL_PAGES_MOST) db->patience_ms = WAIT_MS;
    int mode = pages >= WAL_PAGES_MOST ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    sqlite3_wal_checkpoint_v2(handle, name, mode, NULL, NULL);
    db->patience_ms = patience_ms;
    return SQLITE_OK;
}

/* The mode changes when nobody else has the file open in a transaction. SQLite waits for readers with a lock that lets no new ones in, so
 * each attempt is short; where the mode is changed by two at once (who make a file together, or while one takes it back) it does not wait. */
static int enter_wal_mode(struct db *db, struct error *err) {
    enum { WAIT_MS = 50 };
    const int patience_ms = db->patience_ms;
    int64_t began_ns = clock_monotonic_ns();
    for (int tries = 0;; tries++) {
        db->patience_ms = patience_ms < WAIT_MS ? patience_ms : WAIT_MS;
        int code = sqlite3_exec(db->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        db->patience_ms = patience_ms;
        if (code == SQLITE_OK) return 0;
        db->waiting_since_ns = began_ns;
        if ((code & 0xff) != SQLITE_BUSY || !lock_wait_step(db, tries + 1))
            return db_error(db, "opening for writing", err);
    }
}

/* A flush with many new stacks changes pages all over their indexes, and a seal fills temporary tables. With SQLite's 2 MiB for each these
 * pages were written and read again within the transaction: recording g++ (80,000 stacks) took 92,000 writes and 128,000 reads, and 52,000
 * and 12,000 with this. Only what is used is allocated. */
#define WRITER_CACHE "PRAGMA main.cache_size = -32768; PRAGMA temp.cache_size = -32768"

/* A file without a name, or with one that is gone at once where the file system has none of these. -1: none can be made. */
static int make_probe(const char *file) {
    char *directory = directory_of(file), *named = xasprintf("%s.XXXXXX", file);
    int probe = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (probe < 0 && (probe = mkostemp(named, O_CLOEXEC)) >= 0) unlink(named);
    free(named);
    free(directory);
    return probe;
}

/* Whether processes can share memory beside the file, as the index of a -wal is. Tried before the mode is changed: the file would be of no use to anybody until
 * it is changed back. Where nothing can be made, SQLite says what is wrong. */
static bool can_share(const char *file) {
    enum { PAGE = 4096 };
    int probe = make_probe(file);
    if (probe < 0) return true;
    void *shared = ftruncate(probe, PAGE) ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, probe, 0);
    bool can = shared != MAP_FAILED || errno == ENOSPC;
    if (shared != MAP_FAILED) munmap(shared, PAGE);
    close(probe);
    return can;
}

/* A file in WAL mode that was copied to where no memory is shared is read by who has it for himself: the index is in his memory. */
static int open_to_write(struct db *db, struct error *err) {
    struct error first = {0};
    if (open_handle(db, db->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, err)) return -1;
    if (first_read(db, &first) == 0) {
        db->has_rollback = !is_memory(db->path) && !can_share(db->file);
        return 0;
    }
    db->has_rollback = cannot_map(db);
    if (!db->has_rollback) {
        *err = first;
        return -1;
    }
    close_handle(db);
    return open_handle(db, db->file, SQLITE_OPEN_READWRITE, NULL, err) ||
                   db_exec(db, "PRAGMA locking_mode = EXCLUSIVE", err) || first_read(db, err)
               ? -1
               : 0;
}

/* From now on a reader keeps a writer waiting, and a writer readers while it commits. */
static int stay_with_rollback(struct db *db, struct error *err) {
    char *index = xasprintf("%s-shm", db->file);
    int code =
        db_exec(db, "PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; PRAGMA synchronous = FULL", err) ||
        first_read(db, err);
    if (code == 0) unlink(index); /* what SQLite made of it in vain */
    free(index);
    return code ? -1 : 0;
}

static int choose_journal(struct db *db, struct error *err) {
    if (db_exec(db, WRITER_CACHE, err)) return -1;
    if (db->has_rollback) return stay_with_rollback(db, err);
    if (db_exec(db, "PRAGMA synchronous = NORMAL", err) || enter_wal_mode(db, err)) return -1;
    db->has_entered_wal = true;
    return 0;
}

static int on_commit(void *context) {
    struct db *db = context;
    db->has_stored = true;
    return 0;
}

static void watch_commits(struct db *db) {
    if (db->has_entered_wal)
        sqlite3_wal_hook(db->handle, on_wal, db);
    else
        sqlite3_commit_hook(db->handle, on_commit, db);
}

/* 4096 is the page size of the kernel and of most disks. A flush changes few rows in many pages, so larger pages would write more
 * bytes per flush. It is SQLite's default too, but a distribution may change that. A new file notes for each page who refers to it, so that
 * clear gc can give free pages back without writing the whole file anew (an older file stays as it is, and is not written to here: a
 * reader of a closed warehouse would keep us from it). */
static int open_writer(struct db *db, struct error *err) {
    create_for_owner(db);
    if (open_to_write(db, err)) return -1;
    enum schema_state state;
    if (schema_read_state(db, &state, err)) return -1; /* a foreign file is not touched */
    if (!is_memory(db->path) && sqlite3_db_readonly(db->handle, "main") == 1)
        return error_fail(err, "%s: cannot be written: the file or its disk is read-only", db->path);
    if ((state == SCHEMA_EMPTY && db_exec(db, "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL", err)) ||
        choose_journal(db, err))
        return -1;
    watch_commits(db);
    if (schema_prepare(db, state, err) || db_int(db, "PRAGMA data_version", 0, &db->version_made, err)) return -1;
    db->has_stored = false;
    return 0;
}

/* Has the file been removed or renamed since it was opened? */
static bool is_gone(struct db *db) {
    int has_moved = 0;
    return sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK && has_moved;
}

int db_check_place(struct db *db, struct error *err) {
    if (!is_gone(db)) return 0;
    return error_fail(err, "%s was removed or moved while the program ran, with what was stored in it", db->path);
}

/* Another process that failed may remove the file that it made (remove_made), up to the moment when it is in WAL mode here: then it is
 * made anew. */
static int open_kept_writer(struct db *db, struct error *err) {
    enum { TRIES = 10 };
    for (int i = 0; i < TRIES; i++) {
        if (open_writer(db, err)) return -1;
        if (is_memory(db->path) || !is_gone(db)) return 0;
        close_handle(db);
    }
    return error_fail(err, "%s: other processes remove it again and again", db->path);
}

/* Before reading, if the file can be written: migrates an older file, and checkpoints the -wal of a writer that was killed. */
static int refresh(const struct db *db, bool needed, struct error *err) {
    enum { BRIEF_MS = 200 }; /* what another process has locked, it refreshes itself */
    struct db writer;
    const char *path = db->path;
    if (!can_write(db)) {
        if (!needed) return 0;
        return error_fail(err,
                          "%s: made by an older clear, and it cannot be written to migrate it: copy it to a directory "
                          "that you can write",
                          path);
    }
    struct error ignored = {0}, *at = needed ? err : &ignored;
    int code = db_open_within(&writer, path, DB_WRITE, needed ? LOCK_WAIT_MS : BRIEF_MS, at);
    if (code == 0) code = db_close(&writer, at);
    return needed ? code : 0;
}

static int open_current(struct db *db, struct error *err) {
    enum schema_state state;
    if (open_reader(db, err) || schema_read_state(db, &state, err)) return -1;
    if (state == SCHEMA_EMPTY)
        return error_fail(err, "%s: is empty; `clear profile --db %s TARGET` records a run", db->path, db->path);
    db->was_current = state == SCHEMA_CURRENT && !is_in_wal_mode(db->file);
    if (db->was_current) return 0;
    close_handle(db);
    if (refresh(db, state == SCHEMA_OLDER, err) || open_reader(db, err)) return -1;
    return schema_prepare_reader(db, err);
}

/* What reads a stranger's file ends: pages that refer to each other may make a table without an end. Ten times as long as a slow machine
 * takes to copy all of it. */
static void limit_source(struct db *db) {
    enum { LEAST_S = 30, S_PER_MIB = 2 };
    struct stat status;
    int64_t mib = stat(db->file, &status) ? 0 : (int64_t)status.st_size >> 20;
    db->deadline_ns = clock_monotonic_ns() + (LEAST_S + S_PER_MIB * mib) * 1000000000;
    sqlite3_progress_handler(db->handle, STEPS_BETWEEN_LOOKS, on_progress, db);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
}

/* What SQLite opens as a warehouse without a name: a temporary file, or memory where no such file can be made. */
static const char *private_name(void) {
    return companions_temporary() ? "" : ":memory:";
}

/* Copies the open file into a temporary one without a name, which takes its place. */
static int copy_privately(struct db *db, struct error *err) {
    struct db copy = {.path = db->path, .patience_ms = db->patience_ms};
    int code = open_handle(&copy, private_name(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, err);
    sqlite3_backup *backup = code ? NULL : sqlite3_backup_init(copy.handle, "main", db->handle, "main");
    if (backup) {
        sqlite3_backup_step(backup, -1);
        sqlite3_backup_finish(backup);
    }
    if (code == 0 && sqlite3_errcode(copy.handle) != SQLITE_OK)
        code = db_error(&copy, "copying it, to bring the copy up to date", err);
    close_handle(code ? &copy : db);
    if (code) return -1;
    db->handle = copy.handle;
    lock_wait_set_up(db);
    return db_exec(db, "PRAGMA cache_size = -65536; PRAGMA synchronous = OFF", err);
}

/* The file stays as it is. */
static int migrate_copy(struct db *db, struct error *err) {
    if (copy_privately(db, err)) return -1;
    limit_source(db);
    return schema_prepare(db, SCHEMA_OLDER, err);
}

static int open_source(struct db *db, struct error *err) {
    enum schema_state state;
    if (open_reader(db, err)) return -1;
    limit_source(db);
    if (schema_read_state(db, &state, err)) return -1;
    if (state == SCHEMA_EMPTY) return error_fail(err, "%s: is empty, not a warehouse", db->path);
    return state == SCHEMA_OLDER ? migrate_copy(db, err) : 0;
}

/* Makes it one file again. If another process has it open, it stays in WAL mode until the last one closes it. */
static int end_wal(struct db *db, struct error *err) {
    sqlite3_busy_timeout(db->handle, 0);
    int code = sqlite3_exec(db->handle, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (code == SQLITE_OK) return 0;
    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) {
        sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        return 0;
    }
    return db_error(db, "writing the -wal into the file (nothing is lost: the data is in the two files together)", err);
}

static void end_statements(struct db *db) {
    while (db->depth)
        db_rollback(db);
    for (size_t i = 0; i < db->statements.count; i++)
        sqlite3_reset((sqlite3_stmt *)(intptr_t)db->statements.entries[i].value);
}

static int open_by_mode(struct db *db, enum db_mode mode, struct error *err) {
    if (mode == DB_SOURCE) return open_source(db, err);
    return mode == DB_WRITE ? open_kept_writer(db, err) : open_current(db, err);
}

static void start_db(struct db *db, const char *path, int patience_ms) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, hook_log);
    last_log.statement[0] = last_log.system[0] = '\0';
    *db = (struct db){.path = xstrdup(path), .patience_ms = patience_ms};
}

int db_open(struct db *db, const char *path, enum db_mode mode, struct error *err) {
    return db_open_within(db, path, mode, LOCK_WAIT_MS, err);
}

int db_open_within(struct db *db, const char *path, enum db_mode mode, int patience_ms, struct error *err) {
    *db = (struct db){0};
    char *file = resolve(path, mode, err);
    if (!file) return -1;
    start_db(db, path, patience_ms);
    db->file = file;
    db->writable = mode == DB_WRITE;
    if (open_by_mode(db, mode, err) == 0) return 0;
    struct error ignored = {0};
    bool was_locked = db->was_locked;
    db_take_back(db);
    if (db->writable && db->has_entered_wal &&
        db->handle) { /* a damaged file that cannot be brought up to date stays one file */
        end_statements(db);
        (void)end_wal(db, &ignored);
    }
    db->writable = false;
    db_close(db, &ignored);
    db->was_locked = was_locked;
    return -1;
}

int db_open_beside(struct db *db, const struct db *writer, struct error *err) {
    start_db(db, writer->path, LOCK_WAIT_MS);
    db->file = xstrdup(writer->file);
    if (open_reader(db, err) == 0) return 0;
    struct error ignored = {0};
    db_close(db, &ignored);
    return -1;
}

/* The cache is larger than most of these warehouses, and nobody reads one after a crash. */
static int open_private(struct db *db, struct error *err) {
    if (open_handle(db, private_name(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, err)) return -1;
    if (db_exec(db, "PRAGMA cache_size = -65536; PRAGMA synchronous = OFF", err)) return -1;
    return schema_prepare(db, empty_file_load(db->handle) ? SCHEMA_CURRENT : SCHEMA_EMPTY, err);
}

int db_open_bare(struct db *db, const char *name, struct error *err) {
    start_db(db, name, LOCK_WAIT_MS);
    db->is_private = true;
    if (open_handle(db, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, err) == 0) return 0;
    struct error ignored = {0};
    db_close(db, &ignored);
    return -1;
}

int db_open_private(struct db *db, const char *name, struct error *err) {
    start_db(db, name, LOCK_WAIT_MS);
    db->is_private = true;
    if (open_private(db, err) == 0) return 0;
    struct error ignored = {0};
    db_close(db, &ignored);
    return -1;
}

/* In WAL mode an exclusive lock is a writer's, which others that have the file open do not notice. */
static bool writes_wal(struct db *db) {
    sqlite3_stmt *statement = NULL;
    bool is_rollback = sqlite3_prepare_v2(db->handle, "PRAGMA journal_mode", -1, &statement, NULL) == SQLITE_OK &&
                       sqlite3_step(statement) == SQLITE_ROW &&
                       strcmp((const char *)sqlite3_column_text(statement, 0), "delete") == 0;
    sqlite3_finalize(statement);
    return !is_rollback;
}

/* Whoever else has the file open is in WAL mode: it cannot be left then, or was entered again before the lock. The file stays. */
static void remove_made(struct db *db) {
    struct error ignored = {0};
    int64_t version, runs;
    if (db_int(db, "PRAGMA data_version", 0, &version, &ignored) || version != db->version_made) return;
    sqlite3_busy_timeout(db->handle, 0);
    if (sqlite3_exec(db->handle, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK)
        return;
    /* The change of the mode is a new version too. */
    bool is_as_made = !writes_wal(db) && !is_gone(db) &&
                      db_int(db, "SELECT count(*) FROM runs", 0, &runs, &ignored) == 0 && runs == 0;
    if (is_as_made && unlink(db->file) == 0) db->writable = false;
    sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

void db_take_back(struct db *db) {
    if (!db->handle || !db->has_made_file || db->has_stored) return;
    end_statements(db);
    if (!db->lock_failure) remove_made(db);
    /* Nobody can write to it either. */
    if (db->lock_failure && empty_file_has_size(size_of_companion(db->path, "")) &&
        size_of_companion(db->path, "-wal") <= 0)
        unlink(db->path);
}

int db_close(struct db *db, struct error *err) {
    enum { WAIT_MS = 50 };
    int code = 0;
    if (db->handle) {
        end_statements(db);
        db->patience_ms = WAIT_MS;
        struct error ignored = {0}; /* the next clear that opens the file for writing tries again */
        if (db->writable) diagnoses_renew(db, &ignored);
        if (db->writable) code = end_wal(db, err);
        close_handle(db);
    }
    window_sums_free(db);
    if (db->source) db->source->close(db->source);
    free(db->path);
    free(db->file);
    *db = (struct db){0};
    return code;
}

void db_move(struct db *to, struct db *from) {
    *to = *from;
    *from = (struct db){0};
    lock_wait_set_up(to);
    if (to->has_entered_wal || to->has_rollback) watch_commits(to);
}

int db_want(struct db *db, const char *set, struct error *err) {
    return db->source ? db->source->want(db->source, db, set, err) : 0;
}

int db_want_alike(struct db *db, struct error *err) {
    int64_t here = 0;
    if (!db->source) return 0;
    if (db_int(db, "SELECT count(*) FROM main.runs", 0, &here, err)) return -1;
    return here ? 0 : db->source->want_alike(db->source, db, err);
}

int db_count_runs(struct db *db, int64_t *runs, struct error *err) {
    if (db->source) return db->source->count(db->source, runs, err);
    return db_int(db, "SELECT count(*) FROM runs", 0, runs, err);
}
