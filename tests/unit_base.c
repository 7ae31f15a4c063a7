/* base/path.h, base/hex.h, base/clock.h, base/id_table.h. The expectations are written by hand, the clocks' come from date(1) and /proc/uptime. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/id_table.h"
#include "base/limit.h"
#include "base/number.h"
#include "base/path.h"
#include "base/protobuf.h"
#include "base/split.h"

static void test_base_name(void **state) {
    (void)state;
    assert_string_equal(path_base("/usr/lib/libc.so.6"), "libc.so.6");
    assert_string_equal(path_base("main.c"), "main.c");
    assert_string_equal(path_base("src/main.c"), "main.c");
    assert_string_equal(path_base("src/"), "src/");
    assert_string_equal(path_base("/"), "/");
    assert_string_equal(path_base(""), "");
}

static void test_hex(void **state) {
    static const unsigned char bytes[] = {0x00, 0x7f, 0x80, 0xff, 0xa5};
    char text[2 * sizeof bytes + 1];
    struct buffer out = {0};
    (void)state;
    hex_bytes(text, bytes, sizeof bytes);
    assert_string_equal(text, "007f80ffa5");
    hex_bytes(text, bytes, 0);
    assert_string_equal(text, "");
    buffer_add_text(&out, "x");
    buffer_add_hex(&out, bytes, sizeof bytes);
    assert_string_equal(buffer_text(&out), "x007f80ffa5");
    assert_int_equal(out.size, 11);
    while (out.size < 300) /* through every size at which it grows, for what is written behind it */
        buffer_add_char(&out, '-');
    assert_int_equal(strlen(buffer_text(&out)), 300);
    buffer_free(&out);
    assert_string_equal(hex_address(0).text, "0x0");
    assert_string_equal(hex_address(0x401234).text, "0x401234");
    assert_string_equal(hex_address(UINT64_MAX).text, "0xffffffffffffffff");
}

/* The examples of the encoding's own description: 150 is 96 01, a field of text 2 is 12 07 "testing". */
static void test_protobuf(void **state) {
    static const char long_text[200] = {0};
    struct buffer out = {0};
    (void)state;
    protobuf_add_int(&out, 1, 150);
    protobuf_add_text(&out, 2, "testing");
    protobuf_add_int(&out, 3, -1);
    protobuf_add_fixed64(&out, 4, UINT64_C(0x0102030405060708));
    assert_memory_equal(
        out.data, "\x08\x96\x01\x12\x07testing\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x21\x08\7\6\5\4\3\2\1", 32);
    assert_int_equal(out.size, 32);
    buffer_clear(&out);
    size_t outer = protobuf_begin(&out, 1), inner = protobuf_begin(&out, 2);
    protobuf_add_bytes(&out, 3, long_text, sizeof long_text); /* 203 bytes, so that both lengths take two */
    protobuf_end(&out, inner);
    size_t empty = protobuf_begin(&out, 16);
    protobuf_end(&out, empty);
    protobuf_end(&out, outer);
    assert_int_equal(out.size, 3 + 3 + 203 + 3);
    assert_memory_equal(out.data, "\x0a\xd1\x01\x12\xcb\x01\x1a\xc8\x01\0", 10);
    assert_memory_equal(out.data + 209, "\x82\x01\0", 3);
    buffer_free(&out);
}

static double first_number(const char *command) {
    double number = 0;
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%lf", &number), 1);
    pclose(pipe);
    return number;
}

/* /proc/uptime is CLOCK_BOOTTIME, which runs ahead of CLOCK_MONOTONIC by the time that the machine slept. */
static void test_clocks(void **state) {
    (void)state;
    int64_t before = clock_realtime_ns();
    double now = first_number("date +%s.%N");
    int64_t after = clock_realtime_ns();
    assert_true((double)before / 1e9 <= now + 1e-3 && now <= (double)after / 1e9 + 1e-3);
    int64_t start = clock_monotonic_ns();
    double uptime = first_number("cat /proc/uptime");
    assert_true((double)start / 1e9 <= uptime + 0.02);
    assert_true(clock_monotonic_ns() - start > 0);
}

