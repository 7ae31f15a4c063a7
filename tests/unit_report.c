/* The engine of reports on profiles built by hand: what is merged, what counts once, that a report leaves the original of a
 * copy alone, patterns, and units. The figures are counted by hand in the comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/format.h"
#include "query/profile/build.h"
#include "query/profile/compare.h"
#include "query/profile/graph/graph.h"
#include "query/profile/pattern.h"
#include "query/profile/scale.h"
#include "query/report/report.h"

static const struct profile_type types[] = {{"count", "count"}, {"space", "bytes"}};

static uint32_t frame(struct profile_builder *builder, const char *name, uint64_t address, const char *file,
                      uint64_t start) {
    int64_t shift;
    struct profile_line line = {.line = 7};
    struct profile_location location = {.address = address};
    location.mapping = profile_build_mapping(
        builder, &(struct profile_mapping){start, start + 0x1000, 0, file, "", true, true, true, false}, &shift);
    location.address += (uint64_t)shift;
    line.function = profile_build_function(builder, &(struct profile_function){name, name, "", 0});
    return profile_build_location(builder, &location, &line, 1);
}

static void sample(struct profile_builder *builder, const uint32_t *frames, size_t depth, const char *label,
                   int64_t count, int64_t bytes) {
    struct profile_label item = {.key = "color", .text = label};
    uint32_t labels = profile_build_labels(builder, &item, label ? 1 : 0);
    struct error err = {0};
    uint32_t stack = profile_build_stack(builder, frames, depth);
    assert_int_equal(profile_build_sample(builder, stack, labels, (int64_t[]){count, bytes}, &err), 0);
}

/* main -> work -> main -> work, 3 and 300; main -> rest, red, 1 and 50. */
static void fill(struct profile *profile) {
    struct profile_builder builder;
    profile_build(&builder, profile, types, 2);
    uint32_t start = frame(&builder, "main", 0x400100, "/bin/a", 0x400000);
    uint32_t work = frame(&builder, "work", 0x400200, "/bin/a", 0x400000);
    uint32_t rest = frame(&builder, "rest", 0x400300, "/bin/a", 0x400000);
    sample(&builder, (uint32_t[]){work, start, work, start}, 4, NULL, 3, 300);
    sample(&builder, (uint32_t[]){rest, start}, 2, "red", 1, 50);
    profile_built(&builder);
}

static const struct graph_node *node_of(const struct graph *graph, const char *name) {
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i]->info.name, name) == 0) return graph->nodes[i];
    return NULL;
}

static void merges_mappings_wherever_they_were(void **state) {
    struct profile profile;
    struct profile_builder builder;
    (void)state;
    profile_build(&builder, &profile, types, 2);
    uint32_t here = frame(&builder, "f", 0x400123, "/lib/x", 0x400000);
    uint32_t there = frame(&builder, "f", 0x7f0000000123, "/lib/x", 0x7f0000000000);
    uint32_t other = frame(&builder, "f", 0x500123, "/lib/y", 0x500000);
    assert_int_equal(here, there);
    assert_int_not_equal(here, other);
    sample(&builder, &here, 1, NULL, 1, 1);
    sample(&builder, &there, 1, NULL, 1, 1);
    sample(&builder, &other, 1, NULL, 1, -1);
    sample(&builder, &other, 1, NULL, -1, 1); /* nothing is left of it, nor of /lib/y */
    profile_built(&builder);
    assert_int_equal(profile.sample_count, 1);
    assert_int_equal(profile_value(&profile, 0, 0), 2);
    assert_int_equal(profile.location_count, 1);
    assert_int_equal(profile.mapping_count, 1);
    profile_free(&profile);
}

