#include "ingest/symbols/foreign_elf.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limit.h"
#include "base/path.h"

enum { PIECE = 65536 };

/* ---- how much a section inflates to ---- */

/* Of ".zdebug_*": "ZLIB" and the size, the highest byte first. */
static uint64_t size_of_old(Elf_Scn *section) {
    Elf_Data *data = elf_rawdata(section, NULL);
    const unsigned char *bytes = data ? data->d_buf : NULL;
    uint64_t size = 0;
    if (!bytes || data->d_size < 12 || memcmp(bytes, "ZLIB", 4) != 0) return 0;
    for (size_t i = 4; i < 12; i++)
        size = size << 8 | bytes[i];
    return size;
}

/* Of ".gnu_debugdata", a whole ELF file in xz, which does not say its size in front. At most a piece more than `most`. */
static uint64_t size_of_xz(Elf_Scn *section, uint64_t most) {
    lzma_stream stream = LZMA_STREAM_INIT;
    Elf_Data *data = elf_rawdata(section, NULL);
    uint8_t *piece = xmalloc(PIECE);
    if (data && data->d_buf && lzma_stream_decoder(&stream, most, 0) == LZMA_OK) {
        stream.next_in = data->d_buf;
        stream.avail_in = data->d_size;
        do {
            stream.next_out = piece;
            stream.avail_out = PIECE;
        } while (lzma_code(&stream, LZMA_FINISH) == LZMA_OK && stream.total_out <= most);
    }
    uint64_t size = stream.total_out;
    lzma_end(&stream);
    free(piece);
    return size;
}

static uint64_t inflated_size(Elf *elf, Elf_Scn *section, size_t names, uint64_t most) {
    GElf_Shdr header;
    GElf_Chdr about;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) return 0;
    if (header.sh_flags & SHF_COMPRESSED) return gelf_getchdr(section, &about) ? about.ch_size : 0;
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (name && strncmp(name, ".zdebug", 7) == 0) return size_of_old(section);
    return name && strcmp(name, ".gnu_debugdata") == 0 ? size_of_xz(section, most) : 0;
}

static bool is_within_limit(Elf *elf, uint64_t most) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0) return true; /* it has no sections */
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        uint64_t size = inflated_size(elf, section, names, most);
        if (size > most) return false;
        most -= size;
    }
    return true;
}

bool foreign_elf_is_sound(int file) {
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    bool is_sound = elf && elf_kind(elf) == ELF_K_ELF && is_within_limit(elf, limit_inflated((uint64_t)about.st_size));
    elf_end(elf);
    return is_sound;
}

/* ---- files that a file names ---- */

static bool is_sound_at(char *path) {
    struct stat about;
    bool is_sound = stat(path, &about) != 0;
    int file = !is_sound && S_ISREG(about.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file >= 0) {
        is_sound = foreign_elf_is_sound(file);
        close(file);
    }
    free(path);
    return is_sound;
}

bool foreign_elf_may_open(const char *main, const char *name, const char *directory) {
    int size = (int)(path_base(main) - main);
    if (*name == '/') return is_sound_at(xstrdup(name));
    return is_sound_at(xasprintf("%.*s%s", size, main, name)) &&
           is_sound_at(xasprintf("%.*s.debug/%s", size, main, name)) &&
           (!directory || is_sound_at(xasprintf("%s/%s", directory, name)));
}
