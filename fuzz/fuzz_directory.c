/* A run directory out of one input: each 0x1e begins a file, whose name ends at the next line feed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "ingest/read/readers.h"

enum { MARK = 0x1e, NAME_MAX_SIZE = 40, FILES_MAX = 16 };

static char parent[] = "/dev/shm/fuzz-clear.XXXXXX";
static char directory[sizeof parent + sizeof "/run.profile"];

static void remove_directories(void) {
    if (*directory && (rmdir(directory) || rmdir(parent))) perror(directory);
}

static void make_directories(void) {
    if (*directory) return;
    if (!mkdtemp(parent)) bug("%s cannot be made", parent);
    snprintf(directory, sizeof directory, "%s/run.profile", parent);
    if (mkdir(directory, 0700)) bug("%s cannot be made", directory);
    atexit(remove_directories);
}

static bool is_name(const char *name) {
    return *name && !strchr(name, '/') && *name != '.';
}

/* The path of the file that was written, to be freed; NULL for none. */
static char *write_file(const uint8_t *data, size_t size) {
    char name[NAME_MAX_SIZE] = "";
    const uint8_t *end = memchr(data, '\n', size);
    if (!end || (size_t)(end - data) >= sizeof name) return NULL;
    memcpy(name, data, (size_t)(end - data));
    if (!is_name(name)) return NULL;
    char *path = xasprintf("%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (!file) bug("%s cannot be written", path);
    fwrite(end + 1, 1, size - (size_t)(end + 1 - data), file);
    fclose(file);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *paths[FILES_MAX];
    size_t count = 0;
    make_directories();
    for (const uint8_t *at = data, *end = data + size; at < end && count < FILES_MAX;) {
        const uint8_t *next =
            *at == MARK ? memchr(at + 1, MARK, (size_t)(end - at - 1)) : memchr(at, MARK, (size_t)(end - at));
        if (!next) next = end;
        char *path = *at == MARK ? write_file(at + 1, (size_t)(next - at - 1)) : NULL;
        if (path) paths[count++] = path;
        at = next;
    }
    fuzz_path(&format_clear_directory, directory);
    for (size_t i = 0; i < count; i++) {
        unlink(paths[i]); /* a name that came twice is gone the second time */
        free(paths[i]);
    }
    return 0;
}
