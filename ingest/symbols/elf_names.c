#include "ingest/symbols/elf_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_file.h"
#include "base/error.h"

enum {
    FIRST_SYMBOLS = 256,
    PLT_ENTRY = 16,
    GOT_SLOT = 8,
    COMPARED_MAX = 4096, /* bytes of names that are compared: those of a hostile file are megabytes, and share them */
};

struct elf_symbol {
    uint64_t low, size;
    uint64_t section_end;
    const char *name;
    uint16_t name_size, underscores; /* of its first COMPARED_MAX bytes */
    unsigned char type, binding;
    bool is_code;
};

void elf_names_open(struct elf_names *names, Dwfl_Module *module, Elf *elf) {
    *names = (struct elf_names){.module = module, .elf = elf};
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header)) continue;
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
        ranges_add(&names->code, header.p_vaddr, header.p_vaddr + header.p_memsz, i);
    }
    ranges_sort(&names->code);
}

void elf_names_close(struct elf_names *names) {
    ranges_free(&names->code);
    ranges_free(&names->sized);
    ranges_free(&names->sizeless);
    ranges_free(&names->data);
    ranges_free(&names->frames);
    ranges_free(&names->linkage);
    free(names->symbols);
    free(names->linkage_names);
    arena_free(&names->texts);
    *names = (struct elf_names){0};
}

/* Symbols. libdwfl chooses the table: .symtab of the file or of its debug file, else .gnu_debugdata and .dynsym. */

static void add_symbol(struct elf_names *names, const struct elf_symbol *symbol) {
    if (names->symbol_count == names->symbol_capacity) {
        names->symbol_capacity = names->symbol_capacity ? names->symbol_capacity * 2 : FIRST_SYMBOLS;
        names->symbols = xrealloc(names->symbols, names->symbol_capacity * sizeof *names->symbols);
    }
    names->symbols[names->symbol_count++] = *symbol;
}

/* True for what may name code or data; then the section's part of *symbol is filled in. */
static bool place_symbol(struct elf_symbol *symbol, Elf *elf, GElf_Word section, Dwarf_Addr bias) {
    if (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC && symbol->type != STT_NOTYPE &&
        symbol->type != STT_OBJECT)
        return false;
    if (section == SHN_UNDEF || section >= SHN_LORESERVE) return false;
    GElf_Shdr header;
    if (!gelf_getshdr(elf_getscn(elf, section), &header) || !(header.sh_flags & SHF_ALLOC)) return false;
    symbol->section_end = header.sh_addr + bias + header.sh_size;
    symbol->is_code = header.sh_flags & SHF_EXECINSTR;
    /* Symbols that name no code: `_end`, `_etext` and so on are behind it, `$x` and `$d` mark code and data on ARM. */
    return symbol->low < symbol->section_end && *symbol->name && *symbol->name != '$';
}

static void measure_name(struct elf_symbol *symbol) {
    symbol->name_size = (uint16_t)strnlen(symbol->name, COMPARED_MAX);
    while (symbol->underscores < symbol->name_size && symbol->name[symbol->underscores] == '_')
        symbol->underscores++;
}

static int binding_rank(const struct elf_symbol *symbol) {
    return symbol->binding == STB_GLOBAL ? 2 : symbol->binding == STB_WEAK ? 1 : 0;
}

/* By address. Of aliases the one that programs use comes last: `fork`, and not `__fork` or `__libc_fork`. The alias
 * with the fewest underscores is often weak, so binding is compared after that. */
static int compare_symbols(const void *left, const void *right) {
    const struct elf_symbol *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->underscores != b->underscores) return a->underscores > b->underscores ? -1 : 1;
    if (binding_rank(a) != binding_rank(b)) return binding_rank(a) - binding_rank(b);
    if (a->name_size != b->name_size) return a->name_size > b->name_size ? -1 : 1;
    return strncmp(b->name, a->name, COMPARED_MAX);
}

static void index_symbols(struct elf_names *names) {
    uint64_t next = UINT64_MAX; /* where the next symbol at a higher address begins */
    for (size_t i = names->symbol_count; i-- > 0;) {
        const struct elf_symbol *symbol = &names->symbols[i];
        if (i + 1 < names->symbol_count && names->symbols[i + 1].low > symbol->low) next = names->symbols[i + 1].low;
        if (!symbol->is_code) {
            if (symbol->type == STT_OBJECT)
                ranges_add(&names->data, symbol->low, symbol->low + (symbol->size ? symbol->size : 1), i);
        } else if (symbol->size) {
            ranges_add(&names->sized, symbol->low, symbol->low + symbol->size, i);
        } else {
            ranges_add(&names->sizeless, symbol->low, next < symbol->section_end ? next : symbol->section_end, i);
        }
    }
    ranges_sort(&names->sized);
    ranges_sort(&names->sizeless);
    ranges_sort(&names->data);
}

