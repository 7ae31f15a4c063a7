#include "ingest/symbols/source_map.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/path.h"
#include "base/utf8.h"

enum { TEXT_MAX = 64 << 20, LINE_MAX_VALUE = 100000000 };

/* ---- texts ------------------------------------------------------------------------------------------------------- */

char *source_read(const char *path) {
    struct stat about;
    struct buffer text = {0};
    char block[16384];
    ssize_t size = 0;
    /* O_NONBLOCK, because debug information may name a FIFO, and an open of that would wait forever. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NULL;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) size = -1;
    while (size >= 0 && text.size <= TEXT_MAX && (size = read(file, block, sizeof block)) > 0)
        buffer_add(&text, block, (size_t)size);
    close(file);
    if (size < 0 || text.size > TEXT_MAX) {
        buffer_free(&text);
        return NULL;
    }
    for (size_t i = 0; (i += utf8_bad_byte(text.data + i, text.size - i)) < text.size; i++)
        text.data[i] = '?';
    return text.size ? buffer_take(&text) : xstrdup("");
}

/* The number of the last marker in a line; 0 for none. */
static int marker_of(const char *line, size_t size) {
    static const char start[] = "// CLR:";
    int found = 0;
    for (const char *at = line, *end = line + size; (at = memmem(at, (size_t)(end - at), start, strlen(start)));) {
        int number = 0;
        for (at += strlen(start); at < end && *at >= '0' && *at <= '9' && number < LINE_MAX_VALUE; at++)
            number = number * 10 + (*at - '0');
        if (number) found = number;
    }
    return found;
}

static void read_markers(struct source_map_file *file) {
    const char *at = file->text;
    for (int number = 1; *at; number++) {
        size_t size = strcspn(at, "\n");
        int marker = marker_of(at, size);
        if (marker) {
            file->markers = xrealloc(file->markers, (file->count + 1) * sizeof *file->markers);
            file->markers[file->count++] = (struct source_marker){number, marker};
        }
        at += size + (at[size] == '\n');
    }
}

int source_file_line(const struct source_map_file *file, int line) {
    size_t low = 0, high = file->count; /* the first marker below the line is in between */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->markers[middle].line <= line)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? file->markers[low - 1].source_line : 0;
}

/* ---- what it was made of ----------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, size_t size, const char *end) {
    return size > strlen(end) && memcmp(text + size - strlen(end), end, strlen(end)) == 0;
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* "DIRECTORY/NAME.cht" in the directory of a path, without the "/." that compilers leave in it. */
static char *beside(const char *path, const char *name, size_t name_size) {
    size_t size = (size_t)(path_base(path) - path);
    char *made = xasprintf("%.*s%.*s.cht", (int)size, path, (int)name_size, name), *dot;
    while ((dot = strstr(made, "/./")))
        memmove(dot, dot + 2, strlen(dot + 2) + 1);
    return made;
}

/* The path if such a file exists, else NULL, and the path is freed. */
static char *if_there(char *path) {
    if (is_file(path)) return path;
    free(path);
    return NULL;
}

static bool is_kept(const struct source_map *map, const char *module) {
    return map->kept_module && strcmp(map->kept_module, module) == 0;
}

static char *source_of_transpiled(const struct source_map *map, const char *module, const char *path) {
    char *named = beside(path, module, strlen(module)), *plain = NULL;
    if (!is_kept(map, module) && !is_file(named)) plain = if_there(beside(path, "source", 6));
    if (!plain) return named;
    free(named);
    return plain;
}

/* The length of X in X.EXT and X.cht.EXT; 0 where the name has no ending or is not that of transpiled code. */
static size_t stem_size(const char *name) {
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name || strcmp(dot, ".cht") == 0) return 0;
    size_t size = (size_t)(dot - name);
    return ends_with(name, size, ".cht") ? size - 4 : size;
}

static bool is_below(const char *path, const char *directory) {
    size_t size = directory ? strlen(directory) : 0;
    return size && strncmp(path, directory, size) == 0 && path[size] == '/';
}

