#include "query/profile/usual_name.h"

#include <ctype.h>
#include <string.h>

#include "query/profile/foreign_name.h"
#include "query/profile/name_scan.h"

enum {
    INSIDE_MAX = 16
}; /* names in names: a conversion's type, what implements a trait. Deeper ones stay as they are */

struct name_writer {
    struct buffer *out;
    const char *text;
    size_t end;
    size_t front;    /* of out: where the name begins, behind "vtable for " */
    size_t declared; /* of out: behind what may be a return type */
    enum name_detail detail;
    bool is_type;        /* a class and not a function: its arguments are its own */
    bool after_operator; /* an operator stands right before */
    bool failed;
    int inside;
};

static size_t write_name(struct name_writer *writer, size_t at);

static void add(struct name_writer *writer, size_t from, size_t to) {
    buffer_add(writer->out, writer->text + from, to - from);
}

static bool ends_with(const struct name_writer *writer, const char *with) {
    size_t size = strlen(with), whole = writer->out->size;
    return whole - writer->front >= size && memcmp(writer->out->data + whole - size, with, size) == 0;
}

static void take_back(struct name_writer *writer, size_t size) {
    writer->out->size -= size;
    writer->out->data[writer->out->size] = '\0';
}

static size_t fail(struct name_writer *writer) {
    writer->failed = true;
    return writer->end;
}

static bool at_text(const struct name_writer *writer, size_t at, const char *with) {
    return name_starts(writer->text, at, writer->end, with);
}

/* Long names of the standard library, and what programs write for them. */

/* basic_string<char, ...>: string; basic_ostream<wchar_t, ...>: wostream. *alias is the static part of its name. */
static size_t alias_size(const char *text, size_t at, size_t end, const char **alias) {
    static const char basic[] = "basic_";
    static const char *const names[] = {"wstring",    "wstring_view",  "wostream",       "wistream",
                                        "wiostream",  "wstringstream", "wistringstream", "wostringstream",
                                        "wstringbuf", "wifstream",     "wofstream",      "wfstream",
                                        "wfilebuf",   "wstreambuf",    "wios",           "wregex"};
    if (!name_starts(text, at, end, basic)) return 0;
    at += strlen(basic);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i] + 1;
        size_t open = at + strlen(name), behind = open + 1;
        if (!name_starts(text, at, end, name) || open == end || text[open] != '<') continue;
        bool is_wide = name_starts(text, behind, end, "wchar_t");
        behind += strlen(is_wide ? "wchar_t" : "char");
        if ((!is_wide && !name_starts(text, open + 1, end, "char")) || behind >= end || !strchr(",>", text[behind]))
            return 0;
        *alias = is_wide ? names[i] : name;
        behind = name_group_end(text, open, end);
        return behind ? behind - at + strlen(basic) : 0;
    }
    return 0;
}

static size_t inline_namespace_size(const char *text, size_t at, size_t end) {
    static const char *const namespaces[] = {"__cxx11::", "__1::", "__ndk1::", "_V2::", "(anonymous namespace)::"};
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        if (name_starts(text, at, end, namespaces[i])) return strlen(namespaces[i]);
    return 0;
}

/* At the start of a word: the bytes that it replaces by *alias, which may be "". */
static size_t replaced_size(const char *text, size_t at, size_t end, const char **alias) {
    *alias = "";
    if (at && name_is_word(text[at - 1])) return 0;
    size_t size = inline_namespace_size(text, at, end);
    return size ? size : alias_size(text, at, end, alias);
}

/* Copies brackets with these names replaced, and arguments in them as <…>: what is kept to tell names apart has to be short. */
static void add_clean(struct name_writer *writer, size_t from, size_t to) {
    for (size_t at = from; at < to;) {
        const char *alias;
        size_t size = replaced_size(writer->text, at, to, &alias), behind;
        buffer_add_text(writer->out, alias);
        if (!size && at > from && writer->text[at] == '<' && (behind = name_group_end(writer->text, at, to))) {
            buffer_add_text(writer->out, "<\u2026>");
            size = behind - at;
        }
        if (!size && !name_starts(writer->text, at, to, " >")) add(writer, at, at + 1);
        at += size + !size;
    }
}

