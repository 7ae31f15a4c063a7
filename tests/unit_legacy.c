/* unit_legacy: the model of old profiles: scaling, mappings, clean-up, numbers and words of hostile text. Expectations are
 * worked out by hand or by the formula itself. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/read/pprof/legacy.h"

struct world {
    struct db db;
    struct ingest ingest;
    struct input input;
    struct legacy legacy;
    struct error err;
};

static void open_world(struct world *world, const void *data, size_t size) {
    *world = (struct world){.ingest = {.options = {.lenient = false}}};
    assert_int_equal(input_open_memory(&world->input, "mem", data, size, &world->err), 0);
    world->ingest.input = &world->input;
    legacy_open(&world->legacy, &world->ingest, &world->input);
}

static void close_world(struct world *world) {
    legacy_close(&world->legacy);
    input_close(&world->input);
}

static void expect_parsed(struct world *world, int code) {
    if (code != 0) fail_msg("%s", world->err.message);
}

/* ---- words and numbers ---- */

static struct span span_of(const char *text) {
    return (struct span){text, text + strlen(text)};
}

static void numbers_are_checked(void **state) {
    (void)state;
    uint64_t u;
    int64_t i;
    struct span text = span_of("18446744073709551615x");
    assert_int_equal(span_unsigned(&text, 10, &u), NUMBER_OK);
    assert_true(u == UINT64_MAX && *text.at == 'x');
    text = span_of("18446744073709551616");
    assert_int_equal(span_unsigned(&text, 10, &u), NUMBER_TOO_BIG);
    text = span_of("fFg");
    assert_int_equal(span_unsigned(&text, 16, &u), NUMBER_OK);
    assert_int_equal(u, 255);
    text = span_of("-9223372036854775808");
    assert_int_equal(span_signed(&text, &i), NUMBER_OK);
    assert_true(i == INT64_MIN);
    text = span_of("-9223372036854775809");
    assert_int_equal(span_signed(&text, &i), NUMBER_TOO_BIG);
    text = span_of("9223372036854775808");
    assert_int_equal(span_signed(&text, &i), NUMBER_TOO_BIG);
    text = span_of("-");
    assert_int_equal(span_signed(&text, &i), NUMBER_NONE);
    assert_int_equal(span_size(text), 1);
}

static void words_and_fields(void **state) {
    (void)state;
    struct span text = span_of(" \ta  bc\r"), field;
    assert_true(span_is(span_word(&text), "a"));
    assert_true(span_is(span_word(&text), "bc"));
    assert_int_equal(span_size(span_word(&text)), 0);
    text = span_of("1,,2,");
    const char *const wanted[] = {"1", "", "2", ""};
    size_t count = 0;
    while (span_field(&text, ',', &field))
        assert_true(span_is(field, wanted[count++]));
    assert_int_equal(count, 4);
}

/* Overlong, surrogate, cut and stray bytes and NULs become '?'; what is valid stays. */
static void copies_are_text(void **state) {
    (void)state;
    struct arena arena = {0};
    static const char bytes[] = "a\0\xc3\xa9\xc0\x80\xed\xa0\x80\xf0\x9f\x98\x80\xe2\x82";
    assert_string_equal(span_copy((struct span){bytes, bytes + sizeof bytes - 1}, &arena),
                        "a?\xc3\xa9?????\xf0\x9f\x98\x80??");
    assert_string_equal(span_copy((struct span){0}, &arena), "");
    arena_free(&arena);
}

/* ---- scaling ---- */

/* A block of S bytes is met with probability 1 - e^(-S/R). */
static void scaling_is_unbiased(void **state) {
    (void)state;
    int64_t count = 1, bytes = 524288;
    assert_true(legacy_scale(&count, &bytes, 524288));
    assert_int_equal(bytes, (int64_t)(524288 / (1 - exp(-1))));
    assert_int_equal(count, 1); /* 1.58, cut off */
    count = 1000, bytes = 8000;
    assert_true(legacy_scale(&count, &bytes, 800));
    assert_int_equal(count, (int64_t)(1000 / (1 - exp(-0.01))));
    count = 7, bytes = 70;
    assert_true(legacy_scale(&count, &bytes, 1));
    assert_true(count == 7 && bytes == 70);
    count = 7, bytes = 0;
    assert_true(legacy_scale(&count, &bytes, 100));
    assert_true(count == 0 && bytes == 0);
    count = INT64_MAX, bytes = INT64_MAX;
    assert_false(legacy_scale(&count, &bytes, INT64_MAX));
}

/* ---- CPU ---- */

static const uint64_t header[] = {0, 3, 0, 10000, 0};

static size_t put_samples(uint64_t *words, size_t samples, const uint64_t *stack, size_t depth) {
    size_t at = 5;
    memcpy(words, header, sizeof header);
    for (size_t i = 0; i < samples; i++) {
        words[at++] = 1;
        words[at++] = depth;
        memcpy(words + at, stack, depth * sizeof *stack);
        words[at] += i; /* leaves differ */
        at += depth;
    }
    return at;
}

static uint64_t frame(const struct world *world, size_t sample, size_t depth) {
    return world->legacy.locations[world->legacy.samples[sample].frames[depth]].address;
}

