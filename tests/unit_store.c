/* unit_store: names and stacks are stored once a file, found again by later runs, signed and attributed.
 * What is in the file is asked of SQLite itself. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/writer/row_writer.h"
#include "schema/signature.h"

struct world {
    char directory[200], path[300];
    struct db db;
    struct row_writer writer;
    struct error err;
};

static void fail_on_error(const struct world *world) {
    if (world->err.status) fail_msg("%s", world->err.message);
}

static void open_store(struct world *world) {
    db_open(&world->db, world->path, DB_WRITE, &world->err);
    fail_on_error(world);
    db_begin(&world->db, &world->err);
    writer_open(&world->writer, &world->db, &world->err);
    fail_on_error(world);
}

static void close_store(struct world *world) {
    writer_free(&world->writer);
    db_commit(&world->db, &world->err);
    db_close(&world->db, &world->err);
    fail_on_error(world);
}

static void new_world(struct world *world) {
    *world = (struct world){0};
    const char *parent = getenv("TMPDIR");
    snprintf(world->directory, sizeof world->directory, "%s/unit_store.XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(world->directory));
    snprintf(world->path, sizeof world->path, "%s/runs.sqlite", world->directory);
    open_store(world);
    db_exec(&world->db, "DELETE FROM wrappers; INSERT INTO wrappers VALUES ('x?alloc'), ('operator new*')",
            &world->err);
    close_store(world);
    open_store(world);
}

static void end_world(struct world *world) {
    close_store(world);
    unlink(world->path);
    assert_int_equal(rmdir(world->directory), 0);
}

/* As a later run of the program meets the file: nothing in memory. */
static void reopen(struct world *world) {
    close_store(world);
    open_store(world);
}

static int64_t number(struct world *world, const char *sql) {
    int64_t value;
    db_int(&world->db, sql, -1, &value, &world->err);
    fail_on_error(world);
    return value;
}

/* One column of the row with that id. */
static const char *text_of(struct world *world, const char *sql, int64_t id) {
    static char text[4096];
    sqlite3_stmt *select = db_prepare(&world->db, sql, &world->err);
    fail_on_error(world);
    sqlite3_bind_int64(select, 1, id);
    assert_int_equal(db_step(&world->db, select, &world->err), 1);
    snprintf(text, sizeof text, "%s", db_text(select, 0));
    sqlite3_reset(select);
    return text;
}

static int64_t number_of(struct world *world, const char *sql, int64_t id) {
    return strtoll(text_of(world, sql, id), NULL, 10);
}

static int64_t function(struct world *world, const char *name, const char *file) {
    int64_t id = writer_function(&world->writer, name, name, file, 1, &world->err);
    fail_on_error(world);
    assert_true(id > 0);
    return id;
}

static int64_t mapping(struct world *world, const char *path, uint64_t start) {
    struct writer_mapping wanted = {.filename = path,
                                    .build_id = "abcd",
                                    .memory_start = start,
                                    .memory_limit = start + 0x10000,
                                    .has_functions = 1};
    int64_t id = writer_mapping(&world->writer, &wanted, &world->err);
    fail_on_error(world);
    return id;
}

/* A location with one line per name, innermost first; the line numbers are 10, 20, ... */
static int64_t location(struct world *world, int64_t mapping_id, uint64_t address, size_t count, const char **names,
                        const char *file) {
    struct writer_line lines[8];
    for (size_t i = 0; i < count; i++)
        lines[i] = (struct writer_line){function(world, names[i], file), 10 * (int64_t)(i + 1), 3};
    int64_t id = writer_location(&world->writer, mapping_id, address, 0, lines, count, &world->err);
    fail_on_error(world);
    return id;
}

static int64_t trace(struct world *world, const int64_t *ids, size_t count) {
    int64_t id = writer_stack(&world->writer, ids, count, &world->err);
    fail_on_error(world);
    return id;
}

