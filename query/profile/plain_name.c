#include "query/profile/plain_name.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The end of "::h" and 16 hex digits, which Rust appends, if the name ends so; else the end of the name. */
static size_t size_without_hash(const char *name) {
    enum { HASH = 3 + 16 };
    size_t size = strlen(name);
    if (size <= HASH || !starts(name + size - HASH, "::h")) return size;
    for (size_t i = size - HASH + 3; i < size; i++)
        if (!isdigit((unsigned char)name[i]) && !(name[i] >= 'a' && name[i] <= 'f')) return size;
    return size - HASH;
}

/* The place behind the '>' that closes the '<' at `open`; NULL: none does before `end`. Arrows and the names of operators close nothing. */
static const char *behind_arguments(const char *open, const char *end) {
    int depth = 0;
    for (const char *at = open; at < end; at++) {
        if (*at == '<') depth++;
        if (*at != '>' || (at > open && at[-1] == '-')) continue;
        if (--depth == 0) return at + 1;
    }
    return NULL;
}

/* "operator<", "operator<<", "operator->", "operator<=>", "operator>>=": the length of such a name at `at`, or 0. */
static size_t operator_size(const char *name, const char *at) {
    static const char word[] = "operator";
    size_t size = strlen(word);
    if (!starts(at, word) || (at > name && is_word(at[-1]))) return 0;
    size_t signs = strspn(at + size, "<>=-+*/%^&|~!,");
    return signs ? size + signs : 0;
}

/* A class of the standard library by the name that programs give it: the length of its long name at `at`, or 0. */
static size_t alias_size(const char *at, const char *end, const char **alias) {
    static const struct {
        const char *start, *alias;
    } classes[] = {{"basic_string<char,", "string"},           {"basic_string<wchar_t,", "wstring"},
                   {"basic_string_view<char,", "string_view"}, {"basic_ostream<char,", "ostream"},
                   {"basic_istream<char,", "istream"},         {"basic_stringstream<char,", "stringstream"}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (!starts(at, classes[i].start)) continue;
        const char *behind = behind_arguments(at + strcspn(at, "<"), end);
        if (!behind) return 0;
        *alias = classes[i].alias;
        return (size_t)(behind - at);
    }
    return 0;
}

/* Namespaces that versions of the standard library put between std and its names. */
static size_t inline_namespace_size(const char *name, const char *at) {
    static const char *const namespaces[] = {"__cxx11::", "__1::", "__ndk1::"};
    if (at - name < 5 || !starts(at - 5, "std::")) return 0;
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        if (starts(at, namespaces[i])) return strlen(namespaces[i]);
    return 0;
}

/* Whether the '<' at `at` may begin arguments: behind a word, or as in "operator<< <int>" and "operator()<int>". */
static bool follows_name(const char *name, const char *at) {
    size_t before = (size_t)(at - name);
    if (before && is_word(at[-1])) return true;
    if (before > 2 && at[-1] == ' ') return strchr("<>=-+", at[-2]) != NULL;
    return before >= strlen("operator()") && starts(at - strlen("operator()"), "operator()");
}

/* What is copied at `at`, as `size` bytes of the name; returns what is written for it (`*text`, `*length`). */
static size_t next_part(const char *name, const char *at, const char *end, const char **text, size_t *length) {
    static const char folded[] = "<\u2026>";
    const char *alias = NULL, *behind;
    size_t size = operator_size(name, at);
    *text = at;
    *length = size;
    if (size) return size;
    *length = 0;
    if ((size = inline_namespace_size(name, at))) return size;
    if ((at == name || !is_word(at[-1])) && (size = alias_size(at, end, &alias))) {
        *text = alias;
        *length = strlen(alias);
        return size;
    }
    if (*at == '<' && follows_name(name, at) && (behind = behind_arguments(at, end))) {
        *text = folded;
        *length = strlen(folded);
        return (size_t)(behind - at);
    }
    *length = 1;
    return 1;
}

void plain_name(struct buffer *out, const char *name) {
    const char *end = name + size_without_hash(name);
    for (const char *at = name; at < end;) {
        const char *text;
        size_t length, size = next_part(name, at, end, &text, &length);
        buffer_add(out, text, length);
        at += size;
    }
}

const char *plain_name_unless(bool is_full, const char *name, struct buffer *room) {
    if (is_full) return name;
    buffer_clear(room);
    plain_name(room, name);
    return buffer_text(room);
}
