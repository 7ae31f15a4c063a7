#include "ingest/attach/running.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/path.h"

enum { PAGE = 4096, NAME_SIZE = 256, PROGRAM_PARTS_MOST = 64, DYNAMIC_MOST = 256 };

/* ---- /proc ------------------------------------------------------------------------------------------------------- */

static void add_mapping(struct running *running, const char *line) {
    struct running_mapping mapping = {0};
    char rights[8], path[4096] = "";
    int read = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &mapping.low, &mapping.high,
                      rights, &mapping.offset, path);
    if (read < 4) return;
    mapping.is_readable = rights[0] == 'r';
    mapping.is_writable = rights[1] == 'w';
    mapping.is_executable = rights[2] == 'x';
    mapping.path = xstrdup(path);
    running->mappings = xrealloc(running->mappings, (running->mapping_count + 1) * sizeof *running->mappings);
    running->mappings[running->mapping_count++] = mapping;
}

int running_open(struct running *running, pid_t pid, struct error *err) {
    char path[64];
    *running = (struct running){.pid = pid, .memory = -1};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return errno == ENOENT
                   ? error_fail(err, "process %d is gone", (int)pid)
                   : error_fail(err, "process %d: its memory may not be read: %s", (int)pid, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, maps) > 0)
        add_mapping(running, line);
    free(line);
    fclose(maps);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    running->memory = open(path, O_RDWR | O_CLOEXEC);
    return 0;
}

void running_close(struct running *running) {
    for (size_t i = 0; i < running->mapping_count; i++)
        free(running->mappings[i].path);
    free(running->mappings);
    if (running->memory >= 0) close(running->memory);
    *running = (struct running){.memory = -1};
}

static bool read_status(const char *path, const char *name, char *value, size_t size) {
    char line[1024];
    size_t length = strlen(name);
    *value = '\0';
    FILE *status = fopen(path, "re");
    if (!status) return false;
    while (fgets(line, sizeof line, status)) {
        if (strncmp(line, name, length) != 0 || line[length] != ':') continue;
        const char *from = line + length + 1 + strspn(line + length + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(from, "\n"), from);
    }
    fclose(status);
    return true;
}

bool running_status(pid_t pid, const char *name, char *value, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    return read_status(path, name, value, size);
}

bool running_thread_status(pid_t pid, pid_t thread, const char *name, char *value, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)thread);
    return read_status(path, name, value, size);
}

pid_t *running_threads(pid_t pid, size_t *count) {
    char path[64];
    pid_t *threads = NULL;
    *count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread <= 0) continue;
        threads = xrealloc(threads, (*count + 1) * sizeof *threads);
        threads[(*count)++] = thread;
    }
    if (directory) closedir(directory);
    return threads;
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

const struct running_mapping *running_mapping_at(const struct running *running, uint64_t address) {
    for (size_t i = 0; i < running->mapping_count; i++)
        if (address >= running->mappings[i].low && address < running->mappings[i].high) return &running->mappings[i];
    return NULL;
}

