#include "ingest/symbols/dwarf_locals.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SCOPES_MAX = 64,     /* blocks and inlined calls inside each other */
    STEPS_MAX = 1 << 16, /* DIEs of one search */
    MEMBERS_MAX = 16,    /* types inside each other */
    POINTER_BYTES = 8,
};

struct local_search {
    Dwarf_Addr pc;
    Dwarf_Attribute *frame_base;
    const struct frame_place *place;
    struct dwarf_local *local;
    Dwarf_Die variable;
    int steps;
    bool is_found;
};

/* A register's value, from the canonical frame address. bp is that of a function with a plain frame pointer: what else uses it as a frame base has one. */
static bool register_value(const struct local_search *search, int number, int64_t *value) {
    enum { BP = 6, SP = 7 };
    if (number != BP && number != SP) return false;
    *value = number == BP ? -2 * POINTER_BYTES : -(int64_t)search->place->frame_size;
    return true;
}

static bool frame_base(const struct local_search *search, int64_t *value) {
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_getlocation_addr(search->frame_base, search->pc, &ops, &count, 1) != 1 || count < 1) return false;
    *value = 0;
    if (ops->atom == DW_OP_call_frame_cfa && count == 1) return true;
    if (ops->atom == DW_OP_call_frame_cfa && count == 3 && ops[1].atom == DW_OP_consts && ops[2].atom == DW_OP_plus) {
        *value = (int64_t)ops[1].number; /* rustc */
        return true;
    }
    return count == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31 &&
           register_value(search, ops->atom - DW_OP_reg0, value);
}

/* Where the variable begins, from the canonical frame address. */
static bool variable_start(const struct local_search *search, Dwarf_Die *die, int64_t *start) {
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr(die, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, search->pc, &ops, &count, 1) != 1 || count != 1)
        return false;
    bool is_known = ops->atom == DW_OP_fbreg ? frame_base(search, start)
                    : ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31
                        ? register_value(search, ops->atom - DW_OP_breg0, start)
                        : false;
    *start += is_known ? (int64_t)ops->number : 0;
    return is_known;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type) {
    Dwarf_Attribute attribute;
    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) != NULL;
}

/* Bytes of an object; 0: unknown. */
static uint64_t object_size(Dwarf_Die *die) {
    Dwarf_Die type;
    Dwarf_Word size;
    return type_of(die, &type) && dwarf_aggregate_size(&type, &size) == 0 ? size : 0;
}

static void look_at_variable(struct local_search *search, Dwarf_Die *die) {
    int64_t start = 0;
    if (!variable_start(search, die, &start)) return;
    /* clang describes a class of a library where that is compiled: then its size is not known here, but at least a byte. */
    uint64_t size = object_size(die), offset = (uint64_t)(search->place->from_frame - start);
    if (search->place->from_frame < start || offset >= (size ? size : 1)) return;
    search->variable = *die;
    search->local->offset = offset;
    search->is_found = true;
}

/* What an inner scope has is found last, and stands. */
static void search_scope(struct local_search *search, Dwarf_Die *scope, Dwarf_Die *function, int depth) {
    Dwarf_Die die;
    const void *last = NULL;
    if (depth > SCOPES_MAX || dwarf_child(scope, &die) != 0) return;
    do {
        if (die.addr <= last || search->steps++ > STEPS_MAX) return; /* forwards alone, as in every sound file */
        last = die.addr;
        int tag = dwarf_tag(&die);
        bool was_found = search->is_found;
        search->is_found = false;
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
            look_at_variable(search, &die);
            if (search->is_found) search->local->function = *function;
        } else if (tag == DW_TAG_lexical_block && dwarf_haspc(&die, search->pc) == 1) {
            search_scope(search, &die, function, depth + 1);
        } else if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&die, search->pc) == 1) {
            search_scope(search, &die, &die, depth + 1);
        }
        search->is_found = search->is_found || was_found;
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* The member of a class, of it or of what it is derived from, at `*offset`, which becomes the offset in it. False: there is none, or the class is not of the
 * program: a name that begins with `_` is of the library. */