static void counts_a_recursion_once(void **state) {
    struct profile profile;
    struct graph graph;
    (void)state;
    fill(&profile);
    graph_build(&graph, &profile, &(struct graph_options){.type = 1, .mean_type = PROFILE_NONE, .edges = true});
    assert_int_equal(graph.node_count, 3);
    const struct graph_node *start = node_of(&graph, "main"), *work = node_of(&graph, "work");
    assert_int_equal(start->cum, 350);
    assert_int_equal(start->flat, 0);
    assert_int_equal(work->cum, 300);
    assert_int_equal(work->flat, 300);
    size_t count;
    struct graph_edge **edges = graph_sort_edges(&graph, start, false, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(edges[0]->target, work);
    assert_int_equal(edges[0]->weight, 300);
    free(edges);
    graph_free(&graph);
    profile_free(&profile);
}

static void makes_a_tree_of_paths(void **state) {
    struct profile profile;
    struct graph graph;
    (void)state;
    fill(&profile);
    graph_build(&graph, &profile,
                &(struct graph_options){.type = 0, .mean_type = PROFILE_NONE, .edges = true, .call_tree = true});
    assert_int_equal(graph.node_count, 5); /* main, its work, its main, its work; rest */
    graph_free(&graph);
    profile_free(&profile);
}

static char *report(struct profile *profile, const char *name, const char *focus) {
    struct report_options options;
    struct error err = {0};
    struct buffer out = {0};
    const char *symbol;
    report_options_init(&options);
    options.filter.focus = focus;
    options.filter.tagleaf = "color";
    const struct report_format *format = report_format_find(name, &symbol, &err);
    assert_non_null(format);
    assert_int_equal(report_write(profile, format, &options, &out, NULL, NULL, &err), 0);
    return buffer_take(&out);
}

/* Reports change what they are given: of a copy, nothing may show in the original. */
static void leaves_the_original_alone(void **state) {
    static const char *const names[] = {"raw", "tree", "traces", "tags", "text"};
    struct profile original, copy;
    (void)state;
    fill(&original);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *texts[3];
        for (size_t turn = 0; turn < 3; turn++) {
            profile_copy(&copy, &original);
            texts[turn] = report(&copy, names[i], turn == 1 ? "rest" : NULL);
            profile_free(&copy);
        }
        assert_string_equal(texts[0], texts[2]);
        if (strcmp(names[i], "tags") != 0) assert_string_not_equal(texts[0], texts[1]);
        for (size_t turn = 0; turn < 3; turn++)
            free(texts[turn]);
    }
    assert_int_equal(original.location_count, 3);
    assert_int_equal(original.sample_count, 2);
    profile_free(&original);
}

static void subtracts_a_base(void **state) {
    struct profile profile, base;
    struct error err = {0};
    (void)state;
    fill(&profile);
    fill(&base);
    base.values[0] = 1; /* of 3 */
    assert_int_equal(compare_subtract(&profile, &base, &(struct compare_options){0}, &err), 0);
    assert_int_equal(profile.sample_count, 1); /* the other came to nothing */
    assert_int_equal(profile_value(&profile, 0, 0), 2);
    assert_int_equal(profile_value(&profile, 0, 1), 0);
    profile_free(&profile);
    profile_free(&base);

    fill(&profile);
    fill(&base);
    assert_int_equal(compare_subtract(&profile, &base, &(struct compare_options){.is_diff = true}, &err), 0);
    assert_int_equal(profile.sample_count, 4); /* those of the base are marked, and stay apart */
    assert_false(profile_labels_are_base(&profile, profile.samples[0].labels));
    assert_true(profile_labels_are_base(&profile, profile.samples[2].labels));
    assert_int_equal(profile_value(&profile, 2, 1), -300);
    profile_free(&profile);
    profile_free(&base);
}

static void refuses_unlike_types(void **state) {
    static const struct profile_type times[] = {{"count", "count"}, {"time", "nanoseconds"}};
    struct profile profile, base;
    struct profile_builder builder;
    struct error err = {0};
    (void)state;
    fill(&profile);
    profile_build(&builder, &base, times, 2);
    profile_built(&builder);
    assert_int_equal(compare_subtract(&profile, &base, &(struct compare_options){0}, &err), -1);
    assert_int_equal(err.status, ERROR_USAGE);
    assert_string_equal(err.message, "time/nanoseconds cannot be subtracted from space/bytes");
    profile_free(&profile);
    profile_free(&base);
}

