/* Transpiled code with its markers, under the names that such files have. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "ingest/symbols/source_map.h"

static char directory[] = "/dev/shm/fuzz-clear.XXXXXX";
static const char *const names[] = {"app.zig", "._clear_tmp_app.zig", "transpiled.zig", "app.cht"}; /* one file */
enum { NAMES = sizeof names / sizeof *names };
static int directory_file = -1, file = -1;

static void end(void) {
    for (size_t i = 0; i < NAMES; i++)
        unlinkat(directory_file, names[i], 0);
    rmdir(directory);
    close(directory_file);
    close(file);
}

static void start(void) {
    if (file >= 0) return;
    directory_file = mkdtemp(directory) ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    file = directory_file < 0 ? -1 : openat(directory_file, names[0], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) bug("%s cannot be made", directory);
    for (size_t i = 1; i < NAMES; i++)
        if (linkat(directory_file, names[0], directory_file, names[i], 0)) bug("%s cannot be made", names[i]);
    atexit(end);
}

static void check(const struct source_map_file *found) {
    if (!found->source) return;
    if (!found->count || !found->text) bug("transpiled code without a marker");
    if (utf8_bad_byte(found->text, strlen(found->text)) != strlen(found->text)) bug("a text is not UTF-8");
    for (int line = -1; line < 8; line++)
        if (source_file_line(found, line) < 0) bug("a line below 0");
    if (source_file_line(found, found->markers[0].line) != found->markers[0].source_line) bug("a marker is not found");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct source_map map = {0};
    start();
    if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size) bug("%s cannot be written", names[0]);
    for (size_t i = 0; i < NAMES; i++) {
        char *path = xasprintf("%s/%s", directory, names[i]);
        check(source_map_find_file(&map, "app", path));
        free(path);
    }
    if (map.mapped_count) replay_taken++;
    source_map_free(&map);
    return 0;
}
