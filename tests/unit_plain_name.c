/* plain_name.c: names of C++ and Rust as a person writes them, against pairs written by hand; names with brackets that fold nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/profile/plain_name.h"

static void names(void **state) {
    static const char *const pairs[][2] = {
        {"main", "main"},
        {"", ""},
        {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append",
         "std::string::append"},
        {"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >::~basic_string",
         "std::string::~basic_string"},
        {"std::basic_string_view<char, std::char_traits<char> >::find", "std::string_view::find"},
        {"std::map<int, std::vector<Order> >::operator[]", "std::map<\u2026>::operator[]"},
        {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<\u2026>::push_back(int&&)"},
        {"f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&, std::map<int, "
         "int>)",
         "f(std::string const&, std::map<\u2026>)"},
        {"my_basic_string<char, x>::f", "my_basic_string<\u2026>::f"},
        {"operator<< <std::char_traits<char> >", "operator<< <\u2026>"},
        {"Big::operator<", "Big::operator<"},
        {"Big<int>::operator->", "Big<\u2026>::operator->"},
        {"Big<int>::operator<=>", "Big<\u2026>::operator<=>"},
        {"cooperator<int>::f", "cooperator<\u2026>::f"},
        {"call<void (*)(int) -> int>::f", "call<\u2026>::f"},
        {"main::{lambda(int)#1}::operator()<int>", "main::{lambda(int)#1}::operator()<\u2026>"},
        {"a < b", "a < b"},
        {"broken<int", "broken<int"},
        {"server::run::h0123456789abcdef", "server::run"},
        {"server::hash::h0123456789abcdeg", "server::hash::h0123456789abcdeg"},
        {"alloc::vec::Vec<T,A>::push", "alloc::vec::Vec<\u2026>::push"},
        {"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend::h00112233445566aa",
         "<alloc::vec::Vec<\u2026> as core::iter::Extend<\u2026>>::extend"},
        {"main.(*Table).Put", "main.(*Table).Put"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct buffer out = {0};
        plain_name(&out, pairs[i][0]);
        assert_string_equal(buffer_text(&out), pairs[i][1]);
        buffer_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