/* Two frames that all samples share behind the leaf go, a third one stays; callers are one less, the leaf is not. */
static void handler_frames_go(void **state) {
    (void)state;
    struct world world;
    uint64_t words[1000];
    const uint64_t stack[] = {0x1000, 0x71, 0x81, 0x91, 0xa1};
    open_world(&world, words, put_samples(words, 40, stack, 5) * sizeof *words);
    expect_parsed(&world, legacy_parse_cpu(&world.legacy, &world.err));
    assert_int_equal(world.legacy.sample_count, 40);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(world.legacy.samples[i].depth, 3);
        assert_int_equal(frame(&world, i, 0), 0x1000 + i);
        assert_int_equal(frame(&world, i, 1), 0x90);
        assert_int_equal(frame(&world, i, 2), 0xa0);
    }
    assert_int_equal(world.legacy.samples[7].values[1], 10000000);
    close_world(&world);
}

static void cut_words_are_errors(void **state) {
    (void)state;
    uint64_t words[1000];
    const uint64_t stack[] = {0x1000, 0x71, 0x81};
    size_t size = put_samples(words, 3, stack, 3) * sizeof *words, whole = 0;
    for (size_t cut = sizeof header; cut <= size; cut++) {
        struct world world;
        open_world(&world, words, cut);
        if (legacy_parse_cpu(&world.legacy, &world.err) == 0) {
            assert_int_equal((cut - sizeof header) % (5 * sizeof *words), 0);
            whole++;
        } else {
            assert_non_null(strstr(world.err.message, "mem: byte "));
        }
        close_world(&world);
    }
    assert_int_equal(whole, 4); /* none, one, two, three samples */
}

/* ---- mappings ---- */

static void parse_maps(struct world *world, const char *text, const uint64_t *addresses, size_t count) {
    open_world(world, text, strlen(text));
    for (size_t i = 0; i < count; i++) {
        assert_true(legacy_frame(&world->legacy, addresses[i]));
        legacy_sample(&world->legacy);
    }
    struct input_lines lines = {.input = &world->input};
    expect_parsed(world, legacy_parse_maps(&world->legacy, &lines, &world->err));
    legacy_finish(&world->legacy);
}

static const char *file_of(const struct world *world, size_t location) {
    uint32_t mapping = world->legacy.locations[location].mapping;
    return mapping ? world->legacy.mappings[mapping - 1].file : "none";
}

static void mappings_in_both_forms(void **state) {
    (void)state;
    static const char text[] = "7f00-7f80 r-xp 00000000 08:01 77 /lib/libc.so.6\n"
                               "7f80-7fa0 r--p 00080000 08:01 77 /lib/libc.so.6\n"
                               "dir=/opt/$none\n"
                               "I0102 11:22 x.cc:9] 1000-2000: $dir/server (@40) abcdef\n"
                               "junk\n";
    const uint64_t addresses[] = {0x7f00, 0x7f7f, 0x0fc0, 0x1000, 0x7f80, 0x0fbf, UINT64_MAX, 0};
    struct world world;
    parse_maps(&world, text, addresses, 8);
    assert_int_equal(world.legacy.mapping_count, 3);
    assert_string_equal(world.legacy.mappings[0].file, "/opt/$none/server"); /* no library: it is the main binary */
    assert_string_equal(world.legacy.mappings[0].build_id, "abcdef");
    assert_int_equal(world.legacy.mappings[0].start, 0xfc0); /* completed for 0xfc0 */
    assert_string_equal(file_of(&world, 0), "/lib/libc.so.6");
    assert_string_equal(file_of(&world, 1), "/lib/libc.so.6");
    assert_string_equal(file_of(&world, 2), "/opt/$none/server");
    assert_string_equal(file_of(&world, 3), "/opt/$none/server");
    assert_string_equal(file_of(&world, 4), ""); /* not executable there: the mapping of everything */
    assert_string_equal(file_of(&world, 5), "");
    assert_string_equal(file_of(&world, 6), "");
    assert_string_equal(file_of(&world, 7), "none"); /* address 0 is no place */
    close_world(&world);
}

/* Each $NAME twice in the next value: 2^64 bytes without a bound. */
static void growing_attributes_are_refused(void **state) {
    (void)state;
    struct buffer text = {0};
    struct world world;
    buffer_add_text(&text, "n00=0123456789\n");
    for (int i = 1; i < 60; i++)
        buffer_printf(&text, "n%02d=$n%02d$n%02d\n", i, i - 1, i - 1);
    open_world(&world, text.data, text.size);
    struct input_lines lines = {.input = &world.input};
    assert_int_equal(legacy_parse_maps(&world.legacy, &lines, &world.err), -1);
    assert_non_null(strstr(world.err.message, "mem:"));
    close_world(&world);
    buffer_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_checked),    cmocka_unit_test(words_and_fields),
        cmocka_unit_test(copies_are_text),        cmocka_unit_test(scaling_is_unbiased),
        cmocka_unit_test(handler_frames_go),      cmocka_unit_test(cut_words_are_errors),
        cmocka_unit_test(mappings_in_both_forms), cmocka_unit_test(growing_attributes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
