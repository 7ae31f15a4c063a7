#include "query/code/binary.h"

#include <dirent.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/elf_file.h"
#include "base/owner.h"
#include "base/path.h"

enum {
    PAGE = 4096,
    NAME_MAX_BYTES =
        1 << 16, /* a symbol with a longer name is left out: in a hostile file all of them share megabytes */
};

struct binary {
    char *path;
    int file;
    Elf *elf;
    GElf_Ehdr header;
    GElf_Phdr *segments; /* all program headers */
    size_t segment_count;
    uint64_t kernel_symbol; /* where the kernel's _stext or _text stands */
    bool has_kernel_symbol;
    struct binary_symbol *symbols;
    size_t symbol_count;
    bool has_symbols; /* they were read */
};

/* ---- one file ---- */

void binary_close(struct binary *binary) {
    if (!binary) return;
    elf_end(binary->elf);
    if (binary->file >= 0) close(binary->file);
    free(binary->segments);
    free(binary->symbols);
    free(binary->path);
    free(binary);
}

const char *binary_path(const struct binary *binary) {
    return binary->path;
}

static const char *open_elf(struct binary *binary) {
    binary->file = elf_file_open(binary->path);
    if (binary->file < 0) return errno ? strerror(errno) : "not a file";
    (void)elf_version(EV_CURRENT);
    binary->elf = elf_begin(binary->file, ELF_C_READ, NULL);
    if (!binary->elf || elf_kind(binary->elf) != ELF_K_ELF || !gelf_getehdr(binary->elf, &binary->header))
        return "not an ELF file";
    if (elf_getphdrnum(binary->elf, &binary->segment_count) != 0) return "its program headers cannot be read";
    binary->segments = xcalloc(binary->segment_count + 1, sizeof *binary->segments);
    for (size_t i = 0; i < binary->segment_count; i++)
        if (!gelf_getphdr(binary->elf, (int)i, &binary->segments[i])) return "its program headers cannot be read";
    return NULL;
}

static char *build_id_of(const struct binary *binary) {
    const void *bytes = NULL;
    struct buffer hex = {0};
    ssize_t size = dwelf_elf_gnu_build_id(binary->elf, &bytes);
    if (size > 0) buffer_add_hex(&hex, bytes, (size_t)size);
    return buffer_take(&hex);
}

/* An id that is not hex is of another kind (Go's own, a checksum of a debugger) and says nothing about the file's. */
static bool is_wanted(const struct binary *binary, const char *build_id) {
    return build_id[strspn(build_id, "0123456789abcdefABCDEF")] || elf_is_build(binary->elf, build_id);
}

static void find_kernel_symbol(struct binary *binary, const char *name) {
    size_t count;
    const struct binary_symbol *symbols = binary_symbols(binary, &count);
    for (size_t i = 0; i < count && !binary->has_kernel_symbol; i++)
        if (strcmp(symbols[i].name, name) == 0) {
            binary->has_kernel_symbol = true;
            binary->kernel_symbol = symbols[i].address;
        }
}

/* As pprof: the symbols of a file are only asked where it may be a kernel. */
static bool may_be_kernel(const char *path, const struct profile_mapping *mapping) {
    return strstr(path, "vmlinux") || mapping->start % PAGE || mapping->limit % PAGE || mapping->offset % PAGE;
}

/* NULL, and what is wrong with it is added to `why`. */
static struct binary *open_file(const char *path, const struct profile_mapping *mapping, struct buffer *why) {
    struct binary *binary = xcalloc(1, sizeof *binary);
    binary->path = xstrdup(path);
    binary->file = -1;
    const char *wrong = open_elf(binary);
    bool fits = !wrong && is_wanted(binary, mapping->build_id);
    char *build_id = wrong || fits ? NULL : build_id_of(binary);
    if (wrong)
        buffer_printf(why, "%s%s: %s", why->size ? "; " : "", path, wrong);
    else if (!fits)
        buffer_printf(why, "%s%s: another build: its build id is %s, the profile's %s", why->size ? "; " : "", path,
                      *build_id ? build_id : "none", mapping->build_id);
    free(build_id);
    if (!fits) {
        binary_close(binary);
        return NULL;
    }
    if (may_be_kernel(path, mapping)) find_kernel_symbol(binary, strstr(mapping->file, "]_text") ? "_text" : "_stext");
    return binary;
}

/* ---- where it may be ---- */

