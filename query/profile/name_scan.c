#include "query/profile/name_scan.h"

#include <ctype.h>
#include <string.h>

enum { NESTED_MAX = 200 };

bool name_is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

bool name_starts(const char *text, size_t at, size_t end, const char *with) {
    size_t size = strlen(with);
    return end - at >= size && memcmp(text + at, with, size) == 0;
}

static bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}

size_t name_group_end(const char *text, size_t at, size_t end) {
    char open[NESTED_MAX];
    size_t depth = 0;
    for (size_t i = at; i < end; i++) {
        size_t size = name_operator_size(text, i, end);
        char c = text[i];
        if (size) {
            i += size - 1;
        } else if (is_one_of(c, "(<[{")) {
            if (depth == NESTED_MAX) return 0;
            open[depth++] = c;
        } else if (c == '>') {
            if (open[depth - 1] == '<' && text[i - 1] != '-') depth--;
        } else if (is_one_of(c, ")]}")) {
            while (depth && open[depth - 1] == '<')
                depth--; /* a comparison */
            if (!depth || open[depth - 1] != (c == ')' ? '(' : c - 2)) return 0;
            depth--;
        }
        if (!depth) return i + 1;
    }
    return 0;
}

/* operator""_km, and as older demanglers write it, operator"" _km. */
static size_t literal_size(const char *text, size_t at, size_t end) {
    if (!name_starts(text, at, end, "\"\"")) return 0;
    size_t i = at + 2;
    if (i < end && text[i] == ' ') i++;
    while (i < end && name_is_word(text[i]))
        i++;
    return i - at;
}

size_t name_operator_size(const char *text, size_t at, size_t end) {
    static const char word[] = "operator";
    static const char *const named[] = {" new[]", " new", " delete[]", " delete", " co_await"};
    static const char *const signs[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>",
                                        "<=", ">=", "==",  "!=",  "&&",  "||",  "++", "--", "+=",
                                        "-=", "*=", "/=",  "%=",  "^=",  "&=",  "|="};
    size_t size = sizeof word - 1, after = at + size, literal;
    if (text[at] != 'o' || !name_starts(text, at, end, word) || (at && name_is_word(text[at - 1])) || after == end)
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t behind = after + strlen(signs[i]);
        if (!name_starts(text, after, end, signs[i])) continue;
        bool is_less =
            strcmp(signs[i], "<<") == 0 && behind < end && name_is_word(text[behind]); /* operator<<int>(…) of LLVM */
        return behind - at - is_less;
    }
    if (is_one_of(text[after], "<>=!+-*/%^&|~,")) return size + 1;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        size_t behind = after + strlen(named[i]);
        if (name_starts(text, after, end, named[i]) && (behind == end || !name_is_word(text[behind])))
            return behind - at;
    }
    literal = literal_size(text, after, end);
    return literal ? size + literal : 0;
}

bool name_is_file(const char *name, size_t dot, size_t end) {
    static const char *const extensions[] = {"c",  "h",  "cc", "cpp", "cxx", "hh",   "hpp", "rs", "go",
                                             "py", "js", "ts", "mjs", "cjs", "java", "kt",  "S",  "so"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        size_t behind = dot + 1 + strlen(extensions[i]);
        if (name_starts(name, dot + 1, end, extensions[i]) && (behind == end || name[behind] == ':')) return true;
    }
    return false;
}

/* Suffixes. */

static size_t without_rust_hash(const char *name, size_t end) {
    enum { HASH = 3 + 16 };
    if (end <= HASH || !name_starts(name, end - HASH, end, "::h")) return end;
    for (size_t i = end - HASH + 3; i < end; i++)
        if (!isdigit((unsigned char)name[i]) && !(name[i] >= 'a' && name[i] <= 'f')) return end;
    return end - HASH;
}

/* Whether the dot at `at` begins what GCC, LLVM, Go or a linker appended. */
static bool begins_suffix(const char *name, size_t at, size_t end) {
    static const char *const numbered[] = {".isra.", ".constprop.", ".part.", ".lto_priv.", ".llvm."};
    static const char *const words[] = {".cold", ".localalias", ".abi0"};
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        size_t behind = at + strlen(numbered[i]);
        if (name_starts(name, at, end, numbered[i]) && behind < end && isdigit((unsigned char)name[behind]))
            return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t behind = at + strlen(words[i]);
        if (name_starts(name, at, end, words[i]) && (behind == end || is_one_of(name[behind], ".@ "))) return true;
    }
    return false;
}

/* Whether the '@' at `at` begins the version of a symbol: @GLIBC_2.2.5, @@CXXABI_1.3. A stub (@plt) is another function. */
static bool begins_version(const char *name, size_t at, size_t end) {
    while (at < end && name[at] == '@')
        at++;
    if (at == end || !isupper((unsigned char)name[at])) return false;
    while (at < end && (name_is_word(name[at]) || name[at] == '.'))
        at++;
    return at == end;
}

/* " [nf_tables]" of the kernel's symbols, "_[j]" of async-profiler's. */
static size_t without_tag(const char *name, size_t end) {
    size_t at = end;
    if (end < 4 || name[end - 1] != ']') return end;
    for (at--; at && (name_is_word(name[at - 1]) || name[at - 1] == '-');)
        at--;
    if (at < 2 || at == end - 1 || name[at - 1] != '[') return end;
    if (is_one_of(name[at - 2], " \t")) return at - 2;
    return name[at - 2] == '_' && end - at == 2 ? at - 2 : end;
}

size_t name_end_without_suffix(const char *name) {
    size_t end = without_tag(name, strlen(name));
    for (size_t i = 1; i < end; i++) {
        bool ends = (name[i] == '.' && begins_suffix(name, i, end)) ||
                    (name[i] == '@' && begins_version(name, i, end)) ||
                    (name[i] == ' ' && name_starts(name, i, end, " [clone "));
        if (ends) end = i;
    }
    return without_rust_hash(name, end);
}
