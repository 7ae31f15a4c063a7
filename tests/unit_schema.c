/* schema.c, the views and the diagnoses: through our connection and through the stock sqlite3 shell. Expected codes are
 * reasoned from the conditions in DESIGN.md section 7, one below, at and above each threshold.
 * build: plain
 * Its subject is SQL; what opens, migrates and reads runs with the sanitizers in unit_db, unit_event_facts, migration, views and doctor_views. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "schema/empty_file.h"
#include "schema/schema.h"
#include "tests/unit_warehouse.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Rows as the shell prints them: columns joined by '|', NULL empty, rows ended by newlines. free() it. */
static char *rows_of(const char *sql) {
    return rows_with(sql, '|', '\n');
}

static char *shell_rows_of(const char *sql) {
    char *script = xasprintf("%s.sql", path);
    char *command = xasprintf("sqlite3 -batch '%s' < '%s' 2>&1", path, script);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fprintf(file, "%s;\n", sql);
    assert_int_equal(fclose(file), 0);
    FILE *pipe = popen(command, "r");
    struct buffer text = {0};
    char line[4096];
    while (fgets(line, sizeof line, pipe))
        buffer_add_text(&text, line);
    assert_int_equal(pclose(pipe), 0);
    unlink(script);
    free(script);
    free(command);
    if (!text.data) buffer_add_text(&text, "");
    return buffer_take(&text);
}

static void check_rows(const char *sql, const char *expected) {
    char *ours = rows_of(sql);
    assert_string_equal(ours, expected);
    char *shell = shell_rows_of(sql);
    assert_string_equal(shell, expected);
    free(ours);
    free(shell);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* What the build wrote down is what SQLite says of the tables of this file. */
static void test_own_columns(void **state) {
    (void)state;
    struct buffer own_rows = {0};
    for (struct own_column own = {0}; own_columns_next(&own);)
        buffer_printf(&own_rows, "%s|%s|%s|%s\n", own.table, own.name, own.type, own.target);
    char *rows = rows_of("SELECT tables.name, columns.name, columns.type, coalesce((SELECT \"table\""
                         " FROM pragma_foreign_key_list(tables.name) WHERE \"from\" = columns.name), '')"
                         " FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns"
                         " WHERE tables.type = 'table' ORDER BY tables.name, cid");
    assert_true(own_rows.size > 10000);
    assert_string_equal(buffer_text(&own_rows), rows);
    buffer_free(&own_rows);
    free(rows);
}

static void test_tables(void **state) {
    (void)state;
    assert_true(number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'") >= 25);
    check_rows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
               "AND name NOT LIKE 'sqlite_%' AND NOT strict",
               "");
    check_rows("PRAGMA foreign_key_check", "");
    check_rows("PRAGMA integrity_check", "ok\n");
    assert_int_equal(number("PRAGMA foreign_keys"), 1);
    assert_int_equal(number("SELECT count(*) FROM rules"), number("SELECT count(*) FROM rules WHERE meaning <> ''"));
}

/* Every rule that is there is named by a view. What each code has: tests/unit_doctor.c. */
static void test_rules_are_complete(void **state) {
    (void)state;
    /* Those of comparisons are read by query/diff/judge.c and query/gate/gate.c: tests/query_diff.sh, tests/gate_verdicts.sh. */
    check_rows("SELECT name FROM rules WHERE name NOT GLOB 'diff_*' AND name NOT GLOB 'gate_*' AND NOT EXISTS "
               "(SELECT 1 FROM sqlite_schema WHERE type = 'view' AND instr(sql, '''' || rules.name || ''''))",
               "");
}

/* Names as GNU's demangler writes them, of stacks taken at malloc in C++, Rust and C programs. */
static void test_wrappers(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_wrapper;
    } cases[] = {
        {"malloc", true},
        {"xmalloc", true},
        {"operator new(unsigned long)", true},
        {"operator new[](unsigned long, std::align_val_t)", true},
        {"std::__new_allocator<int>::allocate(unsigned long, void const*)", true},
        {"std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, unsigned long)", true},
        {"__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)", true},
        {"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int*, int&&)", true},
        {"std::_List_node<int>* std::__cxx11::list<int, std::allocator<int> >::_M_create_node<int>(int&&)", true},
        {"std::__detail::_MakeUniq<int>::__single_object std::make_unique<int, int>(int&&)", true},
        {"alloc::alloc::exchange_malloc", true},
        {"__rust_alloc_zeroed", true},
        {"g_malloc0_n", true},
        {"PyObject_Malloc", true},
        {"sqlite3MemMalloc", true},
        {"clear_cell_update", true},
        {"__gthread_recursive_mutex_lock", true},
        {"std::mutex::lock()", true},
        {"std::timed_mutex::try_lock_for<long, std::ratio<1l, 1000l> >", true},
        {"std::lock_guard<std::mutex>::lock_guard(std::mutex&)", true},
        {"std::unique_lock<std::shared_mutex>::unique_lock", true},
        {"void std::lock<std::mutex, std::mutex>(std::mutex&, std::mutex&)", true},
        {"std::condition_variable::wait<pop()::{lambda()#1}>", true},
        {"std::thread::join", true},
        {"std::__detail::__platform_wait<int>", true},
        {"std::sys::pal::unix::futex::futex_wait", true},
        {"<std::sys::sync::mutex::futex::Mutex>::lock_contended", true},
        {"std::sync::poison::mutex::Mutex<T>::lock", true},
        {"std::thread::join_handle::JoinHandle<T>::join", true},
        {"std::thread::Builder::spawn", false},
        {"main", false},
        {"clear_cell_contents", false},
        {"lock_all(std::unique_lock<std::mutex>&)", false},
        {"std::unique_lock<std::mutex> Table::guard<int>(int)", false},
        {"mallocator_of_mine", false},
        {"xmalloc_user", false},
        {"std::vector<int, std::allocator<int> >::push_back(int const&)", false},
        {"load(std::vector<int, std::allocator<int> >&)", false},
        {"void load<std::allocator<int> >(std::vector<int, std::allocator<int> > const&)", false},
        {"alloc::vec::Vec<T,A>::push", false},
        {"std::vector<long, std::allocator<long> >::vector(unsigned long, std::allocator<long> const&)", false},
    };
    struct error err = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        sqlite3_stmt *statement = db_prepare(&db, "SELECT 1 FROM wrappers WHERE :name GLOB pattern LIMIT 1", &err);
        db_bind_text(statement, ":name", cases[i].name);
        int code = db_step(&db, statement, &err);
        if (code != (int)cases[i].is_wrapper) fail_msg("%s: %d", cases[i].name, code);
        sqlite3_reset(statement);
    }
}

static void test_views_run_in_both(void **state) {
    (void)state;
    char *names = rows_of("SELECT group_concat(name, ' ') || ' ' FROM sqlite_schema WHERE type = 'view'");
    /* The comment that says the question stands inside the view, so that .schema shows it. */
    check_rows("SELECT name FROM sqlite_schema WHERE type = 'view' AND sql NOT LIKE '%-- Question: %'", "");
    assert_true(strstr(names, "doctor_heap ") && strstr(names, "sites "));
    for (char *rest = names, *view; (view = strtok_r(rest, " \n", &rest));) {
        char *sql = xasprintf("SELECT * FROM %s", view);
        char *ours = rows_of(sql), *shell = shell_rows_of(sql);
        assert_string_equal(ours, shell);
        free(ours);
        free(shell);
        free(sql);
    }
    free(names);
}

static void check_columns(const char *view, const char *expected) {
    char *sql = xasprintf("SELECT group_concat(name, ' ') FROM pragma_table_info('%s')", view);
    char *got = rows_of(sql);
    if (strncmp(got, expected, strlen(expected)) != 0) fail_msg("%s: %s", view, got);
    free(got);
    free(sql);
}

/* Other tools may rely on these names: DESIGN.md section 4. */
static void test_promised_columns(void **state) {
    (void)state;
    check_columns("frames", "trace_id depth location_id function file line module inlined\n");
    check_columns("stacks", "trace_id stack\n");
    check_columns("heap", "run_id profile_id trace_id function file line module alloc_count alloc_bytes free_count "
                          "free_bytes inuse_count inuse_bytes peak_count peak_bytes\n");
    check_columns("doctor", "run_id section code severity subject evidence trace_ids advice\n");
    check_columns("doctor_heap", "run_id section code severity subject evidence trace_ids advice ");
    check_columns("doctor_lock", "run_id section code severity subject evidence trace_ids advice ");
    check_columns("doctor_saturation", "run_id section code severity subject evidence trace_ids advice ");
}

/* ---- migration, views and rules of another clear ----------------------------------------------------------------- */

/* A made-up step, over a file that says it is of version 1. */
static const char second_step[] = "CREATE TABLE second(x INTEGER) STRICT; PRAGMA user_version = 2";

static void test_migration(void **state) {
    (void)state;
    struct error err = {0}, newer = {0};
    char message[80];
    ran("INSERT INTO runs(id, uuid, started_ns, source) VALUES (7, 'u', 1, 'profile'); PRAGMA user_version = 1");
    const char *const rest[] = {second_step, "CREATE TABLE third(x INTEGER) STRICT; INSERT INTO third "
                                             "SELECT max(id) FROM runs; PRAGMA user_version = 3"};
    assert_int_equal(schema_migrate(&db, rest, 0, &err), 0);
    assert_int_equal(number("PRAGMA user_version"), 1);
    assert_int_equal(schema_migrate(&db, rest, 1, &err), 0);
    assert_int_equal(number("PRAGMA user_version"), 2);
    ran("INSERT INTO runs(id, uuid, started_ns, source) VALUES (8, 'v', 1, 'profile')");
    assert_int_equal(schema_migrate(&db, rest, 2, &err), 0); /* from 2 on: the first step does not run again */
    assert_int_equal(number("PRAGMA user_version"), 3);
    assert_int_equal(number("SELECT x FROM third"), 8);
    assert_int_equal(schema_migrate(&db, rest, 2, &err), 0);
    assert_int_equal(number("SELECT count(*) FROM third"), 1);
    ran("PRAGMA user_version = 1000");
    struct error none = {0};
    assert_int_equal(db_close(&db, &none), 0);
    assert_int_equal(db_open(&db, path, DB_READ, &newer), -1);
    snprintf(message, sizeof message, "made by a newer clear (schema 1000; this clear supports %d): update clear",
             SCHEMA_VERSION);
    assert_non_null(strstr(newer.message, message));
}

