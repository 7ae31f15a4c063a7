#include "ingest/shim/core/slots.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "ingest/shim/core/atomic.h"
#include "ingest/shim/core/real.h"

/* By this the injector opens the library (ingest/attach/enter.c). No other program writes the path like that, so the loader takes no
 * later file of the same number for ours. */
static const char LATE_NAME[] = "/proc/self//fd//";

enum {
    PAGE = 4096,
    HOOKS_MOST = 512,
    HOOK_BUCKETS = 1024, /* a power of 2 */
    SLOTS_FIRST = 4096,
    FOREIGN_MOST = 32,
};

struct hook {
    const char *name;
    uint64_t function, replaced; /* ours, and what it stands for; 0: not there */
};

struct changed_slot {
    uint64_t *slot;
    uint64_t was, is;
    uint64_t module; /* where its dynamic section is: with the slot it tells whether the module is still there */
};

/* These stay true across a fork: a child has the parent's slots, and may be left by itself. */
static const struct link_map *own;
static bool late;
static struct hook hooks[HOOKS_MOST];
static uint16_t buckets[HOOK_BUCKETS]; /* index + 1 */
static size_t hook_count;
static struct changed_slot *changed;
static size_t changed_count, changed_room;

static void find_hooks(void);

bool is_late(void) {
    return late;
}

void late_find(void) {
    struct dl_find_object found;
    if (own || _dl_find_object((void *)(uintptr_t)late_find, &found) != 0) return;
    own = found.dlfo_link_map;
    late = own->l_name && strncmp(own->l_name, LATE_NAME, sizeof LATE_NAME - 1) == 0;
    if (late) find_hooks();
}

/* --- modules ---------------------------------------------------------------------------------------------------- */

struct slot_module {
    uint64_t base, low, high;               /* what the loader added; its addresses */
    uint64_t read_only_low, read_only_high; /* pages that are read-only once they are relocated */
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * lazy, *other;
    size_t lazy_size, other_size; /* bytes */
    const ElfW(Half) * versions;  /* NULL: it has none */
    const ElfW(Verneed) * needed;
    const uint32_t *hash;
};

/* The loader adds the base to most addresses in place; not to those of the vdso. */
static const void *at(const struct slot_module *module, uint64_t value) {
    return (const void *)(uintptr_t)(value < module->base ? value + module->base : value);
}

static void read_entry(struct slot_module *module, const ElfW(Dyn) * entry) {
    switch (entry->d_tag) {
    case DT_SYMTAB: module->symbols = at(module, entry->d_un.d_ptr); break;
    case DT_STRTAB: module->strings = at(module, entry->d_un.d_ptr); break;
    case DT_JMPREL: module->lazy = at(module, entry->d_un.d_ptr); break;
    case DT_PLTRELSZ: module->lazy_size = entry->d_un.d_val; break;
    case DT_RELA: module->other = at(module, entry->d_un.d_ptr); break;
    case DT_RELASZ: module->other_size = entry->d_un.d_val; break;
    case DT_VERSYM: module->versions = at(module, entry->d_un.d_ptr); break;
    case DT_VERNEED: module->needed = at(module, entry->d_un.d_ptr); break;
    case DT_GNU_HASH: module->hash = at(module, entry->d_un.d_ptr); break;
    default: break;
    }
}

static bool read_dynamic(struct slot_module *module, const ElfW(Dyn) * dynamic) {
    module->dynamic = dynamic;
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        read_entry(module, entry);
    return module->symbols && module->strings;
}

static bool read_module(struct slot_module *module, const struct dl_phdr_info *info) {
    *module = (struct slot_module){.base = info->dlpi_addr, .low = UINT64_MAX};
    const ElfW(Dyn) *dynamic = NULL;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t low = module->base + part->p_vaddr, high = low + part->p_memsz;
        if (part->p_type == PT_DYNAMIC) dynamic = (const void *)(uintptr_t)low;
        if (part->p_type == PT_LOAD && low < module->low) module->low = low;
        if (part->p_type == PT_LOAD && high > module->high) module->high = high;
        if (part->p_type != PT_GNU_RELRO) continue;
        module->read_only_low = low & ~(uint64_t)(PAGE - 1); /* as the loader rounds it */
        module->read_only_high = high & ~(uint64_t)(PAGE - 1);
    }
    return dynamic && read_dynamic(module, dynamic);
}

/* --- hooks ------------------------------------------------------------------------------------------------------ */

