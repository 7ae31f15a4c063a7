#include "cli/passing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void passing_remove(struct passing *passing) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; passing->db && i < sizeof endings / sizeof *endings; i++) {
        char *file = xasprintf("%s%s", passing->db, endings[i]);
        (void)unlink(file);
        free(file);
    }
    if (passing->directory) (void)rmdir(passing->directory);
    free(passing->db);
    free(passing->directory);
    *passing = (struct passing){0};
}

int passing_make(struct passing *passing, struct error *err) {
    const char *parent = getenv("TMPDIR");
    char *directory = xasprintf("%s/clear-runs-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(directory)) {
        error_fail(err, "%s: %s", directory, strerror(errno));
        free(directory);
        return -1;
    }
    passing->directory = directory;
    passing->db = xasprintf("%s/runs.sqlite", directory);
    return 0;
}