static void test_failed_migration_changes_nothing(void **state) {
    (void)state;
    struct error err = {0};
    const char *const failing[] = {second_step, "CREATE TABLE third(x INTEGER) STRICT; INSERT INTO nowhere "
                                                "VALUES (1); PRAGMA user_version = 3"};
    ran("PRAGMA user_version = 1");
    assert_int_equal(schema_migrate(&db, failing, 2, &err), -1);
    assert_non_null(strstr(err.message, "no such table: nowhere"));
    assert_non_null(strstr(err.message, "nothing was changed"));
    assert_int_equal(number("PRAGMA user_version"), 1);
    assert_int_equal(number("SELECT count(*) FROM sqlite_schema WHERE name IN ('second', 'third', 'fourth')"), 0);
    assert_int_equal(db.depth, 0);
}

/* A new file gets its views as rows of sqlite_schema, an older one by CREATE VIEW: both have the same texts. */
static void test_views_of_a_new_file(void **state) {
    (void)state;
    static const char views[] = "SELECT count(*), sum(length(sql)) FROM sqlite_schema WHERE type = 'view'";
    char *of_new = rows_of(views);
    assert_true(number("SELECT count(*) FROM sqlite_schema WHERE type = 'view'") >= 100);
    ran("CREATE TABLE of_new AS SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'view';"
        "UPDATE meta SET value = 'other' WHERE key = 'views_hash'");
    reopen(DB_WRITE);
    check_rows(views, of_new);
    check_rows("SELECT name FROM (SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'view' "
               "EXCEPT SELECT * FROM of_new)",
               "");
    struct error err = {0};
    assert_int_equal(db_exec(&db, "UPDATE sqlite_schema SET sql = ''", &err), -1); /* and nobody else writes there */
    free(of_new);
}

/* What is word for word as in a new file is not looked at in detail; whatever a user adds or changes is. */
static void test_schema_as_made(void **state) {
    (void)state;
    static const char *const changes[][2] = {
        {"CREATE VIEW mine AS SELECT 1 AS x", "DROP VIEW mine"},
        {"CREATE INDEX mine ON runs(label, host)", "DROP INDEX mine"},
        {"CREATE TABLE mine(x)", "DROP TABLE mine"},
    };
    reopen(DB_WRITE);
    assert_true(db.is_as_made);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        ran(changes[i][0]);
        reopen(DB_WRITE);
        assert_false(db.is_as_made);
        ran(changes[i][1]);
        reopen(DB_WRITE);
        assert_true(db.is_as_made);
    }
    ran("DROP VIEW heap; CREATE VIEW heap AS SELECT 1 AS other");
    enum schema_state look;
    struct error err = {0};
    assert_int_equal(schema_read_state(&db, &look, &err), 0);
    assert_int_equal(look, SCHEMA_STALE);
    assert_false(db.is_as_made);
}

static void test_views_and_rules_of_another_clear(void **state) {
    (void)state;
    enum schema_state look;
    struct error err = {0};
    ran("DROP VIEW heap; CREATE VIEW heap AS SELECT 1 AS old; CREATE VIEW mine AS SELECT 2 AS x;"
        "UPDATE meta SET value = 'other' WHERE key = 'views_hash'");
    ran("UPDATE rules SET value = 33 WHERE name = 'lock_contended_percent';"
        "INSERT INTO rules VALUES ('my_rule', 5, 'count', 'mine'); INSERT INTO wrappers VALUES ('my_alloc*')");
    assert_int_equal(schema_read_state(&db, &look, &err), 0);
    assert_int_equal(look, SCHEMA_STALE);
    reopen(DB_READ); /* even a reader brings a writable file up to date */
    assert_int_equal(schema_read_state(&db, &look, &err), 0);
    assert_int_equal(look, SCHEMA_CURRENT);
    assert_int_equal(number("SELECT count(*) FROM pragma_table_info('heap') WHERE name = 'inuse_bytes'"), 1);
    assert_int_equal(number("SELECT x FROM mine"), 2);
    reopen(DB_WRITE);
    ran("UPDATE rules SET value = 33 WHERE name = 'lock_contended_percent'");
    reopen(DB_WRITE); /* the same clear again: the user's figure stays */
    assert_int_equal(number("SELECT value FROM rules WHERE name = 'lock_contended_percent'"), 33);
    ran("UPDATE meta SET value = 'other' WHERE key = 'rules_hash'");
    reopen(DB_WRITE); /* shipped rules of another clear: replaced; the user's own rows stay */
    assert_int_equal(number("SELECT value FROM rules WHERE name = 'lock_contended_percent'"), 20);
    assert_int_equal(number("SELECT value FROM rules WHERE name = 'my_rule'"), 5);
    assert_int_equal(number("SELECT count(*) FROM wrappers WHERE pattern = 'my_alloc*'"), 1);
}

static void rules_fail(const char *yaml, const char *what) {
    struct error err = {0};
    int64_t before = number("SELECT count(*) FROM rules");
    assert_int_equal(schema_load_rules(&db, "my.yaml", yaml, &err), -1);
    if (!strstr(err.message, what)) fail_msg("no \"%s\" in: %s", what, err.message);
    assert_int_equal(number("SELECT count(*) FROM rules"), before);
    assert_int_equal(db.depth, 0);
}

static void test_rules_of_a_user(void **state) {
    (void)state;
    struct error err = {0};
    assert_int_equal(schema_load_rules(&db, "my.yaml",
                                       "rules:\n  lock_contended_percent: "
                                       "{value: 2.5, unit: percent, meaning: m}\nwrappers: [pool_*]\n",
                                       &err),
                     0);
    check_rows("SELECT value, unit, meaning FROM rules WHERE name = 'lock_contended_percent'", "2.5|percent|m\n");
    assert_int_equal(number("SELECT count(*) FROM wrappers WHERE pattern = 'pool_*'"), 1);
    rules_fail("rules:\n  a: {value: 1, unit: u, meaning: m}\n  b: {value: 1x, unit: u, meaning: m}\n",
               "my.yaml:3:14: must be a number");
    rules_fail("rules:\n  a: {unit: u, meaning: m}\n", "my.yaml:2:6: `value:` is missing");
    rules_fail("rules: [1]\n", "my.yaml:1:8: must be `key: value` lines");
    rules_fail("rules:\n  a: 3\n", "my.yaml:2:6: must be `key: value` lines");
    rules_fail("advice:\n  a: {severity: dire, title: t, text: x}\n", "my.yaml:2:17: `severity:` must be critical");
    rules_fail("wrappers: {a: b}\n", "my.yaml:1:11: must be a list of patterns");
    rules_fail("wrapers: []\n", "my.yaml:1:1: unknown key 'wrapers'; did you mean 'wrappers'?");
    rules_fail("rules:\n  a: {value: 1, unit: u, meaning: m, unti: x}\n",
               "my.yaml:2:38: unknown key 'unti'; did you mean 'unit'?");
    rules_fail("", "my.yaml: is empty");
    rules_fail("rules: {a: [}\n", "my.yaml:1:13: did not find expected node content");
}

/* ---- names and stacks -------------------------------------------------------------------------------------------- */

/* Trace 1: leaf is malloc_user (inlined into helper, at one address), then main; trace 2 has no symbols. */
static const char names[] =
    "INSERT INTO mappings(id, filename, memory_start, file_offset) VALUES (1, '/usr/bin/server', 4096, 0), "
    "    (2, 'plain', 65536, 8192);"
    "INSERT INTO functions(id, name, filename) VALUES (1, 'inner', 'a.c'), (2, 'middle', 'a.c'), (3, 'outer', 'b.c'), "
    "    (4, 'main', 'main.c'), (5, 'a;b', 'odd.c');"
    "INSERT INTO locations(id, mapping_id, address) VALUES (1, 1, 5000), (2, 1, 6000), (3, 2, 65552), (4, 0, 4660), "
    "    (5, 1, 7000);"
    "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 11), (1, 1, 2, 22), "
    "    (1, 2, 3, 33), (2, 0, 4, 44), (5, 0, 5, 55);"
    "INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES "
    "    (1, 1, 101, '[1,2]', 1, 1, 11), (2, 2, 102, '[3,4]', 3, NULL, 0), (3, 3, 101, '[5,1,2]', 5, 5, 55), "
    "    (4, 4, 104, '[4]', 4, NULL, 0);";

static void test_names_and_stacks(void **state) {
    (void)state;
    ran(names);
    check_rows("SELECT * FROM frames WHERE trace_id = 1 ORDER BY depth",
               "1|0|1|inner|a.c|11|server|1\n1|1|1|middle|a.c|22|server|1\n1|2|1|outer|b.c|33|server|0\n"
               "1|3|2|main|main.c|44|server|0\n");
    /* 65552 - 65536 + 8192 = 0x2010; 4660 = 0x1234, of no module */
    check_rows("SELECT * FROM frames WHERE trace_id = 2 ORDER BY depth",
               "2|0|3|plain+0x2010||0|plain|0\n2|1|4|0x1234||0||0\n");
    check_rows("SELECT depth, function FROM frames WHERE trace_id = 3 ORDER BY depth",
               "0|a;b\n1|inner\n2|middle\n3|outer\n4|main\n");
    check_rows("SELECT * FROM stacks ORDER BY trace_id",
               "0|\n1|main;outer;middle;inner\n2|0x1234;plain+0x2010\n3|main;outer;middle;inner;a:b\n4|0x1234\n");
    check_rows("SELECT * FROM places ORDER BY trace_id", "0|||0|\n"
                                                         "1|inner|a.c|11|server\n2|plain+0x2010||0|plain\n"
                                                         "3|a;b|odd.c|55|server\n4|0x1234||0|\n");
    check_rows("PRAGMA foreign_key_check", "");
}

static const char two_runs[] =
    "INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, exit_status, exit_signal, source) VALUES "
    "    (1, 'u1', 'server -p 1', 'before', 1700000000123456789, 5, 0, NULL, 'profile'),"
    "    (2, 'u2', '', NULL, 1700000060000000000, 6, NULL, 9, 'profile');"
    "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 1, 10, 1, '/usr/bin/server', 1), "
    "    (2, 1, 11, 10, '/usr/bin/server', 2);"
    "INSERT INTO profiles(id, run_id, process_id, kind, dropped, truncated) VALUES (1, 1, 1, 'heap', 3, 1), "
    "    (2, 1, 2, 'heap', 4, 0), (3, 1, 1, 'lock', 0, 0), (4, 2, NULL, 'heap', 0, 0), (5, 1, 1, 'cpu', 0, 0);"
    "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
    "    (1, 1, 10, 1000, 4, 400), (1, 3, 1, 7, 0, 0), (2, 1, 5, 50, 5, 50), (4, 1, 2, 20, 0, 0);"
    "INSERT INTO objects(id, kind, identity, name, trace_id) VALUES (1, 'lock', 'symbol:server:table_lock+0', "
    "    'server:table_lock', 0), (2, 'lock', 'heap:1+8', 'inner+8', 1);"
    "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, "
    "hold_ns, "
    "max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns) VALUES (3, 1, 100, 3, 'mutex', 1, 2, "
    "3, 4, 5, 6, 7, 8, 9, 10), "
    "    (3, 2, 200, 0, 'rwlock', 10, 20, 30, 40, 50, 60, 70, 80, 90, 100), (3, 1, 300, 0, 'spin', 1, 0, 0, 0, 0, 0, "
    "0, 0, 0, 0);"
    "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (5, 1, 3, 30), (5, 3, 4, 40);";

