#include "ingest/shim/stacks/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/stacks/python.h"
#include "ingest/shim/stacks/unwind.h"

static struct segment_module *chunk_modules(struct chunk *chunk) {
    return chunk_body(chunk);
}

static uint32_t hash_bytes(const void *bytes, size_t size, uint32_t hash) {
    for (const uint8_t *at = bytes; size; size--)
        hash = (hash ^ *at++) * 16777619u; /* FNV-1a */
    return hash;
}

static uint32_t hash_name(const char *name) {
    return hash_bytes(name, strlen(name), 2166136261u);
}

/* ---- which modules are meant in which epoch ----------------------------------------------------------------------
 *
 * An epoch is one answer to what lies where. It ends when a module is met where another one was, and comes again when the same modules
 * are back at the same places: plugins that take turns at one address need an epoch each, and not one for each turn. The entries of the
 * list never go, since stacks mean them. So a module has an entry for each span of epochs that it is meant in, and one of them is live
 * while it is loaded. Of entries that hold in one epoch no two overlap. Everything here needs process->lock. */

static struct segment_module *entry_at(uint32_t index) {
    return &chunk_modules(process->module_chunks[index / MODULES_PER_CHUNK])[index % MODULES_PER_CHUNK];
}

static bool holds(const struct known_module *known, uint32_t epoch) {
    return epoch >= known->epoch_start && (!known->epoch_end || epoch < known->epoch_end);
}

static bool overlap(const struct known_module *one, const struct known_module *other) {
    return one->high > other->low && one->low < other->high;
}

static bool is_same(const struct known_module *one, const struct known_module *other) {
    return one->low == other->low && one->high == other->high && one->bias == other->bias && one->hash == other->hash;
}

static bool conflict(const struct known_module *one, const struct known_module *other) {
    return overlap(one, other) && !is_same(one, other);
}

/* The entry of the same module that holds in the epoch; NULL: none. */
static struct known_module *find_same(const struct known_module *module, uint32_t epoch) {
    for (uint32_t i = 0; i < process->module_count; i++)
        if (is_same(&process->modules[i], module) && holds(&process->modules[i], epoch)) return &process->modules[i];
    return NULL;
}

static struct segment_module *new_entry(void) {
    struct chunk *chunk = process->module_chunk;
    if (process->module_count == MODULES_MOST) return NULL;
    if (!chunk || load_relaxed(&chunk->count) == MODULES_PER_CHUNK) {
        chunk = chunk_new(MODULES_PER_CHUNK * sizeof(struct segment_module));
        if (!chunk) return NULL;
        chunk_publish(chunk, CHUNK_MODULES);
        process->module_chunk = process->module_chunks[process->module_count / MODULES_PER_CHUNK] = chunk;
    }
    return entry_at(process->module_count);
}

/* A live entry from the epoch on that is now, to the next one in which something else lies there. False: there is no room. */
static bool add_entry(struct known_module module, const struct segment_module *described) {
    struct segment_module *entry = new_entry();
    if (!entry) return false;
    module.epoch_start = process->epoch;
    module.epoch_end = 0;
    module.is_live = true;
    for (uint32_t i = 0; i < process->module_count; i++) {
        const struct known_module *other = &process->modules[i];
        bool is_later = other->epoch_start > module.epoch_start && overlap(other, &module);
        if (is_later && (!module.epoch_end || other->epoch_start < module.epoch_end))
            module.epoch_end = other->epoch_start;
    }
    *entry = *described;
    entry->epoch_start = module.epoch_start;
    store_relaxed(&entry->epoch_end, module.epoch_end);
    process->modules[process->module_count++] = module;
    store_release(&process->module_chunk->count, load_relaxed(&process->module_chunk->count) + 1);
    return true;
}

/* Whether the epoch gives the module, and all that are loaded, their places. */
static bool fits(const struct known_module *module, uint32_t epoch) {
    for (uint32_t i = 0; i < process->module_count; i++) {
        const struct known_module *held = &process->modules[i];
        if (!holds(held, epoch)) continue;
        if (conflict(held, module)) return false;
        for (uint32_t live = 0; live < process->module_count; live++)
            if (process->modules[live].is_live && conflict(held, &process->modules[live])) return false;
    }
    return true;
}

/* What lay where the module or a loaded one is does not hold in the new epoch. */
static uint32_t new_epoch(const struct known_module *module) {
    uint32_t epoch = ++process->epochs;
    for (uint32_t i = 0; i < process->module_count; i++) {
        struct known_module *open = &process->modules[i];
        if (open->epoch_end) continue;
        bool is_replaced = conflict(open, module);
        for (uint32_t live = 0; live < process->module_count && !is_replaced; live++)
            is_replaced = process->modules[live].is_live && conflict(open, &process->modules[live]);
        if (!is_replaced) continue;
        open->epoch_end = epoch;
        store_release(&entry_at(i)->epoch_end, epoch);
    }
    return epoch;
}

static uint32_t choose_epoch(const struct known_module *module) {
    for (uint32_t i = 0; i < process->module_count; i++)
        if (is_same(&process->modules[i], module) && fits(module, process->modules[i].epoch_start))
            return process->modules[i].epoch_start;
    return new_epoch(module);
}

/* Modules that are loaded keep their names: each gets an entry that holds in the epoch, where it has none. */
static void enter_epoch(uint32_t epoch) {
    store_release(&process->epoch, epoch);
    store_release(&process->rules_generation, process->rules_generation + 1); /* ids of known walks are of an epoch */
    for (uint32_t i = 0, count = process->module_count; i < count; i++) {
        struct known_module *live = &process->modules[i], *same;
        if (!live->is_live || holds(live, epoch)) continue;
        live->is_live = false;
        if ((same = find_same(live, epoch)))
            same->is_live = true;
        else
            add_entry(*live, entry_at(i));
    }
}

