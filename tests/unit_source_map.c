/* source_map.c: which marker a line belongs to, which file a path was made of, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "ingest/symbols/source_map.h"

static char directory[64];

static void put(const char *name, const char *text) {
    char *path = xasprintf("%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    free(path);
}

static const struct source_map_file *look(struct source_map *map, const char *name) {
    char *path = xasprintf("%s/%s", directory, name);
    const struct source_map_file *file = source_map_find_file(map, "program", path);
    free(path);
    return file;
}

static void expect_source(const struct source_map_file *file, const char *name) {
    char *path = xasprintf("%s/%s", directory, name);
    assert_non_null(file->source);
    assert_string_equal(file->source, path);
    free(path);
}

static void the_nearest_marker_counts(void **state) {
    struct source_map map = {0};
    (void)state;
    put("m.cht", "");
    put("m.c", "first\n"                               /* 1 */
               "// CLR:5\r\n"                          /* 2 */
               "code; // CLR:7\n"                      /* 3: at the line itself */
               "code;\n"                               /* 4 */
               "    // CLR:3 of 9 // CLR:12 \n"        /* 5: the last one of a line; lines may go back and forth */
               "// CLR: // CLR:x // CLR:0 // CLRX:8\n" /* 6: none of these is one */
               "\n\n"
               "// CLR:4"); /* 9, without an end */
    const struct source_map_file *file = look(&map, "m.c");
    expect_source(file, "m.cht");
    static const int want[] = {0, 0, 5, 7, 7, 12, 12, 12, 12, 4, 4};
    for (int line = 0; line < (int)(sizeof want / sizeof *want); line++)
        assert_int_equal(source_file_line(file, line), want[line]);
    assert_int_equal(source_file_line(file, 1000000), 4);
    assert_ptr_equal(look(&map, "m.c"), file);
    assert_int_equal(map.mapped_count, 1);
    source_map_free(&map);
}

static void a_name_says_the_source(void **state) {
    struct source_map map = {0};
    (void)state;
    put("._clear_tmp_a.b.zig", "// CLR:1\n");
    put("transpiled.zig", "// CLR:1\n");
    put("two.cht", "");
    put("two.cht.rs", "// CLR:1\n");
    put("lonely.c", "// CLR:1\n");
    put("unmarked.c", "int x;\n");
    put("unmarked.cht", "// CLR:1\n");
    put("noending", "// CLR:1\n");
    put("noending.cht", "");
    expect_source(look(&map, "._clear_tmp_a.b.zig"), "a.b.cht");
    expect_source(look(&map, "./._clear_tmp_a.b.zig"), "a.b.cht");
    expect_source(look(&map, "two.cht.rs"), "two.cht");
    static const char *const none[] = {"lonely.c", "unmarked.c", "unmarked.cht", "noending", "missing.c", "two.cht"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(look(&map, none[i])->source);
    expect_source(look(&map, "transpiled.zig"), "program.cht");
    source_map_free(&map);
    put("source.cht", "text");
    expect_source(look(&map, "transpiled.zig"), "source.cht");
    assert_string_equal(look(&map, "transpiled.zig")->source_text, "text");
    source_map_free(&map);
    put("program.cht", "");
    expect_source(look(&map, "transpiled.zig"), "program.cht");
    source_map_free(&map);
}

static void what_is_built_has_its_source(void **state) {
    struct source_map map = {0};
    char *build = xasprintf("%s/build", directory);
    (void)state;
    assert_int_equal(mkdir(build, 0700), 0);
    put("build/any", "// CLR:2\n");
    put("build/unmarked", "\n");
    put("builder.c", "// CLR:2\n");
    put("target.cht", "the source");
    source_map_built(&map, build, "/elsewhere/target.cht");
    assert_string_equal(look(&map, "build/any")->source, "/elsewhere/target.cht");
    assert_null(look(&map, "build/any")->source_text);
    assert_null(look(&map, "build/unmarked")->source);
    assert_null(look(&map, "builder.c")->source);
    source_map_free(&map);
    free(build);
}

static void copies_that_were_kept_count(void **state) {
    struct source_map map = {0};
    (void)state;
    put("transpiled.zig", "// CLR:1\n");
    put("program.cht", "newer");
    char *kept = xasprintf("%s/program.profile", directory), *slashed = xasprintf("%s//", kept);
    assert_int_equal(mkdir(kept, 0700), 0);
    source_map_kept(&map, kept);
    assert_null(map.kept_file); /* it holds nothing yet */
    put("program.profile/transpiled.zig", "\n// CLR:9\n");
    put("program.profile/source.cht", "older");
    source_map_kept(&map, directory);
    assert_null(map.kept_file); /* no name of a run directory */
    source_map_kept(&map, slashed);
    const struct source_map_file *file = look(&map, "gone/transpiled.zig");
    expect_source(file, "gone/program.cht");
    assert_int_equal(source_file_line(file, 2), 9);
    assert_string_equal(file->source_text, "older");
    char *other = xasprintf("%s/transpiled.zig", directory);
    assert_string_equal(source_map_find_file(&map, "another", other)->text, "// CLR:1\n"); /* not of that binary */
    source_map_free(&map);
    free(other);
    free(kept);
    free(slashed);
}

static void what_is_no_text_is_not_waited_for(void **state) {
    char *path = xasprintf("%s/fifo", directory);
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(source_read(path));
    assert_null(source_read(directory));
    assert_null(source_read("/dev/zero"));
    free(path);
    put("bytes", "a\xff\xc3\xa4");
    path = xasprintf("%s/bytes", directory);
    char *text = source_read(path);
    assert_string_equal(text, "a?\xc3\xa4");
    free(text);
    free(path);
}

static int set_up(void **state) {
    (void)state;
    strcpy(directory, "/tmp/clear-unit-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state) {
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_nearest_marker_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_says_the_source, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_built_has_its_source, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies_that_were_kept_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_text_is_not_waited_for, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