static bool find_member(Dwarf_Die *class, Dwarf_Die *member, uint64_t *offset) {
    Dwarf_Die die;
    if (dwarf_child(class, &die) != 0) return false;
    int steps = 0;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word at;
        int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || steps++ > 4096) continue;
        if (dwarf_formudata(dwarf_attr_integrate(&die, DW_AT_data_member_location, &attribute), &at) != 0) continue;
        if (*offset < at || *offset - at >= object_size(&die)) continue;
        *member = die;
        *offset -= at;
        return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* Whether the type is one of the C library, by the name that the program calls it. */
static bool is_of_library(Dwarf_Die *type) {
    const char *name = dwarf_diename(type);
    return name && (*name == '_' || strncmp(name, "pthread_", 8) == 0);
}

/* The element of an array at `*offset`, which becomes the offset in it. */
static bool add_index(struct dwarf_local *local, Dwarf_Die *array, uint64_t *offset) {
    uint64_t size = object_size(array), length = strlen(local->path);
    if (!size || length + 24 > sizeof local->path) return false;
    snprintf(local->path + length, sizeof local->path - length, "[%" PRIu64 "]", *offset / size);
    *offset %= size;
    local->member_offset = *offset;
    return true;
}

static void add_members(struct dwarf_local *local, Dwarf_Die *variable) {
    Dwarf_Die object = *variable, type, peeled, member;
    uint64_t offset = local->offset;
    for (int depth = 0; depth < MEMBERS_MAX && type_of(&object, &type) && !is_of_library(&type); depth++) {
        size_t size = strlen(local->path);
        if (dwarf_peel_type(&type, &peeled) != 0) return;
        int tag = dwarf_tag(&peeled);
        object = peeled;
        if (tag == DW_TAG_array_type && add_index(local, &peeled, &offset)) continue;
        if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type) || !find_member(&peeled, &member, &offset))
            return;
        const char *name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : "";
        if (!name || *name == '_' || size + strlen(name) + 2 > sizeof local->path) return;
        if (*name) {
            snprintf(local->path + size, sizeof local->path - size, ".%s", name);
            local->member_offset = offset;
        }
        object = member;
    }
}

/* The file of the declaration; libdw takes DWARF 5's number 0, the first file, for none. */
static const char *declared_in(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t count;
    Dwarf_Die unit;
    const char *file = dwarf_decl_file(die);
    if (file || dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &number) != 0) return file;
    if (!dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL)) return NULL;
    return dwarf_getsrcfiles(&unit, &files, &count) == 0 && number < count ? dwarf_filesrc(files, number, NULL, NULL)
                                                                           : NULL;
}

static bool has_members_by_name(Dwarf_Die *function) {
    Dwarf_Die unit;
    if (!dwarf_diecu(function, &unit, NULL, NULL)) return false;
    return dwarf_srclang(&unit) != DW_LANG_Rust; /* its mutex is a structure like those of the program */
}

bool dwarf_local_find(Dwarf_Die *function, Dwarf_Addr pc, const struct frame_place *place, struct dwarf_local *local) {
    Dwarf_Attribute base;
    *local = (struct dwarf_local){.function = *function};
    struct local_search search = {.pc = pc, .place = place, .local = local};
    search.frame_base = dwarf_attr_integrate(function, DW_AT_frame_base, &base);
    if (!search.frame_base) return false;
    search_scope(&search, function, function, 0);
    if (!search.is_found) return false;
    Dwarf_Attribute name;
    local->name = dwarf_formstring(dwarf_attr_integrate(&search.variable, DW_AT_name, &name));
    local->file = declared_in(&search.variable);
    if (dwarf_decl_line(&search.variable, &local->line) != 0) local->line = 0;
    local->member_offset = local->offset;
    if (has_members_by_name(function)) add_members(local, &search.variable);
    return local->name != NULL;
}
