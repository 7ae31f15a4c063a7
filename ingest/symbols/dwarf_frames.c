#include "ingest/symbols/dwarf_frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "ingest/symbols/foreign_elf.h"

enum {
    NESTING_MAX = 256,
    FIRST_FUNCTIONS = 64,
    QUALIFIED_MAX = 1 << 16,       /* bytes of one name with its scopes */
    QUALIFIED_ALL_MAX = 256 << 20, /* of all of a file */
    STEPS_MAX = 1 << 24,           /* to index a file: 1 to 2 s, and 512 MiB; Chromium has some millions of functions */
    LOOKUP_STEPS_MAX = 1 << 28,    /* of all look-ups in a file: half a minute */
};

struct dwarf_unit {
    Dwarf_CU *cu;
    Dwarf_Die die;           /* the unit with the functions: of the split file where there is one */
    struct ranges functions; /* index into `entries` */
    Dwarf_Die *entries;
    size_t count, capacity;
    const void *walked; /* the DIE that the walk was at last */
    bool is_indexed, has_scopes;
};

void dwarf_frames_open(struct dwarf_frames *frames, Dwarf *dwarf, Dwarf_Addr bias, const char *path,
                       const struct ranges *code) {
    *frames = (struct dwarf_frames){.dwarf = dwarf, .bias = bias, .path = path, .code = code};
}

void dwarf_frames_close(struct dwarf_frames *frames) {
    for (size_t i = 0; i < frames->unit_count; i++) {
        ranges_free(&frames->units[i].functions);
        free(frames->units[i].entries);
    }
    for (size_t i = 0; i < frames->qualified.count; i++)
        free((char *)(intptr_t)frames->qualified.entries[i].value);
    map_free(&frames->qualified);
    free(frames->units);
    ranges_free(&frames->ranges);
    *frames = (struct dwarf_frames){0};
}

/* Adds the code of a DIE. A function that the linker dropped still has DWARF, with addresses close to 0, where no code
 * is. */
static void add_code(struct dwarf_frames *frames, struct ranges *ranges, Dwarf_Die *die, size_t index) {
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while (frames->steps < STEPS_MAX && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0 &&
           ++frames->steps)
        if (ranges_find(frames->code, start + frames->bias)) ranges_add(ranges, start, end, index);
}

