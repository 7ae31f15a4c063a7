#include "query/code/source_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "schema/schema.h"

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

static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? xasprintf("%.*s", slash == path ? 1 : (int)(slash - path), path) : xstrdup(".");
}

int sources_load(struct sources *sources, struct db *db, const struct run_set *runs, struct error *err) {
    const char *sql = embedded_text("report/sources.sql");
    if (!sources->directory && db->file) sources->directory = directory_of(db->file);
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
    free(sources->directory);
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

int source_open(struct source_file *file, const struct sources *sources, const char *path,
                const struct source_places *places, char **why) {
    int64_t kept = sources ? find_kept(sources, path) : -1;
    *file = (struct source_file){0};
    char *text = kept >= 0 ? xstrdup(sources->items[kept].text) : source_places_read(places, path, why);
    if (text) split(file, text);
    return text ? 0 : -1;
}

void source_close(struct source_file *file) {
    free(file->text);
    free(file->lines);
    *file = (struct source_file){0};
}
