#include "ingest/shim/stacks/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/stacks/unwind.h"

static struct segment_module *chunk_modules(struct chunk *chunk) {
    return chunk_body(chunk);
}

static uint32_t hash_name(const char *name) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    while (*name)
        hash = (hash ^ (uint8_t)*name++) * 16777619u;
    return hash;
}

/* Whether the module is in the list. A module of the list that overlaps the new one was unloaded: its epoch ends, and
 * with it the meaning of the addresses in older stacks. */
static bool is_noted(uint64_t low, uint64_t high, uint64_t bias, uint32_t name_hash) {
    for (uint32_t c = 0; c < process->module_chunk_count; c++) {
        struct segment_module *modules = chunk_modules(process->module_chunks[c]);
        for (uint32_t i = 0; i < load_relaxed(&process->module_chunks[c]->count); i++) {
            if (load_relaxed(&modules[i].epoch_end) || high <= modules[i].low || low >= modules[i].high) continue;
            if (modules[i].low == low && modules[i].bias == bias && process->module_names[c][i] == name_hash)
                return true;
            store_release(&process->epoch, process->epoch + 1);
            store_release(&modules[i].epoch_end, process->epoch);
            rules_forget(modules[i].low, modules[i].high);
        }
    }
    return false;
}

static struct segment_module *new_module(void) {
    struct chunk *chunk = process->module_chunk;
    if (!chunk || load_relaxed(&chunk->count) == MODULES_PER_CHUNK) {
        if (process->module_chunk_count == MODULE_CHUNKS) return NULL;
        chunk = chunk_new(MODULES_PER_CHUNK * sizeof(struct segment_module));
        if (!chunk) return NULL;
        chunk_publish(chunk, CHUNK_MODULES);
        process->module_chunk = process->module_chunks[process->module_chunk_count++] = chunk;
    }
    return &chunk_modules(chunk)[load_relaxed(&chunk->count)];
}

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

void module_note(const struct dl_find_object *object) {
    uint64_t low = (uintptr_t)object->dlfo_map_start, bias = object->dlfo_link_map->l_addr;
    uint64_t high = (uintptr_t)object->dlfo_map_end;
    uint32_t name_hash = hash_name(object->dlfo_link_map->l_name);
    if (is_noted(low, high, bias, name_hash)) return;
    struct segment_module *module = new_module();
    if (!module) return;
    module->low = low;
    module->high = high;
    module->bias = bias;
    module->epoch_start = process->epoch;
    copy_path(object->dlfo_link_map->l_name, module);
    read_notes(object, module);
    struct chunk *chunk = process->module_chunk;
    uint32_t count = load_relaxed(&chunk->count);
    process->module_names[process->module_chunk_count - 1][count] = name_hash;
    store_release(&chunk->count, count + 1);
}

/* After a dlclose: the rules of unloaded code must not be used for code that is loaded there later. */
static COLD void forget_unloaded(void) {
    struct dl_find_object object;
    process_lock();
    for (uint32_t c = 0; c < process->module_chunk_count; c++) {
        struct segment_module *modules = chunk_modules(process->module_chunks[c]);
        for (uint32_t i = 0; i < load_relaxed(&process->module_chunks[c]->count); i++) {
            bool there = _dl_find_object((void *)(uintptr_t)modules[i].low, &object) == 0 &&
                         (uintptr_t)object.dlfo_map_start == modules[i].low;
            if (!there) rules_forget(modules[i].low, modules[i].high);
        }
    }
    process_unlock();
}

HOOK int dlclose(void *handle) {
    int result = real.dlclose(handle);
    struct thread *thread = thread_enter();
    if (thread) {
        RECORD(thread, forget_unloaded());
        thread_leave(thread);
    }
    return result;
}