static void read_units(struct dwarf_frames *frames) {
    if (frames->has_units_read) return;
    frames->has_units_read = true;
    size_t capacity = 0;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    while (frames->dwarf && dwarf_get_units(frames->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
        int tag = dwarf_tag(&die);
        if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
        size_t before = frames->ranges.count;
        add_code(frames, &frames->ranges, &die, frames->unit_count);
        if (frames->ranges.count == before) continue;
        if (frames->unit_count == capacity) {
            capacity = capacity ? capacity * 2 : FIRST_FUNCTIONS;
            frames->units = xrealloc(frames->units, capacity * sizeof *frames->units);
        }
        frames->units[frames->unit_count++] = (struct dwarf_unit){.cu = cu, .die = die};
    }
    ranges_sort(&frames->ranges);
}

static void add_function(struct dwarf_frames *frames, struct dwarf_unit *unit, Dwarf_Die *die) {
    size_t before = unit->functions.count;
    add_code(frames, &unit->functions, die, unit->count);
    if (unit->functions.count == before) return; /* a declaration, or always inlined */
    if (unit->count == unit->capacity) {
        unit->capacity = unit->capacity ? unit->capacity * 2 : FIRST_FUNCTIONS;
        unit->entries = xrealloc(unit->entries, unit->capacity * sizeof *unit->entries);
    }
    unit->entries[unit->count++] = *die;
}

static bool has_linkage_name(Dwarf_Die *die) {
    return dwarf_hasattr_integrate(die, DW_AT_linkage_name) || dwarf_hasattr_integrate(die, DW_AT_MIPS_linkage_name);
}

/* g++ gives no linkage name to functions with a local type in their name, such as std::sort with a lambda. If they are
 * inlined they have no symbol either, so their scopes are kept: "std::sort<...>" and not "sort<...>". */
static void add_qualified(struct dwarf_frames *frames, Dwarf_Die *die, const struct buffer *scope) {
    const char *name = dwarf_diename(die);
    if (!scope->size || !name || has_linkage_name(die)) return;
    size_t size = scope->size + strlen(name);
    if (size > QUALIFIED_MAX || frames->qualified_bytes + size > QUALIFIED_ALL_MAX) return;
    bool added;
    struct map_entry *entry = map_put(&frames->qualified, &die->addr, sizeof die->addr, &added);
    if (!added) return;
    frames->qualified_bytes += size;
    entry->value = (intptr_t)xasprintf("%s%s", buffer_text(scope), name);
}

static void add_functions(struct dwarf_frames *frames, struct dwarf_unit *unit, Dwarf_Die *parent, struct buffer *scope,
                          int depth);

static void add_scope(struct dwarf_frames *frames, struct dwarf_unit *unit, Dwarf_Die *die, struct buffer *scope,
                      int depth) {
    int tag = dwarf_tag(die);
    const char *name = dwarf_diename(die);
    size_t before = scope->size;
    if (tag != DW_TAG_lexical_block && unit->has_scopes && before <= QUALIFIED_MAX) {
        buffer_add_text(scope, name ? name : tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)");
        buffer_add_text(scope, "::");
    }
    add_functions(frames, unit, die, scope, depth + 1);
    scope->size = before;
    if (scope->data) scope->data[before] = '\0';
}

/* Functions with code among the children of a DIE, at any depth: C++ and Rust put them into namespaces and types,
 * GNU C, D and Ada into other functions and their blocks. */
static void add_functions(struct dwarf_frames *frames, struct dwarf_unit *unit, Dwarf_Die *parent, struct buffer *scope,
                          int depth) {
    Dwarf_Die die;
    if (depth > NESTING_MAX || dwarf_child(parent, &die) != 0) return;
    do {
        if (die.addr <= unit->walked) return; /* a sibling that is a child of one before: it was visited */
        unit->walked = die.addr;
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_function(frames, unit, &die);
            if (unit->has_scopes) add_qualified(frames, &die, scope);
            /* fall through */
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
        case DW_TAG_lexical_block: add_scope(frames, unit, &die, scope, depth); break;
        default: break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Languages in which a name needs its scopes. */
static bool has_scopes(Dwarf_Die *unit) {
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_Rust:
    case DW_LANG_D: return true;
    default: return false;
    }
}

static const char *attribute_text(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* The functions of a unit may be in another file, which it names. */
static void open_split(const struct dwarf_frames *frames, struct dwarf_unit *unit) {
    Dwarf_Die split;
    uint8_t type;
    if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0 || type != DW_UT_skeleton) return;
    const char *name = attribute_text(&unit->die, DW_AT_dwo_name);
    if (!name) name = attribute_text(&unit->die, DW_AT_GNU_dwo_name);
    if (!name || !foreign_elf_may_open(frames->path, name, attribute_text(&unit->die, DW_AT_comp_dir))) return;
    if (dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.addr) unit->die = split;
}

static void index_unit(struct dwarf_frames *frames, struct dwarf_unit *unit) {
    if (unit->is_indexed) return;
    unit->is_indexed = true;
    open_split(frames, unit);
    unit->has_scopes = has_scopes(&unit->die);
    struct buffer scope = {0};
    add_functions(frames, unit, &unit->die, &scope, 0);
    buffer_free(&scope);
    ranges_sort(&unit->functions);
}

/* Is the address in the code of a DIE? */
static bool has_address(struct dwarf_frames *frames, Dwarf_Die *die, Dwarf_Addr address) {
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while (frames->lookup_steps++ < LOOKUP_STEPS_MAX && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        if (address >= start && address < end) return true;
    return false;
}

/* The calls inlined into each other at `address` inside a DIE, outermost first. */
static size_t find_inlined(struct dwarf_frames *frames, Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *out,
                           size_t room) {
    size_t count = 0;
    Dwarf_Die at = *parent, die;
    for (int depth = 0; depth < NESTING_MAX && count < room && dwarf_child(&at, &die) == 0; depth++) {
        bool is_found = false;
        do {
            int tag = dwarf_tag(&die);
            if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block)
                is_found = has_address(frames, &die, address);
            if (is_found && tag == DW_TAG_inlined_subroutine) out[count++] = die;
        } while (!is_found && frames->lookup_steps++ < LOOKUP_STEPS_MAX && dwarf_siblingof(&die, &die) == 0);
        if (!is_found) break;
        at = die;
    }
    return count;
}

static int attribute_number(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 && value <= INT32_MAX ? (int)value : 0;
}

/* The name with its scopes, or NULL. The scopes are those of the declaration, to which an inlined call refers through
 * its abstract instance. */
static const char *qualified_name(const struct dwarf_frames *frames, const Dwarf_Die *die) {
    Dwarf_Die at = *die;
    for (int step = 0; step < 8; step++) {
        const struct map_entry *entry = map_find(&frames->qualified, &at.addr, sizeof at.addr);
        if (entry) return (const char *)(intptr_t)entry->value;
        Dwarf_Attribute reference;
        if (!dwarf_attr(&at, DW_AT_abstract_origin, &reference) && !dwarf_attr(&at, DW_AT_specification, &reference))
            return NULL;
        if (!dwarf_formref_die(&reference, &at)) return NULL;
    }
    return NULL;
}

static void name_frame(const struct dwarf_frames *frames, struct dwarf_frame *frame, Dwarf_Die *die) {
    frame->linkage_name = attribute_text(die, DW_AT_linkage_name);
    if (!frame->linkage_name) frame->linkage_name = attribute_text(die, DW_AT_MIPS_linkage_name);
    if (!frame->linkage_name) frame->name = qualified_name(frames, die);
    if (!frame->name) frame->name = attribute_text(die, DW_AT_name);
    int line;
    if (dwarf_decl_line(die, &line) == 0) frame->start_line = line;
}

/* Where `inlined` was called from: the position in the function around it. */
static void place_call(struct dwarf_frame *frame, struct dwarf_unit *unit, Dwarf_Die *inlined) {
    Dwarf_Files *files;
    size_t count;
    int number = attribute_number(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(&unit->die, &files, &count) == 0 && (size_t)number < count)
        frame->file = dwarf_filesrc(files, (size_t)number, NULL, NULL);
    frame->line = attribute_number(inlined, DW_AT_call_line);
    frame->column = attribute_number(inlined, DW_AT_call_column);
}

static void place_address(struct dwarf_frame *frame, struct dwarf_unit *unit, Dwarf_Addr address) {
    Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
    if (!line) return;
    frame->file = dwarf_linesrc(line, NULL, NULL);
    dwarf_lineno(line, &frame->line);
    dwarf_linecol(line, &frame->column);
}

size_t dwarf_frames_at(struct dwarf_frames *frames, uint64_t address, struct dwarf_frame out[DWARF_FRAMES_MAX]) {
    read_units(frames);
    out[0] = (struct dwarf_frame){0};
    const struct range *found = ranges_find(&frames->ranges, address - frames->bias);
    if (!found) return 0;
    struct dwarf_unit *unit = &frames->units[found->index];
    index_unit(frames, unit);
    place_address(&out[0], unit, address - frames->bias);
    out[0].directory = attribute_text(&unit->die, DW_AT_comp_dir);
    found = ranges_find(&unit->functions, address - frames->bias);
    if (!found) return 0;
    Dwarf_Die chain[DWARF_FRAMES_MAX] = {unit->entries[found->index]};
    size_t count = 1 + find_inlined(frames, &chain[0], address - frames->bias, chain + 1, DWARF_FRAMES_MAX - 1);
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *die = &chain[count - 1 - i];
        if (i > 0) {
            out[i] = (struct dwarf_frame){0};
            place_call(&out[i], unit, die + 1);
        }
        name_frame(frames, &out[i], die);
        out[i].directory = out[0].directory;
    }
    return count;
}

bool dwarf_frames_function(struct dwarf_frames *frames, uint64_t address, Dwarf_Die *function, Dwarf_Addr *in_dwarf) {
    read_units(frames);
    *in_dwarf = address - frames->bias;
    const struct range *found = ranges_find(&frames->ranges, *in_dwarf);
    if (!found) return false;
    struct dwarf_unit *unit = &frames->units[found->index];
    index_unit(frames, unit);
    found = ranges_find(&unit->functions, *in_dwarf);
    if (found) *function = unit->entries[found->index];
    return found != NULL;
}

void dwarf_frames_name(const struct dwarf_frames *frames, Dwarf_Die *function, struct dwarf_frame *frame) {
    *frame = (struct dwarf_frame){0};
    name_frame(frames, frame, function);
}

void dwarf_frames_files(struct dwarf_frames *frames,
                        void (*visit)(void *context, const char *path, const char *directory), void *context) {
    read_units(frames);
    for (size_t i = 0; i < frames->unit_count; i++) {
        Dwarf_Files *files;
        size_t count;
        Dwarf_Die *unit = &frames->units[i].die;
        if (dwarf_getsrcfiles(unit, &files, &count) != 0) continue;
        for (size_t file = 0; file < count; file++) {
            const char *path = dwarf_filesrc(files, file, NULL, NULL);
            if (path && *path) visit(context, path, attribute_text(unit, DW_AT_comp_dir));
        }
    }
}

bool dwarf_frames_any(struct dwarf_frames *frames) {
    read_units(frames);
    return frames->unit_count > 0;
}
