#include "query/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

enum { SOURCE_SIZE_MAX = 64 << 20 };

/* ---- of runs ----------------------------------------------------------------------------------------------------- */

static void keep(struct sources *sources, const char *path, const char *text) {
    bool added;
    struct map_entry *entry = map_put(&sources->kept, path, strlen(path), &added);
    if (added) {
        sources->texts = xrealloc(sources->texts, (sources->text_count + 1) * sizeof(char *));
        sources->paths = xrealloc(sources->paths, (sources->text_count + 1) * sizeof(char *));
        sources->texts[sources->text_count] = NULL;
        sources->paths[sources->text_count] = xstrdup(path);
        entry->value = (int64_t)sources->text_count++;
    }
    free(sources->texts[entry->value]);
    sources->texts[entry->value] = xstrdup(text);
}

int sources_load(struct sources *sources, struct db *db, const struct run_set *runs, struct error *err) {
    static const char sql[] = "SELECT sources.path, source_texts.text FROM sources"
                              " JOIN source_texts ON source_texts.id = sources.text_id"
                              " WHERE sources.run_id = :run ORDER BY sources.path";
    for (size_t i = 0; i < runs->count; i++) {
        sqlite3_stmt *row = db_prepare(db, sql, err);
        if (!row) return -1;
        db_bind_int(row, ":run", runs->ids[i]);
        int code;
        while ((code = db_step(db, row, err)) == 1)
            keep(sources, db_text(row, 0), db_text(row, 1));
        if (code < 0) return -1;
    }
    return 0;
}

void sources_free(struct sources *sources) {
    for (size_t i = 0; i < sources->text_count; i++) {
        free(sources->texts[i]);
        free(sources->paths[i]);
    }
    free(sources->texts);
    free(sources->paths);
    map_free(&sources->kept);
    *sources = (struct sources){0};
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
    for (size_t i = 0; i < sources->text_count && *path && *path != '/'; i++) {
        const char *kept = sources->paths[i];
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
        split(file, xstrdup(sources->texts[kept]));
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