static void test_reading_views(void **state) {
    (void)state;
    ran(names);
    ran(two_runs);
    check_rows("SELECT * FROM heap WHERE run_id = 1 ORDER BY profile_id, trace_id",
               "1|1|1|inner|a.c|11|server|10|1000|4|400|6|600|0|0\n1|1|3|a;b|odd.c|55|server|1|7|0|0|1|7|0|0\n"
               "1|2|1|inner|a.c|11|server|5|50|5|50|0|0|0|0\n");
    check_rows("SELECT trace_id, object, kind, address, function, stack_of, acquires, contended, wait_ns, max_wait_ns, "
               "hold_ns, max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns "
               "FROM lock_use WHERE run_id = 1 ORDER BY address",
               "3|server:table_lock|mutex|100|a;b|caller|1|2|3|4|5|6|7|8|9|10\n"
               "1|inner+8|rwlock|200|inner|allocation|10|20|30|40|50|60|70|80|90|100\n"
               "0|server:table_lock|spin|300|||1|0|0|0|0|0|0|0|0|0\n");
    check_rows("SELECT function, samples, cpu_ns FROM cpu_use ORDER BY samples", "inner|3|30\na;b|4|40\n");
    /* Traces 1 and 3 share signature 101: one row a run, 10 + 1 + 5 allocations in the first. */
    check_rows("SELECT signature, run_id, function, alloc_count, alloc_bytes, free_count, free_bytes, inuse_count, "
               "inuse_bytes FROM site_history ORDER BY run_id",
               "101|1|a;b|16|1057|9|450|7|607\n101|2|inner|2|20|0|0|2|20\n");
    check_rows(
        "SELECT run_id, label, command, started, duration_ns, exit, processes, alloc_count, alloc_bytes, inuse_count, "
        "inuse_bytes, lock_acquires, lock_contended, lock_wait_ns, cpu_ns, dropped, truncated, sample_n "
        "FROM run_summary ORDER BY run_id",
        "1|before|server -p 1|2023-11-14T22:13:20Z|5|exit 0|2|16|1057|7|607|89|110|132|70|7|1|1\n"
        "2|||2023-11-14T22:14:20Z|6|signal 9|0|2|20|2|20|0|0|0|0|0|0|1\n");
    check_rows("PRAGMA foreign_key_check", "");
}

static void test_cells_and_channels(void **state) {
    (void)state;
    ran(names);
    ran("INSERT INTO runs(id, uuid, started_ns, source) VALUES (1, 'u', 1, 'x');"
        "INSERT INTO profiles(id, run_id, kind) VALUES (1, 1, 'mvcc'), (2, 1, 'channels');"
        "INSERT INTO objects(id, kind, identity, name, trace_id) VALUES (1, 'cell', 'c', 'cell', 1), "
        "    (2, 'channel', 'channel:1', 'channel#1', 0);"
        "INSERT INTO cells VALUES (1, 1, 7, 0, 100, 1, 2, 3, 4, 5);"
        "INSERT INTO channels VALUES (2, 2, 1, 8, 1, 2, 3, 4, 5, 6, 7);");
    check_rows(
        "SELECT object, function, struct_size, reads, commits, multi_commits, retries, update_failures, cow_bytes "
        "FROM cell_use",
        "cell|inner|100|1|2|3|4|5|600\n"); /* 100 * (2 + 4) */
    check_rows("SELECT object, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth, push_blocked_ns, "
               "pop_blocked_ns FROM channel_use",
               "channel#1|1|8|1|2|3|4|5|6|7\n");
}

/* ---- doctor: heap ------------------------------------------------------------------------------------------------ */

struct site_case {
    const char *why;
    int64_t allocs, bytes, frees, freed;
    const char *code; /* NULL: no row */
};

static void insert_site(int run, const char *source, const struct site_case *site) {
    struct error err = {0};
    sqlite3_stmt *statement =
        db_prepare(&db, "INSERT INTO runs(id, uuid, started_ns, source) VALUES (:run, 'u' || :run, 1, :source)", &err);
    db_bind_int(statement, ":run", run);
    db_bind_text(statement, ":source", source);
    assert_int_equal(db_run(&db, statement, &err), 0);
    statement = db_prepare(&db, "INSERT INTO profiles(id, run_id, kind) VALUES (:run, :run, 'heap')", &err);
    db_bind_int(statement, ":run", run);
    assert_int_equal(db_run(&db, statement, &err), 0);
    statement = db_prepare(&db,
                           "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) "
                           "VALUES (:run, 1, :allocs, :bytes, :frees, :freed)",
                           &err);
    db_bind_int(statement, ":run", run);
    db_bind_int(statement, ":allocs", site->allocs);
    db_bind_int(statement, ":bytes", site->bytes);
    db_bind_int(statement, ":frees", site->frees);
    db_bind_int(statement, ":freed", site->freed);
    assert_int_equal(db_run(&db, statement, &err), 0);
}

/* "code severity" of the one finding of a run in a view, "" for none; free() it. */
static char *finding(const char *sql, int run) {
    struct error err = {0};
    seal_all();
    sqlite3_stmt *statement = db_prepare(&db, sql, &err);
    if (!statement) fail_msg("%s", err.message);
    db_bind_int(statement, ":run", run);
    int code = db_step(&db, statement, &err);
    assert_true(code >= 0);
    char *text = xstrdup(code ? db_text(statement, 0) : "");
    if (code) assert_int_equal(db_step(&db, statement, &err), 0);
    return text;
}

static void check_sites(const char *source, const struct site_case *cases, size_t count) {
    ran(names);
    for (size_t i = 0; i < count; i++)
        insert_site((int)i + 1, source, &cases[i]);
    for (size_t i = 0; i < count; i++) {
        char *got = finding("SELECT code FROM doctor_heap WHERE run_id = :run", (int)i + 1);
        if (strcmp(got, cases[i].code ? cases[i].code : "") != 0) fail_msg("%s: %s", cases[i].why, got);
        free(got);
    }
}

static void test_heap_codes_of_dumps(void **state) {
    (void)state;
    static const struct site_case cases[] = {
        {"no frees, mean 15.9 B", 10, 159, 0, 0, "arena"},
        {"no frees, mean 16 B", 10, 160, 0, 0, "rc"},
        {"no frees, mean 16.1 B", 10, 161, 0, 0, "rc"},
        {"one freed of ten, tiny", 10, 100, 1, 10, "leak"},
        {"nine freed of ten", 10, 1000, 9, 900, "leak"},
        {"all freed", 10, 1000, 10, 1000, NULL},
        {"never used", 0, 0, 0, 0, NULL},
    };
    check_sites("old.profile", cases, COUNT(cases));
}

static void test_heap_codes_of_recorded_runs(void **state) {
    (void)state;
    static const struct site_case cases[] = {
        {"no frees, tiny: live at exit", 10, 100, 0, 0, "leak"},
        {"no frees, big: live at exit", 10, 1000, 0, 0, "leak"},
        {"one live", 10, 1000, 9, 900, "leak"},
        {"none live", 10, 1000, 10, 1000, NULL},
    };
    check_sites("profile", cases, COUNT(cases));
}

/* What was not searched for lost blocks is a note in a short process by itself; other rules are seen without that. */
static void judge_unsearched(void) {
    ran("UPDATE rules SET value = 0 WHERE name = 'leak_unsearched_ns'");
}

static void test_leak_severity(void **state) {
    (void)state;
    static const struct {
        const char *why;
        int64_t live, bytes, elsewhere; /* live blocks and bytes here, live bytes in one block of another site */
        const char *severity;
    } cases[] = {
        {"one big buffer kept to the end", 1, 1 << 30, 0, "note"},
        {"99 blocks", 99, 1 << 30, 0, "note"},
        {"100 blocks, one byte short of 16 KiB", 100, 16383, 0, "note"},
        {"100 blocks, 16 KiB", 100, 16384, 0, "warning"},
        {"one byte short of 1 MiB", 100, 1048575, 0, "warning"},
        {"1 MiB", 100, 1048576, 0, "warning"},
        {"1 MiB, 9.49 % of all that is live: rounds to 9", 100, 1048576, 11049273 - 1048576, "warning"},
        {"1 MiB, 9.50 %: rounds to 10", 100, 1048576, 11037642 - 1048576, "warning"},
        {"a gigabyte beside 20", 100, 1 << 30, 20ll << 30, "warning"},
    };
    ran(names);
    judge_unsearched();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct site_case site = {cases[i].why, 1000 + cases[i].live, 5000 + cases[i].bytes, 1000, 5000, NULL};
        insert_site((int)i + 1, "profile", &site);
        struct error err = {0};
        sqlite3_stmt *statement = db_prepare(
            &db, "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (:run, 2, 1, :bytes)", &err);
        db_bind_int(statement, ":run", (int64_t)i + 1);
        db_bind_int(statement, ":bytes", cases[i].elsewhere);
        assert_int_equal(db_run(&db, statement, &err), 0);
        char *got = finding("SELECT severity FROM doctor_heap WHERE run_id = :run AND trace_id = 1", (int)i + 1);
        if (strcmp(got, cases[i].severity) != 0) fail_msg("%s: %s", cases[i].why, got);
        free(got);
    }
    /* Where the process was searched, and all of them are lost, size decides. */
    static const char *const searched[] = {"note",     "note",    "note",     "warning", "warning",
                                           "critical", "warning", "critical", "warning"};
    ran("INSERT INTO profiles(id, run_id, kind) SELECT 100 + id, id, 'leak' FROM runs;"
        "INSERT INTO leaks(profile_id, trace_id, lost_count, lost_bytes) SELECT 100 + profile_id, 1, alloc_count - "
        "free_count, "
        "alloc_bytes - free_bytes FROM sites WHERE trace_id = 1 AND alloc_count - free_count >= 100");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT severity FROM doctor_heap WHERE run_id = :run AND trace_id = 1", (int)i + 1);
        if (strcmp(got, searched[i]) != 0) fail_msg("%s, searched: %s", cases[i].why, got);
        free(got);
    }
}

/* Blocks that were never freed, in a run without windows to judge them by: nobody knows whether they are lost, so the largest
 * site is a warning. Where some were freed, the others are more likely forgotten. */