/* Everything of the tests below twice, in memory and again from the file, gives the same rows. */
static void store_some(struct world *world, int64_t ids[8]) {
    const char *names[] = {"inlined", "work"};
    const struct writer_label labels[] = {{.key = "k", .text = "v"}};
    ids[0] = mapping(world, "/bin/program", 0x1000);
    ids[1] = function(world, "work", "/src/work.c");
    ids[2] = location(world, ids[0], 0x1234, 2, names, "/src/work.c");
    ids[3] =
        location(world, ids[0], UINT64_MAX - 7, 1, names + 1, "/src/work.c"); /* kernel addresses are negative in SQL */
    ids[4] = trace(world, (int64_t[]){ids[2], ids[3], ids[2]}, 3);
    ids[5] = writer_label_set(&world->writer, labels, 1, &world->err);
    ids[6] = writer_object(&world->writer, "lock", "symbol:program:g+8", "program:g+8", ids[4], 8, &world->err);
    ids[7] = trace(world, (int64_t[]){ids[3]}, 1);
    fail_on_error(world);
}

static void stores_each_thing_once_a_file(void **state) {
    (void)state;
    struct world world;
    int64_t first[8], again[8], later[8];
    new_world(&world);
    store_some(&world, first);
    store_some(&world, again);
    reopen(&world);
    store_some(&world, later);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(first[i], again[i]);
        assert_int_equal(first[i], later[i]);
    }
    assert_int_equal(number(&world, "SELECT count(*) FROM mappings"), 2); /* row 0 stands for none */
    assert_int_equal(number(&world, "SELECT count(*) FROM functions"), 2);
    assert_int_equal(number(&world, "SELECT count(*) FROM locations"), 2);
    assert_int_equal(number(&world, "SELECT count(*) FROM location_lines"), 3);
    assert_int_equal(number(&world, "SELECT count(*) FROM traces"), 3);
    assert_int_equal(number(&world, "SELECT count(*) FROM label_sets"), 2);
    assert_int_equal(number(&world, "SELECT count(*) FROM objects"), 1);
    assert_int_equal(number(&world, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    end_world(&world);
}

static void keeps_unlike_things_apart(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    assert_int_not_equal(writer_function(&world.writer, "ab", "c", "", 0, &world.err),
                         writer_function(&world.writer, "a", "bc", "", 0, &world.err));
    assert_int_not_equal(writer_function(&world.writer, "f", "f", "f.c", 1, &world.err),
                         writer_function(&world.writer, "f", "f", "f.c", 2, &world.err));
    assert_int_equal(writer_function(&world.writer, "n", NULL, NULL, 0, &world.err),
                     writer_function(&world.writer, "n", "", "", 0, &world.err));
    assert_int_not_equal(mapping(&world, "/bin/a", 0), mapping(&world, "/bin/a", 0x1000));
    int64_t module = mapping(&world, "/bin/a", 0);
    const char *one[] = {"one"}, *two[] = {"two"};
    int64_t first = location(&world, module, 16, 1, one, "f.c"), second = location(&world, module, 16, 1, two, "f.c");
    assert_int_not_equal(first, second);
    assert_int_not_equal(first, writer_location(&world.writer, module, 16, 1, NULL, 0, &world.err));
    assert_int_not_equal(trace(&world, (int64_t[]){first, second}, 2), trace(&world, (int64_t[]){second, first}, 2));
    struct writer_mapping none = {0};
    assert_int_equal(writer_mapping(&world.writer, &none, &world.err), 0);
    assert_int_equal(trace(&world, NULL, 0), 0);
    assert_int_equal(writer_label_set(&world.writer, NULL, 0, &world.err), 0);
    fail_on_error(&world);
    end_world(&world);
}

static void finds_what_an_earlier_run_resolved(void **state) {
    (void)state;
    struct world world;
    const char *names[] = {"work"};
    new_world(&world);
    int64_t module = mapping(&world, "/bin/a", 0), other = mapping(&world, "/bin/b", 0);
    writer_location(&world.writer, module, 32, 0, NULL, 0, &world.err); /* bare: nobody has resolved it */
    int64_t resolved = location(&world, module, 16, 1, names, "f.c");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(writer_find_location(&world.writer, module, 16, &world.err), resolved);
        assert_int_equal(writer_find_location(&world.writer, module, 32, &world.err), 0);
        assert_int_equal(writer_find_location(&world.writer, other, 16, &world.err), 0);
        reopen(&world);
    }
    end_world(&world);
}

