#include "cli/passing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"

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

/* With its message, which names the file. */
static int fail_as(const struct error *ingest, struct error *err) {
    static const char before[] = " failed: clear: ";
    const char *message = strstr(ingest->message, before);
    return error_fail(err, "%s", message ? message + sizeof before - 1 : ingest->message);
}

/* By clear ingest, so that it is read as it is everywhere. */
int passing_read(struct passing *passing, const char *name, struct error *err) {
    static const struct child_limits limits = {.output_max = 1 << 20, .seconds = 3600};
    struct buffer said = {0};
    struct error ingest = {0};
    if (passing_make(passing, err)) return -1;
    const char *const words[] = {"/proc/self/exe", "ingest", "--quiet", "--db", passing->db, "--", name, NULL};
    enum child_end end = child_read(words, NULL, &limits, &said, &ingest);
    buffer_free(&said);
    if (end == CHILD_MISSING) return error_fail(err, "/proc is missing");
    return end == CHILD_DONE ? 0 : fail_as(&ingest, err);
}