const struct running_mapping *running_module(const struct running *running, const char *name) {
    for (size_t i = 0; i < running->mapping_count; i++) {
        const struct running_mapping *mapping = &running->mappings[i];
        if (mapping->offset == 0 && strncmp(path_base(mapping->path), name, strlen(name)) == 0) return mapping;
    }
    return NULL;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

bool running_read(const struct running *running, uint64_t address, void *into, size_t size) {
    struct iovec here = {.iov_base = into, .iov_len = size},
                 there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
    return process_vm_readv(running->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool running_write(const struct running *running, uint64_t address, const void *from, size_t size) {
    return running->memory >= 0 && pwrite(running->memory, from, size, (off_t)address) == (ssize_t)size;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

struct module {
    const struct running *running;
    uint64_t base; /* what was added to the addresses in the file */
    uint64_t symbols, strings, hash;
};

static uint64_t address_in(const struct module *module, uint64_t value) {
    return value < module->base ? value + module->base : value;
}

static bool read_dynamic(struct module *module, uint64_t dynamic) {
    for (size_t i = 0; i < DYNAMIC_MOST; i++) {
        Elf64_Dyn entry;
        if (!running_read(module->running, dynamic + i * sizeof entry, &entry, sizeof entry)) return false;
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_SYMTAB) module->symbols = address_in(module, entry.d_un.d_ptr);
        if (entry.d_tag == DT_STRTAB) module->strings = address_in(module, entry.d_un.d_ptr);
        if (entry.d_tag == DT_GNU_HASH) module->hash = address_in(module, entry.d_un.d_ptr);
    }
    return module->symbols && module->strings && module->hash;
}

/* Its parts; 0: it is no module. Sets the base. */
static size_t read_parts(struct module *module, uint64_t at, Elf64_Phdr parts[PROGRAM_PARTS_MOST]) {
    Elf64_Ehdr header;
    uint64_t first = UINT64_MAX;
    if (!running_read(module->running, at, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phnum > PROGRAM_PARTS_MOST || header.e_machine != EM_X86_64)
        return 0;
    if (!running_read(module->running, at + header.e_phoff, parts, header.e_phnum * sizeof *parts)) return 0;
    for (size_t i = 0; i < header.e_phnum; i++)
        if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr < first) first = parts[i].p_vaddr;
    module->base = at - (first & ~(uint64_t)(PAGE - 1));
    return header.e_phnum;
}

static bool find_dynamic(struct module *module, uint64_t at) {
    Elf64_Phdr parts[PROGRAM_PARTS_MOST];
    size_t count = read_parts(module, at, parts);
    for (size_t i = 0; i < count; i++)
        if (parts[i].p_type == PT_DYNAMIC) return read_dynamic(module, module->base + parts[i].p_vaddr);
    return false;
}

static bool is_zeros(const struct running *running, uint64_t at, size_t size) {
    uint8_t bytes[PAGE];
    if (size > sizeof bytes || !running_read(running, at, bytes, size)) return false;
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return false;
    return true;
}

uint64_t running_unused_code(const struct running *running, size_t size) {
    enum { ALIGNMENT = 16 };
    for (size_t m = 0; m < running->mapping_count; m++) {
        Elf64_Phdr parts[PROGRAM_PARTS_MOST];
        struct module module = {.running = running};
        if (running->mappings[m].offset || running->mappings[m].path[0] != '/') continue;
        size_t count = read_parts(&module, running->mappings[m].low, parts);
        for (size_t i = 0; i < count; i++) {
            uint64_t end = module.base + parts[i].p_vaddr + parts[i].p_memsz;
            uint64_t at = (end + ALIGNMENT) & ~(uint64_t)(ALIGNMENT - 1),
                     last = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
            if (parts[i].p_type != PT_LOAD || !(parts[i].p_flags & PF_X) || at + size > last) continue;
            const struct running_mapping *mapping = running_mapping_at(running, at);
            if (!mapping || !mapping->is_executable) continue;
            for (; at + size <= last; at += ALIGNMENT) /* a tracer that was killed may have left something */
                if (is_zeros(running, at, size)) return at;
        }
    }
    return 0;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static bool is_named(const struct module *module, uint32_t at, const char *name) {
    char found[NAME_SIZE] = "";
    size_t size = strlen(name) + 1;
    return size <= sizeof found && running_read(module->running, module->strings + at, found, size) &&
           memcmp(found, name, size) == 0;
}

/* The chain of one bucket of the table of hashes. */
static uint64_t find_in_chain(const struct module *module, uint64_t chains, uint32_t first, uint32_t at, uint32_t hash,
                              const char *name) {
    for (uint32_t found; at >= first; at++) {
        if (!running_read(module->running, chains + (at - first) * sizeof found, &found, sizeof found)) return 0;
        if ((found | 1) == (hash | 1)) {
            Elf64_Sym symbol;
            if (!running_read(module->running, module->symbols + at * sizeof symbol, &symbol, sizeof symbol)) return 0;
            bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
            if (is_function && is_named(module, symbol.st_name, name)) return module->base + symbol.st_value;
        }
        if (found & 1) return 0;
    }
    return 0;
}

uint64_t running_function(const struct running *running, uint64_t base, const char *name) {
    struct module module = {.running = running};
    uint32_t head[4], at, hash = gnu_hash(name);
    if (!find_dynamic(&module, base) || !running_read(running, module.hash, head, sizeof head) || !head[0]) return 0;
    uint64_t buckets = module.hash + sizeof head + head[2] * sizeof(uint64_t),
             chains = buckets + head[0] * sizeof(uint32_t);
    if (!running_read(running, buckets + hash % head[0] * sizeof at, &at, sizeof at)) return 0;
    return at ? find_in_chain(&module, chains, head[1], at, hash, name) : 0;
}
