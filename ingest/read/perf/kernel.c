#include "ingest/read/perf/kernel.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buffer.h"
#include "base/elf_file.h"
#include "base/error.h"
#include "base/search.h"

enum { READ_MAX = 256 << 20 }; /* kallsyms has some 10 MB */

static bool read_all(const char *path, struct buffer *text) {
    FILE *file = fopen(path, "re");
    if (!file) return false;
    char part[65536];
    size_t size;
    while ((size = fread(part, 1, sizeof part, file)) > 0 && text->size < READ_MAX)
        buffer_add(text, part, size);
    return fclose(file) == 0;
}

/* The build id of the running kernel is in its ELF notes. */
static bool has_build_id(const char *build_id) {
    struct buffer notes = {0};
    bool is_same = false;
    if (read_all("/sys/kernel/notes", &notes)) {
        size_t at = 0;
        Elf64_Nhdr note;
        while (at + sizeof note <= notes.size && !is_same) {
            memcpy(&note, notes.data + at, sizeof note);
            size_t name = at + sizeof note, bits = name + ((note.n_namesz + (size_t)3) & ~(size_t)3);
            at = bits + ((note.n_descsz + (size_t)3) & ~(size_t)3);
            if (at > notes.size || note.n_type != NT_GNU_BUILD_ID) continue;
            is_same = note.n_namesz == 4 && memcmp(notes.data + name, "GNU", 4) == 0 &&
                      build_id_is(build_id, notes.data + bits, note.n_descsz);
        }
    }
    buffer_free(&notes);
    return is_same;
}

static bool runs_now(const char *build_id, const char *release) {
    struct utsname here;
    if (*build_id) return has_build_id(build_id);
    return *release && uname(&here) == 0 && strcmp(release, here.release) == 0;
}

/* ---- which of several names of one address ----------------------------------------------------------------------- */

static size_t underscores(const char *name) {
    return strspn(name, "_");
}

/* Which of two aliases is used, by the rule of perf: strong before weak, global before local, fewer underscores first,
 * the longer name first; and the plain name of a system call. */
static bool is_better(const struct perf_kernel_symbol *a, const struct perf_kernel_symbol *b) {
    bool weak_a = tolower(a->type) == 'w', weak_b = tolower(b->type) == 'w';
    if (weak_a != weak_b) return weak_b;
    bool global_a = isupper(a->type), global_b = isupper(b->type);
    if (global_a != global_b) return global_a;
    if (underscores(a->name) != underscores(b->name)) return underscores(a->name) < underscores(b->name);
    if (strlen(a->name) != strlen(b->name)) return strlen(a->name) > strlen(b->name);
    return strncmp(a->name, "SyS", 3) != 0 && strncmp(a->name, "compat_SyS", 10) != 0;
}

static int by_address(const void *left, const void *right) {
    const struct perf_kernel_symbol *a = left, *b = right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name; /* as they stand in the text */
}

static void keep_one_an_address(struct perf_kernel *kernel) {
    size_t kept = 0;
    for (size_t i = 0; i < kernel->count; i++) {
        struct perf_kernel_symbol *last = kept ? &kernel->symbols[kept - 1] : NULL;
        if (!last || last->address != kernel->symbols[i].address)
            kernel->symbols[kept++] = kernel->symbols[i];
        else if (!is_better(last, &kernel->symbols[i]))
            *last = kernel->symbols[i];
    }
    kernel->count = kept;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void add_symbol(struct perf_kernel *kernel, size_t *capacity, struct perf_kernel_symbol symbol) {
    if (kernel->count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 1024;
        kernel->symbols = xrealloc(kernel->symbols, *capacity * sizeof *kernel->symbols);
    }
    kernel->symbols[kernel->count++] = symbol;
}

/* "ffffffff81000000 T _text[\tmodule]" */
void perf_kernel_parse(struct perf_kernel *kernel, char *text, const char *symbol, uint64_t address) {
    size_t capacity = 0;
    uint64_t here = 0;
    text = arena_text(&kernel->texts, text, strlen(text));
    for (char *line = strtok_r(text, "\n", &text); line; line = strtok_r(NULL, "\n", &text)) {
        char *end, *name;
        uint64_t value = strtoull(line, &end, 16);
        if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ') continue;
        name = end + 3;
        name[strcspn(name, " \t\r")] = '\0';
        if (strcmp(name, symbol) == 0 && value) here = value;
        if (value && strchr("tTwW", end[1]))
            add_symbol(kernel, &capacity, (struct perf_kernel_symbol){value, name, end[1]});
    }
    if (address && here) kernel->moved = here - address;
    if (kernel->count) qsort(kernel->symbols, kernel->count, sizeof *kernel->symbols, by_address);
    keep_one_an_address(kernel);
}

void perf_kernel_open(struct perf_kernel *kernel, const char *build_id, const char *release, const char *symbol,
                      uint64_t address) {
    struct buffer text = {0};
    *kernel = (struct perf_kernel){0};
    if (runs_now(build_id, release) && read_all("/proc/kallsyms", &text) && text.size)
        perf_kernel_parse(kernel, text.data, symbol, address);
    buffer_free(&text);
}

void perf_kernel_free(struct perf_kernel *kernel) {
    free(kernel->symbols);
    arena_free(&kernel->texts);
    *kernel = (struct perf_kernel){0};
}

const char *perf_kernel_name(const struct perf_kernel *kernel, uint64_t address) {
    address += kernel->moved;
    size_t above = SEARCH_ABOVE(struct perf_kernel_symbol, kernel->symbols, kernel->count, address, address);
    return above ? kernel->symbols[above - 1].name : NULL;
}
