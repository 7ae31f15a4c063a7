#include "ingest/record/live_recordings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "ingest/record/private_dir.h"
#include "ingest/record/recording_note.h"

struct wanted {
    char *start; /* of the file run.json: the uuid is its first member (schema/ingest/lost_describe.sql) */
    bool is_found;
};

static void look(void *context, int directory) {
    struct wanted *wanted = context;
    char text[128] = "";
    size_t size = strlen(wanted->start);
    int file = openat(directory, RECORDING_RUN_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got >= (ssize_t)size && memcmp(text, wanted->start, size) == 0) wanted->is_found = true;
}

bool live_recording_is(const char *uuid) {
    struct wanted wanted = {.start = xasprintf("{\"uuid\":\"%s\"", uuid)};
    private_dir_each_live(look, &wanted);
    free(wanted.start);
    return wanted.is_found;
}