static bool is_transpiled_name(const char *name) {
    static const char start[] = "._clear_tmp_";
    return strcmp(name, "transpiled.zig") == 0 ||
           (strncmp(name, start, strlen(start)) == 0 && ends_with(name, strlen(name), ".zig"));
}

/* The source of a file by its name; NULL for none. free() it. */
static char *source_of(const struct source_map *map, const char *module, const char *path) {
    const char *name = path_base(path);
    size_t size = strlen(name), skip = strlen("._clear_tmp_");
    if (is_below(path, map->build_directory)) return xstrdup(map->built_source);
    if (strcmp(name, "transpiled.zig") == 0) return source_of_transpiled(map, module, path);
    if (is_transpiled_name(name) && size > skip + 4) return beside(path, name + skip, size - skip - 4);
    size = stem_size(name);
    return size ? if_there(beside(path, name, size)) : NULL;
}

/* ---- the map ----------------------------------------------------------------------------------------------------- */

void source_map_built(struct source_map *map, const char *directory, const char *source) {
    map->build_directory = xstrdup(directory);
    map->built_source = xstrdup(source);
}

/* A link in somebody else's directory could bring any file of the reader's into the warehouse. */
static bool is_link(const char *path) {
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

void source_map_kept(struct source_map *map, const char *directory) {
    static const char suffix[] = ".profile";
    size_t size = strlen(directory);
    while (size > 1 && directory[size - 1] == '/')
        size--;
    char *path = xasprintf("%.*s", (int)size, directory), *file = xasprintf("%s/transpiled.zig", path);
    char *source = xasprintf("%s/source.cht", path);
    if (ends_with(path, size, suffix) && is_file(file) && !is_link(file) && !is_link(source)) {
        const char *name = path_base(path);
        map->kept_module = xasprintf("%.*s", (int)(strlen(name) - strlen(suffix)), name);
        map->kept_file = xstrdup(file);
        map->kept_source = xstrdup(source);
    }
    free(path);
    free(file);
    free(source);
}

static void forget_texts(struct source_map_file *file) {
    free(file->source);
    free(file->text);
    free(file->source_text);
    free(file->markers);
    *file = (struct source_map_file){.path = file->path};
}

static void read_file(struct source_map *map, struct source_map_file *file, const char *module) {
    bool has_copy = is_kept(map, module) && is_transpiled_name(path_base(file->path));
    file->source = source_of(map, module, file->path);
    file->text = file->source ? source_read(has_copy ? map->kept_file : file->path) : NULL;
    if (file->text) read_markers(file);
    if (!file->count) {
        forget_texts(file);
        return;
    }
    if (has_copy) file->source_text = source_read(map->kept_source);
    if (!file->source_text) file->source_text = source_read(file->source);
    map->mapped = xrealloc(map->mapped, (map->mapped_count + 1) * sizeof(struct source_map_file *));
    map->mapped[map->mapped_count++] = file;
}

const struct source_map_file *source_map_find_file(struct source_map *map, const char *module, const char *path) {
    bool added;
    struct map_entry *entry = map_put(&map->files, path, strlen(path), &added);
    if (!added) return (struct source_map_file *)(intptr_t)entry->value;
    struct source_map_file *file = xcalloc(1, sizeof *file);
    entry->value = (intptr_t)file;
    file->path = xstrdup(path);
    read_file(map, file, module);
    return file;
}

void source_map_free(struct source_map *map) {
    for (size_t i = 0; i < map->files.count; i++) {
        struct source_map_file *file = (struct source_map_file *)(intptr_t)map->files.entries[i].value;
        forget_texts(file);
        free(file->path);
        free(file);
    }
    map_free(&map->files);
    free(map->mapped);
    free(map->build_directory);
    free(map->built_source);
    free(map->kept_module);
    free(map->kept_file);
    free(map->kept_source);
    *map = (struct source_map){0};
}