static void unload(struct known_module *known) {
    known->is_live = false;
    rules_forget(known->low, known->high);
}

/* Whether something else lay there in this epoch. */
static bool ends_epoch(const struct known_module *module) {
    bool ends = false;
    for (uint32_t i = 0; i < process->module_count; i++) {
        struct known_module *known = &process->modules[i];
        if (!holds(known, process->epoch) || !conflict(known, module)) continue;
        if (known->is_live) unload(known);
        ends = true;
    }
    return ends;
}

/* ---- what a module is --------------------------------------------------------------------------------------------- */

/* The GNU build id among a module's notes. */
static void read_build_id(const uint8_t *note, size_t size, struct segment_module *module) {
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *header = (const void *)note;
        size_t name_size = (header->n_namesz + 3u) & ~3u,
               whole = sizeof *header + name_size + ((header->n_descsz + 3u) & ~3u);
        if (whole > size) return;
        const uint8_t *name = note + sizeof *header;
        if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            module->build_id_size = header->n_descsz < SEGMENT_BUILD_ID_MAX ? header->n_descsz : SEGMENT_BUILD_ID_MAX;
            memcpy(module->build_id, name + name_size, module->build_id_size);
            return;
        }
        note += whole;
        size -= whole;
    }
}

/* The file's header is the start of its first loaded segment: every linker puts it there, and the notes beside it. */
static void read_notes(const struct dl_find_object *object, struct segment_module *module) {
    const ElfW(Ehdr) *header = object->dlfo_map_start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr))) return;
    const ElfW(Phdr) *program = (const void *)((const char *)header + header->e_phoff);
    for (int i = 0; i < header->e_phnum && !module->build_id_size; i++) {
        uintptr_t at = object->dlfo_link_map->l_addr + program[i].p_vaddr;
        bool inside = at >= module->low && at + program[i].p_memsz <= module->high;
        if (program[i].p_type == PT_NOTE && inside) read_build_id((const uint8_t *)at, program[i].p_memsz, module);
    }
}

/* The loader has no name for the main program, and relative names for what was loaded by one; these are made
 * absolute. */
static void copy_path(const char *name, struct segment_module *module) {
    size_t room = sizeof module->path - 1, used = 0;
    if (!*name) name = process->segment->executable;
    if (strncmp(name, "linux-vdso", 10) == 0) {
        name = "[vdso]";
    } else if (*name != '/' && !is_sealed() && getcwd(module->path, room)) {
        used = strlen(module->path);
        if (used < room) module->path[used++] = '/';
    }
    size_t length = strnlen(name, room - used);
    memcpy(module->path + used, name, length);
    module->path[used + length] = '\0';
}

/* A live entry of this place: the usual case, at each address of a module but its first. */
static bool is_live(uint64_t low, uint64_t high, uint64_t bias, uint32_t name_hash) {
    for (uint32_t i = 0; i < process->module_count; i++) {
        const struct known_module *known = &process->modules[i];
        if (known->is_live && known->low == low && known->high == high && known->bias == bias &&
            known->name_hash == name_hash)
            return true;
    }
    return false;
}

/* There is no place for the module: the address has no name, but its rule must go like others when the module does. */
static void pass_over(const struct known_module *module) {
    struct known_module *all = &process->nameless;
    fetch_add_relaxed(&process->segment->nameless_addresses, 1);
    if (!all->high || module->low < all->low) all->low = module->low;
    if (module->high > all->high) all->high = module->high;
}

void module_note(const struct dl_find_object *object) {
    uint64_t low = (uintptr_t)object->dlfo_map_start, bias = object->dlfo_link_map->l_addr;
    uint64_t high = (uintptr_t)object->dlfo_map_end;
    uint32_t name_hash = hash_name(object->dlfo_link_map->l_name);
    if (is_live(low, high, bias, name_hash)) return;
    struct segment_module described = {.low = low, .high = high, .bias = bias};
    copy_path(object->dlfo_link_map->l_name, &described);
    read_notes(object, &described);
    struct known_module module = {.low = low, .high = high, .bias = bias, .name_hash = name_hash};
    module.hash = hash_bytes(described.build_id, described.build_id_size, name_hash);
    if (ends_epoch(&module)) enter_epoch(choose_epoch(&module));
    struct known_module *same = find_same(&module, process->epoch);
    if (same)
        same->is_live = true;
    else if (!add_entry(module, &described))
        pass_over(&module);
    python_module(object->dlfo_link_map);
}

/* After a dlclose: the rules of unloaded code must not be used for code that is loaded there later. */
static COLD void forget_unloaded(void) {
    struct dl_find_object object;
    process_lock();
    for (uint32_t i = 0; i < process->module_count; i++) {
        struct known_module *known = &process->modules[i];
        if (!known->is_live) continue;
        bool there = _dl_find_object((void *)(uintptr_t)known->low, &object) == 0 &&
                     (uintptr_t)object.dlfo_map_start == known->low;
        if (!there) unload(known);
    }
    if (process->nameless.high) unload(&process->nameless);
    process->nameless.high = 0;
    process_unlock();
}

HOOK int dlclose(void *handle) {
    python_pause();
    int result = real.dlclose(handle);
    struct thread *thread = thread_enter();
    if (thread) {
        RECORD(thread, forget_unloaded());
        thread_leave(thread);
    }
    python_go_on();
    return result;
}
