/* escape.c, utf8.c: texts of any content in CSV, XML and JSON, and what is a character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/escape.h"
#include "base/utf8.h"

static void is_xml(const char *text, const char *want) {
    struct buffer out = {0};
    escape_xml(&out, text);
    assert_string_equal(buffer_text(&out), want);
    buffer_free(&out);
}

/* XML 1.0, 2.2 and 2.4: which characters there are, and which are markup. */
static void xml(void **state) {
    (void)state;
    is_xml("", "");
    is_xml("größe 日本", "größe 日本");
    is_xml("<a b=\"c\" d='e'> & f", "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt; &amp; f");
    is_xml("a\tb\nc\rd\x01"
           "e\x7f",
           "a\tb\nc\xef\xbf\xbd"
           "d\xef\xbf\xbd"
           "e\xef\xbf\xbd");
    is_xml("\xff-\xc3", "\xef\xbf\xbd-\xef\xbf\xbd");                               /* no UTF-8, and UTF-8 cut short */
    is_xml("\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd");                                 /* an overlong '<' */
    is_xml("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");                 /* a surrogate */
    is_xml("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* above U+10FFFF */
}

static void xml_character(void **state) {
    struct buffer out = {0};
    (void)state;
    assert_int_equal(escape_xml_character(&out, ""), 0);
    assert_int_equal(escape_xml_character(&out, "é<"), 2);
    assert_int_equal(escape_xml_character(&out, "<é"), 1);
    assert_string_equal(buffer_text(&out), "é&lt;");
    buffer_free(&out);
}

static void is_csv(const char *text, size_t size, const char *want) {
    struct buffer out = {0};
    escape_csv(&out, text, size);
    assert_int_equal(out.size, size == 3 && !text[1] ? 3 : strlen(want));
    assert_memory_equal(buffer_text(&out), want, out.size);
    buffer_free(&out);
}

/* RFC 4180, 2.5 to 2.7. */
static void csv(void **state) {
    (void)state;
    is_csv("", 0, "");
    is_csv("a b;c", 5, "a b;c");
    is_csv("a,b", 3, "\"a,b\"");
    is_csv("a\"b", 3, "\"a\"\"b\"");
    is_csv("a\nb", 3, "\"a\nb\"");
    is_csv("a\rb", 3, "\"a\rb\"");
    is_csv("a\0b", 3, "a\0b");
}

static void has_controls(const char *text, size_t size, const char *want) {
    struct buffer out = {0};
    escape_controls(&out, text, size);
    assert_string_equal(buffer_text(&out), want);
    buffer_free(&out);
}

static void controls(void **state) {
    (void)state;
    has_controls("", 0, "");
    has_controls("a\0b", 3, "a?b");
    has_controls("a\tb\r\n", 5, "a\tb\r\n");
    has_controls("\x1b[2J\x7f", 5, "?[2J?");
    has_controls("\xc2\x9b"
                 "31m\xc3\xa9",
                 7, "?31m\xc3\xa9");
    has_controls("\xff", 1, "\xff");
}

static void is_word(const char *word, const char *want) {
    struct buffer out = {0};
    escape_shell(&out, word);
    assert_string_equal(buffer_text(&out), want);
    buffer_free(&out);
}

/* POSIX shell, 2.2.2: a single quote cannot stand inside single quotes. */
static void shell(void **state) {
    (void)state;
    is_word("./a-b_c.d:e,f@g%h+i=j/k", "./a-b_c.d:e,f@g%h+i=j/k");
    is_word("", "''");
    is_word("a b", "'a b'");
    is_word("$(x)`y`\\\"*", "'$(x)`y`\\\"*'");
    is_word("it's", "'it'\\''s'");
}

/* RFC 8259, 8.1: JSON is UTF-8. */
static void json(void **state) {
    static const char made[] = "{\"a\xff\":\n[\"\x7f\xc2\x9b\xed\xa0\x80\\n\xc3\xa9\\\"\"]}", text[] = "\x7f\xff\"\\";
    struct buffer out = {0};
    (void)state;
    buffer_add_json_value(&out, made);
    assert_string_equal(
        buffer_text(&out),
        "{\"a\xef\xbf\xbd\":\n[\"\\u007f\\u009b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\n\xc3\xa9\\\"\"]}");
    buffer_clear(&out);
    buffer_add_json_string(&out, text, strlen(text));
    assert_string_equal(buffer_text(&out), "\"\\u007f\xef\xbf\xbd\\\"\\\\\"");
    buffer_free(&out);
}

static void utf8(void **state) {
    (void)state;
    assert_int_equal(utf8_length("", 0), 0);
    assert_int_equal(utf8_length("\0", 1), 1);
    assert_int_equal(utf8_length("日", 3), 3);
    assert_int_equal(utf8_length("日", 2), 0);
    assert_int_equal(utf8_length("\xf0\x9f\x98\x80", 4), 4);
    assert_int_equal(utf8_length("\xf0\x8f\x98\x80", 4), 0); /* overlong */
    assert_int_equal(utf8_bad_byte("größe", strlen("größe")), strlen("größe"));
    assert_int_equal(utf8_bad_byte("a\0b", 3), 1);
    assert_int_equal(utf8_bad_byte("ab\xff", 3), 2);
    assert_int_equal(utf8_count("größe"), 5);
    assert_int_equal(utf8_count("日本"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xml),   cmocka_unit_test(xml_character), cmocka_unit_test(csv), cmocka_unit_test(controls),
        cmocka_unit_test(shell), cmocka_unit_test(json),          cmocka_unit_test(utf8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