static void points_past_allocator_wrappers(void **state) {
    (void)state;
    struct world world;
    const char *user[] = {"parse"}, *wrapper[] = {"xmalloc"},
               *inlined[] = {"operator new[]", "xcalloc", "read_all", "main"};
    new_world(&world);
    int64_t module = mapping(&world, "/bin/a", 0);
    int64_t x = location(&world, module, 1, 1, wrapper, "x.c"), u = location(&world, module, 2, 1, user, "u.c");
    int64_t in = location(&world, module, 3, 4, inlined, "i.cc"), two = location(&world, module, 4, 2, inlined, "i.cc");
    int64_t bare = writer_location(&world.writer, module, 5, 0, NULL, 0, &world.err);
    const struct {
        int64_t stack[3];
        int64_t location;
        const char *name;
        int64_t line;
    } cases[] = {
        {{x, u, in}, u, "parse", 10},
        {{x, in, u}, in, "read_all", 30}, /* inlined frames of one location, innermost first */
        {{two, two, u}, u, "parse", 10},
        {{two, x, x}, two, "operator new[]", 10}, /* nothing but wrappers: the leaf */
        {{x, bare, u}, bare, "", 0},              /* an address without a name is no wrapper */
    };
    for (int later = 0; later < 2; later++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int64_t id = trace(&world, cases[i].stack, 3);
            assert_int_equal(number_of(&world, "SELECT location_id FROM traces WHERE id = ?1", id), cases[i].location);
            assert_string_equal(text_of(&world,
                                        "SELECT ifnull((SELECT name FROM functions WHERE id = function_id), '')"
                                        " FROM traces WHERE id = ?1",
                                        id),
                                cases[i].name);
            assert_int_equal(number_of(&world, "SELECT line FROM traces WHERE id = ?1", id), cases[i].line);
        }
        reopen(&world);
        db_exec(&world.db, "DELETE FROM traces WHERE id > 0",
                &world.err); /* so that they are attributed from the file */
    }
    end_world(&world);
}

/* Two frames of a program built in some directory, at some address, after `before` other functions. */
static int64_t signature(const char *directory, uint64_t address, int before, const char *leaf) {
    struct world world;
    char file[128], filler[32];
    const char *root[] = {"inlined", "main"};
    new_world(&world);
    for (int i = 0; i < before; i++) {
        snprintf(filler, sizeof filler, "filler%d", i);
        function(&world, filler, "filler.c");
    }
    snprintf(file, sizeof file, "%s/main.c", directory);
    int64_t module = mapping(&world, "/bin/a", address & ~0xfffull);
    int64_t ids[] = {location(&world, module, address, 1, &leaf, file),
                     location(&world, module, address + 64, 2, root, file)};
    int64_t value = number_of(&world, "SELECT signature FROM traces WHERE id = ?1", trace(&world, ids, 2));
    end_world(&world);
    return value;
}

static void signs_by_names_alone(void **state) {
    (void)state;
    int64_t here = signature("/home/a/build", 0x1010, 0, "work");
    assert_int_equal(here, signature("/ci/elsewhere", 0x7777f010, 5, "work"));
    assert_int_not_equal(here, signature("/home/a/build", 0x1010, 0, "rest"));
    assert_int_not_equal(here, signature("/home/a/build", 0x1010, 0, "main"));
}

/* What a compiler decides is not part of a signature: inlining, the depth of a recursion, copies of a function. */
static void signs_without_what_the_compiler_decides(void **state) {
    (void)state;
    struct world world;
    const char *all[] = {"leaf", "middle", "main"}, *copies[] = {"leaf.isra.0", "middle.part.1.cold", "main"};
    const char *deep[] = {"middle", "middle"}, *other[] = {"leaf", "main", "middle"},
               *likely[] = {"leaf", "middle.partial", "main"};
    new_world(&world);
    int64_t module = mapping(&world, "/bin/a", 0x1000), stacks[6][3] = {{0}}, signatures[6];
    stacks[0][0] = location(&world, module, 0x1010, 3, all, "a.c"); /* all inlined into main */
    for (size_t i = 0; i < 3; i++) {
        stacks[1][i] = location(&world, module, 0x1100 + 16 * i, 1, &all[i], "a.c");
        stacks[2][i] = location(&world, module, 0x1200 + 16 * i, 1, &copies[i], "a.c");
        stacks[4][i] = location(&world, module, 0x1400 + 16 * i, 1, &other[i], "a.c");
        stacks[5][i] = location(&world, module, 0x1500 + 16 * i, 1, &likely[i], "a.c");
    }
    stacks[3][0] = stacks[1][0];
    stacks[3][1] = location(&world, module, 0x1300, 2, deep, "a.c");
    stacks[3][2] = stacks[1][2];
    for (size_t i = 0; i < 6; i++)
        signatures[i] =
            number_of(&world, "SELECT signature FROM traces WHERE id = ?1", trace(&world, stacks[i], i == 0 ? 1 : 3));
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(signatures[i], signatures[0]);
    assert_int_not_equal(signatures[4], signatures[0]);
    assert_int_not_equal(signatures[5], signatures[0]);
    end_world(&world);
}

