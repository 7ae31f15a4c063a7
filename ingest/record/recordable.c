#include "ingest/record/recordable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPT_LINE = 256, SCRIPT_NESTING = 5 }; /* the kernel's own limits (BINPRM_BUF_SIZE, exec_binprm) */

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static char *search_path(void) {
    const char *path = getenv("PATH");
    if (path) return xstrdup(path);
    size_t size = confstr(_CS_PATH, NULL, 0);
    char *standard = xmalloc(size + 1);
    confstr(_CS_PATH, standard, size);
    return standard;
}

static bool is_executable_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

char *recordable_find(const char *name, struct error *err) {
    if (!*name) error_usage(err, "the name of the target is empty");
    if (!*name) return NULL;
    if (strchr(name, '/')) return xstrdup(name);
    char *path = search_path(), *rest = path, *found = NULL, *refused = NULL;
    for (char *folder; !found && (folder = strsep(&rest, ":"));) {
        char *file = xasprintf("%s/%s", *folder ? folder : ".", name);
        if (is_executable_file(file)) {
            found = file;
        } else if (!refused && access(file, F_OK) == 0) {
            refused = file;
        } else {
            free(file);
        }
    }
    free(path);
    if (found) {
        free(refused);
    } else if ((found = refused) == NULL) {
        if (access(name, F_OK) == 0)
            error_usage(err, "%s: not found in PATH; the one in this directory is ./%s", name, name);
        else
            error_usage(err, "%s: not found in PATH", name);
    }
    return found; /* a file that cannot be executed is explained by recordable_check */
}

/* ---- ELF --------------------------------------------------------------------------------------------------------- */

struct elf_facts {
    bool has_interpreter, is_go, dumps_itself;
    char interpreter[256];
    const char *sanitizer; /* its name; NULL for none */
};

static const struct {
    const char *library, *symbol, *name;
} sanitizers[] = {{"asan", "__asan_init", "AddressSanitizer"},
                  {"tsan", "__tsan_init", "ThreadSanitizer"},
                  {"lsan", "__lsan_init", "LeakSanitizer"},
                  {"msan", "__msan_init", "MemorySanitizer"}};
enum { SANITIZER_COUNT = sizeof sanitizers / sizeof *sanitizers };

/* "libasan.so.8" of gcc, "libclang_rt.asan-x86_64.so" of clang. */
static const char *sanitizer_library(const char *needed) {
    for (size_t i = 0; i < SANITIZER_COUNT; i++) {
        const char *rest = NULL;
        if (strncmp(needed, "lib", 3) == 0) rest = needed + 3;
        if (rest && strncmp(rest, "clang_rt.", 9) == 0) rest += 9;
        if (rest && strncmp(rest, sanitizers[i].library, 4) == 0) return sanitizers[i].name;
    }
    return NULL;
}

static void check_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct elf_facts *facts) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    for (int i = 0; data && !facts->sanitizer && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *needed = entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, entry.d_un.d_val) : NULL;
        if (needed) facts->sanitizer = sanitizer_library(needed);
    }
}

/* A sanitizer that is linked in defines its entry point; with gcc -static-libasan it is not among the dynamic symbols.
 * Local symbols come first (sh_info of them) and are skipped, because they are most of a big program's. */
static void check_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct elf_facts *facts) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = (int)header->sh_info; data && !facts->sanitizer && gelf_getsym(data, i, &symbol); i++) {
        const char *name = symbol.st_shndx == SHN_UNDEF ? NULL : elf_strptr(elf, header->sh_link, symbol.st_name);
        for (size_t s = 0; name && name[0] == '_' && name[1] == '_' && s < SANITIZER_COUNT; s++)
            if (strcmp(name, sanitizers[s].symbol) == 0) facts->sanitizer = sanitizers[s].name;
    }
}

static void check_sections(Elf *elf, struct elf_facts *facts) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header)) continue;
        if (header.sh_type == SHT_DYNAMIC) check_dynamic(elf, section, &header, facts);
        if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) check_symbols(elf, section, &header, facts);
        size_t names;
        const char *name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && (strcmp(name, ".note.go.buildid") == 0 || strcmp(name, ".go.buildinfo") == 0)) facts->is_go = true;
    }
}

static void check_segments(Elf *elf, int file, struct elf_facts *facts) {
    size_t count = 0;
    if (elf_getphdrnum(elf, &count)) return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP) continue;
        size_t size = header.p_filesz < sizeof facts->interpreter ? header.p_filesz : sizeof facts->interpreter - 1;
        facts->has_interpreter = pread(file, facts->interpreter, size, (off_t)header.p_offset) == (ssize_t)size;
    }
}

/* What perf can sample all the same; NULL: nothing is in the way. */
static const char *obstacle(const struct elf_facts *facts) {
    if (!facts->has_interpreter && facts->dumps_itself && !facts->is_go) return NULL;
    if (!facts->has_interpreter) return facts->is_go ? "a statically linked Go program" : "statically linked";
    if (strstr(facts->interpreter, "ld-musl")) return "linked with musl";
    return facts->sanitizer ? "built with a sanitizer" : NULL;
}

