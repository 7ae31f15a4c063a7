#include "ingest/symbols/debug_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "ingest/symbols/foreign_elf.h"

/* `directory` ends with a slash, or is empty. */
static bool is_there(const char *directory, size_t size, const char *below, const char *name) {
    char *path = xasprintf("%.*s%s%s", (int)size, directory, below, name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

/* Where the library looks: beside the binary, in .debug there, and in /usr/lib/debug below its directory and each end of that. */
static bool has_named(const char *binary, const char *name) {
    static const char root[] = "/usr/lib/debug/";
    size_t size = (size_t)(path_base(binary) - binary);
    if (is_there(binary, size, "", name) || is_there(binary, size, ".debug/", name)) return true;
    for (const char *at = memchr(binary, '/', size); at; at = memchr(at + 1, '/', size - (size_t)(at + 1 - binary))) {
        char *below = xasprintf("%.*s", (int)(size - (size_t)(at + 1 - binary)), at + 1);
        bool is = is_there(root, strlen(root), below, name);
        free(below);
        if (is) return true;
    }
    return false;
}

static bool has_candidate(const char *binary, const char *link) {
    if (link && strchr(link, '/')) return true; /* what several debug files share */
    char *name = link ? xstrdup(link) : xasprintf("%s.debug", path_base(binary)), *real = realpath(binary, NULL);
    bool has = has_named(binary, name) || (real && has_named(real, name));
    free(real);
    free(name);
    return has;
}

/* layers-ok: libdwfl decides the parameters */
static int find(Dwfl_Module *reported, void **user, const char *name, Dwarf_Addr base, const char *path,
                const char *link, GElf_Word check, char **found) {
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !*servers) {
        errno = 0; /* of a file without a build id the library leaves it as it is */
        int file = dwfl_build_id_find_debuginfo(reported, user, name, base, path, link, check, found);
        if (file >= 0 || errno || !has_candidate(path ? path : name, link)) return file;
    }
    return dwfl_standard_find_debuginfo(reported, user, name, base, path, link, check, found);
}

/* layers-ok: libdwfl decides the parameters */
int debug_file_find(Dwfl_Module *reported, void **user, const char *name, Dwarf_Addr base, const char *path,
                    const char *link, GElf_Word check, char **found) {
    if (link && !foreign_elf_may_open(path ? path : name, link, NULL)) return -1;
    int file = find(reported, user, name, base, path, link, check, found);
    if (file < 0 || foreign_elf_is_sound(file)) return file;
    close(file);
    free(*found);
    *found = NULL;
    return -1;
}