/* For files of an older clear: all signatures again are what the store made, and objects are known by them. */
static void renews_signatures(void **state) {
    (void)state;
    struct world world;
    int64_t ids[8];
    new_world(&world);
    store_some(&world, ids);
    const char *names[] = {"leaf", "work"};
    int64_t bare = writer_location(&world.writer, ids[0], 0x4321, 0, NULL, 0, &world.err);
    const int64_t stack[] = {location(&world, ids[0], 0x2000, 2, names, "/src/leaf.c"), bare};
    int64_t made = trace(&world, stack, 2);
    int64_t wanted = number_of(&world, "SELECT signature FROM traces WHERE id = ?1", made);
    writer_object(&world.writer, "lock", "heap:0000000000000001+8", "leaf+8", made, 8, &world.err);
    assert_int_equal(db_exec(&world.db, "CREATE TEMP TABLE made AS SELECT id, signature FROM traces", &world.err), 0);
    assert_int_equal(db_exec(&world.db, "UPDATE traces SET signature = 1 WHERE id <> 0", &world.err), 0);
    assert_int_equal(signatures_renew(&world.db, &world.err), 0);
    assert_int_equal(
        number(&world, "SELECT count(*) FROM traces JOIN made USING (id) WHERE traces.signature <> made.signature"), 0);
    assert_int_equal(number_of(&world, "SELECT signature FROM traces WHERE id = ?1", made), wanted);
    assert_int_equal(number(&world, "SELECT count(*) FROM objects JOIN traces ON traces.id = trace_id "
                                    "WHERE identity = printf('heap:%016x+8', traces.signature)"),
                     1);
    end_world(&world);
}

static void signs_bare_addresses_without_the_load_address(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    int64_t signatures[3];
    const uint64_t starts[] = {0x10000, 0x7f0000000000, 0x10000}, offsets[] = {0x42, 0x42, 0x43};
    for (size_t i = 0; i < 3; i++) {
        int64_t module = mapping(&world, i ? "/usr/lib/libx.so" : "/lib/libx.so", starts[i]);
        int64_t id = writer_location(&world.writer, module, starts[i] + offsets[i], 0, NULL, 0, &world.err);
        signatures[i] = number_of(&world, "SELECT signature FROM traces WHERE id = ?1", trace(&world, &id, 1));
    }
    assert_int_equal(signatures[0], signatures[1]);
    assert_int_not_equal(signatures[0], signatures[2]);
    end_world(&world);
}

/* A stored trace that happens to have our hash is not ours. */
static void compares_stacks_of_one_hash(void **state) {
    (void)state;
    struct world world;
    const char *names[] = {"work"};
    new_world(&world);
    int64_t module = mapping(&world, "/bin/a", 0);
    int64_t a = location(&world, module, 1, 1, names, "f.c"), b = location(&world, module, 2, 1, names, "f.c");
    int64_t wrong = trace(&world, (int64_t[]){a, b}, 2), right = trace(&world, (int64_t[]){b, a}, 2);
    db_exec(&world.db, "UPDATE traces SET hash = (SELECT max(hash) FROM traces WHERE id > 0) WHERE id > 0", &world.err);
    reopen(&world);
    const int64_t both[][2] = {{a, b}, {b, a}};
    int64_t found[] = {trace(&world, both[0], 2), trace(&world, both[1], 2)};
    /* One of the two has its true hash still and is found; the other's stack is found under no hash and stored anew. */
    assert_true((found[0] == wrong) != (found[1] == right));
    assert_int_not_equal(found[0], found[1]);
    for (size_t i = 0; i < 2; i++) {
        char json[64];
        snprintf(json, sizeof json, "[%" PRId64 ",%" PRId64 "]", both[i][0], both[i][1]);
        assert_string_equal(text_of(&world, "SELECT stack FROM traces WHERE id = ?1", found[i]), json);
    }
    end_world(&world);
}

