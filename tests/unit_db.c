/* db.c: opening, refusing, binding, transactions, closing; what is on disk is checked by bytes and by other processes. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "schema/db.h"
#include "schema/schema.h"

static char directory[256];

/* A path in this test's directory, good until the fourth further call. */
static const char *path_of(const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static int make_directory(void **state) {
    (void)state;
    /* Not below $TMPDIR: another user must get there, see read_without_rights. */
    strcpy(directory, P_tmpdir "/unit_db.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", directory, directory);
    return system(command);
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t read_file(const char *path, char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

/* A database made by SQLite alone. */
static void plain_sqlite(const char *path, const char *sql) {
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
}

static void opened(struct db *db, const char *path, enum db_mode mode) {
    struct error err = {0};
    if (db_open(db, path, mode, &err)) fail_msg("%s", err.message);
}

static void closed(struct db *db) {
    struct error err = {0};
    if (db_close(db, &err)) fail_msg("%s", err.message);
}

static void ran(struct db *db, const char *sql) {
    struct error err = {0};
    if (db_exec(db, sql, &err)) fail_msg("%s", err.message);
}

static int64_t number(struct db *db, const char *sql) {
    struct error err = {0};
    int64_t value = INT64_MIN;
    if (db_int(db, sql, -1, &value, &err)) fail_msg("%s", err.message);
    return value;
}

/* Opening fails with one line that names the file and says `what`; nothing stays open. */
static void refused(const char *path, enum db_mode mode, const char *what) {
    struct db db;
    struct error err = {0};
    assert_int_equal(db_open(&db, path, mode, &err), -1);
    assert_int_not_equal(err.status, ERROR_NONE);
    if (!strstr(err.message, what)) fail_msg("no \"%s\" in: %s", what, err.message);
    if (!strstr(err.message, path)) fail_msg("no \"%s\" in: %s", path, err.message);
    assert_null(strchr(err.message, '\n'));
    assert_null(db.handle);
    assert_int_equal(db_close(&db, &err), 0);
}

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/* Offsets of SQLite's documented file header. */
static void test_new_file(void **state) {
    (void)state;
    struct db db;
    unsigned char header[100];
    const char *path = path_of("new.sqlite");
    opened(&db, path, DB_WRITE);
    closed(&db);
    assert_int_equal(read_file(path, (char *)header, sizeof header), sizeof header);
    assert_int_equal(big_endian(header + 68), 0x434c4541); /* application_id */
    assert_int_equal(big_endian(header + 60), SCHEMA_VERSION);
    assert_int_equal(header[16] << 8 | header[17], 4096); /* page size */
    assert_int_equal(header[18], 1);                      /* no WAL any more */
    assert_false(exists(path_of("new.sqlite-wal")));
    assert_false(exists(path_of("new.sqlite-shm")));
}

/* All that a database has, in the order of names: its schema, and the rows of its tables. */
static char *contents(struct db *db) {
    struct buffer all = {0};
    struct error err = {0};
    struct buffer tables = {0};
    sqlite3_stmt *row = db_prepare(db, "SELECT type, name, sql FROM main.sqlite_schema ORDER BY type, name", &err);
    assert_non_null(row);
    while (db_step(db, row, &err) == 1) {
        buffer_printf(&all, "%s %s: %s\n", db_text(row, 0), db_text(row, 1), db_text(row, 2));
        if (strcmp(db_text(row, 0), "table") == 0) buffer_printf(&tables, "%s\n", db_text(row, 1));
    }
    for (char *name = strtok(tables.data, "\n"); name; name = strtok(NULL, "\n")) {
        char *sql = xasprintf("SELECT * FROM main.\"%s\" ORDER BY 1, 2", name);
        if (strcmp(name, "sqlite_sequence") == 0 || (row = db_prepare(db, sql, &err)) == NULL) {
            free(sql);
            sql = xasprintf("SELECT * FROM main.\"%s\" ORDER BY 1", name);
            row = db_prepare(db, sql, &err);
        }
        assert_non_null(row);
        while (db_step(db, row, &err) == 1)
            for (int i = 0; i < sqlite3_column_count(row); i++)
                buffer_printf(&all, "%s.%s = %s\n", name, sqlite3_column_name(row, i), db_text(row, i));
        free(sql);
    }
    buffer_free(&tables);
    return buffer_take(&all);
}

/* A new file, and one without a file, are copies of what the build made; a database in memory is made from the texts. */
static void test_new_is_as_from_texts(void **state) {
    struct db from_texts, file, private;
    struct error err = {0};
    (void)state;
    opened(&from_texts, ":memory:", DB_WRITE);
    opened(&file, path_of("new.db"), DB_WRITE);
    assert_int_equal(db_open_private(&private, "private", &err), 0);
    char *expected = contents(&from_texts), *in_file = contents(&file), *in_private = contents(&private);
    assert_non_null(strstr(expected, "view doctor_heap: CREATE VIEW"));
    assert_non_null(strstr(expected, "rules.name = lock_deadlock_holds"));
    assert_string_equal(in_file, expected);
    assert_string_equal(in_private, expected);
    for (int i = 0; i < 2; i++) {
        int64_t vacuum;
        assert_int_equal(db_int(i ? &private : &file, "PRAGMA auto_vacuum", 0, &vacuum, &err), 0);
        assert_int_equal(vacuum, 2); /* clear gc gives free pages back */
    }
    free(expected);
    free(in_file);
    free(in_private);
    closed(&from_texts);
    closed(&file);
    closed(&private);
}

static void test_reopen(void **state) {
    (void)state;
    struct db db;
    const char *path = path_of("again.sqlite");
    write_file(path, "", 0); /* an empty file is ours to make */
    refused(path, DB_READ, "clear profile --db");
    opened(&db, path, DB_WRITE);
    ran(&db, "INSERT INTO runs(uuid, started_ns, source) VALUES ('u', 1, 'profile')");
    closed(&db);
    opened(&db, path, DB_READ);
    assert_int_equal(number(&db, "SELECT count(*) FROM runs"), 1);
    struct error err = {0};
    assert_int_equal(db_exec(&db, "DELETE FROM runs", &err), -1);
    assert_non_null(strstr(err.message, "readonly"));
    closed(&db);
    opened(&db, path, DB_WRITE);
    assert_int_equal(number(&db, "SELECT count(*) FROM runs"), 1);
    closed(&db);
}

static void test_refusals(void **state) {
    (void)state;
    char text[2048];
    memset(text, 'x', sizeof text);
    write_file(path_of("text"), text, sizeof text);
    write_file(path_of("short"), text, 20);
    plain_sqlite(path_of("plain"), "CREATE TABLE t(x)");
    plain_sqlite(path_of("fossil"), "PRAGMA application_id = 252006673; CREATE TABLE t(x)");
    plain_sqlite(path_of("newer"), "PRAGMA application_id = 0x434c4541; PRAGMA user_version = 1000; CREATE TABLE t(x)");
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    for (enum db_mode mode = DB_READ; mode <= DB_WRITE; mode++) {
        refused(path_of("text"), mode, "not a SQLite database");
        refused(path_of("short"), mode, "not a SQLite database");
        refused(path_of("plain"), mode, "a SQLite database, but not a warehouse");
        refused(path_of("fossil"), mode, "application_id 0x0f055111");
        refused(path_of("newer"), mode, "made by a newer clear");
        refused(path_of("fifo"), mode, "not a regular file");
        refused(directory, mode, "is a directory");
    }
    refused(path_of("missing"), DB_READ, "no such file; `clear profile --db ");
    assert_false(exists(path_of("missing")));
    refused(path_of("no/such/place"), DB_WRITE, "No such file or directory");
    refused(path_of("text/below"), DB_WRITE, "Not a directory");
    refused("", DB_WRITE, "--db FILE");
}

static void test_foreign_file_is_untouched(void **state) {
    (void)state;
    static char before[16384], after[16384];
    const char *path = path_of("theirs");
    plain_sqlite(path, "CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    size_t size = read_file(path, before, sizeof before);
    refused(path, DB_WRITE, "not a warehouse");
    assert_int_equal(read_file(path, after, sizeof after), size);
    assert_memory_equal(before, after, size);
}

static void test_bindings(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    opened(&db, ":memory:", DB_WRITE);
    const char *sql = "SELECT :int, typeof(:real), :real, :text, typeof(:none), typeof(:null_text)";
    sqlite3_stmt *statement = db_prepare(&db, sql, &err);
    assert_non_null(statement);
    char text[] = "it's; --";
    db_bind_int(statement, ":int", INT64_MIN);
    db_bind_real(statement, ":real", 0.5);
    db_bind_text(statement, ":text", text);
    db_bind_text(statement, ":null_text", NULL);
    memset(text, '?', sizeof text - 1); /* the text was copied */
    assert_int_equal(db_step(&db, statement, &err), 1);
    assert_true(sqlite3_column_int64(statement, 0) == INT64_MIN);
    assert_string_equal(db_text(statement, 1), "real");
    assert_true(sqlite3_column_double(statement, 2) == 0.5);
    assert_string_equal(db_text(statement, 3), "it's; --");
    assert_string_equal(db_text(statement, 4), "null");
    assert_string_equal(db_text(statement, 5), "null");
    assert_int_equal(db_step(&db, statement, &err), 0);
    /* The same text is the same statement, without its old bindings. */
    assert_ptr_equal(db_prepare(&db, sql, &err), statement);
    assert_int_equal(db_step(&db, statement, &err), 1);
    assert_int_equal(sqlite3_column_type(statement, 0), SQLITE_NULL);
    closed(&db);
}

static void prepare_fails(struct db *db, const char *sql, const char *what) {
    struct error err = {0};
    assert_null(db_prepare(db, sql, &err));
    if (!strstr(err.message, what)) fail_msg("no \"%s\" in: %s", what, err.message);
}

static void test_one_statement(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    opened(&db, ":memory:", DB_WRITE);
    prepare_fails(&db, "SELECT 1; SELECT 2", "more than one statement");
    prepare_fails(&db, "SELECT 1; -- x\n garbage", "more than one statement");
    prepare_fails(&db, "", "no statement");
    prepare_fails(&db, " -- only a comment", "no statement");
    prepare_fails(&db, "SELECT \"runs\"", "runs"); /* a misspelt column is no string */
    prepare_fails(&db, "SELECT * FROM nowhere", "no such table: nowhere");
    assert_non_null(db_prepare(&db, "SELECT 1; -- the end\n /* really */ ;", &err));
    assert_int_equal(number(&db, "SELECT id FROM runs"), -1); /* no row: `otherwise` */
    closed(&db);
}

static void test_errors_name_the_statement(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    opened(&db, path_of("errors.sqlite"), DB_WRITE);
    sqlite3_stmt *statement = db_prepare(&db, "INSERT INTO tags(run_id, key, value)\n   VALUES (:run, 'k', 'v')", &err);
    db_bind_int(statement, ":run", 77);
    assert_int_equal(db_run(&db, statement, &err), -1);
    assert_non_null(strstr(err.message, "errors.sqlite"));
    assert_non_null(strstr(err.message, "INSERT INTO tags(run_id, key, value) VALUES"));
    assert_non_null(strstr(err.message, "FOREIGN KEY"));
    assert_null(strchr(err.message, '\n'));

    sqlite3 *other;
    struct error busy = {0};
    assert_int_equal(sqlite3_open(path_of("errors.sqlite"), &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db.handle, 20);
    assert_int_equal(db_begin(&db, &busy), -1);
    assert_non_null(strstr(busy.message, "BEGIN IMMEDIATE"));
    assert_non_null(strstr(busy.message, "locked"));
    assert_int_equal(db.depth, 0);

    sqlite3_close(other);
    closed(&db);
}

/* Where the caller says what it was doing, SQLite's log tells the statement. */
static void test_errors_from_the_log(void **state) {
    (void)state;
    struct db db;
    struct error err = {0}, later = {0};
    opened(&db, path_of("log.sqlite"), DB_WRITE);
    ran(&db, "INSERT INTO meta VALUES ('twice', '')");
    assert_int_equal(sqlite3_exec(db.handle, "INSERT INTO meta VALUES ('twice', '')", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT_PRIMARYKEY);
    assert_int_equal(db_error(&db, "flushing", &err), -1);
    assert_non_null(strstr(err.message, "flushing: UNIQUE constraint failed"));
    assert_non_null(strstr(err.message, "(in INSERT INTO meta VALUES ('twice', ''))"));
    db_error(&db, "later", &later); /* told once: it is not the statement of every later error */
    assert_null(strstr(later.message, "INSERT"));
    closed(&db);
}

static void test_nested_transactions(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    opened(&db, path_of("nested.sqlite"), DB_WRITE);
    assert_int_equal(db_begin(&db, &err), 0);
    ran(&db, "INSERT INTO meta VALUES ('a', '')");
    assert_int_equal(db_begin(&db, &err), 0);
    ran(&db, "INSERT INTO meta VALUES ('b', '')");
    assert_int_equal(db_begin(&db, &err), 0);
    ran(&db, "INSERT INTO meta VALUES ('c', '')");
    assert_int_equal(db.depth, 3);
    assert_int_equal(db_commit(&db, &err), 0); /* c joins b ... */
    db_rollback(&db);                          /* ... and goes with it */
    assert_int_equal(db_begin(&db, &err), 0);
    ran(&db, "INSERT INTO meta VALUES ('d', '')");
    assert_int_equal(db_commit(&db, &err), 0);
    assert_int_equal(db_commit(&db, &err), 0);
    assert_int_equal(db.depth, 0);
    assert_int_equal(number(&db, "SELECT group_concat(key, '') = 'ad' FROM (SELECT key FROM meta "
                                 "WHERE length(key) = 1 ORDER BY key)"),
                     1);
    assert_int_equal(db_begin(&db, &err), 0);
    assert_int_equal(db_begin(&db, &err), 0);
    ran(&db, "INSERT INTO meta VALUES ('e', '')");
    assert_int_equal(db_commit(&db, &err), 0);
    db_rollback(&db); /* the outer one takes the committed inner one along */
    assert_int_equal(number(&db, "SELECT count(*) FROM meta WHERE key = 'e'"), 0);
    db_rollback(&db); /* nothing is open: nothing happens */
    closed(&db);
}

/* A deferred foreign key fails at COMMIT: the transaction must be gone, and the next one work. */
static void test_failed_commit(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    opened(&db, path_of("commit.sqlite"), DB_WRITE);
    assert_int_equal(db_begin(&db, &err), 0);
    ran(&db, "PRAGMA defer_foreign_keys = ON; INSERT INTO tags VALUES (99, 'k', 'v')");
    assert_int_equal(db_commit(&db, &err), -1);
    assert_non_null(strstr(err.message, "FOREIGN KEY"));
    assert_int_equal(db.depth, 0);
    assert_int_equal(number(&db, "SELECT count(*) FROM tags"), 0);
    struct error none = {0};
    assert_int_equal(db_begin(&db, &none), 0);
    assert_int_equal(db_commit(&db, &none), 0);
    closed(&db);
}

static void test_full_disk(void **state) {
    (void)state;
    struct db db;
    struct error err = {0}, after = {0}, nested = {0};
    opened(&db, path_of("full.sqlite"), DB_WRITE);
    ran(&db, "INSERT INTO meta VALUES ('kept', '')");
    ran(&db, "PRAGMA max_page_count = 1"); /* SQLite makes that the present size: the next page is one too many */
    assert_int_equal(db_begin(&db, &err), 0);
    ran(&db, "INSERT INTO meta VALUES ('lost', '')");
    assert_int_equal(db_exec(&db, "INSERT INTO meta VALUES ('big', hex(zeroblob(1000000)))", &err), -1);
    assert_non_null(strstr(err.message, "no space left"));
    /* Some full disks undo one statement, some all of it; force the second, which is the dangerous one. */
    if (!sqlite3_get_autocommit(db.handle)) sqlite3_exec(db.handle, "ROLLBACK", NULL, NULL, NULL);
    assert_int_equal(db_exec(&db, "INSERT INTO meta VALUES ('alone', '')", &after), -1);
    assert_non_null(strstr(after.message, "rolled back after an earlier error"));
    assert_int_equal(db_begin(&db, &nested), -1);
    db_rollback(&db);
    assert_int_equal(number(&db, "SELECT count(*) FROM meta WHERE key IN ('lost', 'big', 'alone')"), 0);
    assert_int_equal(number(&db, "SELECT count(*) FROM meta WHERE key = 'kept'"), 1);
    closed(&db);
}

/* What a statement changed is kept for its rollback: of 2,000 pages 8 MB, more than may stay in memory, so it goes to a file. */
static void test_statement_of_many_pages(void **state) {
    struct db db;
    (void)state;
    opened(&db, path_of("pages.sqlite"), DB_WRITE);
    ran(&db, "CREATE TABLE kept(id INTEGER PRIMARY KEY, place INTEGER UNIQUE, filling BLOB);"
             "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 4000) "
             "INSERT INTO kept SELECT n, n, zeroblob(2000) FROM i;"
             "BEGIN; UPDATE kept SET place = place + 10000, filling = randomblob(2000)");
    /* The last row has the place of the first: all are as before. */
    const char *last_fails = "UPDATE kept SET place = iif(id < 4000, -id, -1), filling = zeroblob(2000)";
    assert_int_equal(sqlite3_exec(db.handle, last_fails, NULL, NULL, NULL) & 0xff, SQLITE_CONSTRAINT);
    ran(&db, "COMMIT");
    assert_int_equal(number(&db, "SELECT count(*) FROM kept WHERE place = id + 10000 AND filling <> zeroblob(2000)"),
                     4000);
    closed(&db);
}

/* A mapped page is looked through again at each visit, so a reader that checks cells must not map. */
static void test_reader_checks_without_mapping(void **state) {
    struct db db;
    (void)state;
    opened(&db, "t.sqlite", DB_WRITE);
    closed(&db);
    opened(&db, "t.sqlite", DB_READ);
    assert_int_equal(number(&db, "PRAGMA cell_size_check"), 1);
    assert_int_equal(number(&db, "PRAGMA mmap_size"), 0);
    closed(&db);
}

static void test_two_writers(void **state) {
    (void)state;
    struct db one, two;
    const char *path = path_of("two.sqlite");
    unsigned char header[20];
    opened(&one, path, DB_WRITE);
    opened(&two, path, DB_WRITE);
    ran(&one, "INSERT INTO meta VALUES ('one', '')");
    closed(&one); /* the other still has it open: no error */
    ran(&two, "INSERT INTO meta VALUES ('two', '')");
    closed(&two);
    assert_false(exists(path_of("two.sqlite-wal")));
    read_file(path, (char *)header, sizeof header);
    assert_int_equal(header[18], 1);
    opened(&one, path, DB_READ);
    assert_int_equal(number(&one, "SELECT count(*) FROM meta WHERE key IN ('one', 'two')"), 2);
    closed(&one);
}

static const char a_run[] = "INSERT INTO runs(uuid, started_ns, source) VALUES ('u', 1, 'profile')";

static void taken_back(const char *path) {
    struct db db;
    opened(&db, path, DB_WRITE);
    db_take_back(&db);
    closed(&db);
}

static void test_take_back(void **state) {
    (void)state;
    struct db db, other;
    const char *path = path_of("made.sqlite");
    taken_back(path);
    assert_false(exists(path) || exists(path_of("made.sqlite-wal")) || exists(path_of("made.sqlite-shm")));
    opened(&db, path, DB_WRITE); /* stores something itself */
    ran(&db, "INSERT INTO meta VALUES ('one', '')");
    db_take_back(&db);
    closed(&db);
    assert_true(exists(path));
    taken_back(path); /* was there before */
    assert_true(exists(path));
    assert_int_equal(unlink(path), 0);
    opened(&db, path, DB_WRITE);
    opened(&other, path, DB_WRITE); /* is going to store something */
    db_take_back(&db);
    closed(&db);
    ran(&other, a_run);
    closed(&other);
    opened(&other, path, DB_READ);
    assert_int_equal(number(&other, "SELECT count(*) FROM runs"), 1);
    closed(&other);
}

struct late_writer {
    const char *path;
    struct db db;
    bool is_open;
};

/* The maker has left WAL mode, and does not have the exclusive lock yet. */
static int open_before_lock(unsigned event, void *context, void *statement, void *text) {
    struct late_writer *other = context;
    (void)event, (void)statement;
    if (strcmp(text, "BEGIN EXCLUSIVE") != 0 || other->is_open) return 0;
    other->is_open = true;
    opened(&other->db, other->path, DB_WRITE);
    return 0;
}

static void test_take_back_of_a_late_writer(void **state) {
    (void)state;
    struct db db;
    struct late_writer other = {.path = path_of("late.sqlite")};
    opened(&db, other.path, DB_WRITE);
    sqlite3_trace_v2(db.handle, SQLITE_TRACE_STMT, open_before_lock, &other);
    db_take_back(&db);
    assert_true(other.is_open);
    sqlite3_trace_v2(db.handle, 0, NULL, NULL);
    closed(&db);
    ran(&other.db, a_run);
    closed(&other.db);
    opened(&db, other.path, DB_READ);
    assert_int_equal(number(&db, "SELECT count(*) FROM runs"), 1);
    closed(&db);
}

/* Whoever opens the file while its maker takes it back has a file to store in. With the sanitizers, which take ten times as long,
 * each of the ten delays is tried once. */
static void test_take_back_races(void **state) {
    (void)state;
    const char *path = path_of("raced.sqlite");
    const int tries = getenv("SANITIZED") ? 10 : 30;
    for (int i = 0; i < tries; i++) {
        struct db db;
        int status;
        pid_t child = fork();
        if (child == 0) {
            taken_back(path);
            _exit(0);
        }
        usleep((useconds_t)(i % 10) * 500);
        opened(&db, path, DB_WRITE);
        ran(&db, a_run);
        closed(&db);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        opened(&db, path, DB_READ);
        assert_int_equal(number(&db, "SELECT count(*) FROM runs"), 1);
        closed(&db);
        assert_int_equal(unlink(path), 0);
    }
}

/* A -wal that grew while somebody read is emptied once nobody does, not only written into the file. */
static void test_wal_shrinks(void **state) {
    enum { TRANSACTIONS = 40 };
    struct error err = {0};
    struct stat status;
    struct db db;
    sqlite3 *reader;
    (void)state;
    const char *path = path_of("large.sqlite");
    assert_int_equal(db_open(&db, path, DB_WRITE, &err), 0);
    assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM meta", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < TRANSACTIONS; i++)
        assert_int_equal(db_exec(&db, "INSERT OR REPLACE INTO meta VALUES ('large', hex(zeroblob(500000)))", &err), 0);
    assert_int_equal(stat(path_of("large.sqlite-wal"), &status), 0);
    assert_true(status.st_size > 32 << 20);
    assert_int_equal(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(db_exec(&db, "INSERT OR REPLACE INTO meta VALUES ('small', '')", &err), 0);
    assert_int_equal(stat(path_of("large.sqlite-wal"), &status), 0);
    assert_true(status.st_size < 1 << 20);
    sqlite3_close(reader);
    assert_int_equal(db_close(&db, &err), 0);
}

/* A writer that is killed after its commit; `more` may fold the -wal first. */
static void kill_writer(const char *path, const char *more) {
    pid_t child = fork();
    if (child == 0) {
        struct db db;
        opened(&db, path, DB_WRITE);
        ran(&db, "INSERT INTO meta VALUES ('flushed', '')");
        ran(&db, more);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void test_killed_writer(void **state) {
    (void)state;
    struct db db;
    const char *path = path_of("killed.sqlite");
    kill_writer(path, "");
    assert_true(exists(path_of("killed.sqlite-wal")));
    opened(&db, path, DB_READ);
    assert_int_equal(number(&db, "SELECT count(*) FROM meta WHERE key = 'flushed'"), 1);
    closed(&db);
    assert_false(exists(path_of("killed.sqlite-wal"))); /* reading made it one file again */
}

/* Exit status of a child, without root's rights, that reads the file: 0 where it finds the flushed row. */
static int read_without_rights(const char *path) {
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534)) _exit(9);
        struct db db;
        struct error err = {0};
        int64_t rows = 0;
        if (db_open(&db, path, DB_READ, &err) ||
            db_int(&db, "SELECT count(*) FROM meta WHERE key = 'flushed'", 0, &rows, &err)) {
            fprintf(stderr, "%s\n", err.message);
            _exit(2);
        }
        _exit(rows == 1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void lock_down(bool locked) {
    static const char *const names[] = {"s.sqlite", "s.sqlite-wal", "s.sqlite-shm"};
    for (size_t i = 0; i < 3; i++)
        if (exists(path_of(names[i]))) assert_int_equal(chmod(path_of(names[i]), locked ? 0444 : 0644), 0);
    assert_int_equal(chmod(directory, locked ? 0555 : 0755), 0);
}

/* A killed writer's file that we may only read, with its companions, without the index, and without either. */
static void test_killed_writer_read_only(void **state) {
    (void)state;
    char path[512];
    strcpy(path, path_of("s.sqlite"));
    kill_writer(path, "");
    lock_down(true);
    assert_int_equal(read_without_rights(path), 0);
    lock_down(false);
    assert_int_equal(unlink(path_of("s.sqlite-shm")), 0);
    lock_down(true);
    assert_int_equal(read_without_rights(path), 0); /* the row is in the -wal alone */
    lock_down(false);
    unlink(path);
    unlink(path_of("s.sqlite-wal"));
    kill_writer(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_int_equal(unlink(path_of("s.sqlite-shm")), 0);
    lock_down(true);
    assert_int_equal(read_without_rights(path), 0); /* an empty -wal */
    lock_down(false);
    assert_int_equal(unlink(path_of("s.sqlite-wal")), 0);
    lock_down(true);
    assert_int_equal(read_without_rights(path), 0);
    lock_down(false);
}

static void test_unwritable(void **state) {
    (void)state;
    struct db db;
    const char *path = path_of("ro.sqlite");
    opened(&db, path, DB_WRITE);
    ran(&db, "INSERT INTO meta VALUES ('flushed', '')");
    closed(&db);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(directory, 0555), 0);
    assert_int_equal(read_without_rights(path), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534)) _exit(9);
        refused(path, DB_WRITE, "cannot be written: Permission denied");
        refused(path_of("new"), DB_WRITE, "cannot write in directory");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(directory, 0755), 0);
}

/* ---- a reader in another thread ---- */

struct beside {
    const struct db *writer;
    int64_t runs; /* that it sees */
    int code;     /* of all calls */
    struct error error;
};

/* Reads the schema, which takes memory of SQLite in both threads at once. */
static void *read_beside(void *context) {
    struct beside *beside = context;
    struct error ignored = {0};
    for (int i = 0; i < 20 && beside->code == 0; i++) {
        struct db db;
        beside->code = db_open_beside(&db, beside->writer, &beside->error);
        if (beside->code) break;
        beside->code = db_int(&db, "SELECT count(*) FROM run_summary", -1, &beside->runs, &beside->error);
        if (db_close(&db, &ignored)) beside->code = -1;
    }
    return NULL;
}

static void *try_mutex(void *mutex) {
    return (void *)(intptr_t)sqlite3_mutex_try(mutex);
}

/* What connections of two threads share in SQLite is locked: in its mode for one thread everybody gets every mutex. */
static void has_mutexes(void) {
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    pthread_t thread;
    void *code;
    sqlite3_mutex_enter(mutex);
    assert_int_equal(pthread_create(&thread, NULL, try_mutex, mutex), 0);
    assert_int_equal(pthread_join(thread, &code), 0);
    sqlite3_mutex_leave(mutex);
    assert_int_equal((intptr_t)code, SQLITE_BUSY);
}

static void test_beside(void **state) {
    (void)state;
    struct db db;
    const char *path = path_of("beside.sqlite");
    opened(&db, path, DB_WRITE);
    has_mutexes();
    ran(&db, "INSERT INTO runs(uuid, started_ns, source) VALUES ('a', 0, 'a.pb.gz')");
    for (int round = 0; round < 2; round++) {
        struct error err = {0};
        struct beside beside = {.writer = &db};
        pthread_t thread;
        assert_int_equal(db_begin(&db, &err), 0);
        ran(&db, "INSERT INTO runs(uuid, started_ns, source) VALUES (random(), 0, 'b.pb.gz')");
        assert_int_equal(pthread_create(&thread, NULL, read_beside, &beside), 0);
        for (int i = 0; i < 2000; i++)
            (void)number(&db, "SELECT count(*) FROM sqlite_schema WHERE length(sql || name || type) > 100");
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (beside.code) fail_msg("%s", beside.error.message);
        assert_int_equal(beside.runs, 1 + round); /* not what is not committed */
        assert_int_equal(db_commit(&db, &err), 0);
    }
    assert_int_equal(number(&db, "SELECT count(*) FROM seals"), 0);
    closed(&db);
    assert_false(exists(path_of("beside.sqlite-wal")));
    assert_true(exists(path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_new_file),
        TEST(test_new_is_as_from_texts),
        TEST(test_reopen),
        TEST(test_refusals),
        TEST(test_foreign_file_is_untouched),
        TEST(test_bindings),
        TEST(test_one_statement),
        TEST(test_errors_name_the_statement),
        TEST(test_errors_from_the_log),
        TEST(test_nested_transactions),
        TEST(test_failed_commit),
        TEST(test_full_disk),
        TEST(test_statement_of_many_pages),
        TEST(test_reader_checks_without_mapping),
        TEST(test_two_writers),
        TEST(test_take_back),
        TEST(test_take_back_of_a_late_writer),
        TEST(test_take_back_races),
        TEST(test_wal_shrinks),
        TEST(test_killed_writer),
        TEST(test_killed_writer_read_only),
        TEST(test_unwritable),
        TEST(test_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