static uint32_t hash_name(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static struct hook *find_hook(const char *name) {
    for (uint32_t bucket = hash_name(name) % HOOK_BUCKETS;; bucket = (bucket + 1) % HOOK_BUCKETS) {
        if (!buckets[bucket]) return NULL;
        struct hook *hook = &hooks[buckets[bucket] - 1];
        if (strcmp(hook->name, name) == 0) return hook;
    }
}

void *late_hook(const char *name) {
    const struct hook *hook = find_hook(name);
    return hook ? (void *)(uintptr_t)hook->function : NULL;
}

/* The C library has these in two versions that do not go together; a program of today has the newer one. */
static bool has_versions(const char *name) {
    return strcmp(name, "pthread_cond_wait") == 0 || strcmp(name, "pthread_cond_timedwait") == 0 ||
           strcmp(name, "pthread_cond_signal") == 0 || strcmp(name, "pthread_cond_broadcast") == 0;
}
#define COND_VERSION "GLIBC_2.3.2"

static void *look_up_in(void *handle, const char *name) {
    return has_versions(name) ? dlvsym(handle, name, COND_VERSION) : dlsym(handle, name);
}

/* A program that is not position-independent has an address of its own for a function that it points at: a stub that goes through one of
 * the slots that are to be changed. */
static bool is_stub(void *function) {
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol && symbol->st_shndx == SHN_UNDEF;
}

static bool is_own(const void *function) {
    struct dl_find_object found;
    return _dl_find_object((void *)(uintptr_t)function, &found) == 0 && found.dlfo_link_map == own;
}

static void *look_up_function(const char *name) {
    void *found = look_up_in(RTLD_DEFAULT, name);
    if (found && is_stub(found)) {
        void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); /* layers: NOLOAD only finds what is loaded */
        found = libc ? look_up_in(libc, name) : NULL;
    }
    return found && !is_own(found) ? found : NULL;
}

/* Each look-up takes the loader's lock, which others may hold: at load it is ours already, and what was found then is kept. */
void *late_function(const char *name) {
    struct hook *hook = find_hook(name);
    if (hook && hook->replaced) return (void *)(uintptr_t)hook->replaced;
    void *found = look_up_function(name);
    if (hook) hook->replaced = (uintptr_t)found;
    return found;
}

/* The number of symbols, from the chains of the table of hashes. */
static size_t count_symbols(const uint32_t *hash) {
    uint32_t bucket_count = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
    const uint32_t *starts = hash + 4 + bloom_words * 2, *chains = starts + bucket_count;
    for (uint32_t i = 0; i < bucket_count; i++)
        if (starts[i] > last) last = starts[i];
    if (last < first) return first;
    while (!(chains[last - first] & 1))
        last++;
    return last + 1;
}

static void add_hook(const char *name, uint64_t function) {
    static const char api[] = "clear_rt_";
    if (strncmp(name, api, sizeof api - 1) == 0 || hook_count == HOOKS_MOST || find_hook(name)) return;
    uint32_t bucket = hash_name(name) % HOOK_BUCKETS;
    while (buckets[bucket])
        bucket = (bucket + 1) % HOOK_BUCKETS;
    hooks[hook_count] = (struct hook){.name = name, .function = function};
    buckets[bucket] = (uint16_t)++hook_count;
}

/* What the library exports is what it hooks. */
static void find_hooks(void) {
    struct slot_module module = {.base = own->l_addr};
    if (!read_dynamic(&module, own->l_ld) || !module.hash) return;
    size_t count = count_symbols(module.hash);
    for (size_t i = 1; i < count; i++) {
        const ElfW(Sym) *symbol = &module.symbols[i];
        bool is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
        if (is_function) add_hook(module.strings + symbol->st_name, own->l_addr + symbol->st_value);
    }
}

/* --- one slot --------------------------------------------------------------------------------------------------- */

static bool make_room(void) {
    if (changed_count < changed_room) return true;
    size_t room = changed_room ? changed_room * 2 : SLOTS_FIRST, size = room * sizeof *changed;
    void *memory = changed_room ? real.mremap(changed, changed_room * sizeof *changed, size, MREMAP_MAYMOVE)
                                : real.mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    changed = memory;
    changed_room = room;
    return true;
}

/* The name of the version that the module asks for; NULL: none. */
static const char *version_of(const struct slot_module *module, size_t symbol) {
    uint16_t wanted = module->versions ? module->versions[symbol] & 0x7fff : 0;
    for (const ElfW(Verneed) *file = module->needed; file && wanted > 1;) {
        const ElfW(Vernaux) *version = (const void *)((const char *)file + file->vn_aux);
        for (uint16_t i = 0; i < file->vn_cnt; i++) {
            if ((version->vna_other & 0x7fff) == wanted) return module->strings + version->vna_name;
            version = (const void *)((const char *)version + version->vna_next);
        }
        if (!file->vn_next) break;
        file = (const void *)((const char *)file + file->vn_next);
    }
    return NULL;
}

