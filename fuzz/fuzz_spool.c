/* The file of runs that a store does not have yet, as a kill, a full disk or a stranger left it. An entry that is added and removed leaves what was
 * there before, but for lines that are none. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"
#include "ingest/team/spool.h"

enum { CHANGED = 16 };

static char directory[] = "/dev/shm/fuzz-clear.XXXXXX";
static char warehouse[sizeof directory + sizeof "/runs.sqlite"], *path;
static unsigned inputs;

static void end(void) {
    unlink(path);
    rmdir(directory);
    free(path);
}

static void save(const uint8_t *data, size_t size) {
    if (!path) {
        if (!mkdtemp(directory)) bug("%s cannot be made", directory);
        snprintf(warehouse, sizeof warehouse, "%s/runs.sqlite", directory);
        path = spool_path(warehouse);
        atexit(end);
    }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size) bug("%s cannot be written", path);
    close(file);
}

static size_t read_count(bool has_entry, const struct spool_entry *entry) {
    struct spool spool;
    struct error err = {0};
    bool is_there = false;
    if (spool_read(&spool, warehouse, &err) != 0) bug("%s", err.message);
    size_t count = spool.count;
    for (size_t i = 0; i < count; i++) {
        const struct spool_entry *each = &spool.entries[i];
        if (strlen(each->uuid) != 36 || !*each->address) bug("an entry that is none");
        is_there |= strcmp(each->uuid, entry->uuid) == 0 && strcmp(each->project, entry->project) == 0 &&
                    strcmp(each->address, entry->address) == 0;
    }
    if (is_there != has_entry) bug("the entry is %s", is_there ? "still there" : "lost");
    spool_free(&spool);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct spool_entry ours = {(char *)"0190ffff-0000-7000-8000-00000000000f", (char *)"ours",
                                            (char *)"postgresql://nowhere/ours"};
    struct error err = {0};
    save(data, size);
    if (memmem(data, size, ours.uuid, 36)) return 0;
    size_t count = read_count(false, &ours);
    if (count) replay_taken++;
    if (inputs++ % CHANGED && !replay_is_whole) return 0;
    if (spool_add_once(warehouse, &ours, &err) || spool_add_once(warehouse, &ours, &err)) bug("%s", err.message);
    if (read_count(true, &ours) != count + 1) bug("an entry was lost");
    if (spool_remove(warehouse, &ours, &err)) bug("%s", err.message);
    if (read_count(false, &ours) != count) bug("an entry was lost");
    return 0;
}