static void matches_as_re2_does(void **state) {
    static const struct {
        const char *regex, *text;
        bool matches;
    } cases[] = {{"a$", "a\n", false},           {"a\\z", "a", true},        {"(?i)ÄB", "äb", true},
                 {"^\\pL+$", "Größe", true},     {"^.$", "é", true},         {"[[:alpha:]]+", "12x", true},
                 {"\\Qa.b\\E", "axb", false},    {"\\Qa.b\\E", "a.b", true}, {"(?s)a.b", "a\nb", true},
                 {"a.b", "a\nb", false},         {"^\\w+$", "é", false},     {"operator<", "operator<<", true},
                 {"(?P<x>ab)+c", "ababc", true}, {"x*", "", true},           {"\xc3\xa9", "caf\xc3\xa9 \xff", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct pattern *pattern = pattern_compile("focus", cases[i].regex, &err);
        assert_non_null(pattern);
        if (pattern_matches(pattern, cases[i].text) != cases[i].matches)
            fail_msg("%s on %s", cases[i].regex, cases[i].text);
        assert_int_equal(pattern_check(pattern, &err), 0);
        pattern_free(pattern);
    }
    static const char *const refused[] = {"(", "a**b(", "[z-a]", "\\C", "(a)\\1", "(?z)"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct error err = {0};
        assert_null(pattern_compile("focus", refused[i], &err));
        assert_int_equal(err.status, ERROR_USAGE);
    }
}

static void gives_up_aloud(void **state) {
    (void)state;
    /* Nested repetition: 2^60 ways, of which none fits. Who asks is told, and the first such name is kept. */
    struct error err = {0};
    struct pattern *endless = pattern_compile("focus", "^(a+)+[bc]$", &err);
    const char *text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x1b";
    assert_non_null(endless);
    assert_false(pattern_matches(endless, "ab c"));
    assert_int_equal(pattern_check(endless, &err), 0);
    assert_false(pattern_matches(endless, text));
    assert_false(pattern_matches(endless, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert_int_equal(pattern_check(endless, &err), -1);
    assert_int_equal(err.status, ERROR_USAGE);
    assert_non_null(strstr(err.message, "focus '^(a+)+[bc]$': cannot be matched with 'aaaa"));
    assert_null(strchr(err.message, '\x1b'));
    pattern_free(endless);
    assert_int_equal(pattern_check(NULL, &err), 0);
}

static void words_values(void **state) {
    static const struct {
        int64_t value;
        const char *from, *to, *text;
    } cases[] = {{0, "bytes", "minimum", "0"},         {1023, "Bytes", "auto", "1023B"},
                 {1024, "bytes", "auto", "1kB"},       {-1536, "byte", "auto", "-1.50kB"},
                 {1536, "kb", "bytes", "1572864B"},    {90, "minutes", "auto", "90"},
                 {7200, "s", "auto", "2hrs"},          {1500000, "ns", "ms", "1.50ms"},
                 {5, "nanoseconds", "parsecs", "0"},   {12, "count", "auto", "12"},
                 {12, "count", "foo", "12foo"},        {1, "ns", "seconds", "0"},
                 {10000000, "ns", "seconds", "0.01s"}, {INT64_MIN, "count", "auto", "-9223372036854775808"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer text = {0};
        scale_label(&text, cases[i].value, cases[i].from, cases[i].to);
        assert_string_equal(buffer_text(&text), cases[i].text);
        buffer_free(&text);
    }
    assert_string_equal(scale_percentage(1, 3).text, "33.33%");
    assert_string_equal(scale_percentage(-9996, 10000).text, "  100%");
    assert_string_equal(scale_percentage(1, 30000).text, "0.0033%");
    assert_string_equal(scale_percentage(1, 0).text, "    0%");
}

static void finds_a_type(void **state) {
    struct profile profile;
    struct error err = {0};
    size_t type;
    (void)state;
    fill(&profile);
    assert_int_equal(profile_find_type(&profile, NULL, &type, &err), 0);
    assert_int_equal(type, 1);
    assert_int_equal(profile_find_type(&profile, "0", &type, &err), 0);
    assert_int_equal(type, 0);
    assert_int_equal(profile_find_type(&profile, "inuse_space", &type, &err), 0);
    assert_int_equal(type, 1);
    assert_int_equal(profile_find_type(&profile, "2", &type, &err), -1);
    assert_string_equal(err.message, "sample_index 2: it must be 0 to 1, or one of: count space");
    profile_free(&profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_mappings_wherever_they_were),
        cmocka_unit_test(counts_a_recursion_once),
        cmocka_unit_test(makes_a_tree_of_paths),
        cmocka_unit_test(leaves_the_original_alone),
        cmocka_unit_test(subtracts_a_base),
        cmocka_unit_test(refuses_unlike_types),
        cmocka_unit_test(matches_as_re2_does),
        cmocka_unit_test(gives_up_aloud),
        cmocka_unit_test(words_values),
        cmocka_unit_test(finds_a_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