static void test_never_freed(void **state) {
    (void)state;
    ran(names);
    judge_unsearched();
    struct site_case all = {"all", 1000, 4 << 20, 0, 0, NULL};
    insert_site(1, "profile", &all);
    ran("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
        "(1, 2, 500, 2097152, 0, 0), (1, 3, 10, 90000000, 0, 0), (1, 4, 2000, 4194304, 1000, 2097152)");
    check_rows("SELECT trace_id, severity FROM doctor_heap ORDER BY 1", "1|note\n2|note\n3|note\n4|warning\n");
    ran("UPDATE sites SET alloc_bytes = 1000 WHERE trace_id = 3");
    check_rows("SELECT trace_id, severity FROM doctor_heap ORDER BY 1", "1|note\n2|note\n3|note\n4|warning\n");
    ran("UPDATE sites SET alloc_bytes = 10 << 20 WHERE trace_id = 1"); /* more than four times of what the other forgot */
    check_rows("SELECT trace_id, severity FROM doctor_heap ORDER BY 1", "1|warning\n2|note\n3|note\n4|note\n");
}

/* A site is a stack of a run: figures of its processes are summed. Blocks that each of many processes keeps are no leak:
 * 2 * 99 live blocks are a note, one more in one of them is not. */
static void test_heap_sums_processes(void **state) {
    (void)state;
    ran(names);
    judge_unsearched();
    struct site_case half = {"half", 109, 9000, 10, 808, NULL};
    insert_site(1, "profile", &half);
    ran("INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 1, 1, 1, 'x', 1);"
        "INSERT INTO profiles(id, run_id, process_id, kind) VALUES (9, 1, 1, 'heap');"
        "INSERT INTO sites SELECT 9, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes FROM "
        "sites");
    check_rows("SELECT code, severity, subject, file, line, module, inuse_count, process_inuse_count, inuse_bytes, "
               "live_percent, mean_bytes, trace_ids, evidence ->> 'alloc_count', evidence ->> 'inuse_bytes' "
               "FROM doctor_heap",
               "leak|note|inner|a.c|11|server|198|99|16384|100|82.6|[1]|218|16384\n"); /* 18000 / 218 = 82.57 */
    ran("UPDATE sites SET free_count = 9 WHERE profile_id = 9");
    check_rows("SELECT severity, inuse_count, process_inuse_count FROM doctor_heap", "warning|199|100\n");
    /* Two profiles of one process are one process. */
    ran("UPDATE sites SET free_count = 59; UPDATE profiles SET process_id = 1");
    check_rows("SELECT severity, inuse_count, process_inuse_count FROM doctor_heap", "warning|100|100\n");
}

/* What has one row in the only profile of its process has no row of facts, unless it is 1 % of what is live; it is judged all the same.
 * Of several label sets, one of which has no live block, the sum is. */
static void test_heap_rows_without_facts(void **state) {
    (void)state;
    ran(names);
    judge_unsearched();
    static const char *const sources[] = {"profile", "dump.profile"};
    for (int run = 1; run <= 2; run++) {
        struct site_case few = {"few", 10, 1000, 9, 900, NULL}, most = {"most", 1000, 1 << 20, 0, 0, NULL};
        insert_site(run, sources[run - 1], run == 1 ? &few : &most);
    }
    ran("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (1, 2, 1000, 1048576), (2, 2, 10, "
        "100);"
        "INSERT INTO label_sets(id, labels) VALUES (7, '[[\"a\",\"b\"]]');"
        "INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) "
        "VALUES "
        "(1, 3, 0, 10, 1000, 10, 1000), (1, 3, 7, 10, 1000, 9, 900), (2, 3, 0, 10, 1000, 10, 1000), (2, 3, 7, 10, "
        "1000, 0, 0)");
    check_rows("SELECT run_id, trace_id, code, severity, alloc_count, free_count, inuse_bytes, process_inuse_count "
               "FROM doctor_heap "
               "ORDER BY 1, 2",
               "1|1|leak|note|10|9|100|1\n1|2|leak|warning|1000|0|1048576|1000\n1|3|leak|note|20|19|100|1\n"
               "2|1|rc|warning|1000|0|1048576|1000\n2|2|arena|note|10|0|100|10\n2|3|leak|note|20|10|1000|10\n");
    check_rows("SELECT run_id, trace_id FROM site_facts ORDER BY 1, 2", "1|2\n1|3\n2|3\n");
    /* Where none of the blocks is live, nothing is found, though a row by itself has live ones. */
    ran("UPDATE sites SET free_count = 10, free_bytes = 1000 WHERE trace_id = 3 AND label_set_id = 7");
    check_rows("SELECT run_id, trace_id FROM doctor_heap WHERE trace_id = 3", "");
    /* The heaviest of many, by key, whatever their order. */
    ran("DELETE FROM sites WHERE trace_id <> 2 OR profile_id = 2; UPDATE sites SET alloc_bytes = 2000000; DELETE FROM "
        "runs WHERE id = 2;"
        "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (1, 1, 1000, 2000001), (1, 3, 1000, "
        "2000000), "
        "(1, 4, 1000, 1999999)");
    check_rows("SELECT trace_id, severity FROM doctor_heap WHERE run_id = (SELECT max(id) FROM runs) ORDER BY 1",
               "1|warning\n2|note\n3|note\n4|note\n");
}

/* ---- doctor: locks ----------------------------------------------------------------------------------------------- */

struct lock_case {
    const char *why;
    int64_t acquires, contended, reads, read_contended, hold_ns;
    const char *code;
};

static const char lock_sql[] = "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, "
                               "wait_ns, max_wait_ns, hold_ns, "
                               "max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns) VALUES "
                               "(:run, 1, :address, :trace, 'mutex', "
                               ":acquires, :contended, :wait, 7, :hold, 9, :reads, :read_contended, 0, 8)";

static void insert_lock(int run, int address, int trace, const struct lock_case *lock, int64_t wait_ns) {
    struct error err = {0};
    sqlite3_stmt *statement = db_prepare(&db, lock_sql, &err);
    if (!statement) fail_msg("%s", err.message);
    db_bind_int(statement, ":run", run);
    db_bind_int(statement, ":address", address);
    db_bind_int(statement, ":trace", trace);
    db_bind_int(statement, ":acquires", lock->acquires);
    db_bind_int(statement, ":contended", lock->contended);
    db_bind_int(statement, ":wait", wait_ns);
    db_bind_int(statement, ":hold", lock->hold_ns);
    db_bind_int(statement, ":reads", lock->reads);
    db_bind_int(statement, ":read_contended", lock->read_contended);
    if (db_run(&db, statement, &err)) fail_msg("%s", err.message);
}

static void insert_lock_runs_of(const char *source, size_t count) {
    ran(names);
    ran("INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'l', 'server:table_lock')");
    struct error err = {0};
    for (size_t i = 1; i <= count; i++) {
        sqlite3_stmt *statement = db_prepare(&db,
                                             "INSERT INTO runs(id, uuid, started_ns, duration_ns, source) "
                                             "VALUES (:run, 'u' || :run, 1, 1000000000, :source)",
                                             &err);
        db_bind_int(statement, ":run", (int64_t)i);
        db_bind_text(statement, ":source", source);
        assert_int_equal(db_run(&db, statement, &err), 0);
        statement = db_prepare(&db, "INSERT INTO profiles(id, run_id, kind) VALUES (:run, :run, 'lock')", &err);
        db_bind_int(statement, ":run", (int64_t)i);
        assert_int_equal(db_run(&db, statement, &err), 0);
    }
}

static void insert_lock_runs(size_t count) {
    insert_lock_runs_of("profile", count);
}

/* Dumps: the share of the operations that waited decides. */
static void test_lock_codes_of_dumps(void **state) {
    (void)state;
    static const struct lock_case cases[] = {
        {"80 % reads, 1000, 10 %", 200, 50, 800, 50, 0, "mvcc-fit"},
        {"79.5 % reads rounds to 80", 205, 100, 795, 0, 0, "mvcc-fit"},
        {"79.4 % reads rounds to 79", 206, 100, 794, 0, 0, "atomic-ptr-fit"},
        {"9.5 % contended rounds to 10", 200, 0, 800, 95, 0, "mvcc-fit"},
        {"9.4 % contended rounds to 9", 200, 94, 800, 0, 0, "ok"},
        {"999 operations are too few", 199, 100, 800, 0, 0, "ok"},
        {"50 % reads are not below 50", 500, 100, 500, 0, 0, "atomic-ptr-fit"},
        {"49.5 % reads rounds to 50", 505, 100, 495, 0, 0, "atomic-ptr-fit"},
        {"49.4 % reads rounds to 49", 506, 100, 494, 0, 0, "atomic-fit"},
        {"no reads, 1000, 10 %", 1000, 100, 0, 0, 0, "atomic-fit"},
        {"no reads, 1000, 9 %", 1000, 90, 0, 0, 0, "ok"},
        {"no reads, 99,999 uncontended", 99999, 0, 0, 0, 0, "ok"},
        {"no reads, 100,000 uncontended", 100000, 0, 0, 0, 0, "atomic-fit"},
        {"half reads, 100,000 uncontended", 50000, 0, 50000, 0, 0, "ok"},
        {"fit comes before hot-long", 1000, 500, 0, 0, 1000 * 5000000ll, "atomic-fit"},
        {"20 %, hold of 1 ms and 1 ns in the mean", 100, 20, 0, 0, 100 * 1000001ll, "hot-long"},
        {"20 %, hold of 1 ms exactly", 100, 20, 0, 0, 100 * 1000000ll, "contended"},
        {"20 %, hold of a fraction over 1 ms", 100, 20, 0, 0, 100 * 1000000ll + 1, "hot-long"},
        {"19.5 % rounds to 20", 200, 39, 0, 0, 0, "contended"},
        {"19 %", 200, 38, 0, 0, 0, "ok"},
        {"19 %, long", 200, 38, 0, 0, 200 * 1000001ll, "long-hold"},
        {"the mean hold is of exclusive operations", 10, 0, 90, 0, 10 * 1000001ll, "long-hold"},
        {"one long hold, never waited for", 1, 0, 0, 0, 1000001, "long-hold"},
        {"one hold of 1 ms exactly", 1, 0, 0, 0, 1000000, "ok"},
        {"never taken", 0, 0, 0, 0, 0, "ok"},
    };
    insert_lock_runs_of("x.profile", COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++)
        insert_lock((int)i + 1, 1, 0, &cases[i], 2000000);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT code FROM doctor_lock WHERE run_id = :run", (int)i + 1);
        if (strcmp(got, cases[i].code) != 0) fail_msg("%s: %s", cases[i].why, got);
        free(got);
    }
}

/* Of a file of 1 s that says how often a lock was taken, the waits count even where few operations wait. Thread time is not known: two seconds of waits in
 * one are no more than a warning. */