static void label_sets_are_canonical_json(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    const struct writer_label forward[] = {{.key = "bytes", .number = -5, .unit = "bytes"},
                                           {.key = "a\"b\\", .text = "line\nbreak \xff"},
                                           {.key = "bytes", .number = 12},
                                           {.key = "bytes", .text = "many"}};
    const struct writer_label backward[] = {forward[3], forward[2], forward[1], forward[0]};
    int64_t id = writer_label_set(&world.writer, forward, 4, &world.err);
    assert_true(id > 0);
    assert_int_equal(writer_label_set(&world.writer, backward, 4, &world.err), id);
    assert_int_not_equal(writer_label_set(&world.writer, forward, 3, &world.err), id);
    assert_string_equal(text_of(&world, "SELECT json_remove(labels, '$[0]') FROM label_sets WHERE id = ?1", id),
                        "[[\"bytes\",\"many\"],[\"bytes\",-5,\"bytes\"],[\"bytes\",12]]");
    assert_string_equal(text_of(&world, "SELECT json_extract(labels, '$[0][0]') FROM label_sets WHERE id = ?1", id),
                        "a\"b\\");
    assert_string_equal(text_of(&world, "SELECT json_extract(labels, '$[0][1]') FROM label_sets WHERE id = ?1", id),
                        "line\nbreak \xef\xbf\xbd");
    assert_int_equal(number(&world, "SELECT count(*) FROM label_sets WHERE NOT json_valid(labels)"), 0);
    end_world(&world);
}

static void objects_are_known_by_their_identity(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    int64_t lock = writer_object(&world.writer, "lock", "heap:1+8", "f+8", 0, 8, &world.err);
    assert_int_equal(writer_object(&world.writer, "lock", "heap:1+8", "g+8", 0, 8, &world.err), lock);
    assert_int_not_equal(writer_object(&world.writer, "cell", "heap:1+8", "f+8", 0, 8, &world.err), lock);
    assert_string_equal(text_of(&world, "SELECT name || '|' || offset FROM objects WHERE id = ?1", lock), "f+8|8");
    end_world(&world);
}

/* Many stacks that share frames, each met in three runs: as many rows as there are different stacks, and each id's
 * row is the stack that was asked for. */
static void many_stacks_have_one_row_each(void **state) {
    (void)state;
    enum { STACKS = 3000, LOCATIONS = 40 };
    struct world world;
    int64_t ids[LOCATIONS], *given = calloc(STACKS, sizeof *given);
    const char *names[] = {"work"};
    new_world(&world);
    int64_t module = mapping(&world, "/bin/a", 0);
    for (size_t i = 0; i < LOCATIONS; i++)
        ids[i] = location(&world, module, i + 1, 1, names, "f.c");
    for (int round = 0; round < 3; round++, reopen(&world)) {
        for (size_t i = 0; i < STACKS; i++) { /* stack i: the digits of i in base 40, so no two are the same */
            int64_t stack[8];
            char json[128] = "[", digits[24];
            size_t depth = 0, rest = i;
            do {
                stack[depth] = ids[rest % LOCATIONS];
                snprintf(digits, sizeof digits, "%s%" PRId64, depth ? "," : "", stack[depth]);
                strcat(json, digits);
                depth++;
            } while ((rest /= LOCATIONS));
            strcat(json, "]");
            int64_t id = trace(&world, stack, depth);
            if (round == 0) given[i] = id;
            assert_int_equal(id, given[i]);
            assert_string_equal(text_of(&world, "SELECT stack FROM traces WHERE id = ?1", id), json);
        }
    }
    assert_int_equal(number(&world, "SELECT count(*) FROM traces WHERE id > 0"), STACKS);
    assert_int_equal(number(&world, "SELECT count(DISTINCT stack) FROM traces WHERE id > 0"), STACKS);
    free(given);
    end_world(&world);
}

