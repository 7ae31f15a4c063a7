/* usual_name.c: the forms of names against tests/names.txt, whose head says how it was made; forms are stable; names of a list are told apart;
 * what is broken or nested too deep stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/profile/usual_name.h"

enum { NAMES_MIN = 400, NAMES_MAX = 1000, LINE_MAX_BYTES = 4096 };

struct row {
    char *full, *usual, *shorter;
};

static struct row rows[NAMES_MAX];
static size_t row_count;

static int read_table(void **state) {
    char path[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
    (void)state;
    snprintf(path, sizeof path, "%s/tests/names.txt", getenv("ROOT") ? getenv("ROOT") : ".");
    FILE *table = fopen(path, "r");
    if (!table) return -1;
    while (row_count < NAMES_MAX && fgets(line, sizeof line, table)) {
        char *save = NULL;
        if (*line == '#' || *line == '\n') continue;
        struct row *row = &rows[row_count++];
        row->full = strdup(strtok_r(line, "\t\n", &save));
        row->usual = strdup(strtok_r(NULL, "\t\n", &save));
        row->shorter = strdup(strtok_r(NULL, "\t\n", &save));
    }
    fclose(table);
    return 0;
}

static int free_table(void **state) {
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        free(rows[i].full);
        free(rows[i].usual);
        free(rows[i].shorter);
    }
    return 0;
}

static void expect(void (*form)(struct buffer *, const char *), const char *name, const char *wanted) {
    struct buffer out = {0};
    form(&out, name);
    if (strcmp(buffer_text(&out), wanted) != 0) print_error("of %s\n", name);
    assert_string_equal(buffer_text(&out), wanted);
    buffer_free(&out);
}

static void forms_of_the_table(void **state) {
    (void)state;
    assert_true(row_count >= NAMES_MIN);
    for (size_t i = 0; i < row_count; i++) {
        expect(usual_name, rows[i].full, rows[i].usual);
        expect(short_name, rows[i].full, rows[i].shorter);
    }
}

/* No two different names of the whole table look alike, and those that did not need more have their usual form. */
static void told_apart(void **state) {
    const char *names[NAMES_MAX];
    enum name_detail details[NAMES_MAX];
    char *shown[NAMES_MAX];
    size_t usual = 0;
    (void)state;
    for (size_t i = 0; i < row_count; i++)
        names[i] = rows[i].full;
    names_apart(names, row_count, details);
    for (size_t i = 0; i < row_count; i++) {
        struct buffer out = {0};
        name_in_detail(&out, names[i], details[i]);
        shown[i] = buffer_take(&out);
        usual += details[i] == NAME_USUAL;
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) != 0) assert_string_not_equal(shown[i], shown[j]);
    }
    assert_true(usual > row_count / 2);
    for (size_t i = 0; i < row_count; i++)
        free(shown[i]);
}

/* The least that tells them apart. */
static void details(void **state) {
    static const struct {
        const char *name, *shown; /* NULL: as it is */
    } cases[] = {{"std::vector<int>::push_back(int&&)", "std::vector<\u2026>::push_back(int&&)"},
                 {"std::vector<int>::push_back(int const&)", "std::vector<\u2026>::push_back(int const&)"},
                 {"std::map<int, A>::find", NULL},
                 {"std::map<int, B>::find", NULL},
                 {"work.isra.0", NULL},
                 {"work", NULL},
                 {"java.util.List.add", NULL},
                 {"shop.cart.List.add", NULL},
                 {"main", NULL},
                 {"main", NULL}};
    enum { COUNT = sizeof cases / sizeof *cases };
    const char *names[COUNT];
    enum name_detail found[COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        names[i] = cases[i].name;
    names_apart(names, COUNT, found);
    for (size_t i = 0; i < COUNT; i++) {
        struct buffer out = {0};
        name_in_detail(&out, names[i], found[i]);
        assert_string_equal(buffer_text(&out), cases[i].shown ? cases[i].shown : names[i]);
        buffer_free(&out);
    }
}

static void broken(void **state) {
    char deep[2001];
    (void)state;
    memset(deep, '<', sizeof deep - 1);
    deep[0] = 'f';
    deep[sizeof deep - 1] = '\0';
    expect(usual_name, deep, deep);
    for (size_t i = 1; i < sizeof deep - 1; i++)
        deep[i] = i < sizeof deep / 2 ? '<' : '>';
    expect(usual_name, deep, deep);
    static const char *const same[] = {"",   " ",    "(",        ")",  "<",   ">", "a)",
                                       "f(", "f<)>", "operator", "::", "a::", "{", "(*x)("};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        expect(usual_name, same[i], same[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_of_the_table), cmocka_unit_test(told_apart),
                                       cmocka_unit_test(details), cmocka_unit_test(broken)};
    return cmocka_run_group_tests(tests, read_table, free_table);
}
