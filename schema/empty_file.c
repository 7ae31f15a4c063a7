#include "schema/empty_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* build/gen/empty_image.s; empty in the program that makes them. */
extern const unsigned char empty_image[], empty_schema[];
extern const char empty_columns[]; /* four texts for each column, each with its NUL */
extern const size_t empty_image_size, empty_schema_size, empty_columns_size;

/* At these places a file says that its changes are in a -wal: whoever makes a warehouse writes to it. */
enum { WRITE_VERSION = 18, READ_VERSION = 19, HEADER_SIZE = 100, WITH_WAL = 2 };

static bool write_image(int file) {
    unsigned char header[HEADER_SIZE];
    memcpy(header, empty_image, sizeof header);
    header[WRITE_VERSION] = header[READ_VERSION] = WITH_WAL;
    if (write(file, header, sizeof header) != (ssize_t)sizeof header) return false;
    for (size_t at = sizeof header; at < empty_image_size;) {
        ssize_t written = write(file, empty_image + at, empty_image_size - at);
        if (written <= 0) return false;
        at += (size_t)written;
    }
    /* SQLite's -wal has only what changes from here on. */
    return fdatasync(file) == 0;
}

/* Without a name until it is whole: nobody sees a part of it, and none stays where we are killed. */
bool empty_file_create(const char *directory, const char *path) {
    char name[64];
    int file = empty_image_size ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (file < 0) return false;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    bool is_made = write_image(file) && linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
    close(file);
    return is_made;
}

bool empty_file_has_size(int64_t size) {
    return size == 0 || (uint64_t)size == empty_image_size;
}

bool empty_file_has_schema(const void *schema, size_t size) {
    return size && size == empty_schema_size && memcmp(schema, empty_schema, size) == 0;
}

bool empty_file_load(sqlite3 *handle) {
    sqlite3 *image = NULL;
    sqlite3_int64 size = (sqlite3_int64)empty_image_size;
    bool is_loaded = false;
    if (!size) return false;
    /* SQLite does not write to what it may only read. */
    if (sqlite3_open_v2(":memory:", &image, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        sqlite3_deserialize(image, "main", (unsigned char *)(uintptr_t)empty_image, size, size,
                            SQLITE_DESERIALIZE_READONLY) == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(handle, "main", image, "main");
        is_loaded = backup && sqlite3_backup_step(backup, -1) == SQLITE_DONE;
        if (backup && sqlite3_backup_finish(backup) != SQLITE_OK) is_loaded = false;
    }
    sqlite3_close(image);
    return is_loaded;
}

/* ---- the columns of its tables ----------------------------------------------------------------------------------- */

static const char *behind(const char *text) {
    return text + strlen(text) + 1;
}

bool own_columns_next(struct own_column *column) {
    const char *table = column->table ? behind(column->target) : empty_columns;
    if (table == empty_columns + empty_columns_size) return false;
    const char *name = behind(table), *type = behind(name);
    *column = (struct own_column){table, name, type, behind(type)};
    return true;
}