/* Types of Rust. */

static void add_type(struct name_writer *writer, size_t from, size_t to);

static size_t find_word(const struct name_writer *writer, size_t from, size_t to, const char *word) {
    for (size_t at = from; at < to;) {
        size_t behind = strchr("(<[{", writer->text[at]) ? name_group_end(writer->text, at, to) : 0;
        if (name_starts(writer->text, at, to, word)) return at;
        at = behind ? behind : at + 1;
    }
    return 0;
}

/* A type as its last part: alloc::vec::Vec<T> is Vec<…>. */
static void add_type(struct name_writer *writer, size_t from, size_t to) {
    size_t start = writer->out->size, behind;
    for (size_t at = from; at < to; at++) {
        char c = writer->text[at];
        bool is_part = name_starts(writer->text, at, to, "::");
        if (is_part && name_starts(writer->text, at, to, "::{") &&
            (behind = name_group_end(writer->text, at + 2, to))) {
            add(writer, at, behind); /* a closure is named by its function */
            at = behind - 1;
        } else if (is_part) {
            take_back(writer, writer->out->size - start);
            at++;
        } else if (c == '<' && (behind = name_group_end(writer->text, at, to))) {
            buffer_add_text(writer->out, "<\u2026>");
            at = behind - 1;
        } else {
            buffer_add_char(writer->out, c);
            if (!name_is_word(c)) start = writer->out->size;
        }
    }
}

static bool is_path(const struct name_writer *writer, size_t from, size_t to) {
    if (from == to || !name_is_word(writer->text[from])) return false;
    for (size_t at = from; at < to;) {
        char c = writer->text[at];
        size_t behind = c == '<' ? name_group_end(writer->text, at, to) : 0;
        if (!behind && c != ':' && !name_is_word(c)) return false;
        at = behind ? behind : at + 1;
    }
    return true;
}

/* <T as Trait>, <impl Trait for T> and <T> of Rust at `at`, where the name itself begins with a bracket. */
static size_t add_qualified(struct name_writer *writer, size_t at, size_t behind) {
    size_t from = at + 1, to = behind - 1, middle;
    if (behind == writer->end || writer->text[behind] != ':' || writer->detail >= NAME_WITH_ARGUMENTS) {
        add_clean(writer, at, behind); /* <lambda>, <init> */
        return behind;
    }
    if (is_path(writer, from, to)) {
        struct name_writer path = *writer;
        path.end = to;
        path.is_type = true;
        if (++path.inside < INSIDE_MAX && write_name(&path, from) == to && !path.failed) return behind;
        return fail(writer);
    }
    buffer_add_char(writer->out, '<');
    if (name_starts(writer->text, from, to, "impl ")) {
        buffer_add_text(writer->out, "impl ");
        from += strlen("impl ");
    }
    const char *word = " as ";
    if (!(middle = find_word(writer, from, to, word))) middle = find_word(writer, from, to, word = " for ");
    add_type(writer, from, middle ? middle : to);
    if (middle) {
        buffer_add_text(writer->out, word);
        add_type(writer, middle + strlen(word), to);
    }
    buffer_add_char(writer->out, '>');
    return behind;
}

/* Brackets. */

/* Whether a bracket at `at` belongs to the word, bracket or operator before it. */
static bool follows_name(const struct name_writer *writer, size_t at) {
    return writer->after_operator ||
           (at && (name_is_word(writer->text[at - 1]) || strchr(">]}'", writer->text[at - 1])));
}

static size_t add_angle(struct name_writer *writer, size_t at) {
    size_t behind = name_group_end(writer->text, at, writer->end);
    if (!behind) return fail(writer);
    bool is_turbofish = ends_with(writer, "::") && !at_text(writer, at, "<impl ") && at && writer->text[at - 1] == ':';
    if (!is_turbofish && !follows_name(writer, at)) return add_qualified(writer, at, behind);
    if (is_turbofish) take_back(writer, 2);
    bool is_own = !writer->is_type && !at_text(writer, behind, "::");
    if (writer->detail >= (is_own ? NAME_WITH_PARAMETERS : NAME_WITH_ARGUMENTS)) {
        if (ends_with(writer, "<")) buffer_add_char(writer->out, ' '); /* operator< <int> */
        add_clean(writer, at, behind);
    } else if (!is_own) {
        buffer_add_text(writer->out, "<\u2026>");
    }
    return behind;
}

