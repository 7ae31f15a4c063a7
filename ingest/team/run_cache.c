#include "ingest/team/run_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buffer.h"
#include "base/number.h"

enum { LEFT_BEHIND_S = 3600 }; /* a file of a process that was killed */
static const int64_t bytes_default = (int64_t)1 << 30, run_bytes_max = (int64_t)256 << 20; /* of one run, unpacked */
static const char ending[] = ".run", new_prefix[] = "new.";

/* ---- the directory ----------------------------------------------------------------------------------------------- */

static bool make_directory(const char *path) {
    struct stat about;
    (void)mkdir(path, 0700);
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Nobody else may put a file there. */
static bool is_private(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && about.st_uid == geteuid() && !(about.st_mode & 022) && access(path, W_OK) == 0;
}

static char *find_directory(void) {
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_xdg = xdg && *xdg == '/';
    if (!has_xdg && !(home && *home == '/')) return NULL;
    char *base = has_xdg ? xstrdup(xdg) : xasprintf("%s/.cache", home);
    char *ours = xasprintf("%s/clear", base), *runs = xasprintf("%s/runs", ours);
    bool is_made = make_directory(base) && make_directory(ours) && make_directory(runs) && is_private(runs);
    free(base);
    free(ours);
    if (is_made) return runs;
    free(runs);
    return NULL;
}

int run_cache_open(struct run_cache *cache, struct error *err) {
    const char *size = getenv("CLEAR_CACHE_SIZE");
    *cache = (struct run_cache){.bytes_max = bytes_default};
    if (size && *size && number_bytes("$CLEAR_CACHE_SIZE", size, 0, INT64_MAX / 2, &cache->bytes_max, err)) return -1;
    if (cache->bytes_max) cache->directory = find_directory();
    return 0;
}

char *run_cache_new_file(const struct run_cache *cache) {
    if (!cache->directory) return NULL;
    char *path = xasprintf("%s/%sXXXXXX", cache->directory, new_prefix);
    int file = mkostemp(path, O_CLOEXEC); /* 0600 */
    if (file >= 0) {
        close(file);
        return path;
    }
    free(path);
    return NULL;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool read_file(const char *path, struct buffer *bytes) {
    FILE *file = fopen(path, "re");
    struct stat about;
    bool is_read = file && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= run_bytes_max;
    char block[1 << 16];
    size_t size;
    while (is_read && (size = fread(block, 1, sizeof block, file)) > 0)
        buffer_add(bytes, block, size);
    is_read = is_read && !ferror(file);
    if (file) fclose(file);
    return is_read;
}

static bool write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "we");
    bool is_written = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file)) is_written = false;
    return is_written;
}

void run_cache_note_empty(struct run_cache *cache, const char *path) {
    if (!read_file(path, &cache->empty)) buffer_free(&cache->empty);
}

bool run_cache_write_empty(const struct run_cache *cache, const char *path) {
    return cache->empty.size && write_file(path, cache->empty.data, cache->empty.size);
}

bool run_cache_take(const struct run_cache *cache, const char *name, const char *path) {
    struct buffer packed = {0};
    char *from = xasprintf("%s/%s%s", cache->directory, name, ending), *bytes = NULL;
    bool is_there = read_file(from, &packed);
    unsigned long long size = is_there ? ZSTD_getFrameContentSize(packed.data, packed.size) : 0;
    if (size > 0 && size <= (unsigned long long)run_bytes_max) bytes = xmalloc((size_t)size);
    bool is_good = bytes && ZSTD_decompress(bytes, (size_t)size, packed.data, packed.size) == size &&
                   write_file(path, bytes, (size_t)size);
    if (is_good) (void)utimensat(AT_FDCWD, from, NULL, 0);
    free(bytes);
    free(from);
    buffer_free(&packed);
    return is_good;
}

/* ---- how much there is ------------------------------------------------------------------------------------------- */

struct cached {
    char *path;
    int64_t bytes, used_s;
};

struct cached_list {
    struct cached *items;
    size_t count;
    int64_t bytes;
};

static int compare_age(const void *left, const void *right) {
    const struct cached *a = left, *b = right;
    return a->used_s < b->used_s ? -1 : a->used_s > b->used_s;
}

static bool ends_with(const char *name, const char *end) {
    size_t size = strlen(name), end_size = strlen(end);
    return size > end_size && strcmp(name + size - end_size, end) == 0;
}

static void look_at(struct cached_list *list, const char *directory, const char *name) {
    struct stat about;
    char *path = xasprintf("%s/%s", directory, name);
    bool is_new = strncmp(name, new_prefix, sizeof new_prefix - 1) == 0;
    if (lstat(path, &about) || !S_ISREG(about.st_mode)) {
        free(path);
    } else if (is_new && about.st_mtime < time(NULL) - LEFT_BEHIND_S) {
        (void)unlink(path);
        free(path);
    } else if (!is_new && ends_with(name, ending)) {
        list->items = xrealloc(list->items, (list->count + 1) * sizeof *list->items);
        list->items[list->count++] = (struct cached){path, about.st_blocks * 512, about.st_mtime};
        list->bytes += about.st_blocks * 512;
    } else {
        free(path);
    }
}

static void make_room(struct run_cache *cache) {
    struct cached_list list = {0};
    DIR *directory = opendir(cache->directory);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        look_at(&list, cache->directory, entry->d_name);
    if (directory) closedir(directory);
    if (list.count) qsort(list.items, list.count, sizeof *list.items, compare_age);
    for (size_t i = 0; i < list.count; i++) {
        if (list.bytes > cache->bytes_max && unlink(list.items[i].path) == 0) list.bytes -= list.items[i].bytes;
        free(list.items[i].path);
    }
    free(list.items);
    cache->bytes_new = 0;
}

void run_cache_close(struct run_cache *cache) {
    if (cache->bytes_new) make_room(cache);
    free(cache->directory);
    buffer_free(&cache->empty);
    *cache = (struct run_cache){0};
}

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

static size_t compress(const struct buffer *bytes, char *packed, size_t room) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context) return 0;
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(context, packed, room, bytes->data, bytes->size);
    ZSTD_freeCCtx(context);
    return ZSTD_isError(size) ? 0 : size;
}

void run_cache_keep(struct run_cache *cache, const char *name, const char *path) {
    struct buffer bytes = {0};
    char *to = xasprintf("%s/%s%s", cache->directory, name, ending), *fresh = NULL, *packed = NULL;
    size_t size = 0;
    if (read_file(path, &bytes) && bytes.size) {
        size_t room = ZSTD_compressBound(bytes.size);
        packed = xmalloc(room);
        size = compress(&bytes, packed, room);
        fresh = size ? run_cache_new_file(cache) : NULL;
    }
    if (fresh && !(write_file(fresh, packed, size) && rename(fresh, to) == 0)) (void)unlink(fresh);
    cache->bytes_new += (int64_t)size;
    if (cache->bytes_new > cache->bytes_max / 16) make_room(cache);
    free(fresh);
    free(packed);
    free(to);
    buffer_free(&bytes);
}