/* A function that was not called yet: the slot points into the module itself, at what makes the loader look it up. */
static bool is_unbound(const struct slot_module *module, const ElfW(Rela) * relocation, const struct hook *hook,
                       uint64_t value) {
    size_t number = ELF64_R_SYM(relocation->r_info);
    if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_JUMP_SLOT || value < module->low || value >= module->high)
        return false;
    if (module->symbols[number].st_shndx != SHN_UNDEF) return false;
    const char *version = has_versions(hook->name) ? version_of(module, number) : NULL;
    return !version || strcmp(version, COND_VERSION) == 0;
}

static bool is_kind(const ElfW(Rela) * relocation) {
    uint32_t type = ELF64_R_TYPE(relocation->r_info);
    if (!ELF64_R_SYM(relocation->r_info)) return false;
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
           (type == R_X86_64_64 && relocation->r_addend == 0);
}

/* Candidates: what they are is asked when the loader's lock is free again. */
static struct {
    uint64_t function;
    const struct hook *hook;
} foreign[FOREIGN_MOST];
static size_t foreign_count;

static void note_foreign(const struct slot_module *module, uint32_t type, const struct hook *hook, uint64_t value) {
    bool is_foreign = value && type != R_X86_64_64 && value != hook->function && hook->replaced &&
                      (value < module->low || value >= module->high);
    for (size_t i = 0; i < foreign_count; i++)
        is_foreign = is_foreign && foreign[i].function != value;
    if (!is_foreign || foreign_count == FOREIGN_MOST) return;
    foreign[foreign_count].function = value;
    foreign[foreign_count++].hook = hook;
}

/* The hook that belongs into the slot; NULL: none. */
static const struct hook *hook_for(const struct slot_module *module, const ElfW(Rela) * relocation) {
    if (!is_kind(relocation)) return NULL;
    const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(relocation->r_info)];
    const struct hook *hook = find_hook(module->strings + symbol->st_name);
    const uint64_t *slot = (const uint64_t *)(uintptr_t)(module->base + relocation->r_offset);
    if (!hook || !hook->replaced || (uintptr_t)slot % sizeof *slot) return NULL;
    uint64_t value = load_relaxed(slot);
    if (value == hook->replaced || is_unbound(module, relocation, hook, value)) return hook;
    note_foreign(module, ELF64_R_TYPE(relocation->r_info), hook, value);
    return NULL;
}

static bool is_read_only(const struct slot_module *module, const uint64_t *slot) {
    uint64_t address = (uintptr_t)slot;
    return address >= module->read_only_low && address < module->read_only_high;
}

static bool protect(const struct slot_module *module, int protection) {
    return mprotect((void *)(uintptr_t)module->read_only_low, module->read_only_high - module->read_only_low,
                    protection) == 0;
}

static void change(const struct slot_module *module, const struct hook *hook, uint64_t *slot, struct slots_done *done) {
    uint64_t value = load_relaxed(slot);
    if (!make_room()) return;
    changed[changed_count] =
        (struct changed_slot){.slot = slot, .was = value, .is = hook->function, .module = (uintptr_t)module->dynamic};
    if (!compare_exchange(slot, &value, hook->function)) return;
    changed_count++;
    done->changed++;
}

/* --- a module --------------------------------------------------------------------------------------------------- */

struct slot_walk {
    struct slots_done *done;
    const struct slot_module *module;
    bool is_writable;
};

static void put_one(struct slot_walk *walk, const ElfW(Rela) * relocation) {
    const struct slot_module *module = walk->module;
    const struct hook *hook = hook_for(module, relocation);
    if (!hook) return;
    uint64_t *slot = (uint64_t *)(uintptr_t)(module->base + relocation->r_offset);
    if (is_read_only(module, slot) && !walk->is_writable) {
        walk->is_writable = protect(module, PROT_READ | PROT_WRITE);
        if (!walk->is_writable) {
            walk->done->refused++;
            return;
        }
    }
    change(module, hook, slot, walk->done);
}

static bool is_passed_over(const struct slot_module *module) {
    return module->dynamic == own->l_ld || module->base == getauxval(AT_BASE) ||
           module->low == getauxval(AT_SYSINFO_EHDR);
}

static int put_into(struct dl_phdr_info *info, size_t size, void *context) {
    struct slot_module module;
    struct slot_walk walk = {.done = context, .module = &module};
    (void)size;
    if (!read_module(&module, info) || is_passed_over(&module)) return 0;
    walk.done->modules++;
    for (size_t i = 0; i < module.lazy_size / sizeof *module.lazy; i++)
        put_one(&walk, &module.lazy[i]);
    for (size_t i = 0; i < module.other_size / sizeof *module.other; i++)
        put_one(&walk, &module.other[i]);
    if (walk.is_writable) protect(&module, PROT_READ);
    return 0;
}