/* "const", "&&" and the like behind parameters. */
static size_t qualifiers_end(const struct name_writer *writer, size_t at) {
    static const char *const words[] = {" const", " volatile", " restrict", " noexcept", " &&", " &", "&&", "&"};
    for (size_t i = 0; i < sizeof words / sizeof *words;) {
        size_t behind = at + strlen(words[i]);
        bool is_here = at_text(writer, at, words[i]) && (behind == writer->end || !name_is_word(writer->text[behind]));
        if (is_here) at = behind;
        i = is_here ? 0 : i + 1;
    }
    return at;
}

/* What returns a pointer to a function, void (*f<int>(int))(char): the name is in the brackets. */
static size_t add_declarator(struct name_writer *writer, size_t at, size_t behind) {
    size_t from = at + 1 + strspn(writer->text + at + 1, "*& ");
    struct name_writer inner = *writer;
    inner.end = behind - 1;
    take_back(writer, writer->out->size - writer->front);
    inner.declared = inner.front;
    if (from == at + 1 || ++inner.inside >= INSIDE_MAX || write_name(&inner, from) != inner.end || inner.failed)
        return fail(writer);
    return writer->end;
}

static size_t add_parameters(struct name_writer *writer, size_t at, size_t behind) {
    size_t end = qualifiers_end(writer, behind);
    bool is_last =
        end == writer->end || at_text(writer, end, " [") || at_text(writer, end, " (.") || at_text(writer, end, " -> ");
    if (!is_last && !at_text(writer, end, "::")) return fail(writer);
    if (writer->declared > writer->front) { /* all before the last space was the return type */
        size_t size = writer->out->size - writer->declared;
        memmove(writer->out->data + writer->front, writer->out->data + writer->declared, size);
        take_back(writer, writer->declared - writer->front);
    }
    writer->declared = writer->front;
    if (writer->detail >= NAME_WITH_PARAMETERS) add_clean(writer, at, end);
    return is_last ? writer->end : end;
}

static size_t add_round(struct name_writer *writer, size_t at) {
    size_t behind = name_group_end(writer->text, at, writer->end);
    if (at && writer->text[at - 1] == '.') { /* a receiver of Go: its brackets are the name */
        add(writer, at, at + 1);
        return at + 1;
    }
    if (!behind) return fail(writer);
    bool is_type = ends_with(writer, "decltype") || !follows_name(writer, at);
    if (!is_type) return add_parameters(writer, at, behind);
    if (behind < writer->end && writer->text[behind] == '(' && writer->out->size > writer->front)
        return add_declarator(writer, at, behind);
    add(writer, at, behind);
    return behind;
}

static size_t add_square(struct name_writer *writer, size_t at) {
    size_t behind = name_group_end(writer->text, at, writer->end);
    if (!behind) return fail(writer);
    bool is_last = behind == writer->end, is_tag = at_text(writer, at, "[abi:");
    bool is_number = at + 1 + strspn(writer->text + at + 1, "0123456789") == behind - 1; /* locks[3] */
    if (is_number || (!is_tag && !follows_name(writer, at)))
        add(writer, at, behind);
    else if (writer->detail >= (is_last || is_tag ? NAME_WITH_PARAMETERS : NAME_WITH_ARGUMENTS))
        add(writer, at, behind);
    else if (!is_last && !is_tag)
        buffer_add_text(writer->out, "[\u2026]");
    return behind;
}

/* {lambda(int)#1} is {lambda#1}. */
static size_t add_curly(struct name_writer *writer, size_t at) {
    size_t behind = name_group_end(writer->text, at, writer->end), round, sign;
    if (!behind) return fail(writer);
    round = at + strlen("{lambda");
    if (writer->detail >= NAME_WITH_PARAMETERS || !at_text(writer, at, "{lambda")) {
        add_clean(writer, at, behind);
        return behind;
    }
    for (sign = behind - 1; sign > round && writer->text[sign] != '#';)
        sign--;
    add(writer, at, round);
    add(writer, sign, behind);
    return behind;
}

