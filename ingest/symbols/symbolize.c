#include "ingest/symbols/symbolize.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <libiberty/demangle.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/elf_file.h"
#include "base/hex.h"
#include "base/map.h"
#include "base/path.h"
#include "ingest/symbols/debug_file.h"
#include "ingest/symbols/dwarf_frames.h"
#include "ingest/symbols/dwarf_locals.h"
#include "ingest/symbols/elf_names.h"
#include "ingest/symbols/foreign_elf.h"
#include "ingest/symbols/source_map.h"

enum { NAME_BYTES_MAX = 1 << 16 }; /* a longer name is none: in a hostile file all of them share megabytes */
enum { CUT_BUILD_ID_DIGITS = 40 }; /* recorders keep 20 bytes of a build id, padded with zeros where it is shorter */

struct symbolizer_module {
    struct symbolizer *symbolizer;
    char *path, *build_id;
    const char *basename;                                 /* within path */
    enum { AHEAD_NOT, AHEAD_WAITS, AHEAD_IS_READ } ahead; /* by the thread of symbolizer_read_ahead; under its lock */
    bool is_opened;                                       /* whether opening was tried */
    Dwfl *dwfl;                                           /* NULL: without symbols */
    struct elf_names names;
    struct dwarf_frames frames;
};

/* The thread of symbolizer_read_ahead. */
struct reader_ahead {
    pthread_t thread;
    bool was_started, is_there; /* is_there: it may still run */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_ended, is_left; /* under the lock; left: it frees the symbolizer at its end */
    struct symbolizer_module **modules;
    size_t count;
};

struct symbolizer {
    struct reader_ahead ahead;
    struct map modules;   /* "path\0build id" -> struct symbolizer_module * */
    struct map demangled; /* mangled name -> demangled text, for names that are mangled or have a suffix */
    struct map texts;     /* names made up here, kept as keys */
    struct source_map sources;
    struct symbol_frame frames[DWARF_FRAMES_MAX];
};

struct symbolizer *symbolizer_open(void) {
    /* A shorter limit than the library's 90 s for each module, for debuginfod servers that do not answer. */
    if (getenv("DEBUGINFOD_URLS")) setenv("DEBUGINFOD_TIMEOUT", "10", 0);
    return xcalloc(1, sizeof(struct symbolizer));
}

static void close_module(struct symbolizer_module *module) {
    dwarf_frames_close(&module->frames);
    elf_names_close(&module->names);
    if (module->dwfl) dwfl_end(module->dwfl);
    free(module->path);
    free(module->build_id);
    free(module);
}

static void free_symbolizer(struct symbolizer *symbolizer) {
    for (size_t i = 0; i < symbolizer->modules.count; i++)
        close_module((struct symbolizer_module *)(intptr_t)symbolizer->modules.entries[i].value);
    for (size_t i = 0; i < symbolizer->demangled.count; i++)
        free((char *)(intptr_t)symbolizer->demangled.entries[i].value);
    map_free(&symbolizer->modules);
    map_free(&symbolizer->demangled);
    map_free(&symbolizer->texts);
    source_map_free(&symbolizer->sources);
    free(symbolizer->ahead.modules);
    free(symbolizer);
}

/* Whether the thread is left alone: nobody waits for what nobody needs any more. */
static bool leave_reader(struct reader_ahead *ahead) {
    pthread_t thread = ahead->thread;
    pthread_mutex_lock(&ahead->lock);
    bool has_ended = ahead->has_ended;
    ahead->is_left = true;
    pthread_mutex_unlock(&ahead->lock);
    if (has_ended)
        pthread_join(thread, NULL);
    else
        pthread_detach(thread);
    return !has_ended;
}

void symbolizer_close(struct symbolizer *symbolizer) {
    if (!symbolizer || (symbolizer->ahead.is_there && leave_reader(&symbolizer->ahead))) return;
    free_symbolizer(symbolizer);
}

/* A text that lives as long as the symbolizer. Takes over `text`. */
static const char *keep_text(struct symbolizer *symbolizer, char *text) {
    const struct map_entry *entry = map_put(&symbolizer->texts, text, strlen(text) + 1, NULL);
    free(text);
    return entry->key;
}

