/* option.c: command lines read by a table. What words mean is glibc's own opinion: getopt_long reads the same ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <getopt.h>

#include "base/buffer.h"
#include "base/option.h"

/* ---- as getopt_long ---- */

static int take_note(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)err;
    buffer_printf(into, "--%s(%s)\n", row->name, text ? text : "");
    return 0;
}

#define SWITCH(name_, ...)                                                                                             \
    { .name = name_, .type = OPTION_TAKE, .take = take_note, .help = "x", __VA_ARGS__ }
#define VALUE(name_, ...) SWITCH(name_, .argument = "X", __VA_ARGS__)
static const struct option_row noted[] = {SWITCH("quiet", .letter = 'q'),
                                          VALUE("output", .letter = 'o'),
                                          VALUE("db"),
                                          VALUE("depth"),
                                          VALUE("http"),
                                          SWITCH("http-anywhere"),
                                          VALUE("http-token"),
                                          {0}};
static const struct option longs[] = {{"quiet", no_argument, NULL, 'q'},
                                      {"output", required_argument, NULL, 'o'},
                                      {"db", required_argument, NULL, 256},
                                      {"depth", required_argument, NULL, 257},
                                      {"http", required_argument, NULL, 258},
                                      {"http-anywhere", no_argument, NULL, 259},
                                      {"http-token", required_argument, NULL, 260},
                                      {0}};

/* Gives false for a line that is refused. */
static bool by_getopt(int count, char **argv, bool stops, struct buffer *out) {
    int option;
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(count, argv, stops ? "+qo:" : "qo:", longs, NULL)) != -1) {
        const struct option *found = longs;
        if (option == '?') return false;
        while (found->val != option)
            found++;
        buffer_printf(out, "--%s(%s)\n", found->name, found->has_arg ? optarg : "");
    }
    for (int i = optind; i < count; i++)
        buffer_printf(out, "%s\n", argv[i]);
    return true;
}

static bool by_table(int count, char **argv, bool stops, struct buffer *out) {
    const struct option_group groups[] = {{"all", noted, 0}, {0}};
    const struct option_reader reader = {.groups = groups, .into = out, .stops = stops};
    struct error err = {0};
    if (option_read(&reader, &count, argv, &err) < 0) return false;
    for (int i = 1; i < count; i++)
        buffer_printf(out, "%s\n", argv[i]);
    assert_null(argv[count]);
    return true;
}

static void as_getopt(void **state) {
    static const char *const pool[] = {"-q",     "-o",      "-ofile", "-qo",     "-qofile",     "-x",       "-qx",
                                       "--db",   "--db=a",  "--d",    "--de",    "--dep=3",     "--quiet",  "--quiet=1",
                                       "--http", "--http=", "--ht=1", "--http-", "--http-a",    "--http-t", "--",
                                       "-",      "",        "word",   "a=b",     "--http-anyw", "--none",   "--none=1"};
    enum { LINES = 200000, WORDS_MAX = 6, POOL = sizeof pool / sizeof *pool };
    int accepted = 0;
    (void)state;
    srand(1);
    for (int line = 0; line < LINES; line++) {
        char *a[WORDS_MAX + 2] = {(char *)(uintptr_t) "clear"}, *b[WORDS_MAX + 2];
        int count = 1 + rand() % (WORDS_MAX + 1);
        bool stops = rand() % 2;
        struct buffer want = {0}, got = {0};
        for (int i = 1; i < count; i++)
            a[i] = (char *)(uintptr_t)pool[(size_t)rand() % POOL];
        memcpy(b, a, sizeof a);
        bool wanted = by_getopt(count, a, stops, &want), is_read = by_table(count, b, stops, &got);
        assert_int_equal(is_read, wanted);
        if (wanted) assert_string_equal(buffer_text(&got), buffer_text(&want));
        accepted += wanted;
        buffer_free(&want);
        buffer_free(&got);
    }
    assert_in_range(accepted, LINES / 100, LINES);
}

/* ---- what rows set ---- */

