/* unseen.c: allocators inside the modules of a process, whose calls go through no slot of the loader, by the symbols of the
 * files, and what the slots hold that were left as they are. */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "base/path.h"
#include "ingest/attach/attach.h"
#include "ingest/attach/running.h"

/* What the usual ones are called where they are built into something else; Go's, too. */
static const char *const allocators[] = {"je_malloc", "_rjem_malloc", "mi_malloc",       "tc_malloc",
                                         "rpmalloc",  "dlmalloc",     "runtime.mallocgc"};

static const char *allocator_named(const char *name) {
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
        if (strcmp(name, allocators[i]) == 0) return allocators[i];
    return strcmp(name, "malloc") == 0 ? "malloc" : NULL;
}

/* The first that the table of symbols defines; "malloc" before others. */
static const char *allocator_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = header->sh_entsize && data ? data->d_size / header->sh_entsize : 0;
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        const char *allocator = name ? allocator_named(name) : NULL;
        if (allocator && (!found || strcmp(allocator, "malloc") == 0)) found = allocator;
    }
    return found;
}

/* A library that exports malloc stands for the C library's, and others reach it through their slots; the program itself does not. */
static const char *allocator_of(Elf *elf, bool is_program) {
    const char *own = NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) continue;
        const char *found = allocator_in(elf, section, &header);
        bool is_malloc = found && strcmp(found, "malloc") == 0;
        if (is_malloc && !is_program && header.sh_type == SHT_DYNSYM) return NULL;
        if (found && !own) own = found;
    }
    return own;
}

static char *path_of(const struct running *running, const struct running_mapping *mapping) {
    return xasprintf("/proc/%d/root%s", (int)running->pid, mapping->path);
}

static void look_at(const struct running *running, const struct running_mapping *mapping, struct buffer *text) {
    const char *name = path_base(mapping->path);
    bool is_own = strcmp(name, "libc.so.6") == 0 || strncmp(name, "ld-linux", strlen("ld-linux")) == 0;
    if (mapping->offset || mapping->path[0] != '/' || strncmp(mapping->path, "/memfd:", strlen("/memfd:")) == 0 ||
        is_own)
        return;
    char *path = path_of(running, mapping);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(path);
    Elf *elf = file >= 0 ? elf_begin(file, ELF_C_READ, NULL) : NULL;
    const char *allocator = elf ? allocator_of(elf, mapping == running->mappings) : NULL;
    if (allocator) buffer_printf(text, "%s%s of %s", text->size ? ", " : "", allocator, name);
    if (elf) elf_end(elf);
    if (file >= 0) close(file);
}

/* The function at an address of the file (p_vaddr), by its tables of symbols; free() it, NULL: none. */
static char *function_at(Elf *elf, uint64_t address) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = header.sh_entsize && data ? data->d_size / header.sh_entsize : 0;
        for (size_t i = 0; i < count; i++) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF || symbol.st_value != address ||
                GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
                continue;
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (name && *name) return xstrdup(name);
        }
    }
    return NULL;
}

/* Where the file has the byte that is mapped at `address`. */
static bool file_address(Elf *elf, const struct running_mapping *mapping, uint64_t address, uint64_t *into) {
    uint64_t offset = address - mapping->low + mapping->offset;
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf, (int)i, &part) || part.p_type != PT_LOAD || offset < part.p_offset ||
            offset - part.p_offset >= part.p_filesz)
            continue;
        *into = offset - part.p_offset + part.p_vaddr;
        return true;
    }
    return false;
}

static char *name_of(const struct running *running, const struct running_mapping *mapping, uint64_t function) {
    char *path = path_of(running, mapping), *name = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = file >= 0 ? elf_begin(file, ELF_C_READ, NULL) : NULL;
    uint64_t address;
    if (elf && file_address(elf, mapping, function, &address)) name = function_at(elf, address);
    if (elf) elf_end(elf);
    if (file >= 0) close(file);
    free(path);
    return name;
}

static void add_foreign(const struct running *running, const struct attach_foreign *foreign, struct buffer *text) {
    const struct running_mapping *mapping = running_mapping_at(running, foreign->function);
    bool is_file = mapping && mapping->path[0] == '/';
    char *function = is_file ? name_of(running, mapping, foreign->function) : NULL;
    const char *said = function ? function : "a function";
    buffer_printf(text, "%s%.*s (", text->size ? ", " : "", (int)sizeof foreign->name - 1, foreign->name);
    escape_controls(text, said, strlen(said));
    buffer_printf(text, "%s%s)", is_file ? " of " : " made at run time", is_file ? path_base(mapping->path) : "");
    free(function);
}

char *attach_unseen(const struct attached *attached) {
    struct running running;
    struct error ignored = {0};
    struct buffer text = {0};
    const struct attach_foreign *foreign = attached->call.foreign;
    elf_version(EV_CURRENT);
    if (running_open(&running, attached->pid, &ignored) == 0) {
        for (size_t i = 0; i < running.mapping_count; i++)
            look_at(&running, &running.mappings[i], &text);
        for (size_t i = 0; i < ATTACH_FOREIGN_MOST && foreign[i].function; i++)
            add_foreign(&running, &foreign[i], &text);
    }
    running_close(&running);
    if (text.size) return buffer_take(&text);
    buffer_free(&text);
    return NULL;
}
