#include "query/code/source_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "schema/schema.h"

enum { SOURCE_SIZE_MAX = 64 << 20 };

/* ---- of runs ----------------------------------------------------------------------------------------------------- */

/* The number of the last marker in a line, 0 where there is none. */
static int64_t marker_of(const char *line, size_t size) {
    static const char start[] = "// CLR:";
    int64_t found = 0;
    for (const char *at = line, *end = line + size; (at = memmem(at, (size_t)(end - at), start, strlen(start)));) {
        int64_t number = 0;
        for (at += strlen(start); at < end && *at >= '0' && *at <= '9' && number < INT32_MAX; at++)
            number = number * 10 + (*at - '0');
        if (number) found = number;
    }
    return found;
}

/* Of each line the nearest marker at or above it. */
static void read_markers(struct kept_source *kept) {
    size_t room = 0;
    int64_t marker = 0;
    for (const char *at = kept->text; *at;) {
        size_t size = strcspn(at, "\n");
        int64_t next = marker_of(at, size);
        if (next) marker = next;
        if (kept->line_count == room) {
            room = room ? room * 2 : 256;
            kept->marked = xrealloc(kept->marked, room * sizeof *kept->marked);
        }
        kept->marked[kept->line_count++] = marker;
        at += size + (at[size] == '\n');
    }
}

static void keep(struct sources *sources, const char *path, const char *text, bool is_transpiled) {
    bool added;
    struct map_entry *entry = map_put(&sources->kept, path, strlen(path), &added);
    if (added) {
        sources->items = xrealloc(sources->items, (sources->count + 1) * sizeof *sources->items);
        sources->items[sources->count] = (struct kept_source){.path = xstrdup(path)};
        entry->value = (int64_t)sources->count++;
    }
    struct kept_source *kept = &sources->items[entry->value];
    free(kept->text);
    free(kept->marked);
    *kept = (struct kept_source){.path = kept->path, .text = xstrdup(text), .is_transpiled = is_transpiled};
    if (is_transpiled) read_markers(kept);
}

int sources_load(struct sources *sources, struct db *db, const struct run_set *runs, struct error *err) {
    const char *sql = embedded_text("report/sources.sql");
    for (size_t i = 0; i < runs->count; i++) {
        sqlite3_stmt *row = db_prepare(db, sql, err);
        if (!row) return -1;
        db_bind_int(row, ":run", runs->ids[i]);
        int code;
        while ((code = db_step(db, row, err)) == 1)
            keep(sources, db_text(row, 0), db_text(row, 1), sqlite3_column_int(row, 2));
        if (code < 0) return -1;
    }
    return 0;
}

void sources_free(struct sources *sources) {
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i].path);
        free(sources->items[i].text);
        free(sources->items[i].marked);
    }
    free(sources->items);
    map_free(&sources->kept);
    *sources = (struct sources){0};
}

/* ---- what a transpiler's output was made of ---------------------------------------------------------------------- */

static size_t directory_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* The source beside it, else the only one. */
static const char *source_of(const struct sources *sources, const char *path) {
    const char *only = NULL;
    size_t count = 0, size = directory_size(path);
    for (size_t i = 0; i < sources->count; i++) {
        const struct kept_source *each = &sources->items[i];
        if (each->is_transpiled) continue;
        if (directory_size(each->path) == size && strncmp(each->path, path, size) == 0) return each->path;
        only = each->path;
        count++;
    }
    return count == 1 ? only : NULL;
}

const char *sources_original(const struct sources *sources, const char *path, int64_t *line) {
    const struct map_entry *entry = sources ? map_find(&sources->kept, path, strlen(path)) : NULL;
    const struct kept_source *kept = entry ? &sources->items[entry->value] : NULL;
    const char *original = kept && kept->is_transpiled ? source_of(sources, path) : NULL;
    if (!original || *line < 1 || *line > (int64_t)kept->line_count || !kept->marked[*line - 1]) return NULL;
    *line = kept->marked[*line - 1];
    return original;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void split(struct source_file *file, char *text) {
    size_t room = 0;
    *file = (struct source_file){.text = text};
    for (char *rest = text, *line; rest && *rest;) {
        line = strsep(&rest, "\n");
        size_t size = strlen(line);
        if (size && line[size - 1] == '\r') line[size - 1] = '\0';
        if (file->count == room) {
            room = room ? room * 2 : 256;
            file->lines = xrealloc(file->lines, room * sizeof(char *));
        }
        file->lines[file->count++] = line;
    }
}

/* The whole file, or NULL with errno. NULs would end it early, and belong into no source. */
static char *read_file(const char *path) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NULL;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > SOURCE_SIZE_MAX) {
        close(file);
        errno = S_ISDIR(about.st_mode) ? EISDIR : EFBIG;
        return NULL;
    }
    char *text = xmalloc((size_t)about.st_size + 1);
    ssize_t size, done = 0;
    while (done < about.st_size && (size = read(file, text + done, (size_t)(about.st_size - done))) != 0) {
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) break;
        done += size;
    }
    close(file);
    text[done] = '\0';
    return text;
}

/* In the directory, or above it as far as there is an above. */
static char *find_above(const char *directory, size_t size, const char *path) {
    for (;;) {
        char *name = xasprintf("%.*s%s%s", (int)size, directory, size && directory[size - 1] == '/' ? "" : "/", path);
        char *text = read_file(name);
        free(name);
        if (text || size == 0) return text;
        while (size > 0 && directory[size - 1] != '/')
            size--;
        while (size > 0 && directory[size - 1] == '/')
            size--;
    }
}

static char *search_file(const char *path, const char *search) {
    char *text = NULL;
    for (const char *at = search; !text && *at;) {
        size_t size = strcspn(at, ":");
        if (size) text = find_above(at, size, path);
        at += size + (at[size] == ':');
    }
    return text;
}

/* The index of the text that was kept under that path, or under one that ends so; -1 none. */
static int64_t find_kept(const struct sources *sources, const char *path) {
    const struct map_entry *entry = map_find(&sources->kept, path, strlen(path));
    size_t size = strlen(path);
    if (entry) return entry->value;
    for (size_t i = 0; i < sources->count && *path && *path != '/'; i++) {
        const char *kept = sources->items[i].path;
        size_t whole = strlen(kept);
        if (whole > size && kept[whole - size - 1] == '/' && strcmp(kept + whole - size, path) == 0) return (int64_t)i;
    }
    return -1;
}

bool sources_have(const struct sources *sources, const char *path) {
    return sources && map_find(&sources->kept, path, strlen(path));
}

int source_open(struct source_file *file, const struct sources *sources, const char *path, const char *search,
                char **why) {
    int64_t kept = sources ? find_kept(sources, path) : -1;
    *file = (struct source_file){0};
    if (kept >= 0) {
        split(file, xstrdup(sources->items[kept].text));
        return 0;
    }
    char *here = *search ? NULL : getcwd(NULL, 0), *text = NULL;
    if (!*search) search = here ? here : "/";
    text = *path == '/' ? read_file(path) : search_file(path, search);
    if (text)
        split(file, text);
    else
        *why = *path == '/'
                   ? xasprintf("open %s: %s", path, errno == ENOENT ? "no such file or directory" : strerror(errno))
                   : xasprintf("could not find file %s on path %s", path, search);
    return text ? 0 : -1;
}

void source_close(struct source_file *file) {
    free(file->text);
    free(file->lines);
    *file = (struct source_file){0};
}
