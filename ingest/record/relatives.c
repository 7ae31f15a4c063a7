#include "ingest/record/relatives.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "ingest/segment.h"

enum { ENVIRONMENT_MAX = 1 << 21 }; /* the kernel's limit for arguments and environment, by default */

static bool contains(int file, char *buffer, const char *text) {
    size_t size = 0;
    for (ssize_t got; size < ENVIRONMENT_MAX && (got = read(file, buffer + size, ENVIRONMENT_MAX - size)) > 0;)
        size += (size_t)got;
    return memmem(buffer, size, text, strlen(text) + 1) != NULL;
}

bool relatives_run(const char *directory) {
    DIR *list = opendir("/proc");
    char *text = xasprintf("%s=%s", CLEAR_RT_DIR_VARIABLE, directory), *buffer = xmalloc(ENVIRONMENT_MAX);
    bool found = false;
    for (struct dirent *entry; list && !found && (entry = readdir(list));) {
        if (entry->d_name[strspn(entry->d_name, "0123456789")]) continue;
        char *path = xasprintf("/proc/%s/environ", entry->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        found = file >= 0 && contains(file, buffer, text);
        if (file >= 0) close(file);
        free(path);
    }
    if (list) closedir(list);
    free(text);
    free(buffer);
    return found;
}
