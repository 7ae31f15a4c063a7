#include "query/code/function_symbols.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/demangle.h"

/* Without what compilers append to parts and copies of functions: " [clone .isra.0]". */
static char *demangle(const char *name, int options) {
    char *readable = demangle_name(name, options);
    char *clone = readable ? strstr(readable, " [clone ") : NULL;
    if (clone) *clone = '\0';
    return readable;
}

/* Does the text go on with an operator that is no bracket: "operator<", "operator->", "operator>>="? Then how long it is. */
static size_t operator_at(const char *at) {
    size_t size = strlen("operator");
    if (strncmp(at, "operator", size) != 0) return 0;
    size_t signs = strspn(at + size, "<>=-");
    if (signs == 0) return 0;
    /* "operator<<int>": the last bracket opens the arguments. */
    if (at[size] == '<' && signs > 1 && at[size + signs - 1] == '<') signs--;
    return size + signs;
}

/* "a<b<c>>::d" becomes "a::d". */
static void drop_template_arguments(char *name) {
    size_t depth = 0;
    char *out = name;
    for (const char *at = name; *at;) {
        size_t word = operator_at(at);
        if (word && depth == 0) {
            memmove(out, at, word);
            out += word;
            at += word;
            continue;
        }
        if (*at == '<') depth++;
        if (depth == 0) *out++ = *at;
        if (*at == '>' && depth) depth--;
        at++;
    }
    *out = '\0';
}

static const char *match_demangled(struct pattern *pattern, const char *name, struct arena *arena) {
    static const int options[] = {DMGL_PARAMS, 0, 0};
    const char *kept = NULL;
    if (!demangle_is_mangled(name)) return NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options && !kept; i++) {
        char *readable = demangle(name, options[i]);
        if (readable && i == 2) drop_template_arguments(readable);
        if (readable && pattern_matches(pattern, readable)) kept = arena_text(arena, readable, strlen(readable));
        free(readable);
    }
    return kept;
}

/* `symbols` stand at one address. */
static bool match_group(const struct binary_symbol *symbols, size_t count, uint64_t end, struct pattern *pattern,
                        uint64_t address, struct arena *arena, struct code_symbol *found) {
    *found = (struct code_symbol){.start = symbols->address, .end = end};
    bool is_at = address && address >= found->start && address <= end;
    found->names = arena_alloc(arena, (is_at ? count : 1) * sizeof *found->names);
    for (size_t i = 0; i < count; i++) {
        const char *name = symbols[i].name;
        if (!is_at && !pattern_matches(pattern, name)) name = match_demangled(pattern, name, arena);
        if (name) found->names[found->name_count++] = name;
        if (name && !is_at) break;
    }
    return found->name_count > 0;
}

struct code_symbol *code_symbols_find(struct binary *binary, struct pattern *pattern, uint64_t address,
                                      struct arena *arena, size_t *count) {
    size_t symbol_count, room = 0;
    const struct binary_symbol *symbols = binary_symbols(binary, &symbol_count);
    struct code_symbol *found = NULL, next;
    *count = 0;
    for (size_t first = 0, last; first < symbol_count; first = last) {
        for (last = first + 1; last < symbol_count && symbols[last].address == symbols[first].address; last++)
            continue;
        uint64_t end = last < symbol_count ? symbols[last].address - 1 : UINT64_MAX;
        if (!match_group(symbols + first, last - first, end, pattern, address, arena, &next)) continue;
        if (*count == room) {
            room = room ? room * 2 : 16;
            found = xrealloc(found, room * sizeof *found);
        }
        found[(*count)++] = next;
    }
    return found;
}
