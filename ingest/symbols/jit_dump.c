#include "ingest/symbols/jit_dump.h"

#include <string.h>
#include <sys/types.h>

enum {
    MAGIC = 0x4a695444,
    CODE_LOAD = 0, /* the kind of record that names code */
    RECORDS_MAX = 1 << 22,
    NAME_ROOM = 1024,
};

struct head {
    uint32_t magic, version, size, machine, padding, pid;
    uint64_t timestamp, flags;
};

struct record {
    uint32_t id, size; /* with this and all that follows */
    uint64_t timestamp;
};

/* Behind it the name, with its final zero, and the code. */
struct code_load {
    uint32_t pid, thread;
    uint64_t virtual_address, address, size, index;
};

static bool read_head(FILE *file, struct head *head) {
    return fread(head, sizeof *head, 1, file) == 1 && head->magic == MAGIC && head->size >= sizeof *head;
}

bool jit_dump_is_one(FILE *file) {
    struct head head;
    bool is_one = read_head(file, &head);
    rewind(file);
    return is_one;
}

static void read_name(FILE *file, size_t most, char name[NAME_ROOM]) {
    size_t size = 0;
    for (int byte; size < most && size + 1 < NAME_ROOM && (byte = getc(file)) > 0; size++)
        name[size] = (char)byte;
    name[size] = '\0';
}

void jit_dump_read(FILE *file, bool (*take)(void *context, uint64_t start, uint64_t size, const char *name),
                   void *context) {
    struct head head;
    struct record record;
    if (!read_head(file, &head)) return;
    off_t at = head.size;
    for (int i = 0; i < RECORDS_MAX; i++, at += record.size) {
        struct code_load load;
        char name[NAME_ROOM];
        if (fseeko(file, at, SEEK_SET) != 0 || fread(&record, sizeof record, 1, file) != 1 ||
            record.size < sizeof record)
            return;
        if (record.id != CODE_LOAD || record.size <= sizeof record + sizeof load) continue;
        if (fread(&load, sizeof load, 1, file) != 1) return;
        read_name(file, record.size - sizeof record - sizeof load, name);
        if (!take(context, load.address, load.size, name)) return;
    }
}