static void read_symbols(struct elf_names *names) {
    if (names->has_symbols_read) return;
    names->has_symbols_read = true;
    int count = dwfl_module_getsymtab(names->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym sym;
        GElf_Addr address;
        GElf_Word section;
        Elf *elf = NULL;
        Dwarf_Addr bias = 0;
        const char *name = dwfl_module_getsym_info(names->module, i, &sym, &address, &section, &elf, &bias);
        if (!name || !elf) continue;
        struct elf_symbol symbol = {.low = address,
                                    .size = sym.st_size,
                                    .name = name,
                                    .type = GELF_ST_TYPE(sym.st_info),
                                    .binding = GELF_ST_BIND(sym.st_info)};
        if (!place_symbol(&symbol, elf, section, bias)) continue;
        measure_name(&symbol);
        add_symbol(names, &symbol);
    }
    if (names->symbol_count) qsort(names->symbols, names->symbol_count, sizeof *names->symbols, compare_symbols);
    index_symbols(names);
}

/* Call frame information: every function that can be unwound has an entry, named or not. */

static const uint8_t *read_bytes(uint64_t *value, size_t size, const uint8_t *at, const uint8_t *end, bool is_signed) {
    if ((size_t)(end - at) < size) return NULL;
    *value = 0;
    memcpy(value, at, size); /* little-endian only, as all machines that record; in other files no start is found */
    if (is_signed && size < 8 && at[size - 1] & 0x80) *value |= UINT64_MAX << (size * 8);
    return at + size;
}

static size_t encoded_size(uint8_t encoding, bool is_64_bit) {
    switch (encoding & 0x07) {
    case DW_EH_PE_absptr: return is_64_bit ? 8 : 4;
    case DW_EH_PE_udata2: return 2;
    case DW_EH_PE_udata4: return 4;
    case DW_EH_PE_udata8: return 8;
    default: return 0; /* LEB128: never used for code addresses */
    }
}

/* How a CIE encodes its FDEs' addresses: the byte that 'R' announces among the augmentation data. */
static uint8_t address_encoding(const Dwarf_CIE *cie) {
    const uint8_t *data = cie->augmentation_data;
    const char *letter = cie->augmentation;
    if (!letter || *letter++ != 'z' || !data) return DW_EH_PE_absptr;
    const uint8_t *end = data + cie->augmentation_data_size;
    for (; *letter && data < end; letter++) {
        if (*letter == 'R') return *data;
        if (*letter == 'L') data++;
        if (*letter == 'P') data += 1 + (encoded_size(*data, true) ? encoded_size(*data, true) : (size_t)(end - data));
    }
    return DW_EH_PE_absptr;
}

static void add_frame(struct elf_names *names, const Dwarf_FDE *fde, uint8_t encoding, const Elf_Data *section,
                      uint64_t section_address, bool is_64_bit) {
    size_t size = encoded_size(encoding, is_64_bit);
    uint64_t start, length;
    const uint8_t *at = fde->start;
    if (!size || encoding & DW_EH_PE_indirect) return;
    uint64_t place = section_address + (uint64_t)(at - (const uint8_t *)section->d_buf);
    if (!(at = read_bytes(&start, size, at, fde->end, encoding & DW_EH_PE_signed))) return;
    if (!read_bytes(&length, size, at, fde->end, false)) return;
    if ((encoding & 0x70) == DW_EH_PE_pcrel) start += place;
    ranges_add(&names->frames, start, start + length, 0);
}

static void read_frame_section(struct elf_names *names, Elf_Scn *section, const GElf_Shdr *header) {
    const unsigned char *ident = (const unsigned char *)elf_getident(names->elf, NULL);
    Elf_Data *data = elf_rawdata(section, NULL);
    if (!ident || !data || !data->d_buf) return;
    bool is_64_bit = ident[EI_CLASS] == ELFCLASS64;
    Dwarf_Off offset = 0, next, cie_offset = (Dwarf_Off)-1;
    uint8_t encoding = DW_EH_PE_absptr;
    Dwarf_CFI_Entry entry, cie;
    for (; dwarf_next_cfi(ident, data, true, offset, &next, &entry) == 0; offset = next) {
        if (dwarf_cfi_cie_p(&entry)) continue;
        if (entry.fde.CIE_pointer != cie_offset) { /* FDEs of one CIE stand together */
            Dwarf_Off after;
            cie_offset = entry.fde.CIE_pointer;
            if (dwarf_next_cfi(ident, data, true, cie_offset, &after, &cie) != 0 || !dwarf_cfi_cie_p(&cie)) continue;
            encoding = address_encoding(&cie.cie);
        }
        add_frame(names, &entry.fde, encoding, data, header->sh_addr, is_64_bit);
    }
}

static void read_frames(struct elf_names *names) {
    if (names->has_frames_read) return;
    names->has_frames_read = true;
    GElf_Shdr header;
    Elf_Scn *section = elf_section(names->elf, ".eh_frame", &header);
    if (section && header.sh_type != SHT_NOBITS) read_frame_section(names, section, &header);
    ranges_sort(&names->frames);
}