struct outer {
    int before;
    struct inner {
        bool on, preset;
        int order;
        const char *text;
        int64_t count, time, whole;
        double real;
    } inner;
};
#define AT(member) offsetof(struct inner, member)
static const struct option_row typed[] = {
    {.name = "on", .type = OPTION_SWITCH, .offset = AT(on), .help = "x"},
    {.name = "pre_set", .type = OPTION_SWITCH, .offset = AT(preset), .preset = "true", .help = "x"},
    {.name = "up", .type = OPTION_CHOICE, .offset = AT(order), .choice_of = "order", .choice = 1, .help = "x"},
    {.name = "down", .type = OPTION_CHOICE, .offset = AT(order), .choice_of = "order", .choice = 2, .help = "x"},
    {.name = "text", .letter = 't', .type = OPTION_TEXT, .offset = AT(text), .argument = "X", .help = "x"},
    {.name = "count", .type = OPTION_COUNT, .offset = AT(count), .min = 1, .max = 5000, .argument = "N", .help = "x"},
    {.name = "time", .type = OPTION_DURATION, .offset = AT(time), .max = INT64_MAX, .argument = "T", .help = "x"},
    {.name = "whole", .type = OPTION_INTEGER, .offset = AT(whole), .preset = "-1", .argument = "N", .help = "x"},
    {.name = "real", .type = OPTION_REAL, .offset = AT(real), .preset = "0.5", .argument = "F", .help = "x"},
    {.name = "secret", .type = OPTION_SWITCH, .offset = AT(on)},
    {.name = "help", .letter = 'h', .type = OPTION_HELP, .help = "x"},
    {0},
};
static const struct option_group groups[] = {
    {"none", (const struct option_row[]){{0}}, 0}, {"typed", typed, offsetof(struct outer, inner)}, {0}};

/* The words of a line, read into `outer`; the message, "" where it was read, "help" where that is wanted. */
static const char *read_line(struct outer *outer, bool is_go, const char *line) {
    static char words[256];
    static struct error err;
    char *argv[32] = {(char *)(uintptr_t) "clear"};
    int count = 1;
    err = (struct error){0};
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[count++] = word;
    const struct option_reader reader = {.groups = groups, .into = outer, .is_go = is_go};
    int code = option_read(&reader, &count, argv, &err);
    return code == OPTION_WANTS_HELP ? "help" : err.message;
}

static void types(void **state) {
    struct outer outer = {.before = 7};
    (void)state;
    option_preset(groups, &outer);
    assert_true(outer.inner.preset && !outer.inner.on);
    assert_int_equal(outer.inner.whole, -1);
    assert_string_equal(read_line(&outer, false, "--on --down --text a --count=4k --time 2ms --whole -5 --real 1e3"),
                        "");
    assert_true(outer.inner.on && outer.inner.order == 2 && outer.inner.count == 4000);
    assert_true(outer.inner.time == 2000000 && outer.inner.whole == -5 && outer.inner.real == 1e3);
    assert_string_equal(outer.inner.text, "a");
    assert_int_equal(outer.before, 7);
    assert_string_equal(read_line(&outer, false, "--down --up -t b --text c"), "");
    assert_int_equal(outer.inner.order, 1);
    assert_string_equal(outer.inner.text, "c");
    assert_string_equal(read_line(&outer, false, "--count=1 -h --nonsense"), "help");
}

static void messages(void **state) {
    struct outer outer = {0};
    (void)state;
    assert_string_equal(read_line(&outer, false, "--count"), "option --count needs a value");
    assert_string_equal(read_line(&outer, false, "-t"), "option -t needs a value");
    assert_string_equal(read_line(&outer, false, "--on=1"), "option --on takes no value");
    assert_string_equal(read_line(&outer, false, "--cuont=1"), "unknown option --cuont; did you mean --count?");
    assert_string_equal(read_line(&outer, false, "--secrt"), "unknown option --secrt"); /* not one that is shown */
    assert_string_equal(read_line(&outer, false, "--frobnicate=3"), "unknown option --frobnicate");
    assert_string_equal(read_line(&outer, false, "-x"), "unknown option -x");
    assert_string_equal(read_line(&outer, false, "--t x"), "option --t is ambiguous");
    assert_string_equal(read_line(&outer, false, "--count 5001"), "--count 5001 is out of range (1 to 5000)");
    assert_int_equal(outer.inner.count, 0);
    assert_string_equal(read_line(&outer, true, "-trext=1"), "unknown option -trext; did you mean -text?");
}

/* flag's manual: one dash or two, =, no clusters, booleans with a value. */
static void as_go(void **state) {
    struct outer outer = {0};
    (void)state;
    assert_string_equal(read_line(&outer, true, "-on --down -text a -t=b -pre-set=true -real=2"), "");
    assert_true(outer.inner.on && outer.inner.order == 2 && outer.inner.preset && outer.inner.real == 2);
    assert_string_equal(outer.inner.text, "b");
    assert_string_equal(read_line(&outer, true, "-on=false --up=f"), "");
    assert_true(!outer.inner.on && outer.inner.order == 2);
    assert_string_equal(read_line(&outer, true, "-on=no"), "on must be true or false, not 'no'");
    assert_string_equal(read_line(&outer, true, "--whole=x"), "whole must be a number, not 'x'");
    assert_string_equal(read_line(&outer, true, "-tex=1"),
                        "unknown option -tex; did you mean -text?"); /* no prefixes */
    assert_string_equal(read_line(&outer, true, "-h"), "help");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_getopt), cmocka_unit_test(types), cmocka_unit_test(messages),
                                       cmocka_unit_test(as_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