static void test_lock_waits_of_files(void **state) {
    (void)state;
    enum { MS = 1000000 };
    static const struct {
        struct lock_case lock;
        int64_t wait_ns, duration_ns;
    } cases[] = {
        {{"twice its duration", 1000, 20, 0, 0, 0, "starved warning"}, 2000 * MS, 1000 * MS},
        {{"9.5 % rounds to 10", 1000, 20, 0, 0, 0, "starved warning"}, 95 * MS, 1000 * MS},
        {{"9.4 % rounds to 9", 1000, 20, 0, 0, 0, "ok ok"}, 94 * MS, 1000 * MS},
        {{"by readers, who share it", 100, 10, 900, 10, 0, "mvcc-fit critical"}, 2000 * MS, 1000 * MS},
        {{"20 % waited", 100, 20, 0, 0, 0, "contended critical"}, 2000 * MS, 1000 * MS},
        {{"it is not known how often it was taken: idle workers may wait", 0, 20, 0, 0, 0, "ok ok"},
         2000 * MS,
         1000 * MS},
        {{"the duration is not known", 1000, 20, 0, 0, 0, "ok ok"}, 2000 * MS, 0},
    };
    insert_lock_runs_of("lock.pb.gz", COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "UPDATE runs SET duration_ns = %lld WHERE id = %zu", (long long)cases[i].duration_ns,
                 i + 1);
        ran(sql);
        insert_lock((int)i + 1, 1, 0, &cases[i].lock, cases[i].wait_ns);
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT code || ' ' || severity FROM doctor_lock WHERE run_id = :run", (int)i + 1);
        if (strcmp(got, cases[i].lock.code) != 0) fail_msg("%s: %s", cases[i].lock.why, got);
        free(got);
    }
}

/* Recorded runs of 1 s: the time that threads waited decides, and what a hold takes. */
static void test_lock_codes_of_recorded_runs(void **state) {
    (void)state;
    enum { MS = 1000000 };
    static const struct {
        struct lock_case lock;
        int64_t wait_ns;
    } cases[] = {
        {{"hot-long comes before a fit", 1000, 500, 0, 0, 1000 * 5000000ll, "hot-long"}, 400 * MS},
        {{"one that readers share", 200, 100, 800, 100, 200 * 2000000ll, "mvcc-fit"}, 400 * MS},
        {{"a mean hold of 999 ns", 1000, 100, 0, 0, 1000 * 999, "atomic-fit"}, 0},
        {{"a mean hold of 1 us", 1000, 100, 0, 0, 1000 * 1000, "ok"}, 0},
        {{"busy, 3 us", 100000, 0, 0, 0, 100000 * 3000ll, "ok"}, 0},
        {{"half reads, 3 us", 500, 100, 500, 100, 500 * 3000, "contended"}, 0},
        {{"many readers wait", 200, 50, 800, 50, 200 * 500000ll, "mvcc-fit"}, 0},
        {{"few readers wait, long", 200, 0, 800, 20, 200 * 500000ll, "mvcc-fit"}, 95 * MS},
        {{"few readers wait, shorter", 200, 0, 800, 20, 200 * 500000ll, "starved"}, 94 * MS},
        {{"few wait, 9.5 % of the time", 900, 50, 0, 0, 900 * 5000, "starved"}, 95 * MS},
        {{"few wait, and hold it long", 200, 10, 0, 0, 200 * 4000000ll, "starved"}, 95 * MS},
        {{"short holds, where one thread lost its processor", 1000000, 13, 0, 0, 1000000 * 350ll, "atomic-fit"},
         300 * MS},
        {{"the longest waits are not ok", 900, 50, 0, 0, 900 * 5000, "starved"}, 1 * MS},
        {{"but too short to speak of", 900, 50, 0, 0, 900 * 5000, "ok"}, 1 * MS - 1},
        {{"nobody waits", 200, 0, 0, 0, 200 * 1000001ll, "long-hold"}, 0},
        {{"20 % wait", 100, 20, 0, 0, 100 * 5000, "contended"}, 95 * MS},
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++)
        insert_lock((int)i + 1, 1, 0, &cases[i].lock, cases[i].wait_ns);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT code FROM doctor_lock WHERE run_id = :run", (int)i + 1);
        if (strcmp(got, cases[i].lock.code) != 0) fail_msg("%s: %s", cases[i].lock.why, got);
        free(got);
    }
    /* Of two locks, the one with the shorter waits may be ok. */
    insert_lock(13, 2, 0, &cases[12].lock, 2 * MS);
    check_rows("SELECT address, code FROM doctor_lock WHERE run_id = 13 ORDER BY 1", "1|ok\n2|starved\n");
}

/* A mutex that a condition variable uses is a queue: no fit, whatever else is said of it. */
static void test_queue_is_no_atomic(void **state) {
    (void)state;
    static const struct {
        struct lock_case lock;
        const char *of_queue;
    } cases[] = {
        {{"short, 10 % contended", 1000, 100, 0, 0, 1000 * 999, "atomic-fit"}, "ok"},
        {{"short, busy: 2 % of the run", 1000000, 0, 0, 0, 1000000 * 300ll, "atomic-fit"}, "ok"},
        {{"short, 20 % contended", 1000, 200, 0, 0, 1000 * 999, "atomic-fit"}, "contended"},
        {{"half reads", 500, 100, 500, 100, 500 * 300ll, "atomic-ptr-fit"}, "contended"},
        {{"mostly read", 200, 50, 800, 50, 200 * 500000ll, "mvcc-fit"}, "ok"},
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++)
        insert_lock((int)i + 1, 1, 0, &cases[i].lock, 0);
    for (int is_queue = 0; is_queue < 2; is_queue++) {
        if (is_queue) ran("UPDATE locks SET condition_waits = 1, timeouts = 2, unfinished = 3");
        for (size_t i = 0; i < COUNT(cases); i++) {
            char *got = finding("SELECT code FROM doctor_lock WHERE run_id = :run", (int)i + 1);
            const char *expected = is_queue ? cases[i].of_queue : cases[i].lock.code;
            if (strcmp(got, expected) != 0) fail_msg("%s, queue %d: %s", cases[i].lock.why, is_queue, got);
            free(got);
        }
    }
    check_rows("SELECT evidence ->> 'condition_waits', evidence ->> 'timeouts', evidence ->> 'unfinished', "
               "condition_waits, timeouts, unfinished FROM doctor_lock WHERE run_id = 1",
               "1|2|3|1|2|3\n");
}

/* A function takes the lock in line 20, writes in line 21 and 19, and allocates in line 22. Holds are 1 s together. */
static void test_work_under_lock(void **state) {
    (void)state;
    static const struct lock_case lock = {"waits", 100, 50, 0, 0, 1000000000, "hot-long"};
    static const struct {
        const char *why;
        long long below_ns, above_ns, allocs, wait_ns;
        const char *expected;
    } cases[] = {
        {"30 % of the holds", 300000000, 0, 0, 500000000, "work-under-lock"},
        {"less", 299999999, 0, 0, 500000000, "hot-long"},
        {"before the lock is taken", 0, 900000000, 0, 500000000, "hot-long"},
        {"more than fits under the lock", 1200000001, 0, 0, 500000000, "hot-long"},
        {"that just fits", 1200000000, 0, 0, 500000000, "work-under-lock"},
        {"six million allocations of 50 ns", 0, 0, 6000000, 500000000, "work-under-lock"},
        {"nobody waits for long", 900000000, 0, 0, 999999, "hot-long"},
    };
    insert_lock_runs(COUNT(cases));
    ran("INSERT INTO functions(id, name, filename) VALUES (91, 'save', 'save.c'), (92, 'out', 'save.c');"
        "INSERT INTO locations(id, mapping_id, address) VALUES (90, 0, 90), (91, 0, 91), (92, 0, 92), (93, 0, 93), "
        "(94, 0, 94);"
        "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (90, 0, 91, 20), (91, 0, 91, 21), "
        "    (92, 0, 91, 19), (93, 0, 91, 22), (94, 0, 92, 99);"
        "INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES (90, 1, 1, '[90]', 90, "
        "91, 20), "
        "    (91, 1, 1, '[94,91]', 94, 92, 99), (92, 1, 1, '[94,92]', 94, 92, 99), (93, 1, 1, '[93]', 93, 91, 22)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t run = i + 1;
        insert_lock((int)run, 1, 90, &lock, cases[i].wait_ns);
        char *sql =
            xasprintf("INSERT INTO profiles(id, run_id, kind) VALUES (%zu, %zu, 'io'), (%zu, %zu, 'heap');"
                      "INSERT INTO io(profile_id, trace_id, call, time_ns) VALUES (%zu, 91, 'write', %lld), (%zu, 92, "
                      "'write', %lld);"
                      "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (%zu, 93, %lld, 0)",
                      100 + run, run, 200 + run, run, 100 + run, cases[i].below_ns, 100 + run, cases[i].above_ns,
                      200 + run, cases[i].allocs);
        ran(sql);
        free(sql);
        char *got = finding("SELECT code FROM doctor_lock WHERE run_id = :run", (int)run);
        if (strcmp(got, cases[i].expected) != 0) fail_msg("%s: %s", cases[i].why, got);
        free(got);
    }
    check_rows("SELECT advice GLOB '* Here: write in out (save.c:99).' FROM doctor_lock WHERE run_id = 1", "1\n");
    /* Each of two locks that one line takes has its part of the work; one that another line takes has none of it. */
    static const struct lock_case twice = {"not waited for", 300, 0, 0, 0, 0, "ok"};
    insert_lock(1, 2, 90, &twice, 0);
    insert_lock(5, 2, 93, &twice, 0);
    check_rows("SELECT code, io_ns FROM doctor_lock WHERE run_id IN (1, 5) AND address = 1 ORDER BY run_id",
               "hot-long|100000000\nwork-under-lock|1200000000\n");
    check_rows("SELECT amount FROM lock_work_facts WHERE run_id = 1", "100000000\n");
    /* Where few wait, and it is nearly always free, who has it lost its processor. */
    check_rows("SELECT severity FROM doctor_lock WHERE run_id = 5 AND address = 1", "warning\n");
    ran("UPDATE locks SET acquires = 2000, hold_ns = 99000000 WHERE profile_id = 5; UPDATE io SET time_ns = 90000000 "
        "WHERE "
        "profile_id = 105");
    check_rows("SELECT code, severity FROM doctor_lock WHERE run_id = 5 AND address = 1", "work-under-lock|note\n");
}