static int judge_facts(const struct elf_facts *facts, const char *name, struct by_perf *by_perf, struct error *err) {
    static const char instead[] = "--cpu=perf records its CPU time alone";
    const char *what = obstacle(facts);
    by_perf->is_go = facts->is_go;
    by_perf->is_outside = by_perf->takes_go && !by_perf->is_accepted && facts->is_go;
    if (!what) return 0;
    by_perf->what = what;
    by_perf->must_be_bare = facts->has_interpreter;
    if (by_perf->is_accepted || by_perf->is_outside) return 0;
    if (!facts->has_interpreter && facts->is_go)
        return error_usage(err,
                           "%s: a statically linked Go program; nothing can be preloaded into it. Record it with "
                           "runtime/pprof; %s",
                           name, instead);
    if (!facts->has_interpreter)
        return error_usage(err,
                           "%s: statically linked, and nothing can be preloaded into it; link it dynamically, or %s",
                           name, instead);
    if (!facts->sanitizer)
        return error_usage(err, "%s: linked with musl (%s); only programs of glibc can be recorded; %s", name,
                           facts->interpreter, instead);
    return error_usage(err, "%s: built with %s, whose runtime replaces malloc itself; build it without, or %s", name,
                       facts->sanitizer, instead);
}

static int check_elf(int file, const unsigned char *ident, const char *path, const char *name, struct by_perf *by_perf,
                     struct error *err) {
    Elf64_Ehdr header;
    if (ident[EI_CLASS] == ELFCLASS32)
        return error_usage(err, "%s: a 32-bit program; only x86-64 can be recorded", name);
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header || ident[EI_CLASS] != ELFCLASS64 ||
        ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64)
        return error_usage(err, "%s: not built for x86-64", name);
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        return error_usage(err, "%s: an ELF file, but not a program (object file or core dump)", name);
    struct elf_facts facts = {0};
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (!elf) return error_usage(err, "%s: a damaged ELF file: %s", name, elf_errmsg(-1));
    check_segments(elf, file, &facts);
    check_sections(elf, &facts);
    elf_end(elf);
    facts.dumps_itself = !facts.has_interpreter && program_contains(path, "CLEAR_ALLOC_PROFILE");
    return judge_facts(&facts, name, by_perf, err);
}

/* ---- files and scripts ------------------------------------------------------------------------------------------- */

static int check_rights(const char *path, const char *name, struct error *err) {
    struct stat status;
    if (stat(path, &status)) return error_usage(err, "%s: %s", name, strerror(errno));
    if (S_ISDIR(status.st_mode)) return error_usage(err, "%s: is a directory, not a program", name);
    if (!S_ISREG(status.st_mode)) return error_usage(err, "%s: is not a regular file", name);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
        return error_usage(err, "%s: not executable (chmod +x %s?)", name, name);
    const char *bit = status.st_mode & S_ISUID ? "setuid" : NULL;
    if ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP)) bit = bit ? bit : "setgid";
    if (bit)
        return error_usage(
            err, "%s: is %s, so the loader does not preload the runtime into it; profile a copy without that bit", name,
            bit);
    if (getxattr(path, "security.capability", NULL, 0) > 0)
        return error_usage(err,
                           "%s: has file capabilities, so the loader does not preload the runtime into it; profile a "
                           "copy without them",
                           name);
    return 0;
}

/* The interpreter of a "#!" line; free() it. NULL where the line has none. */
static char *interpreter_of(const char *line) {
    line += 2;
    line += strspn(line, " \t");
    size_t size = strcspn(line, " \t\n");
    if (!size) return NULL;
    char *interpreter = xmalloc(size + 1);
    memcpy(interpreter, line, size);
    interpreter[size] = '\0';
    return interpreter;
}

static int check_file(const char *path, const char *name, int nesting, struct by_perf *by_perf, struct error *err);

static int check_script(const char *line, const char *name, int nesting, struct by_perf *by_perf, struct error *err) {
    char *interpreter = interpreter_of(line);
    if (!interpreter) return error_usage(err, "%s: its #! line names no interpreter", name);
    int code =
        nesting >= SCRIPT_NESTING
            ? error_usage(err, "too many scripts that start each other by their #! lines (%d at most)", SCRIPT_NESTING)
            : check_file(interpreter, interpreter, nesting + 1, by_perf, err);
    free(interpreter);
    return code ? error_prefix(err, "%s: its interpreter ", name) : 0;
}

static int check_file(const char *path, const char *name, int nesting, struct by_perf *by_perf, struct error *err) {
    if (check_rights(path, name, err)) return -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == EACCES) return 0; /* it can be executed but not read, so it cannot be checked */
    if (file < 0) return error_usage(err, "%s: %s", name, strerror(errno));
    char start[SCRIPT_LINE + 1] = "";
    ssize_t size = pread(file, start, SCRIPT_LINE, 0);
    int code;
    if (size >= 2 && memcmp(start, "#!", 2) == 0)
        code = check_script(start, name, nesting, by_perf, err);
    else if (size >= EI_NIDENT && memcmp(start, ELFMAG, SELFMAG) == 0)
        code = check_elf(file, (const unsigned char *)start, path, name, by_perf, err);
    else
        code = error_usage(err, "%s: neither an ELF program nor a script with a #! line", name);
    close(file);
    return code;
}

bool program_contains(const char *path, const char *text) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    bool found = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    void *bytes = found ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (bytes == MAP_FAILED) return false;
    found = memmem(bytes, (size_t)status.st_size, text, strlen(text)) != NULL;
    munmap(bytes, (size_t)status.st_size);
    return found;
}

bool program_is_go(const char *path) {
    struct elf_facts facts = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    elf_version(EV_CURRENT);
    Elf *elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) check_sections(elf, &facts);
    elf_end(elf);
    if (file >= 0) close(file);
    return facts.is_go;
}

bool program_is_fixed(const char *path) {
    Elf64_Ehdr header = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    ssize_t size = pread(file, &header, sizeof header, 0);
    close(file);
    return size == (ssize_t)sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_EXEC;
}

int recordable_check(const char *path, const char *name, struct by_perf *by_perf, struct error *err) {
    return check_file(path, name, 0, by_perf, err);
}
