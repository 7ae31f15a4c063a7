/* unit_warehouse.h: a warehouse of its own for each case of a unit test. Include after cmocka.h; open_new and remove_it are a case's set-up and
 * tear-down. */
#ifndef CLEAR_TESTS_UNIT_WAREHOUSE_H
#define CLEAR_TESTS_UNIT_WAREHOUSE_H

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "schema/db.h"
#include "schema/diagnoses.h"
#include "schema/facts.h"

static char path[64];
static struct db db;

static inline void ran(const char *sql) {
    struct error err = {0};
    if (db_exec(&db, sql, &err)) fail_msg("%s", err.message);
}

static inline int64_t number(const char *sql) {
    struct error err = {0};
    int64_t value = INT64_MIN;
    if (db_int(&db, sql, -1, &value, &err)) fail_msg("%s", err.message);
    return value;
}

static sqlite3_int64 sealed_at = -1; /* sqlite3_total_changes64() after the last sealing; -1: none of this connection */

/* Makes the facts of all runs anew where a case, which writes rows by hand, has written since the last time. */
static inline void seal_all(void) {
    struct error err = {0};
    if (!db.writable || sqlite3_total_changes64(db.handle) == sealed_at) return;
    ran("DELETE FROM seals");
    if (facts_seal_pending(&db, &err)) fail_msg("%s", err.message);
    sealed_at = sqlite3_total_changes64(db.handle);
}

/* All rows: `between` columns, `end` behind each row; NULL is empty. free() it. */
static inline char *rows_with(const char *sql, char between, char end) {
    struct error err = {0};
    struct buffer text = {0};
    seal_all();
    sqlite3_stmt *statement = db_prepare(&db, sql, &err);
    if (!statement) fail_msg("%s", err.message);
    int code;
    while ((code = db_step(&db, statement, &err)) == 1) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            if (i) buffer_add_char(&text, between);
            buffer_add_text(&text, db_text(statement, i));
        }
        buffer_add_char(&text, end);
    }
    if (code) fail_msg("%s", err.message);
    if (!text.data) buffer_add_text(&text, "");
    return buffer_take(&text);
}

static inline void reopen(enum db_mode mode) {
    struct error err = {0};
    if (db_close(&db, &err) || db_open(&db, path, mode, &err)) fail_msg("%s", err.message);
    sealed_at = -1;
    /* the cases insert rows into the view sites, as in the stock shell; clear itself runs no trigger */
    sqlite3_db_config(db.handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
}

static inline int open_new(void **state) {
    (void)state;
    strcpy(path, "/tmp/clear_unit.XXXXXX");
    int file = mkstemp(path);
    if (file < 0) return -1;
    close(file);
    reopen(DB_WRITE);
    return 0;
}

/* The sections of `doctor` that a run has no facts of have no findings: without them there are as many as in the view. Returns how many; *size: of
 * what is asked, in bytes. */
static inline int64_t expect_findings_of_the_view(int64_t run, size_t *size) {
    struct error err = {0};
    struct buffer sql = {0};
    int64_t found = -1, all = -1;
    buffer_add_text(&sql, "SELECT count(*) FROM ");
    if (diagnoses_of_run(&db, run, &sql, &err)) fail_msg("%s", err.message);
    *size = sql.size;
    if (strcmp(buffer_text(&sql), "SELECT count(*) FROM doctor") == 0) { /* with diagnoses of users: the view itself */
        buffer_free(&sql);
        return 0;
    }
    buffer_printf(&sql, " WHERE run_id = %lld", (long long)run);
    if (db_int(&db, buffer_text(&sql), -1, &found, &err)) fail_msg("%s", err.message);
    char whole[64];
    snprintf(whole, sizeof whole, "SELECT count(*) FROM doctor WHERE run_id = %lld", (long long)run);
    if (db_int(&db, whole, -1, &all, &err)) fail_msg("%s", err.message);
    if (found != all) fail_msg("run %lld: %lld of %lld findings", (long long)run, (long long)found, (long long)all);
    buffer_free(&sql);
    return found;
}

static inline int remove_it(void **state) {
    (void)state;
    struct error err = {0};
    int code = db_close(&db, &err);
    return unlink(path) || code ? -1 : 0;
}

#endif