/* The locks of what runs a program of another language: nine tenths of the waits and more are in its code. */
static void test_locks_of_runtimes(void **state) {
    (void)state;
    static const struct lock_case lock = {"waits", 100, 50, 0, 0, 0, "contended"};
    static const struct {
        const char *file, *severity;
    } cases[] = {
        {"/usr/lib/jvm/java-17/lib/server/libjvm.so", "note"},
        {"/usr/bin/node", "note"},
        {"/home/a/node", "critical"},
        {"/usr/lib/libjvm_agent.so", "critical"},
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1, id = 90 + run;
        char *sql =
            xasprintf("INSERT INTO mappings(id, filename) VALUES (%d, '%s');"
                      "INSERT INTO locations(id, mapping_id, address) VALUES (%d, %d, 1);"
                      "INSERT INTO traces(id, hash, signature, stack, location_id) VALUES (%d, 1, 1, '[%d]', %d)",
                      id, cases[i].file, id, id, id, id, id);
        ran(sql);
        free(sql);
        insert_lock(run, 1, id, &lock, 450000000);
        char *got = finding("SELECT severity FROM doctor_lock WHERE run_id = :run", run);
        if (strcmp(got, cases[i].severity) != 0) fail_msg("%s: %s", cases[i].file, got);
        free(got);
    }
    insert_lock(1, 1, 0, &lock, 50000000);
    check_rows("SELECT severity FROM doctor_lock WHERE run_id = 1", "note\n");
    ran("UPDATE locks SET wait_ns = 50000001 WHERE profile_id = 1 AND trace_id = 0");
    check_rows("SELECT severity FROM doctor_lock WHERE run_id = 1", "critical\n");
}

/* Runs of 1 s. A lock that is mostly free is not what its threads wait for: they had no processor. Each case is at a threshold or just
 * beyond it, and of 500 waits of 10,000 operations, a tenth of whose time the threads of the run had no processor for. Looks saw half of
 * the waits, and none of them for a holder without a processor, so that only these rules decide. */
static void test_locks_on_full_processors(void **state) {
    (void)state;
    static const struct {
        const char *why;
        double wait_ms, max_wait_ms, hold_ms, max_hold_ms, delay_ms;
        int contended;
        const char *expected;
    } cases[] = {
        {"ten times the holds, the longest three times", 2000, 30, 200, 10, 200, 500, "starved note"},
        {"threads had no processor for less", 2000, 30, 200, 10, 199, 500, "starved critical"},
        {"it is not known how long they had none", 2000, 30, 200, 10, -1, 500, "starved critical"},
        {"less than ten times the holds", 1999, 30, 200, 10, 200, 500, "starved critical"},
        {"one long hold", 2000, 29.9, 200, 10, 200, 500, "starved critical"},
        {"held for a third of the run", 3300, 30, 330, 10, 330, 500, "starved critical"},
        {"held for less", 3290, 30, 329, 10, 330, 500, "starved note"},
        {"few waits for a lock that is held for a tenth of the run", 500, 10, 100, 10, 50, 299, "starved critical"},
        {"and for less", 500, 10, 99, 10, 50, 299, "starved note"},
        {"3 % waited", 500, 10, 99, 10, 50, 300, "starved critical"},
        {"short holds, and three times its waits no processor", 500, 10, 329, 9.9, 1500, 299, "starved note"},
        {"no processor for less", 500, 10, 329, 9.9, 1499, 299, "starved critical"},
        {"a hold of 10 ms", 500, 10, 329, 10, 1500, 299, "starved critical"},
        {"such holds for a third of the run", 500, 10, 330, 9.9, 1500, 299, "starved critical"},
        {"such holds, and 3 % waited", 500, 10, 329, 9.9, 1500, 300, "starved critical"},
        {"a share of the time, and three times its waits no processor", 94, 9, 340, 9, 282, 2000, "contended note"},
        {"no processor for less of it", 94, 9, 340, 9, 281, 2000, "contended warning"},
        {"a tenth of the time", 95, 9, 340, 9, 282, 2000, "contended critical"},
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1;
        char *sql =
            xasprintf("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, "
                      "max_wait_ns, hold_ns, max_hold_ns, wait_seen_ns) VALUES (%d, 1, 1, 0, 'mutex', 10000, %d, "
                      "1e6 * %f, 1e6 * %f, 1e6 * %f, 1e6 * %f, 0.5e6 * %f);"
                      "INSERT INTO profiles(id, run_id, kind) VALUES (%d, %d, 'recorder')",
                      run, cases[i].contended, cases[i].wait_ms, cases[i].max_wait_ms, cases[i].hold_ms,
                      cases[i].max_hold_ms, cases[i].wait_ms, 100 + run, run);
        ran(sql);
        free(sql);
        if (cases[i].delay_ms < 0) continue;
        sql = xasprintf(
            "INSERT INTO counters(profile_id, name, value, unit) VALUES (%d, 'recorder.run_delay_ms', %f, 'ms')",
            100 + run, cases[i].delay_ms);
        ran(sql);
        free(sql);
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT code || ' ' || severity FROM doctor_lock WHERE run_id = :run", (int)i + 1);
        if (strcmp(got, cases[i].expected) != 0) fail_msg("%s: %s", cases[i].why, got);
        free(got);
    }
}

/* The share of the waits: of the lives of all threads, less what they waited for that is no lock. */
static void test_thread_time(void **state) {
    (void)state;
    static const struct lock_case lock = {"waits", 100, 50, 0, 0, 100 * 5000, "contended"};
    insert_lock_runs(1);
    insert_lock(1, 1, 0, &lock, 400000000);
    ran("INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 1, 1, 1, 'x', 1), (2, 1, 2, "
        "1, 'x', 2)");
    check_rows("SELECT wait_percent FROM doctor_lock", "40\n"); /* of one second */
    ran("UPDATE processes SET thread_ns = 2500000000 WHERE id = 1; UPDATE processes SET thread_ns = 1500000000 WHERE "
        "id = 2");
    check_rows("SELECT wait_percent FROM doctor_lock", "10\n"); /* of four */
    ran("INSERT INTO profiles(id, run_id, kind) VALUES (2, 1, 'wait'); INSERT INTO objects(id, kind, identity, name) "
        "VALUES (2, "
        "'wait', 'w', 'w'); INSERT INTO locks(profile_id, object_id, address, kind, wait_ns) VALUES (2, 2, 7, 'join', "
        "2000000000)");
    check_rows("SELECT wait_percent FROM doctor_lock", "20\n"); /* of two, for that long was waited for threads */
    ran("UPDATE locks SET wait_ns = 3900000000 WHERE object_id = 2");
    check_rows("SELECT wait_percent FROM doctor_lock", "40\n"); /* no less than the run's duration */
}

/* Two processes of the run, the second started later. */
static void put_processes(size_t run, const char *more) {
    char *sql = xasprintf("INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES "
                          "(%zu, %zu, 1, 1, 'x', 1, 9), (%zu, %zu, 2, 1, 'x', 2, 9)",
                          2 * run, run, 2 * run + 1, run);
    ran(sql);
    free(sql);
    ran(more);
}

/* A wait that ended with the program is a deadlock if a signal ended it and the wait was long: beside another such lock, or
 * compared with the holds. */
static void test_deadlock(void **state) {
    (void)state;
    enum { FAILURE = -1, CHILD = -2, OTHER = -3, EXITED_CHILD = -4, GOES_ON = -5, ENDED = -6 };
    static const struct lock_case lock = {"waited for", 10, 1, 0, 0, 10 * 5000, "starved"};
    static const struct {
        const char *why;
        int signal, unfinished, others; /* others: unfinished waits for another lock */
        int64_t wait_ms, max_hold_ms;
        const char *kind, *expected;
    } cases[] = {
        {"killed, and waited for 250 ms", 9, 1, 0, 250, 0, "mutex", "deadlock critical"},
        {"a millisecond less", 9, 1, 0, 249, 0, "mutex", "starved critical"},
        {"no signal ended it", 0, 1, 0, 250, 0, "mutex", "starved critical"},
        {"the wait ended", 9, 0, 0, 250, 0, "mutex", "starved critical"},
        {"of a lock that is held for 25 ms", 9, 1, 0, 250, 25, "mutex", "starved critical"},
        {"for 24 ms", 9, 1, 0, 250, 24, "rwlock", "deadlock critical"},
        {"for 25 ms, and another lock is waited for", 9, 1, 1, 250, 25, "spin", "deadlock critical"},
        {"a lock of the program's own", 9, 1, 1, 250, 0, "own", "starved critical"},
        {"a failure ended it", FAILURE, 1, 0, 250, 0, "mutex", "starved critical"},
        {"a failure, and another lock is waited for", FAILURE, 1, 1, 250, 25, "mutex", "deadlock critical"},
        {"in a child", CHILD, 1, 0, 250, 0, "mutex", "deadlock critical"},
        {"in a child that was searched for lost blocks, so it ended by exit", EXITED_CHILD, 1, 0, 250, 0, "mutex",
         "starved critical"},
        {"in a child, of a lock that is held for 25 ms", CHILD, 1, 0, 250, 25, "mutex", "starved critical"},
        {"another lock of another process", OTHER, 1, 1, 250, 25, "mutex", "starved critical"},
        {"threads of a process that goes on wait for each other", GOES_ON, 1, 0, 250, 25, "mutex", "deadlock critical"},
        {"a millisecond less", GOES_ON, 1, 0, 249, 25, "mutex", "starved critical"},
        {"a process that ended, nobody knows how", ENDED, 1, 0, 250, 25, "mutex", "starved critical"},
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        insert_lock((int)i + 1, 1, 0, &lock, cases[i].wait_ms * 1000000);
        insert_lock((int)i + 1, 2, 0, &lock, 0);
        char *sql =
            xasprintf("UPDATE locks SET kind = '%s', unfinished = %d, max_wait_ns = wait_ns, max_hold_ns = %lld "
                      "WHERE profile_id = %zu AND address = 1;"
                      "UPDATE locks SET unfinished = %d WHERE profile_id = %zu AND address = 2;"
                      "UPDATE runs SET exit_signal = %s, exit_status = %s WHERE id = %zu",
                      cases[i].kind, cases[i].unfinished, (long long)cases[i].max_hold_ms * 1000000, i + 1,
                      cases[i].others, i + 1, cases[i].signal == 9 || cases[i].signal == OTHER ? "9" : "NULL",
                      cases[i].signal == FAILURE ? "1" : "NULL", i + 1);
        ran(sql);
        free(sql);
        if (cases[i].signal == CHILD || cases[i].signal == EXITED_CHILD)
            put_processes(
                i + 1,
                "UPDATE profiles SET process_id = 2 * run_id + 1 WHERE run_id = (SELECT max(run_id) FROM processes)");
        if (cases[i].signal == EXITED_CHILD)
            ran("INSERT INTO profiles(id, run_id, process_id, kind) SELECT 3000, max(run_id), 2 * max(run_id) + 1, "
                "'leak' FROM "
                "processes");
        if (cases[i].signal == GOES_ON || cases[i].signal == ENDED)
            put_processes(i + 1, "UPDATE profiles SET process_id = 2 * run_id WHERE run_id = (SELECT max(run_id) FROM "
                                 "processes)");
        if (cases[i].signal == GOES_ON)
            ran("UPDATE processes SET ended_ns = NULL WHERE run_id = (SELECT max(run_id) FROM processes)");
        if (cases[i].signal == OTHER)
            put_processes(i + 1, "INSERT INTO profiles(id, run_id, kind) SELECT 1000 + 2 * max(run_id), max(run_id), "
                                 "'lock' FROM processes;"
                                 "UPDATE locks SET profile_id = 1000 + 2 * profile_id WHERE address = 2 AND profile_id "
                                 "= (SELECT max(run_id) FROM processes);"
                                 "UPDATE profiles SET process_id = 2 * run_id + (id > 1000) WHERE run_id = (SELECT "
                                 "max(run_id) FROM processes)");
        char *got =
            finding("SELECT code || ' ' || severity FROM doctor_lock WHERE run_id = :run AND address = 1", (int)i + 1);
        if (strcmp(got, cases[i].expected) != 0) fail_msg("%s: %s", cases[i].why, got);
        free(got);
    }
}