/* A place where it need not be: only a wrong build is worth a word. */
static struct binary *try_file(char *path, const struct profile_mapping *mapping, struct buffer *why) {
    struct binary *binary = access(path, R_OK) == 0 ? open_file(path, mapping, why) : NULL;
    free(path);
    return binary;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static struct binary *try_directory(char *path, const struct profile_mapping *mapping, struct buffer *why) {
    struct dirent **entries = NULL;
    struct binary *binary = NULL;
    int count = scandir(path, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        if (!binary) binary = try_file(xasprintf("%s/%s", path, entries[i]->d_name), mapping, why);
        free(entries[i]);
    }
    free(entries);
    free(path);
    return binary;
}

static struct binary *search_in(const char *directory, int size, const struct profile_mapping *mapping,
                                struct buffer *why) {
    const char *name = path_base(mapping->file), *build_id = mapping->build_id;
    struct binary *binary = NULL;
    bool has_id = *build_id && !strchr(build_id, '/'); /* it stands in a path */
    if (has_id && *name) binary = try_file(xasprintf("%.*s/%s/%s", size, directory, build_id, name), mapping, why);
    if (has_id && !binary) binary = try_directory(xasprintf("%.*s/%s", size, directory, build_id), mapping, why);
    if (has_id && *name && !binary)
        binary = try_file(xasprintf("%.*s/%s/%s", size, directory, mapping->file, build_id), mapping, why);
    if (*name && !binary) binary = try_file(xasprintf("%.*s/%s", size, directory, name), mapping, why);
    if (*name && !binary) binary = try_file(xasprintf("%.*s/%s", size, directory, mapping->file), mapping, why);
    return binary;
}

/* At the place that the profile says. */
static struct binary *open_own(const struct profile_mapping *mapping, struct buffer *why) {
    struct stat about;
    struct binary *binary = open_file(mapping->file, mapping, why);
    if (!binary || mapping->is_named || (fstat(binary->file, &about) == 0 && owner_is_trusted(about.st_uid)))
        return binary;
    buffer_printf(why, "%s%s: belongs to another user: PPROF_BINARY_PATH=%.*s shows it", why->size ? "; " : "",
                  mapping->file, (int)(path_base(mapping->file) - mapping->file), mapping->file);
    binary_close(binary);
    return NULL;
}

bool binary_is_here(const struct profile_mapping *mapping) {
    struct buffer ignored = {0};
    struct binary *binary = open_own(mapping, &ignored);
    bool is_here = binary != NULL;
    binary_close(binary);
    buffer_free(&ignored);
    return is_here;
}

struct binary *binary_open(const struct profile_mapping *mapping, char **why) {
    const char *path = getenv("PPROF_BINARY_PATH"), *home = getenv("HOME");
    char *usual = xasprintf("%s/pprof/binaries", home ? home : "");
    struct buffer wrong = {0};
    struct binary *binary = NULL;
    *why = NULL;
    if (!path || !*path) path = usual;
    for (const char *at = path; !binary && *at;) {
        size_t size = strcspn(at, ":");
        if (size) binary = search_in(at, (int)size, mapping, &wrong);
        at += size + (at[size] == ':');
    }
    free(usual);
    if (!binary && *mapping->file) binary = open_own(mapping, &wrong);
    if (!binary && !wrong.size) buffer_add_text(&wrong, "the profile does not say which binary it is of");
    if (!binary) *why = xstrdup(buffer_text(&wrong));
    buffer_free(&wrong);
    return binary;
}

/* ---- addresses: from a mapping's to the file's, by the rules of pprof's elfexec ---- */

/* The segment that holds .text. */
static const GElf_Phdr *text_segment(const struct binary *binary) {
    GElf_Shdr text;
    bool has = elf_section(binary->elf, ".text", &text) != NULL;
    for (size_t i = 0; has && i < binary->segment_count; i++) {
        const GElf_Phdr *segment = &binary->segments[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && text.sh_addr >= segment->p_vaddr &&
            text.sh_addr - segment->p_vaddr < segment->p_memsz)
            return segment;
    }
    return NULL;
}

/* Can the mapping, `size` bytes from `offset` of the file, be of that segment? The offset of an empty segment says nothing; a
 * mapping that begins before the segment's first page, or in its last page and goes on for a page more, is of another. */
static bool is_of_segment(const GElf_Phdr *segment, uint64_t offset, uint64_t size) {
    uint64_t end = segment->p_offset + segment->p_memsz, limit = offset + size, aligned = 0;
    if (segment->p_type != PT_LOAD || segment->p_filesz == 0) return false;
    if (offset >= end || segment->p_offset >= limit) return false;
    if (segment->p_offset > (segment->p_vaddr & (PAGE - 1)))
        aligned = segment->p_offset - (segment->p_vaddr & (PAGE - 1));
    if (offset < aligned) return false;
    return !(offset > segment->p_offset && end < offset + PAGE && limit >= end + PAGE);
}

/* The segment that an address of the mapping is in. *segment NULL: the file has none at all, as a kernel's module. */
static bool find_segment(const struct binary *binary, const struct profile_mapping *mapping, uint64_t address,
                         const GElf_Phdr **segment) {
    uint64_t in_file = address - mapping->start + mapping->offset;
    size_t loads = 0, fitting = 0, holding = 0;
    const GElf_Phdr *fits = NULL, *holds = NULL;
    *segment = NULL;
    if (binary->has_kernel_symbol || mapping->start >= mapping->limit || mapping->limit >> 63) {
        *segment = text_segment(binary);
        return true;
    }
    for (size_t i = 0; i < binary->segment_count; i++) {
        const GElf_Phdr *each = &binary->segments[i];
        loads += each->p_type == PT_LOAD;
        if (!is_of_segment(each, mapping->offset, mapping->limit - mapping->start)) continue;
        fits = each;
        fitting++;
        if (in_file < each->p_offset || in_file - each->p_offset >= each->p_memsz) continue;
        holds = each;
        holding++;
    }
    if (fitting == 1) *segment = fits;
    if (fitting > 1 && holding == 1) *segment = holds;
    return *segment || loads == 0;
}

/* Kernels are mapped in ways of their own: relocated, remapped to 0, or with the address of _stext as their start. */
static bool kernel_base(const struct binary *binary, const GElf_Phdr *segment, const struct profile_mapping *mapping,
                        uint64_t *base) {
    static const uint64_t powerpc_offset = 0xc000000000000000;
    uint64_t start = mapping->start, offset = mapping->offset, stext = binary->kernel_symbol;
    bool has = binary->has_kernel_symbol, is_page_of_stext = has && start % PAGE == stext % PAGE;
    if (segment->p_vaddr == start - offset) {
        *base = offset;
        return true;
    }
    *base = start - stext;
    if (start == 0 && mapping->limit != 0 && has) return true;
    if (start >= segment->p_vaddr && mapping->limit > start &&
        (offset == 0 || offset == powerpc_offset || offset == start)) {
        if (!is_page_of_stext) *base = start - segment->p_vaddr;
        return true;
    }
    return start % PAGE != 0 && is_page_of_stext;
}

bool binary_base(const struct binary *binary, const struct profile_mapping *mapping, uint64_t address, uint64_t *base) {
    const GElf_Phdr *segment;
    uint64_t start = mapping->start, limit = mapping->limit, offset = mapping->offset;
    *base = 0;
    if (address < start || address >= limit || !find_segment(binary, mapping, address, &segment)) return false;
    if (start == 0 && offset == 0 && limit == UINT64_MAX)
        return true; /* a mapping of everything: addresses in the file */
    switch (binary->header.e_type) {
    case ET_EXEC:
        if (!segment) return true;
        if (!binary->has_kernel_symbol && start > 0 && start < UINT64_C(1) << 63) break;
        if (kernel_base(binary, segment, mapping, base)) return true;
        *base = start - segment->p_vaddr;
        return start == 0 && limit != 0 && !binary->has_kernel_symbol;
    case ET_REL: *base = start; return offset == 0;
    case ET_DYN:
        *base = start - offset;
        if (!segment || kernel_base(binary, segment, mapping, base)) return true;
        break;
    default: return false;
    }
    *base = start - offset + segment->p_offset - segment->p_vaddr;
    return true;
}

/* ---- symbols ---- */

static Elf_Scn *find_section(const struct binary *binary, GElf_Word type, GElf_Shdr *about) {
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(binary->elf, section)))
        if (gelf_getshdr(section, about) && about->sh_type == type) return section;
    return NULL;
}