/* Words. */

static size_t add_operator(struct name_writer *writer, size_t at, size_t size) {
    add(writer, at, at + size);
    writer->after_operator = true;
    return at + size + (at_text(writer, at + size, " <") ? 1 : 0);
}

/* operator std::string: the type goes on to the parameters. */
static size_t add_conversion(struct name_writer *writer, size_t at) {
    size_t from = at + strlen("operator "), to = from;
    while (to < writer->end && (writer->text[to] != '(' || writer->text[to - 1] == ' ')) {
        if (writer->text[to] == '<' && strchr("*&", writer->text[to - 1]))
            break; /* operator T*<T>: the arguments of the template */
        size_t behind = strchr("(<[{", writer->text[to]) ? name_group_end(writer->text, to, writer->end) : to + 1;
        if (!behind) return fail(writer);
        to = behind;
    }
    struct name_writer type = *writer;
    type.end = to;
    type.is_type = true;
    buffer_add_text(writer->out, "operator ");
    if (++type.inside >= INSIDE_MAX || write_name(&type, from) != to || type.failed) return fail(writer);
    writer->after_operator = true;
    return to;
}

static size_t add_word(struct name_writer *writer, size_t at) {
    const char *alias;
    size_t size = name_operator_size(writer->text, at, writer->end);
    if (size) return add_operator(writer, at, size);
    bool begins = !at || !name_is_word(writer->text[at - 1]);
    if (begins && at_text(writer, at, "operator ")) return add_conversion(writer, at);
    if ((size = replaced_size(writer->text, at, writer->end, &alias))) {
        buffer_add_text(writer->out, alias);
        return at + size;
    }
    writer->after_operator = false;
    if (at_text(writer, at, "%2e")) {
        buffer_add_char(writer->out, '.');
        return at + 3;
    }
    add(writer, at, at + 1);
    if (writer->text[at] == ' ') writer->declared = writer->out->size;
    return at + 1;
}

/* Writes the name from `at`; returns the end. */
static size_t write_name(struct name_writer *writer, size_t at) {
    while (at < writer->end && !writer->failed) {
        char c = writer->text[at];
        if (c == '<')
            at = add_angle(writer, at);
        else if (c == '(' && !inline_namespace_size(writer->text, at, writer->end))
            at = add_round(writer, at);
        else if (c == '[')
            at = add_square(writer, at);
        else if (c == '{')
            at = add_curly(writer, at);
        else if (c == '>' || c == ']' || c == '}')
            at = fail(writer);
        else
            at = add_word(writer, at);
    }
    return at;
}

/* The whole. */

/* What demanglers put in front of a name: its bytes, or 0. */
static size_t front_size(const char *name) {
    static const char *const fronts[] = {"vtable for ",
                                         "VTT for ",
                                         "typeinfo for ",
                                         "typeinfo name for ",
                                         "construction vtable for ",
                                         "guard variable for ",
                                         "TLS wrapper function for ",
                                         "TLS init function for ",
                                         "transaction clone for ",
                                         "non-transaction clone for ",
                                         "hidden alias for ",
                                         "non-virtual thunk to ",
                                         "virtual thunk to ",
                                         "covariant return thunk to ",
                                         "global constructors keyed to ",
                                         "global destructors keyed to "};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(name, fronts[i], strlen(fronts[i])) == 0) return strlen(fronts[i]);
    return 0;
}

