/* shorten.c: a name in a box that has room for few characters, against pairs written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/shorten.h"

static void in_boxes(void **state) {
    static const struct {
        const char *name;
        size_t letters;
        const char *shown;
    } cases[] = {
        {"server::Queue::push", 19, "server::Queue::push"},
        {"server::Queue::push", 18, "\u2026Queue::push"},
        {"server::Queue::push", 12, "\u2026Queue::push"},
        {"server::Queue::push", 11, "\u2026push"},
        {"server::Queue::push", 5, "\u2026push"},
        {"server::Queue::push", 4, "pus\u2026"},
        {"server::Queue::push", 2, ""},
        {"main", 3, "ma\u2026"},
        {"std::map<a::b, c::d>::find(e::f const&)", 30, "\u2026find(e::f const&)"},
        {"std::map<\u2026>::operator[]", 20, "\u2026map<\u2026>::operator[]"},
        {"std::map<\u2026>::operator[]", 12, "\u2026operator[]"},
        {"Big::operator<", 12, "\u2026operator<"},
        {"Big::operator()(a::b)", 18, "\u2026operator()(a::b)"},
        {"Big::operator->::x", 15, "\u2026operator->::x"},
        {"Big::operator->::x", 13, "\u2026x"},
        {"Big::operator std::string", 24, "\u2026operator std::string"},
        {"src/queue.c:20", 12, "\u2026queue.c:20"},
        {"src/queue.c", 9, "\u2026queue.c"},
        {"(anonymous namespace)::run", 10, "\u2026run"},
        {"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", 20, "\u2026extend"},
        {"core::ops::function::FnOnce::call_once{{vtable.shim}}", 40, "\u2026FnOnce::call_once{{vtable.shim}}"},
        {"github.com/google/pprof/driver.(*Table).Put", 24, "\u2026driver.(*Table).Put"},
        {"github.com/google/pprof/driver.(*Table).Put", 8, "\u2026Put"},
        {"java.util.HashMap.put", 14, "\u2026HashMap.put"},
        {"copy_all_of_the_words.isra.0", 12, "copy_all_of\u2026"},
        {"copy_words.cold", 12, "copy_words.\u2026"},
        {"a\xcc\x88\u00e9\u00e9\u00e9\u00e9", 4, "a\xcc\x88\u00e9\u2026"},
        {"a::", 3, "a::"},
        {"aaaa::", 4, "aaa\u2026"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer out = {0};
        shorten_to(&out, cases[i].name, cases[i].letters);
        assert_string_equal(buffer_text(&out), cases[i].shown);
        buffer_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
