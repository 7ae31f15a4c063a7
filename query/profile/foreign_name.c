#include "query/profile/foreign_name.h"

#include <ctype.h>
#include <string.h>

#include "query/profile/name_scan.h"

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* "type..eq." in front of a type, whose comparison it is; with the lengths of an array, "type..eq.[4]". */
static size_t go_kind_size(const char *name) {
    static const char *const kinds[] = {"type..eq.", "type..hash.", "type:.eq.", "type:.hash."};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!starts(name, kinds[i])) continue;
        size_t size = strlen(kinds[i]), digits;
        while (name[size] == '[' && (digits = strspn(name + size + 1, "0123456789")) && name[size + 1 + digits] == ']')
            size += digits + 2;
        return size;
    }
    return 0;
}

/* "+0x4970" at the end. */
static bool is_address(const char *name) {
    const char *sign = strrchr(name, '+');
    return sign && starts(sign, "+0x") && sign[3] && strspn(sign + 3, "0123456789abcdef") == strlen(sign + 3);
}

/* A word and one colon, as in Builtin:ArrayMap, LazyCompile:~f, type:.eq.T: the bytes with the colon, or 0. */
static size_t kind_size(const char *name) {
    size_t size = 0;
    while (isalpha((unsigned char)name[size]))
        size++;
    return size > 1 && name[size] == ':' && name[size + 1] != ':' ? size + 1 : 0;
}

bool name_is_opaque(const char *name) {
    if (is_address(name) || strchr("/[-+", *name) || starts(name, "0x")) return true;
    return kind_size(name) != 0 && !go_kind_size(name);
}

/* V8. */

/* The start of ":LINE:COLUMN" or ":LINE" at the end of a place; NULL: there is none. */
static const char *find_line(const char *place) {
    const char *end = place + strlen(place), *found = NULL;
    for (int i = 0; i < 2; i++) {
        const char *at = end;
        while (at > place && isdigit((unsigned char)at[-1]))
            at--;
        if (at == end || at <= place + 1 || at[-1] != ':') break;
        found = end = at - 1;
    }
    return found;
}

/* The space before the file: its path may have spaces, and a name too (get size). */
static const char *find_file(const char *rest) {
    static const char *const starts_of[] = {" /", " file:", " node:", " https:", " http:", " webpack:"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof starts_of / sizeof *starts_of; i++) {
        const char *at = strstr(rest, starts_of[i]);
        if (at && (!first || at < first)) first = at;
    }
    return first ? first : strrchr(rest, ' ');
}

/* py::Cart.add:/srv/shop.py of CPython's perf map. */
static bool add_python_name(struct buffer *out, const char *name) {
    if (!starts(name, "py::") || !name[4]) return false;
    const char *file = strstr(name + 5, ":/");
    if (!file) file = strstr(name + 5, ":<");
    if (!file) return false;
    buffer_add(out, name + 4, (size_t)(file - name) - 4);
    return true;
}

bool add_name_of_map(struct buffer *out, const char *name) {
    static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
    size_t kind = kind_size(name);
    bool is_known = false;
    if (add_python_name(out, name)) return true;
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        is_known = is_known || (kind == strlen(kinds[i]) && starts(name, kinds[i]));
    const char *rest = name + kind + strspn(name + kind, "~*^+'"), *file = find_file(rest),
               *line = file ? find_line(file) : NULL;
    if (!is_known || !line) return false;
    if (file > rest) {
        buffer_add(out, rest, (size_t)(file - rest));
        return true;
    }
    const char *base = file + (starts(file, " node:") ? strlen(" node:") : 1);
    for (const char *at = base; at < line; at++)
        if (*at == '/' && at + 1 < line) base = at + 1;
    size_t digits = strspn(line + 1, "0123456789");
    buffer_add(out, base, (size_t)(line - base) + 1 + digits);
    return true;
}

/* Java. */

bool add_java_descriptor(struct buffer *out, const char *name) {
    const char *end = strstr(name, ";::");
    if (*name != 'L' || !end || !end[3]) return false;
    for (const char *at = name + 1; at < end; at++)
        if (!name_is_word(*at) && *at != '/') return false;
    for (const char *at = name + 1; at < end; at++)
        buffer_add_char(out, *at == '/' ? '.' : *at);
    buffer_printf(out, ".%s", end + 3);
    return true;
}

static size_t word_end(const char *name, size_t at) {
    while (name_is_word(name[at]))
        at++;
    return at;
}

/* Two packages or more, a class in upper case, a method in lower case: with one package it may be Go's time.Time.date. */
size_t java_packages_size(const char *name) {
    size_t at = 0, end, packages = 0;
    for (; (islower((unsigned char)name[at]) || name[at] == '_') && name[end = word_end(name, at)] == '.'; at = end + 1)
        packages++;
    if (packages < 2 || !isupper((unsigned char)name[at])) return 0;
    for (end = word_end(name, at); name[end] == '/'; end = word_end(name, end + 1))
        continue; /* a hidden class: Cart$$Lambda$14/0x7f00 */
    if (name[end] != '.') return 0;
    char first = name[end + 1];
    return islower((unsigned char)first) || first == '_' || first == '<' ? at : 0;
}

/* Go. */

/* "v2" of an import path, whose package is the element before. */
static bool is_version(const char *at, const char *end) {
    if (end - at < 2 || *at != 'v' || (end - at == 2 && at[1] < '2')) return false;
    for (at++; at < end; at++)
        if (!isdigit((unsigned char)*at)) return false;
    return true;
}

size_t add_go_package(struct buffer *out, const char *name, size_t end) {
    size_t kind = go_kind_size(name), before = 0, last = 0,
           at = kind; /* where the last two elements of the path begin */
    for (; at < end && (isalnum((unsigned char)name[at]) || strchr("_-.~%/", name[at])); at++) {
        if (name[at] != '/') continue;
        before = last ? last : kind;
        last = at + 1;
    }
    if (!last) return 0;
    size_t dot = last + strcspn(name + last, ".");
    if (dot == last || dot + 1 >= end || !(name_is_word(name[dot + 1]) || strchr("(.", name[dot + 1]))) return 0;
    if (name_is_file(name, dot, end)) return 0;
    buffer_add(out, name, kind);
    size_t from = is_version(name + last, name + dot) ? before : last, to = from == before ? last - 1 : dot;
    for (at = from; at < to; at++) {
        bool is_dot = name_starts(name, at, to, "%2e");
        buffer_add_char(out, is_dot ? '.' : name[at]);
        at += is_dot ? 2 : 0;
    }
    return dot;
}