/* What nm calls b, d, r, v or w in either case. */
static bool is_data(const struct binary *binary, const GElf_Sym *symbol) {
    GElf_Shdr about;
    if (GELF_ST_BIND(symbol->st_info) == STB_WEAK) return true;
    if (symbol->st_shndx >= SHN_LORESERVE) return false;
    Elf_Scn *section = elf_getscn(binary->elf, symbol->st_shndx);
    return section && gelf_getshdr(section, &about) && !(about.sh_flags & SHF_EXECINSTR);
}

static int compare_symbols(const void *left, const void *right) {
    const struct binary_symbol *a = left, *b = right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return strncmp(a->name, b->name, PAGE);
}

static void read_symbols(struct binary *binary) {
    GElf_Shdr about;
    GElf_Sym symbol;
    Elf_Scn *section = find_section(binary, SHT_SYMTAB, &about);
    if (!section) section = find_section(binary, SHT_DYNSYM, &about);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    size_t count = data ? data->d_size / gelf_fsize(binary->elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
    binary->symbols = xcalloc(count + 1, sizeof *binary->symbols);
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF) continue;
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        const char *name = elf_strptr(binary->elf, about.sh_link, symbol.st_name);
        if (!name || !*name || type == STT_SECTION || type == STT_FILE) continue;
        if (strnlen(name, NAME_MAX_BYTES + 1) > NAME_MAX_BYTES) continue;
        binary->symbols[binary->symbol_count++] =
            (struct binary_symbol){symbol.st_value, symbol.st_size, name, is_data(binary, &symbol)};
    }
    if (binary->symbol_count) qsort(binary->symbols, binary->symbol_count, sizeof *binary->symbols, compare_symbols);
}

const struct binary_symbol *binary_symbols(struct binary *binary, size_t *count) {
    if (!binary->has_symbols) read_symbols(binary);
    binary->has_symbols = true;
    *count = binary->symbol_count;
    return binary->symbols;
}