static const char *value_of(const void *context, const char *at) {
    return strncmp(at, "{x}", 3) == 0 ? context : NULL;
}

static void test_split(void **state) {
    static const struct {
        const char *text, *words[5];
    } cases[] = {
        {"", {NULL}},
        {" \t\n ", {NULL}},
        {"a b\tc", {"a", "b", "c"}},
        {"  ./app  'one word' \"it's\" ", {"./app", "one word", "it's"}},
        {"'' a'b c'd", {"", "ab cd"}},
        {"$HOME *;\\", {"$HOME", "*;\\"}}, /* there is no shell */
        {"-o {x} {y} '{x}'", {"-o", "a b", "{y}", "a b"}},
    };
    char open;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char **words = split_words(cases[i].text, value_of, "a b", &open);
        size_t count = 0;
        for (; cases[i].words[count]; count++)
            assert_string_equal(words[count], cases[i].words[count]);
        assert_null(words[count]);
        split_free(words);
    }
    assert_null(split_words("a 'b", NULL, NULL, &open));
    assert_int_equal(open, '\'');
    assert_null(split_words("a\"", NULL, NULL, &open));
    assert_int_equal(open, '"');
    for (const char *all = "files lines f", *word = all; word;
         word = strchr(word, ' '), word = word ? word + 1 : NULL) {
        char *one = strndup(word, strcspn(word, " "));
        assert_true(split_has(all, one));
        free(one);
    }
    assert_true(split_has(" files\n lines ", "lines"));
    assert_false(split_has("files lines", "line"));
    assert_false(split_has("files lines", "files lines"));
    assert_false(split_has("files lines", ""));
    assert_false(split_has("", ""));
}

/* What messages say of a limit is a whole number, and the limit that was given. */
static void test_limits(void **state) {
    (void)state;
    assert_string_equal(number_limit(INT64_C(3) << 30).text, "3 GiB");
    assert_string_equal(number_limit(INT64_C(512) << 20).text, "512 MiB");
    assert_string_equal(number_limit(1500 << 10).text, "1500 KiB");
    assert_string_equal(number_limit(3001).text, "3001 B");
    for (uint64_t size = 1; size < UINT64_C(1) << 33; size = size * 3 + 1) {
        assert_int_equal(limit_inflated(size) % (1 << 20), 0);
        assert_true(limit_inflated(size) >= size * 64 && limit_inflated(size) >= 64 << 20);
    }
}

/* Ids on both sides of the array's first size and of its last, and such as only a damaged file has. */
static void test_id_table(void **state) {
    static const int64_t put[] = {0, 1, 1023, 1024, 70000, (1 << 24) - 1, 1 << 24, -1, INT64_MIN, INT64_MAX};
    static const int64_t others[] = {2, 1022, 1025, 69999, (1 << 24) - 2, (1 << 24) + 1, -2, INT64_MAX - 1};
    enum { PUT = sizeof put / sizeof *put };
    struct id_table ids = {0};
    uint32_t index;
    (void)state;
    for (uint32_t i = 0; i < PUT; i++) {
        assert_false(id_table_find(&ids, put[i], &index));
        id_table_put(&ids, put[i], UINT32_MAX - 1 - i);
    }
    id_table_put(&ids, put[2], 0);
    for (uint32_t i = 0; i < PUT; i++) {
        assert_true(id_table_find(&ids, put[i], &index));
        assert_int_equal(index, i == 2 ? 0 : UINT32_MAX - 1 - i);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(id_table_find(&ids, others[i], &index));
    id_table_free(&ids);
    assert_false(id_table_find(&ids, 1, &index));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_name), cmocka_unit_test(test_hex),   cmocka_unit_test(test_protobuf),
        cmocka_unit_test(test_clocks),    cmocka_unit_test(test_split), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_id_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