static void write_whole(struct buffer *out, const char *name, enum name_detail detail) {
    size_t start = out->size, end = name_end_without_suffix(name), at = front_size(name), go = 0;
    if (at > end) at = 0;
    buffer_add(out, name, at);
    struct name_writer writer = {
        .out = out, .text = name, .end = end, .front = out->size, .declared = out->size, .detail = detail};
    writer.is_type = at >= 4 && strncmp(name + at - 4, "for ", 4) == 0;
    if (!at && detail < NAME_WITH_ARGUMENTS) go = add_go_package(out, name, end);
    write_name(&writer, go ? go : at);
    if (writer.failed || out->size == start) {
        out->size = start;
        buffer_add(out, name, end);
    } else if (!go && detail < NAME_WITH_ARGUMENTS) {
        size_t packages = java_packages_size(out->data + writer.front);
        memmove(out->data + writer.front, out->data + writer.front + packages, out->size - writer.front - packages + 1);
        out->size -= packages;
    }
    if (detail >= NAME_WITH_PARAMETERS) buffer_add_text(out, name + end);
}

void name_in_detail(struct buffer *out, const char *name, enum name_detail detail) {
    struct buffer java = {0};
    bool is_as_it_is = detail == NAME_FULL || !*name;
    if (is_as_it_is || (detail > NAME_USUAL && name_is_opaque(name)))
        buffer_add_text(out, name);
    else if (!add_name_of_map(out, name)) {
        if (name_is_opaque(name))
            buffer_add_text(out, name);
        else
            write_whole(out, add_java_descriptor(&java, name) ? buffer_text(&java) : name, detail);
    }
    buffer_free(&java);
}

void usual_name(struct buffer *out, const char *name) {
    name_in_detail(out, name, NAME_USUAL);
}

static bool begins_part(char c) {
    return c && (isalpha((unsigned char)c) || (unsigned char)c >= 0x80 || strchr("_$(<[{", c));
}

/* src/queue.c or queue.c:20 is a file; Vector.h may be a function. */
static bool is_in_place(const char *text, size_t dot, size_t end) {
    return name_is_file(text, dot, end) && (isdigit((unsigned char)text[end - 1]) || memchr(text, '/', dot));
}

size_t name_next_part(const char *text, size_t at) {
    size_t end = name_end_without_suffix(text);
    for (size_t i = at; i < end;) {
        size_t skipped = name_operator_size(text, i, end);
        if (!skipped && name_starts(text, i, end, "operator ")) return 0; /* operator std::string */
        size_t behind = strchr("(<[{", text[i]) ? name_group_end(text, i, end) : i + skipped;
        if (behind > i) {
            i = behind;
            continue;
        }
        if (name_starts(text, i, end, "::") && i + 2 < end) return i + 2;
        bool is_sign = i > at && strchr("./", text[i]) && !is_in_place(text, i, end);
        if (is_sign && i + 1 < end && begins_part(text[i + 1])) return i + 1;
        i++;
    }
    return 0;
}

/* Whether a part, like a closure's, is nothing that a reader knows. */
static bool says_nothing(const char *part) {
    static const char *const starts[] = {"{", "<", "(anonymous)", "operator()", "'lambda", "lambda$", "$_"};
    static const char *const numbered[] = {"func", "gowrap", "deferwrap"}; /* of Go */
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(part, starts[i], strlen(starts[i])) == 0) return true;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        size_t size = strlen(numbered[i]);
        if (strncmp(part, numbered[i], size) == 0 && isdigit((unsigned char)part[size])) return true;
    }
    return false;
}

/* app.js:12, a function of V8 without a name. */
static bool ends_with_line(const char *text) {
    const char *line = strrchr(text, ':');
    return line && line[1] && line[strspn(line + 1, "0123456789") + 1] == '\0';
}

void short_name(struct buffer *out, const char *name) {
    struct buffer usual = {0};
    usual_name(&usual, name);
    const char *text = buffer_text(&usual);
    size_t shown = 0;
    bool is_whole = name_is_opaque(name) && (strcmp(text, name) == 0 || ends_with_line(text));
    for (size_t at = front_size(text); !is_whole;) {
        if (!says_nothing(text + at)) shown = at;
        size_t next = name_next_part(text, at);
        if (!next) break;
        at = next;
    }
    buffer_add_text(out, text + shown);
    buffer_free(&usual);
}

const char *usual_name_unless(bool is_full, const char *name, struct buffer *room) {
    if (is_full) return name;
    buffer_clear(room);
    usual_name(room, name);
    return buffer_text(room);
}