/* Of a run of 1 s: below 1 ms and below 0.5 % (rounds to 0) of waits a note, from 9.5 % (rounds to 10) on critical, if there were
 * ten waits or 100 ms. */
static void test_lock_severity(void **state) {
    (void)state;
    static const struct lock_case contended = {"contended", 100, 50, 0, 0, 0, "contended"};
    static const struct lock_case nine = {"nine waits", 10, 9, 0, 0, 10 * 2000000, "hot-long"};
    static const struct lock_case ten = {"ten waits", 10, 10, 0, 0, 10 * 2000000, "hot-long"};
    static const struct lock_case few = {"nine short holds", 300, 9, 0, 0, 0, "starved"};
    static const struct lock_case more = {"ten of them", 300, 10, 0, 0, 0, "starved"};
    static const struct lock_case rare = {"2.9 % waited", 1000, 29, 0, 0, 99 * 1000000, "starved"};
    static const struct lock_case rare_long = {
        "2.9 %, held for 10 % of the run", 1000, 29, 0, 0, 100 * 1000000, "starved"};
    static const struct lock_case often = {"3 %", 1000, 30, 0, 0, 0, "starved"};
    static const struct lock_case rare_reads = {"1 % of readers", 0, 0, 1000, 10, 0, "mvcc-fit"};
    static const struct lock_case fine = {"ok", 100, 0, 0, 0, 0, "ok"};
    static const struct {
        const struct lock_case *lock;
        int64_t wait_ns;
        const char *severity;
    } cases[] = {
        {&contended, 999999, "note"},
        {&contended, 4999999, "note"},
        {&contended, 5000000, "warning"},
        {&contended, 94999999, "warning"},
        {&contended, 95000000, "critical"},
        {&contended, 950000000, "critical"},
        {&nine, 99999999, "warning"},
        {&nine, 100000000, "critical"},
        {&ten, 95000000, "critical"},
        {&ten, 50000000, "warning"},
        {&few, 9999999, "note"},
        {&few, 10000000, "warning"},
        {&more, 9999999, "warning"},
        {&fine, 999999, "ok"},
        {&rare, 300000000, "note"},
        {&rare_long, 300000000, "critical"},
        {&often, 300000000, "critical"},
        {&rare_reads, 300000000, "critical"}, /* no figure says how long threads had no processor */
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++)
        insert_lock((int)i + 1, 1, 0, cases[i].lock, cases[i].wait_ns);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT severity FROM doctor_lock WHERE run_id = :run", (int)i + 1);
        assert_string_equal(got, cases[i].severity);
        free(got);
    }
    /* Where it is known how long threads had no processor, that decides: a tenth of the waits, or less. */
    enum { RARE = 15 };
    ran("INSERT INTO profiles(id, run_id, kind) SELECT 9000, max(id), 'recorder' FROM runs;"
        "INSERT INTO profiles(id, run_id, kind) VALUES (9001, 15, 'recorder');"
        "INSERT INTO counters(profile_id, name, value, unit) VALUES (9000, 'recorder.run_delay_ms', 30, 'ms'), "
        "(9001, 'recorder.run_delay_ms', 29, 'ms')");
    check_rows("SELECT severity FROM doctor_lock WHERE run_id IN (15, 18) ORDER BY run_id", "critical\nnote\n");
    assert_true(cases[RARE - 1].lock == &rare);
}

/* A thread that waits for a lock is not ready: where threads were ready and had no processor for as long as others waited, the wait is the
 * machine's. One of a fit of another kind of lock is none, and neither is a wait of a run of which that is not known. */
static void test_lock_delay(void **state) {
    (void)state;
    static const struct lock_case starved = {"starved", 300, 10, 0, 0, 30000001, "starved"};
    static const struct lock_case few = {"starved by nine waits", 300, 9, 0, 0, 30000001, "starved"};
    static const struct lock_case free_mostly = {"held for a tenth of its waits", 300, 10, 0, 0, 30000000, "starved"};
    static const struct lock_case shared = {"that, with shared holds", 300, 10, 1, 0, 30000000, "starved"};
    static const struct lock_case hot = {"hot-long", 100, 50, 0, 0, 1000000000, "hot-long"};
    static const struct lock_case contended = {"contended", 100, 50, 0, 0, 0, "contended"};
    static const struct lock_case fit = {"mvcc-fit", 100, 0, 1000, 200, 0, "mvcc-fit"};
    static const struct {
        const struct lock_case *lock;
        const char *delay_ms, *severity; /* of 300 ms of waits */
    } cases[] = {
        {&starved, "299.9", "critical"},    {&starved, "300", "note"},
        {&hot, "299.9", "critical"},        {&hot, "300", "note"},
        {&contended, "299.9", "critical"},  {&contended, "300", "note"},
        {&contended, NULL, "critical"},     {&fit, "300", "critical"},
        {&few, "29.9", "critical"},         {&few, "30", "note"},
        {&free_mostly, "29.9", "critical"}, {&free_mostly, "30", "note"},
        {&free_mostly, NULL, "critical"},   {&shared, "30", "critical"},
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        insert_lock((int)i + 1, 1, 0, cases[i].lock, 300000000);
        if (!cases[i].delay_ms) continue;
        char *sql = xasprintf("INSERT INTO profiles(id, run_id, kind) VALUES (%zu, %zu, 'recorder');"
                              "INSERT INTO counters(profile_id, name, value, unit) VALUES (%zu, "
                              "'recorder.run_delay_ms', %s, 'ms')",
                              9000 + i, i + 1, 9000 + i, cases[i].delay_ms);
        ran(sql);
        free(sql);
    }
    ran("UPDATE locks SET max_wait_ns = 27"); /* three times the longest hold */
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT code || ' ' || severity FROM doctor_lock WHERE run_id = :run", (int)i + 1);
        char *expected = xasprintf("%s %s", cases[i].lock->code, cases[i].severity);
        if (strcmp(got, expected) != 0) fail_msg("%zu: %s, not %s", i, got, expected);
        free(expected);
        free(got);
    }
    /* One long hold that all of them waited for is a finding. */
    ran("UPDATE locks SET max_wait_ns = 26");
    check_rows("SELECT DISTINCT severity FROM doctor_lock WHERE hold_ns = 30000000 ORDER BY 1", "critical\n");
    /* Nine waits of less than 100 ms: what the run lost decides, though it is known what half of them lost. */
    ran("UPDATE locks SET contended = 9, acquires = 45, wait_ns = 100000000 - 1, wait_seen_ns = 100000000, "
        "wait_delay_ns = 0 WHERE profile_id IN (3, 4)");
    check_rows("SELECT code, severity FROM doctor_lock WHERE run_id IN (3, 4) ORDER BY run_id",
               "hot-long|note\nhot-long|note\n");
    ran("UPDATE counters SET value = 99 WHERE profile_id = 9002; UPDATE locks SET wait_ns = 100000000 WHERE profile_id "
        "= 4");
    check_rows("SELECT severity FROM doctor_lock WHERE run_id IN (3, 4) ORDER BY run_id", "warning\ncritical\n");
    /* But where the holders had no processor for half of the holds, the rest of these counts, and no longest one. */
    ran("UPDATE locks SET wait_seen_ns = 300000000, hold_delay_ns = 15000000 WHERE profile_id = 1");
    check_rows("SELECT severity FROM doctor_lock WHERE run_id = 1", "critical\n");
    ran("UPDATE locks SET hold_delay_ns = 15000001 WHERE profile_id = 1");
    check_rows("SELECT severity FROM doctor_lock WHERE run_id = 1", "note\n");
    ran("UPDATE locks SET wait_ns = 150000000 - 1 WHERE profile_id = 1");
    check_rows("SELECT severity FROM doctor_lock WHERE run_id = 1", "critical\n");
}

/* Where it is known how much of the waits and holds was for a processor, they are judged without it, and what the run lost decides no longer: 300 ms
 * of waits, 100 holds of 10 ms in the mean, and 300 ms in which threads of the run had no processor. */