/* Procedure linkage table. x86-64 only: an entry is `[endbr64] [bnd] jmp *slot(%rip)`, and the relocation of that slot
 * names the function. Other machines' entries are nameless functions. */

static const char *slot_symbol(Elf *elf, Elf_Data *symbols, size_t strings, const GElf_Rela *relocation) {
    GElf_Sym symbol;
    if (!gelf_getsym(symbols, (int)GELF_R_SYM(relocation->r_info), &symbol) || !symbol.st_name) return NULL;
    return elf_strptr(elf, strings, symbol.st_name);
}

static void add_linkage_name(struct elf_names *names, const char *name) {
    if (names->linkage_count % FIRST_SYMBOLS == 0)
        names->linkage_names =
            xrealloc(names->linkage_names, (names->linkage_count + FIRST_SYMBOLS) * sizeof *names->linkage_names);
    names->linkage_names[names->linkage_count++] = name;
}

/* Every slot that a relocation fills with a symbol's address. */
static void read_slots(struct elf_names *names, struct ranges *slots) {
    for (Elf_Scn *section = elf_nextscn(names->elf, NULL); section; section = elf_nextscn(names->elf, section)) {
        GElf_Shdr header, table;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize) continue;
        Elf_Scn *symbol_section = elf_getscn(names->elf, header.sh_link);
        Elf_Data *data = elf_getdata(section, NULL), *symbols = elf_getdata(symbol_section, NULL);
        if (!data || !symbols || !gelf_getshdr(symbol_section, &table)) continue;
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Rela relocation;
            if (!gelf_getrela(data, (int)i, &relocation)) break;
            uint64_t type = GELF_R_TYPE(relocation.r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
            const char *name = slot_symbol(names->elf, symbols, table.sh_link, &relocation);
            if (!name) continue;
            ranges_add(slots, relocation.r_offset, relocation.r_offset + GOT_SLOT, names->linkage_count);
            add_linkage_name(names, name);
        }
    }
    ranges_sort(slots);
}

static void read_linkage_section(struct elf_names *names, const char *name, const struct ranges *slots) {
    GElf_Shdr header;
    Elf_Scn *section = elf_section(names->elf, name, &header);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf) return;
    size_t step = header.sh_entsize == 8 ? 8 : PLT_ENTRY;
    const uint8_t *bytes = data->d_buf;
    for (size_t entry = 0; entry + step <= data->d_size; entry += step) {
        for (size_t at = entry; at + 6 <= entry + step; at++) {
            if (bytes[at] != 0xff || bytes[at + 1] != 0x25) continue;
            int32_t distance;
            memcpy(&distance, bytes + at + 2, sizeof distance);
            uint64_t target = header.sh_addr + at + 6 + (uint64_t)(int64_t)distance;
            const struct range *slot = ranges_find(slots, target);
            if (slot) ranges_add(&names->linkage, header.sh_addr + entry, header.sh_addr + entry + step, slot->index);
            break;
        }
    }
}

static void read_linkage(struct elf_names *names) {
    if (names->has_linkage_read) return;
    names->has_linkage_read = true;
    GElf_Ehdr header;
    if (!gelf_getehdr(names->elf, &header) || header.e_machine != EM_X86_64) return;
    struct ranges slots = {0};
    read_slots(names, &slots);
    read_linkage_section(names, ".plt", &slots);
    read_linkage_section(names, ".plt.sec", &slots);
    read_linkage_section(names, ".plt.got", &slots);
    ranges_sort(&names->linkage);
    ranges_free(&slots);
}

const char *elf_function(struct elf_names *names, uint64_t address) {
    read_symbols(names);
    const struct range *found = ranges_find(&names->sized, address);
    if (found) return names->symbols[found->index].name;
    found = ranges_find(&names->sizeless, address);
    if (!found) return NULL;
    read_frames(names);
    /* Whether no nameless function lies between the two: both have the same frame information, or both have none. */
    if (ranges_find(&names->frames, address) != ranges_find(&names->frames, found->low)) return NULL;
    return names->symbols[found->index].name;
}

const char *elf_linkage(struct elf_names *names, uint64_t address) {
    read_linkage(names);
    const struct range *found = ranges_find(&names->linkage, address);
    return found ? names->linkage_names[found->index] : NULL;
}

const char *elf_object(struct elf_names *names, uint64_t address, uint64_t *start) {
    read_symbols(names);
    const struct range *found = ranges_find(&names->data, address);
    if (!found) return NULL;
    *start = found->low;
    return names->symbols[found->index].name;
}

bool elf_function_start(struct elf_names *names, uint64_t address, uint64_t *start) {
    read_frames(names);
    const struct range *found = ranges_find(&names->frames, address);
    if (found) *start = found->low;
    return found != NULL;
}

bool elf_has_symbols(struct elf_names *names) {
    read_symbols(names);
    return names->sized.count + names->sizeless.count > 0;
}