struct symbolizer_module *symbolizer_module(struct symbolizer *symbolizer, const char *path, const char *build_id) {
    size_t path_size = strlen(path), size = path_size + 1 + strlen(build_id);
    char *key = xmalloc(size + 1);
    memcpy(key, path, path_size + 1);
    memcpy(key + path_size + 1, build_id, size - path_size);
    bool added;
    struct map_entry *entry = map_put(&symbolizer->modules, key, size, &added);
    free(key);
    if (!added) return (struct symbolizer_module *)(intptr_t)entry->value;
    struct symbolizer_module *module = xcalloc(1, sizeof *module);
    module->symbolizer = symbolizer;
    module->path = xstrdup(path);
    module->build_id = xstrdup(build_id);
    module->basename = path_base(module->path);
    entry->value = (intptr_t)module;
    return module;
}

/* A module is opened at the first look-up in it. */

static bool is_build(Dwfl_Module *reported, const char *wanted) {
    const unsigned char *bits = NULL;
    GElf_Addr where;
    int size = dwfl_module_build_id(reported, &bits, &where);
    return build_id_is(wanted, bits, size);
}

/* The code that the kernel maps into every process is in no file. Ours is that of all processes under this kernel, and the build id says
 * whether it is the one that is asked for. -1: there is none. */
static int open_vdso(void) {
    const ElfW(Ehdr) *header = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return -1;
    size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    int file = memfd_create("vdso", MFD_CLOEXEC);
    if (file >= 0 && write(file, header, size) != (ssize_t)size) {
        close(file);
        return -1;
    }
    return file;
}

/* The file as libdwfl's only module, at the addresses of the file itself. NULL where it is not an ELF file. */
static Dwfl_Module *report_module(Dwfl *dwfl, const char *path, const char *build_id) {
    bool is_vdso = strcmp(path, "[vdso]") == 0 && *build_id;
    int file = is_vdso ? open_vdso() : *path == '[' ? -1 : elf_file_open(path);
    if (file < 0) return NULL;
    if (!foreign_elf_is_sound(file)) {
        close(file);
        return NULL;
    }
    dwfl_report_begin(dwfl);
    Dwfl_Module *reported = dwfl_report_elf(dwfl, path, path, file, 0, true);
    if (!reported) close(file);
    return dwfl_report_end(dwfl, NULL, NULL) == 0 ? reported : NULL;
}

/* libdw looks for the shared part by itself where libdwfl did not find it. */
static bool may_read(struct symbolizer_module *module, Dwarf *dwarf) {
    const char *name;
    const void *build_id;
    return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) <= 0 || foreign_elf_may_open(module->path, name, NULL);
}

static void read_module(struct symbolizer_module *module) {
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = debug_file_find,
                                             .section_address = dwfl_offline_section_address};
    module->is_opened = true;
    module->dwfl = dwfl_begin(&callbacks);
    if (!module->dwfl) return;
    GElf_Addr elf_bias;
    Dwfl_Module *reported = report_module(module->dwfl, module->path, module->build_id);
    Elf *elf = reported ? dwfl_module_getelf(reported, &elf_bias) : NULL;
    if (!elf || !is_build(reported, module->build_id)) {
        dwfl_end(module->dwfl);
        module->dwfl = NULL;
        return;
    }
    elf_names_open(&module->names, reported, elf);
    Dwarf_Addr bias = 0;
    Dwarf *dwarf = dwfl_module_getdwarf(reported, &bias);
    if (dwarf && !may_read(module, dwarf)) dwarf = NULL;
    dwarf_frames_open(&module->frames, dwarf, bias, module->path, &module->names.code);
}

/* ---- ahead ---- */

/* The caller's, who waits for the thread where that reads it now. */
static void claim(struct symbolizer_module *module) {
    struct reader_ahead *ahead = &module->symbolizer->ahead;
    pthread_mutex_lock(&ahead->lock);
    if (module->ahead == AHEAD_WAITS) module->ahead = AHEAD_NOT;
    while (module->ahead != AHEAD_NOT)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
}