static void test_lock_without_processor(void **state) {
    (void)state;
    static const struct lock_case hot = {"hot-long", 100, 50, 0, 0, 1000000000, "hot-long"};
    static const struct {
        int seen_ms, wait_delay_ms, hold_delay_ms;
        const char *finding,
            *figures; /* code and severity; wait_delay_ns, hold_delay_ns, seen_percent, own_wait_percent */
    } cases[] = {
        {0, 0, 0, "hot-long note", "-1|-1|-1|30"},
        {148, 0, 0, "hot-long note", "0|0|49|30"}, /* too few were seen */
        {150, 0, 0, "hot-long critical", "0|0|50|30"},
        {150, 74, 100, "hot-long critical", "148000000|200000000|50|15"}, /* what was seen stands for all */
        {150, 75, 100, "hot-long note", "150000000|200000000|50|15"},
        {300, 149, 0, "hot-long critical", "149000000|0|100|15"},
        {600, 149, 0, "hot-long critical", "149000000|0|100|15"},
        {300, 299, 0, "hot-long note", "299000000|0|100|0"},
        {400, 400, 2000, "contended note", "300000000|1000000000|100|0"}, /* no more than there was */
        {300, 0, 899, "hot-long critical", "0|899000000|100|30"},
        {300, 0, 900, "contended critical", "0|900000000|100|30"}, /* it was not held for longer than 1 ms */
    };
    insert_lock_runs(COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        insert_lock((int)i + 1, 1, 0, &hot, 300000000);
        char *sql = xasprintf(
            "INSERT INTO profiles(id, run_id, kind) VALUES (%zu, %zu, 'recorder');"
            "INSERT INTO counters(profile_id, name, value, unit) VALUES (%zu, "
            "'recorder.run_delay_ms', 300, 'ms');"
            "UPDATE locks SET wait_seen_ns = %d * 1000000, wait_delay_ns = %d * 1000000, hold_delay_ns "
            "= %d * 1000000 WHERE profile_id IN (SELECT id FROM profiles WHERE run_id = %zu)",
            9000 + i, i + 1, 9000 + i, cases[i].seen_ms, cases[i].wait_delay_ms, cases[i].hold_delay_ms, i + 1);
        ran(sql);
        free(sql);
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = finding("SELECT code || ' ' || severity FROM doctor_lock WHERE run_id = :run", (int)i + 1);
        char *figures =
            finding("SELECT coalesce(wait_delay_ns, -1) || '|' || coalesce(hold_delay_ns, -1) || '|' || "
                    "coalesce(seen_percent, -1) || '|' || own_wait_percent FROM lock_traits WHERE run_id = :run",
                    (int)i + 1);
        if (strcmp(got, cases[i].finding) != 0) fail_msg("%zu: %s, not %s", i, got, cases[i].finding);
        if (strcmp(figures, cases[i].figures) != 0) fail_msg("%zu: %s, not %s", i, figures, cases[i].figures);
        free(figures);
        free(got);
    }
    check_rows(
        "SELECT evidence ->> 'wait_delay_ns', evidence ->> 'hold_delay_ns' FROM doctor_lock WHERE run_id IN (3, 4) "
        "ORDER BY run_id",
        "|\n148000000|200000000\n");
}

/* Two callers of one lock are one subject; another address is another lock. */
static void test_lock_sums_callers(void **state) {
    (void)state;
    static const struct lock_case half = {"half", 500, 50, 0, 0, 3000, "atomic-fit"};
    insert_lock_runs(1);
    insert_lock(1, 64, 1, &half, 600000);
    insert_lock(1, 64, 2, &half, 600000);
    insert_lock(1, 128, 0, &half, 600000);
    check_rows(
        "SELECT address, code, subject, kind, acquires, contended, contended_percent, wait_ns, max_wait_ns, hold_ns, "
        "mean_hold_ns, max_hold_ns, json_array_length(trace_ids), trace_ids FROM doctor_lock ORDER BY address",
        "64|atomic-fit|server:table_lock|mutex|1000|100|10|1200000|8|6000|6|9|2|[1,2]\n"
        "128|ok|server:table_lock|mutex|500|50|10|600000|8|3000|6|9|0|[]\n");
    check_rows("SELECT evidence ->> 'acquires', evidence ->> 'contended_percent', evidence ->> 'wait_ns' "
               "FROM doctor WHERE code = 'atomic-fit'",
               "1000|10|1200000\n");
}

/* The first stack of a finding is the one to look at first, whatever came first in the file: trace 1 takes the lock more often, trace 2
 * waits longer, trace 3 holds it longer; of the cell 1 reads, 2 commits, 3 retries. */
static void test_first_stack(void **state) {
    (void)state;
    insert_lock_runs(1);
    ran("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, hold_ns) "
        "VALUES "
        "(1, 1, 64, 1, 'mutex', 600, 200, 1000000, 1000), (1, 1, 64, 2, 'mutex', 200, 200, 7000000, 1000), "
        "(1, 1, 64, 3, 'mutex', 200, 0, 0, 800000)");
    check_rows("SELECT code, trace_ids FROM doctor_lock", "atomic-fit|[2,1,3]\n");
    ran("UPDATE locks SET acquires = acquires / 2, hold_ns = hold_ns * 1000");
    check_rows("SELECT code, trace_ids FROM doctor_lock", "hot-long|[3,1,2]\n");
    ran("INSERT INTO objects(id, kind, identity, name) VALUES (2, 'cell', 'cell', 'server:prices');"
        "INSERT INTO profiles(id, run_id, kind) VALUES (2, 1, 'mvcc');"
        "INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, retries) VALUES "
        "(2, 2, 8, 1, 64, 5000, 0, 0), (2, 2, 8, 2, 64, 0, 600, 300), (2, 2, 8, 3, 64, 0, 100, 500)");
    check_rows("SELECT code, trace_ids FROM doctor_cell", "high-retry|[3,2,1]\n");
    ran("UPDATE cells SET retries = retries / 10, commits = commits * 10, reads = reads / 10");
    check_rows("SELECT code, trace_ids FROM doctor_cell", "misuse|[2,3,1]\n");
}

/* A threshold is a row: changing it changes the diagnosis, also in the stock shell. */
static void test_thresholds_are_rows(void **state) {
    (void)state;
    static const struct lock_case lock = {"quiet", 100, 5, 0, 0, 0, "ok"};
    insert_lock_runs(1);
    insert_lock(1, 1, 0, &lock, 999999);
    check_rows("SELECT code FROM doctor", "ok\n");
    ran("UPDATE rules SET value = 5 WHERE name = 'lock_contended_percent'");
    check_rows("SELECT code FROM doctor", "contended\n");
}

/* ---- doctor: saturation and the union ---------------------------------------------------------------------------- */

static void test_saturation(void **state) {
    (void)state;
    ran("INSERT INTO runs(id, uuid, started_ns, source, flags, sample_n) VALUES (1, 'u1', 1, 'profile', '', 1), "
        "    (2, 'u2', 2, 'x', 'other unfinished', 1), (3, 'u3', 3, 'x', 'unfinishedness', 1);"
        "INSERT INTO profiles(run_id, kind, dropped, truncated, sample_n, comments) VALUES "
        "    (1, 'heap', 1, 0, 1, '[]'), (1, 'heap', 2, 0, 1, '[]'), (1, 'lock', 0, 5, 100, '[]'),"
        "    (2, 'heap', 0, 0, 1, '[\"# WARNING: table full\", \"no WARNING: here\"]'),"
        "    (2, 'lock', 0, 0, 1, '[\"WARNING: table full\"]'),"
        "    (3, 'heap', 0, 0, 1, '[\"all is well\"]');"
        /* Only some kinds of a recorded run are sampled; an artefact may know no more than that it is. */
        "INSERT INTO runs(id, uuid, started_ns, source, sample_n) VALUES (4, 'u4', 4, 'profile', 100),"
        "    (5, 'u5', 5, 'x.profile', 10);"
        "INSERT INTO profiles(run_id, kind, sample_n, period, period_type) VALUES (4, 'mvcc', 100, 100, 'commits'),"
        "    (4, 'cpu', 1, 10101010, 'cpu'), (5, 'heap', 1, 0, ''), (1, 'heap', 1, 524288, 'space'),"
        "    (3, 'heap', 1, 1, 'space');" /* every byte: exact */
        /* 3 s of flushes: much of a run of 20 s (15 %), nothing in one of an hour; 0.9 s is little in any. */
        "INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (6, 'u6', 6, 20000000000, 'profile'),"
        "    (7, 'u7', 7, 3600000000000, 'profile'), (8, 'u8', 8, 1000000000, 'profile');"
        "INSERT INTO profiles(id, run_id, kind) VALUES (60, 6, 'heap'), (70, 7, 'heap'), (80, 8, 'heap');"
        "INSERT INTO counters VALUES (60, 'recorder.flush_ms', 3000.7, 'ms'), (70, 'recorder.flush_ms', 3000, 'ms'),"
        "    (80, 'recorder.flush_ms', 900, 'ms')");
    check_rows("SELECT run_id, code, subject, count, severity FROM doctor_saturation ORDER BY 1, 2, 3",
               "1|dropped|heap|3|warning\n1|sampled|lock|100|note\n1|sampled-bytes|heap|524288|note\n"
               "1|truncated|lock|5|note\n"
               "2|unfinished|run|1|warning\n2|warning|WARNING: table full|2|warning\n"
               "4|sampled|mvcc|100|note\n5|sampled|heap|10|note\n6|slow-flush|recorder|3000|note\n");
}

/* What was not recorded is said first, then by severity and weight, in the newest run first. */
static void test_doctor_order(void **state) {
    (void)state;
    static const struct lock_case waits = {"waits", 100, 50, 0, 0, 0, "contended"};
    judge_unsearched();
    insert_lock_runs(2);
    insert_lock(2, 1, 0, &waits, 500000000);
    ran("INSERT INTO profiles(id, run_id, kind, truncated) VALUES (20, 2, 'heap', 1);"
        "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (20, 1, 1000, 2000000), "
        "    (20, 2, 1000, 90000000), (20, 4, 1, 10);"
        "INSERT INTO profiles(id, run_id, kind, dropped) VALUES (21, 1, 'heap', 1);");
    check_rows("SELECT run_id, section, code, severity, subject FROM doctor",
               "2|saturation|truncated|note|heap\n2|lock|contended|critical|server:table_lock\n"
               "2|heap|leak|warning|plain+0x2010\n2|heap|leak|note|inner\n2|heap|leak|note|0x1234\n"
               "1|saturation|dropped|warning|heap\n");
    check_rows(
        "SELECT count(*) FROM doctor WHERE NOT json_valid(evidence) OR NOT json_valid(trace_ids) OR advice IS NULL",
        "0\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_new, remove_it)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_own_columns),
        TEST(test_tables),
        TEST(test_rules_are_complete),
        TEST(test_wrappers),
        TEST(test_views_run_in_both),
        TEST(test_promised_columns),
        TEST(test_views_of_a_new_file),
        TEST(test_migration),
        TEST(test_failed_migration_changes_nothing),
        TEST(test_schema_as_made),
        TEST(test_views_and_rules_of_another_clear),
        TEST(test_rules_of_a_user),
        TEST(test_names_and_stacks),
        TEST(test_reading_views),
        TEST(test_cells_and_channels),
        TEST(test_heap_codes_of_dumps),
        TEST(test_heap_codes_of_recorded_runs),
        TEST(test_leak_severity),
        TEST(test_never_freed),
        TEST(test_heap_sums_processes),
        TEST(test_heap_rows_without_facts),
        TEST(test_lock_codes_of_dumps),
        TEST(test_lock_waits_of_files),
        TEST(test_lock_codes_of_recorded_runs),
        TEST(test_queue_is_no_atomic),
        TEST(test_deadlock),
        TEST(test_locks_of_runtimes),
        TEST(test_locks_on_full_processors),
        TEST(test_thread_time),
        TEST(test_work_under_lock),
        TEST(test_lock_severity),
        TEST(test_lock_delay),
        TEST(test_lock_without_processor),
        TEST(test_lock_sums_callers),
        TEST(test_first_stack),
        TEST(test_thresholds_are_rows),
        TEST(test_saturation),
        TEST(test_doctor_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