/* A few things of each sort in two rounds, in some of which a stack, a location or a function is known; bare addresses too. */
enum way { ONE_BY_ONE, EXPECTED, IN_BATCHES, WAYS };

static void store_stacks(struct world *world, enum way way, int round, int64_t traces[], int count) {
    const char *inlined[] = {"xmalloc", "grow", "work"};
    int64_t module = mapping(world, "/usr/lib/b.so", 0x1000);
    if (way == EXPECTED) writer_expect(&world->writer, (size_t)count, &world->err);
    fail_on_error(world);
    for (int i = 0; i < count; i++) {
        char name[32];
        if (way == IN_BATCHES && i % 5000 == 0)
            assert_int_equal(
                (i && writer_batch_end(&world->writer, &world->err)) || writer_batch(&world->writer, &world->err), 0);
        snprintf(name, sizeof name, "f%d", (i + round * 40) % 97);
        inlined[2] = name;
        int64_t stack[3] = {location(world, module, 0x2000 + (uint64_t)i, 1 + i % 3, inlined, "b.c"),
                            location(world, module, 0x90000 + (uint64_t)(i % 11), 0, inlined, ""),
                            location(world, module, 0x3000 + (uint64_t)(i % 7), 1, inlined + 2, "b.c")};
        traces[i] = trace(world, stack, 3);
    }
    if (way == EXPECTED) writer_expect_end(&world->writer, &world->err);
    if (way == IN_BATCHES) writer_batch_end(&world->writer, &world->err);
    fail_on_error(world);
}

/* Every column of every name and stack, as text. free() it. */
static char *all_names(struct world *world) {
    static const char *const tables[] = {"functions", "locations", "location_lines", "traces"};
    char *all = calloc(1, 1), sql[200];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sqlite3_stmt *select = NULL;
        snprintf(sql, sizeof sql,
                 "SELECT group_concat(rows.row, ';') FROM (SELECT json_array(%s) AS row FROM %s ORDER BY 1) AS rows",
                 i == 0   ? "id, name, system_name, filename, start_line"
                 : i == 1 ? "id, mapping_id, address, is_folded, lines_hash"
                 : i == 2 ? "location_id, position, function_id, line, \"column\""
                          : "id, hash, signature, stack, location_id, function_id, line",
                 tables[i]);
        assert_int_equal(sqlite3_prepare_v2(world->db.handle, sql, -1, &select, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(select), SQLITE_ROW);
        const char *text = (const char *)sqlite3_column_text(select, 0);
        all = realloc(all, strlen(all) + strlen(text) + 2);
        strcat(strcat(all, text), "\n");
        sqlite3_finalize(select);
    }
    return all;
}

/* Rows that wait for each other are the rows that are written one by one, with the same ids, into a file that has none and
 * into one that has some; more of them than wait at once. */