static void open_module(struct symbolizer_module *module) {
    if (module->symbolizer->ahead.is_there) claim(module);
    if (!module->is_opened) read_module(module);
}

static void give_back(struct reader_ahead *ahead, struct symbolizer_module *module) {
    pthread_mutex_lock(&ahead->lock);
    module->ahead = AHEAD_NOT;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

/* Whether the next one is still the thread's to read. */
static bool takes(struct reader_ahead *ahead, struct symbolizer_module *module) {
    pthread_mutex_lock(&ahead->lock);
    bool is_its = module->ahead == AHEAD_WAITS && !ahead->is_left;
    if (is_its) module->ahead = AHEAD_IS_READ;
    pthread_mutex_unlock(&ahead->lock);
    return is_its;
}

static void *read_ahead(void *context) {
    struct symbolizer *symbolizer = context;
    struct reader_ahead *ahead = &symbolizer->ahead;
    for (size_t i = 0; i < ahead->count; i++) {
        struct symbolizer_module *module = ahead->modules[i];
        if (!takes(ahead, module)) continue;
        read_module(module);
        if (module->dwfl) (void)dwarf_frames_any(&module->frames);
        give_back(ahead, module);
    }
    pthread_mutex_lock(&ahead->lock);
    ahead->has_ended = true;
    bool is_left = ahead->is_left;
    pthread_mutex_unlock(&ahead->lock);
    if (is_left) free_symbolizer(symbolizer);
    return NULL;
}

void symbolizer_read_ahead(struct symbolizer *symbolizer, struct symbolizer_module *const *modules, size_t count) {
    struct reader_ahead *ahead = &symbolizer->ahead;
    const char *servers = getenv("DEBUGINFOD_URLS"); /* which may take 10 s for what nobody asks for */
    sigset_t all, old;
    if (ahead->was_started || (servers && *servers)) return;
    ahead->was_started = true;
    ahead->modules = xcalloc(count + 1, sizeof(struct symbolizer_module *));
    for (size_t i = 0; i < count; i++) {
        if (modules[i]->is_opened) continue;
        modules[i]->ahead = AHEAD_WAITS;
        ahead->modules[ahead->count++] = modules[i];
    }
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    sigfillset(&all); /* signals are for the thread that was there first */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ahead->is_there = pthread_create(&ahead->thread, NULL, read_ahead, symbolizer) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Names. */

/* The first of the suffixes that compilers give to copies and parts of a function (`.isra.0`, `.cold`) and linkers to
 * versions (`@@GLIBC_2.2.5`); the end of the name where there is none. Without them all parts of a function have one
 * name. */
static size_t plain_size(const char *name) {
    static const char *const suffixes[] = {".isra.",     ".constprop.", ".part.", ".cold",
                                           ".lto_priv.", ".localalias", ".llvm."};
    size_t size = strlen(name);
    const char *version = *name ? strchr(name + 1, '@') : NULL;
    if (version) size = (size_t)(version - name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *at = *name ? strstr(name + 1, suffixes[i]) : NULL;
        if (at && (size_t)(at - name) < size) size = (size_t)(at - name);
    }
    return size;
}

char *symbol_name(const char *linked, enum symbol_form form) {
    int options = form == SYMBOL_FULL ? DMGL_PARAMS : 0;
    char *text = xstrdup(linked);
    if (form == SYMBOL_LINKED) return text;
    text[plain_size(linked)] = '\0';
    char *readable = demangle_is_mangled(text) ? demangle_name(text, options) : NULL;
    if (!readable) return text;
    free(text);
    return readable;
}

/* The readable form of a linker's name: C++ without parameter lists and return types but with template arguments (so
 * overloads have one name, and instantiations do not), Rust without hashes. It lives as long as the symbolizer, or is
 * `name` itself. */
static const char *demangle(struct symbolizer *symbolizer, const char *name) {
    size_t size = strlen(name);
    if (!demangle_is_mangled(name) && plain_size(name) == size) return name;
    bool added;
    struct map_entry *entry = map_put(&symbolizer->demangled, name, size, &added);
    if (added) entry->value = (intptr_t)symbol_name(name, SYMBOL_PLAIN);
    return (const char *)(intptr_t)entry->value;
}

static bool is_name(const char *name) {
    return name && *name && strnlen(name, NAME_BYTES_MAX + 1) <= NAME_BYTES_MAX;
}

/* The frame of an address that DWARF does not name. */
static void name_by_elf(struct symbolizer_module *module, uint64_t address, struct symbol_frame *frame) {
    struct symbolizer *symbolizer = module->symbolizer;
    const char *name = module->dwfl ? elf_function(&module->names, address) : NULL;
    if (is_name(name)) {
        frame->system_name = name;
        frame->name = demangle(symbolizer, name);
        return;
    }
    uint64_t start = address;
    if (module->dwfl && is_name(name = elf_linkage(&module->names, address))) {
        frame->system_name = keep_text(symbolizer, xasprintf("%s@plt", name));
        frame->name = keep_text(symbolizer, xasprintf("%s@plt", demangle(symbolizer, name)));
        return;
    }
    if (module->dwfl) elf_function_start(&module->names, address, &start);
    frame->name = keep_text(symbolizer, xasprintf("%s+%s", module->basename, hex_address(start).text));
    frame->system_name = frame->name;
    frame->is_made_up = true;
}

struct source_map *symbolizer_sources(struct symbolizer *symbolizer) {
    return &symbolizer->sources;
}

static const char *absolute_path(struct symbolizer *symbolizer, const char *file, const char *directory) {
    if (!*file || *file == '/' || !directory || strlen(directory) + strlen(file) >= PATH_MAX) return file;
    return keep_text(symbolizer, xasprintf("%s/%s", directory, file));
}

/* A frame in transpiled code gets the file and line of its source. */
static void map_to_source(struct symbolizer_module *module, struct symbol_frame *frame) {
    if (!*frame->file) return;
    const struct source_map_file *file =
        source_map_find_file(&module->symbolizer->sources, module->basename, frame->file);
    int at = frame->line ? frame->line : frame->start_line;
    int line = file->source ? source_file_line(file, at) : 0;
    if (!line) return;
    frame->file = file->source;
    frame->line = frame->line ? line : 0;
    frame->column = 0;
    frame->start_line = frame->start_line ? source_file_line(file, frame->start_line) : 0;
}

static void place_frame(struct symbolizer_module *module, struct symbol_frame *frame, const struct dwarf_frame *from) {
    frame->is_made_up = false;
    frame->file = absolute_path(module->symbolizer, from->file ? from->file : "", from->directory);
    frame->line = from->line;
    frame->column = from->column;
    frame->start_line = from->start_line;
    map_to_source(module, frame);
}

static void find_source(void *context, const char *path, const char *directory) {
    struct symbolizer_module *module = context;
    source_map_find_file(&module->symbolizer->sources, module->basename,
                         absolute_path(module->symbolizer, path, directory));
}

void symbolizer_find_sources(struct symbolizer_module *module) {
    open_module(module);
    if (module->dwfl) dwarf_frames_files(&module->frames, find_source, module);
}

static bool name_by_dwarf(struct symbolizer *symbolizer, struct symbol_frame *frame, const struct dwarf_frame *from) {
    const char *name = from->linkage_name ? from->linkage_name : from->name;
    if (!is_name(name)) return false;
    frame->system_name = name;
    frame->name = demangle(symbolizer, name);
    return true;
}

/* Whether the symbol of the outermost function is a better name than DWARF's. It is where C++ has no linkage name, just
 * "operator()", and where DWARF has an internal alias: libc's malloc is __GI___libc_malloc there, and must be malloc
 * whether or not libc's debug file is installed. */
static bool is_better_name(const char *symbol, const struct dwarf_frame *from, const struct symbol_frame *frame) {
    if (demangle_is_mangled(symbol)) return !from->linkage_name;
    if (demangle_is_mangled(frame->system_name)) return false;
    return strstr(frame->name, "::") || strspn(symbol, "_") < strspn(frame->system_name, "_");
}

size_t symbolize(struct symbolizer_module *module, uint64_t address, const struct symbol_frame **frames) {
    struct symbolizer *symbolizer = module->symbolizer;
    struct dwarf_frame found[DWARF_FRAMES_MAX] = {0};
    open_module(module);
    size_t count = module->dwfl ? dwarf_frames_at(&module->frames, address, found) : 0;
    for (size_t i = 0; i < count; i++) {
        struct symbol_frame *frame = &symbolizer->frames[i];
        place_frame(module, frame, &found[i]);
        if (!name_by_dwarf(symbolizer, frame, &found[i])) name_by_elf(module, address, frame);
    }
    *frames = symbolizer->frames;
    struct symbol_frame *outermost = &symbolizer->frames[count ? count - 1 : 0];
    if (count == 0) {
        place_frame(module, outermost, &found[0]);
        name_by_elf(module, address, outermost);
        return 1;
    }
    const char *symbol = elf_function(&module->names, address);
    if (is_name(symbol) && is_better_name(symbol, &found[count - 1], outermost))
        name_by_elf(module, address, outermost);
    return count;
}

const char *symbolize_data(struct symbolizer_module *module, uint64_t address, uint64_t *offset) {
    open_module(module);
    uint64_t start;
    const char *name = module->dwfl ? elf_object(&module->names, address, &start) : NULL;
    if (!is_name(name)) return NULL;
    *offset = address - start;
    return demangle(module->symbolizer, name);
}

/* By DWARF; false: it does not say which variable it is. */
static bool find_local(struct symbolizer_module *module, uint64_t address, const struct frame_place *place,
                       struct symbol_local *local) {
    struct symbolizer *symbolizer = module->symbolizer;
    struct dwarf_local found;
    struct dwarf_frame frame;
    struct symbol_frame named = {0};
    Dwarf_Die function;
    Dwarf_Addr pc;
    if (!module->dwfl || !dwarf_frames_function(&module->frames, address, &function, &pc) ||
        !dwarf_local_find(&function, pc, place, &found) || !is_name(found.name))
        return false;
    dwarf_frames_name(&module->frames, &found.function, &frame);
    if (!name_by_dwarf(symbolizer, &named, &frame)) return false;
    *local = (struct symbol_local){
        .variable = keep_text(symbolizer, xasprintf("%s%s", found.name, found.path)),
        .offset = found.member_offset,
        .function = named.name,
        .file = found.file ? found.file : "",
        .line = found.line,
    };
    return true;
}

void symbolize_local(struct symbolizer_module *module, uint64_t address, int64_t from_frame, uint64_t frame_size,
                     struct symbol_local *local) {
    const struct symbol_frame *frames;
    const struct frame_place place = {.from_frame = from_frame, .frame_size = frame_size};
    open_module(module);
    if (find_local(module, address, &place, local)) return;
    const struct symbol_frame *outermost = &module->symbolizer->frames[symbolize(module, address, &frames) - 1];
    *local = (struct symbol_local){.function = outermost->name,
                                   .file = outermost->file,
                                   .line = outermost->start_line,
                                   .is_made_up = outermost->is_made_up};
}

bool symbolizer_segment(struct symbolizer_module *module, uint64_t address, struct symbol_segment *segment) {
    open_module(module);
    const struct range *found = module->dwfl ? ranges_find(&module->names.code, address) : NULL;
    GElf_Phdr header;
    if (!found || !gelf_getphdr(module->names.elf, (int)found->index, &header)) return false;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    segment->start = header.p_vaddr & ~(page - 1);
    segment->limit = (header.p_vaddr + header.p_filesz + page - 1) & ~(page - 1);
    segment->offset = header.p_offset & ~(page - 1);
    return true;
}

/* A look-up may open the module, so const is cast away; modules themselves are never const. */

bool symbolizer_has_symbols(const struct symbolizer_module *module) {
    struct symbolizer_module *opened = (struct symbolizer_module *)module;
    open_module(opened);
    return opened->dwfl && (elf_has_symbols(&opened->names) || dwarf_frames_any(&opened->frames));
}

bool symbolizer_has_lines(const struct symbolizer_module *module) {
    struct symbolizer_module *opened = (struct symbolizer_module *)module;
    open_module(opened);
    return opened->dwfl && dwarf_frames_any(&opened->frames);
}