static int put_back_into(struct dl_phdr_info *info, size_t size, void *context) {
    struct slot_module module;
    struct slots_done *done = context;
    bool is_writable = false;
    (void)size;
    if (!read_module(&module, info) || is_passed_over(&module)) return 0;
    done->modules++;
    for (size_t i = 0; i < changed_count; i++) {
        const struct changed_slot *slot = &changed[i];
        uint64_t value = slot->is;
        bool is_here = slot->module == (uintptr_t)module.dynamic && (uintptr_t)slot->slot >= module.low &&
                       (uintptr_t)slot->slot < module.high;
        if (!is_here || load_relaxed(slot->slot) != value) continue;
        bool is_closed = is_read_only(&module, slot->slot) && !is_writable;
        if (is_closed && !(is_writable = protect(&module, PROT_READ | PROT_WRITE))) {
            done->refused++;
            continue;
        }
        done->changed += compare_exchange(slot->slot, &value, slot->was);
    }
    if (is_writable) protect(&module, PROT_READ);
    return 0;
}

/* --- under the loader's lock ------------------------------------------------------------------------------------ */

/* dlsym calls what chooses an indirect function while it holds the lock of dlopen and dlclose; there is no other way to take it. A lock
 * for readers, as in dl_iterate_phdr, does not wait for a module that is being relocated. */
static struct {
    bool is_wanted, is_end;
    struct slots_done done;
} work;

static void nothing(void) {
}

typedef void plain_function(void);
plain_function *clear_rt_locked_work(void);
__attribute__((used)) plain_function *clear_rt_locked_work(void) {
    if (work.is_wanted)
        dl_iterate_phdr(work.is_end ? put_back_into : put_into, &work.done); /* layers: no hook calls this */
    work.is_wanted = false;
    return nothing;
}
HOOK void clear_rt_locked(void) __attribute__((ifunc("clear_rt_locked_work")));

static void find_replaced(void) {
    for (size_t i = 0; i < hook_count; i++)
        if (!hooks[i].replaced) hooks[i].replaced = (uintptr_t)late_function(hooks[i].name);
}

static struct slots_done do_locked(bool is_end) {
    work.done = (struct slots_done){0};
    work.is_end = is_end;
    work.is_wanted = true;
    void *handle = dlopen(own->l_name, RTLD_LAZY | RTLD_NOLOAD); /* layers: NOLOAD only finds what is loaded */
    if (handle) dlsym(handle, "clear_rt_locked");
    work.is_wanted = false;
    return work.done;
}

/* A function of the same module as the one that is replaced is another version of it; a stub goes through a slot of its own module. */
static bool is_really_foreign(uint64_t function, uint64_t replaced) {
    struct dl_find_object found, usual;
    if (_dl_find_object((void *)(uintptr_t)function, &found) != 0) return true; /* made at run time */
    if (found.dlfo_link_map == own || is_stub((void *)(uintptr_t)function)) return false;
    return _dl_find_object((void *)(uintptr_t)replaced, &usual) != 0 || found.dlfo_link_map != usual.dlfo_link_map;
}

void slots_foreign(struct attach_foreign into[ATTACH_FOREIGN_MOST]) {
    size_t count = 0;
    for (size_t i = 0; i < foreign_count && count < ATTACH_FOREIGN_MOST; i++) {
        if (!is_really_foreign(foreign[i].function, foreign[i].hook->replaced)) continue;
        into[count].function = foreign[i].function;
        strncpy(into[count++].name, foreign[i].hook->name, sizeof into->name - 1);
    }
}

/* The hook is replaced by what it stands for. Not where the program, or a library before us, has a function of that name: ours is not called then. */
static void pass_by(const char *name) {
    struct hook *hook = find_hook(name);
    void *next = dlsym(RTLD_NEXT, name);
    if (!hook || !next || dlsym(RTLD_DEFAULT, name) != (void *)(uintptr_t)hook->function) return;
    hook->replaced = hook->function;
    hook->function = (uintptr_t)next;
}

void slots_pass_by(const char *const *names) {
    if (!own) return;
    if (!hook_count) find_hooks();
    for (; *names; names++)
        pass_by(*names);
}

void slots_pass(void) {
    if (hook_count) dl_iterate_phdr(put_into, &(struct slots_done){0}); /* layers: no hook calls this */
}

struct slots_done slots_put(void) {
    find_replaced();
    foreign_count = 0;
    return do_locked(false);
}

struct slots_done slots_put_back(void) {
    struct slots_done done = do_locked(true);
    changed_count = 0;
    return done;
}