static void what_is_expected_is_stored_the_same(void **state) {
    (void)state;
    enum { STACKS = 6000 };
    char *names[WAYS][2];
    int64_t *given[WAYS];
    for (enum way way = ONE_BY_ONE; way < WAYS; way++) {
        struct world world;
        given[way] = calloc(STACKS, sizeof(int64_t));
        new_world(&world);
        for (int round = 0; round < 2; round++, reopen(&world)) {
            store_stacks(&world, way, round, given[way], STACKS);
            names[way][round] = all_names(&world);
        }
        assert_int_equal(number(&world, "SELECT count(*) FROM sqlite_schema WHERE name IN ('traces_hash',"
                                        " 'traces_signature')"),
                         2);
        assert_int_equal(number(&world, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
        end_world(&world);
    }
    for (enum way way = EXPECTED; way < WAYS; way++) {
        assert_memory_equal(given[0], given[way], STACKS * sizeof(int64_t));
        for (int round = 0; round < 2; round++) {
            assert_string_equal(names[0][round], names[way][round]);
            free(names[way][round]);
        }
        free(given[way]);
    }
    free(names[0][0]);
    free(names[0][1]);
    free(given[0]);
}

/* A stack of one location in the function work. */
static int64_t stack_at(struct world *world, int64_t module, uint64_t address) {
    const char *names[] = {"work"};
    int64_t place = location(world, module, address, 1, names, "f.c");
    return trace(world, &place, 1);
}

/* A recorder knows the names of a file that it began. What a reader of files in the same process adds between two of its batches is found. */
static void a_batch_finds_what_others_added(void **state) {
    (void)state;
    struct world world, other = {0};
    new_world(&world);
    int64_t module = mapping(&world, "/bin/a", 0);
    assert_int_equal(writer_batch(&world.writer, &world.err), 0);
    int64_t first = stack_at(&world, module, 1);
    assert_int_equal(number(&world, "SELECT count(*) FROM traces WHERE id > 0"), 0);
    assert_int_equal(writer_flush(&world.writer, &world.err), 0);
    int64_t object = writer_object(&world.writer, "lock", "heap:1+8", "work+8", first, 8, &world.err);
    assert_true(object > 0);
    assert_int_equal(number(&world, "SELECT count(*) FROM traces WHERE id > 0"), 1);
    assert_int_equal(writer_batch_end(&world.writer, &world.err), 0);
    assert_int_equal(writer_batch(&world.writer, &world.err), 0);
    assert_true(world.writer.is_fresh);
    assert_int_equal(writer_batch_end(&world.writer, &world.err), 0);

    writer_open(&other.writer, &world.db, &other.err);
    int64_t second = stack_at(&other, module, 2);
    assert_int_equal(stack_at(&other, module, 1), first);
    writer_free(&other.writer);
    fail_on_error(&other);

    assert_int_equal(writer_batch(&world.writer, &world.err), 0);
    assert_int_equal(stack_at(&world, module, 2), second);
    assert_int_equal(stack_at(&world, module, 1), first);
    assert_int_equal(stack_at(&world, module, 3), second + 1);
    assert_int_equal(writer_batch_end(&world.writer, &world.err), 0);
    fail_on_error(&world);
    assert_int_equal(number(&world, "SELECT count(*) FROM traces WHERE id > 0"), 3);
    assert_int_equal(number(&world, "SELECT count(*) FROM functions"), 1);
    end_world(&world);
}

/* Two profiles of one artefact expect stacks in one transaction. */
static void a_second_expectation_loses_nothing_of_the_first(void **state) {
    (void)state;
    struct world world;
    const char *names[] = {"work"};
    new_world(&world);
    int64_t module = mapping(&world, "/bin/a", 0);
    writer_expect(&world.writer, 20000, &world.err);
    int64_t first = location(&world, module, 1, 1, names, "f.c");
    trace(&world, &first, 1);
    assert_int_equal(number(&world, "SELECT count(*) FROM traces WHERE id > 0"), 0);
    writer_flush(&world.writer, &world.err);
    assert_int_equal(number(&world, "SELECT count(*) FROM traces WHERE id > 0"), 1);
    int64_t second = location(&world, module, 2, 1, names, "f.c");
    trace(&world, &second, 1);
    writer_expect(&world.writer, 20000, &world.err);
    int64_t third = location(&world, module, 3, 1, names, "f.c");
    trace(&world, &third, 1);
    writer_expect_end(&world.writer, &world.err);
    fail_on_error(&world);
    assert_int_equal(number(&world, "SELECT count(*) FROM traces WHERE id > 0"), 3);
    assert_int_equal(
        number(&world, "SELECT count(*) FROM sqlite_schema WHERE name IN ('traces_hash', 'traces_signature')"), 2);
    end_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_each_thing_once_a_file),
        cmocka_unit_test(keeps_unlike_things_apart),
        cmocka_unit_test(finds_what_an_earlier_run_resolved),
        cmocka_unit_test(points_past_allocator_wrappers),
        cmocka_unit_test(signs_by_names_alone),
        cmocka_unit_test(signs_without_what_the_compiler_decides),
        cmocka_unit_test(renews_signatures),
        cmocka_unit_test(signs_bare_addresses_without_the_load_address),
        cmocka_unit_test(compares_stacks_of_one_hash),
        cmocka_unit_test(label_sets_are_canonical_json),
        cmocka_unit_test(objects_are_known_by_their_identity),
        cmocka_unit_test(many_stacks_have_one_row_each),
        cmocka_unit_test(what_is_expected_is_stored_the_same),
        cmocka_unit_test(a_second_expectation_loses_nothing_of_the_first),
        cmocka_unit_test(a_batch_finds_what_others_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
