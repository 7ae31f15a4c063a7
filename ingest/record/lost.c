#include "ingest/record/lost.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/path.h"
#include "ingest/record/collector.h"
#include "ingest/record/recording_note.h"
#include "ingest/record/segment_view.h"
#include "ingest/record/self_dumps.h"
#include "ingest/record/tools.h"
#include "ingest/symbols/source_rows.h"
#include "ingest/writer/run_seal.h"
#include "schema/schema.h"

enum { RUN_TEXT_MAX = 1 << 24 };

/* ---- the description --------------------------------------------------------------------------------------------- */

static char *real_path(const char *path) {
    char *real = realpath(path, NULL);
    return real ? real : xstrdup(path);
}

static int write_text(int directory, const char *name, const char *text, struct error *err) {
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return error_fail(err, "%s of the recording: %s", name, strerror(errno));
    size_t size = strlen(text);
    bool written = write(file, text, size) == (ssize_t)size;
    int why = errno;
    if (close(file) || !written) return error_fail(err, "%s of the recording: %s", name, strerror(why));
    return 0;
}

int lost_describe(struct db *db, int64_t run_id, const struct private_dir *directory, const char *program,
                  const struct build *build, const char *text, struct error *err) {
    enum { TEXT_MOST = 1 << 20 }; /* the description is read at once */
    sqlite3_stmt *row = db_prepare(db, embedded_text("ingest/lost/describe"), err);
    if (!row) return -1;
    char *warehouse = real_path(db->path);
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":warehouse", warehouse);
    db_bind_text(row, ":program", program);
    db_bind_text(row, ":build", build->place);
    db_bind_text(row, ":source", build->source);
    db_bind_text(row, ":text", text && strlen(text) <= TEXT_MOST ? text : NULL);
    free(warehouse);
    if (db_step(db, row, err) != 1) return -1;
    int code = write_text(directory->file, RECORDING_RUN_FILE, db_text(row, 0), err);
    sqlite3_reset(row);
    return code;
}

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

static bool copy_range(int from, int to, off_t at, off_t end) {
    char block[65536];
    while (at < end) {
        size_t wanted = end - at < (off_t)sizeof block ? (size_t)(end - at) : sizeof block;
        ssize_t size = pread(from, block, wanted, at);
        if (size < 0) return false;
        if (size == 0) break;
        if (pwrite(to, block, (size_t)size, at) != size) return false;
        at += size;
    }
    return true;
}

/* Holes stay holes: a segment is mostly one. */
bool lost_copy_contents(int from, int to, off_t size) {
    off_t at = 0;
    if (ftruncate(to, size)) return false;
    while (at < size) {
        off_t data = lseek(from, at, SEEK_DATA);
        if (data < 0) return errno == ENXIO; /* only a hole is left */
        off_t hole = lseek(from, data, SEEK_HOLE);
        if (!copy_range(from, to, data, hole < 0 ? size : hole)) return false;
        at = hole < 0 ? size : hole;
    }
    return true;
}

static bool copy_file(int from, int to, const char *name) {
    struct stat about;
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int out = in < 0 ? -1 : openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool copied = out >= 0 && fstat(in, &about) == 0 && lost_copy_contents(in, out, about.st_size);
    if (in >= 0) close(in);
    if (out >= 0) copied = close(out) == 0 && copied;
    return copied;
}

static bool copy_directory(int from, int to, const char *name);

static bool copy_entry(int from, int to, const char *name) {
    struct stat about;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "owner") == 0) return true;
    if (fstatat(from, name, &about, AT_SYMLINK_NOFOLLOW)) return false;
    if (S_ISDIR(about.st_mode)) return copy_directory(from, to, name);
    return !S_ISREG(about.st_mode) || copy_file(from, to, name);
}

/* Copies regular files and directories. */
static bool copy_entries(int from, int to) {
    int copy = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    bool copied = list != NULL;
    if (!list && copy >= 0) close(copy);
    for (struct dirent *entry; copied && (entry = readdir(list));)
        copied = copy_entry(from, to, entry->d_name);
    if (list) closedir(list);
    return copied;
}

/* `name` is that of a directory in `from`, or an absolute path, of which the last part is the name in `to`. */
static bool copy_directory(int from, int to, const char *name) {
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const char *base = path_base(name);
    bool made = in >= 0 && mkdirat(to, base, 0700) == 0;
    int out = made ? openat(to, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    bool copied = out >= 0 && copy_entries(in, out);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return copied;
}

/* Makes WAREHOUSE.lost, or takes ours, into which nobody else could put a recording. */
static int open_lost(const char *path) {
    struct stat about;
    if (mkdir(path, 0700) && errno != EEXIST) return -1;
    int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return -1;
    if (fstat(file, &about) == 0 && about.st_uid == geteuid() && !(about.st_mode & 077)) return file;
    close(file);
    return -1;
}

static char *lost_path(const char *warehouse) {
    char *real = real_path(warehouse), *path = xasprintf("%s.lost", real);
    free(real);
    return path;
}

/* Removes a copy that was not finished. */
static void remove_copy(const char *path) {
    struct private_dir copy;
    struct error ignored = {0};
    if (private_dir_adopt(&copy, path, &ignored) == 1) private_dir_remove(&copy);
}

/* Moves or copies it into the directory `to`. */
static bool move(const struct private_dir *directory, const char *to, const char *path) {
    int parent = open_lost(to);
    bool moved = parent >= 0 && renameat(AT_FDCWD, directory->path, parent, path_base(path)) == 0;
    if (parent >= 0 && !moved && errno == EXDEV) {
        moved = copy_directory(AT_FDCWD, parent, directory->path);
        if (!moved) remove_copy(path);
    }
    if (parent >= 0) close(parent);
    if (!moved) rmdir(to);
    return moved;
}

void lost_copy_build(const struct private_dir *directory, const struct build *build) {
    if (build->place) (void)copy_directory(AT_FDCWD, directory->file, build->place); /* it may be there already */
}

char *lost_keep(struct private_dir *directory, const char *warehouse, const struct build *build) {
    struct stat about;
    char *to = lost_path(warehouse), *path = xasprintf("%s/%s", to, path_base(directory->path));
    lost_copy_build(directory, build);
    bool is_moved = move(directory, to, path);
    if (!is_moved) {
        free(path);
        path = xstrdup(directory->path);
    }
    if (is_moved && stat(directory->path, &about) == 0)
        private_dir_remove(directory); /* it was copied */
    else
        private_dir_release(directory);
    free(to);
    return path;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

struct paths {
    char **items;
    size_t count;
};

static void add_path(void *context, const char *path) {
    struct paths *paths = context;
    paths->items = xrealloc(paths->items, (paths->count + 2) * sizeof *paths->items);
    paths->items[paths->count++] = xstrdup(path);
    paths->items[paths->count] = NULL;
}

static int by_text(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* True if its owner, and nobody else, made what is in the directory, and might have written to the warehouse as well. */
static bool is_believed(int directory, const struct stat *warehouse) {
    struct stat about;
    return fstat(directory, &about) == 0 && !(about.st_mode & 022) && owner_may_write(about.st_uid, warehouse);
}

static void add_kept(struct paths *paths, const char *kept, int directory, const struct stat *warehouse) {
    struct dirent **names = NULL;
    int count = scandirat(directory, ".", &names, NULL, NULL);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        char *path = xasprintf("%s/%s", kept, name);
        int file = *name == '.' ? -1 : openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (file >= 0 && is_believed(file, warehouse) && private_dir_has_recording(file)) add_path(paths, path);
        if (file >= 0) close(file);
        free(path);
        free(names[i]);
    }
    free(names);
}

char **lost_find(const char *warehouse, char **refused) {
    struct paths paths = {.items = xcalloc(1, sizeof *paths.items)};
    struct stat about = {.st_uid = geteuid()}; /* of a warehouse that is not there any more */
    char *kept = lost_path(warehouse);
    int directory = open(kept, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    (void)stat(warehouse, &about);
    bool is_ours = directory >= 0 && is_believed(directory, &about);
    if (is_ours) add_kept(&paths, kept, directory, &about);
    if (refused) *refused = directory >= 0 && !is_ours ? xstrdup(kept) : NULL;
    if (directory >= 0) close(directory);
    free(kept);
    private_dir_each_recording(add_path, &paths);
    qsort(paths.items, paths.count, sizeof *paths.items, by_text);
    return paths.items;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static char *read_run(int directory, struct error *err) {
    int file = openat(directory, RECORDING_RUN_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat about;
    char *text = NULL;
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= RUN_TEXT_MAX) {
        text = xcalloc((size_t)about.st_size + 1, 1);
        if (read(file, text, (size_t)about.st_size) != (ssize_t)about.st_size) text[0] = '\0';
    }
    if (!text) error_fail(err, "%s: %s", RECORDING_RUN_FILE, file < 0 ? strerror(errno) : "is not that of a recording");
    if (file >= 0) close(file);
    return text;
}

static char *text_of(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NULL : xstrdup(db_text(row, column));
}

/* SQLite reads JSON. */
static int parse_run(struct lost *lost, struct error *err) {
    struct db db;
    if (db_open_bare(&db, "the run of a recording", err)) return -1;
    sqlite3_stmt *row = db_prepare(&db, embedded_text("ingest/lost/read"), err);
    if (row) db_bind_text(row, ":run", lost->run);
    int code = row && db_step(&db, row, err) == 1 ? 0 : -1;
    if (code == 0) {
        lost->warehouse = text_of(row, 0);
        lost->command = text_of(row, 1);
        lost->label = text_of(row, 2);
        lost->uuid = text_of(row, 3);
        lost->build = text_of(row, 4);
        lost->program = text_of(row, 5);
        lost->started_ns = sqlite3_column_int64(row, 6);
        lost->source = text_of(row, 7);
        lost->text = text_of(row, 8);
        if (!lost->warehouse || !lost->command || !lost->uuid)
            code = error_fail(err, "%s: is not that of a recording", RECORDING_RUN_FILE);
    }
    struct error ignored = {0};
    db_close(&db, &ignored);
    return code;
}

static bool is_segment(const char *name) {
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".seg") == 0;
}

static void look_at_owner(struct lost *lost) {
    struct stat about;
    lost->is_foreign = fstat(lost->directory.file, &about) || about.st_mode & 022 || !owner_is_trusted(about.st_uid);
}

static void count_files(struct lost *lost) {
    struct dirent **names = NULL;
    int count = scandir(lost->directory.path, &names, NULL, NULL);
    for (int i = 0; i < count; i++) {
        struct stat about;
        const char *name = names[i]->d_name;
        if (fstatat(lost->directory.file, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode)) {
            lost->bytes += (int64_t)about.st_blocks * 512;
            lost->segments += is_segment(name);
            lost->running += is_segment(name) && segment_is_written(lost->directory.file, name) == 1;
        }
        free(names[i]);
    }
    free(names);
}

int lost_open(struct lost *lost, const char *path, struct error *err) {
    *lost = (struct lost){.directory = {.file = -1, .owner = -1}};
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool has_run = file >= 0 && faccessat(file, RECORDING_RUN_FILE, R_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (file < 0) return error_fail(err, "%s: %s", path, strerror(errno));
    close(file);
    if (!has_run) return error_fail(err, "%s: is not a recording: it has no %s", path, RECORDING_RUN_FILE);
    int code = private_dir_adopt(&lost->directory, path, err);
    if (code != 1) return code;
    lost->run = read_run(lost->directory.file, err);
    if (lost->run && parse_run(lost, err) == 0) {
        look_at_owner(lost);
        count_files(lost);
        return 1;
    }
    lost_close(lost);
    return error_prefix(err, "%s: ", path);
}

static void free_texts(struct lost *lost) {
    free(lost->run);
    free(lost->warehouse);
    free(lost->command);
    free(lost->label);
    free(lost->uuid);
    free(lost->build);
    free(lost->program);
    free(lost->source);
    free(lost->text);
}

void lost_close(struct lost *lost) {
    private_dir_release(&lost->directory);
    free_texts(lost);
    *lost = (struct lost){.directory = {.file = -1, .owner = -1}};
}

void lost_remove(struct lost *lost) {
    char *parent = xstrdup(lost->directory.path);
    private_dir_remove(&lost->directory);
    char *slash = strrchr(parent, '/');
    if (slash && slash != parent) *slash = '\0';
    size_t size = strlen(parent);
    if (size > 5 && strcmp(parent + size - 5, ".lost") == 0) rmdir(parent); /* the last one */
    free(parent);
    lost_close(lost);
}

bool lost_is_of(const struct lost *lost, const char *warehouse) {
    char *real = real_path(warehouse), *other = real_path(lost->warehouse);
    bool is_same = strcmp(real, other) == 0;
    free(real);
    free(other);
    return is_same;
}

/* ---- storing ----------------------------------------------------------------------------------------------------- */

static int run_with(struct db *db, const char *file, const struct lost *lost, int64_t run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text(file), err);
    if (!statement) return -1;
    db_bind_text(statement, ":run", lost->run);
    if (run_id) db_bind_int(statement, ":id", run_id);
    return db_run(db, statement, err);
}

/* 1: it is there, 0: it is not, -1. */
static int look_for_run(const struct lost *lost, struct db *db, int64_t *run_id, bool *is_over, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("ingest/lost/known"), err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", lost->uuid);
    int code = db_step(db, row, err);
    if (code < 1) return code;
    *run_id = sqlite3_column_int64(row, 0);
    *is_over = sqlite3_column_int(row, 1);
    sqlite3_reset(row);
    return 1;
}

/* A run that is over has all that was recorded of it: then *is_over, and nothing is changed. */
static int64_t find_run(const struct lost *lost, struct db *db, bool *is_over, struct error *err) {
    int64_t run_id = 0;
    int code = look_for_run(lost, db, &run_id, is_over, err);
    if (code < 0 || *is_over) return code < 0 ? -1 : run_id;
    if (run_with(db, "ingest/lost/run", lost, 0, err)) return -1;
    bool is_new = code == 0, ignored;
    if (is_new && look_for_run(lost, db, &run_id, &ignored, err) != 1)
        return error_fail(err, "%s: its run cannot be stored", lost->directory.path);
    if (run_with(db, "ingest/lost/tags", lost, run_id, err)) return -1;
    if (lost->source && lost->text && sources_put(db, run_id, lost->source, SOURCE_ROLE, lost->text, err)) return -1;
    return run_id;
}

static int64_t begin(const struct lost *lost, struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT id FROM runs WHERE uuid = :uuid", err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", lost->uuid);
    int code = db_step(db, row, err);
    if (code == 1)
        error_usage(err, "%s: run %lld has the UUID %s already", db->path, (long long)sqlite3_column_int64(row, 0),
                    lost->uuid);
    sqlite3_reset(row);
    bool is_over = false;
    return code ? -1 : find_run(lost, db, &is_over, err);
}

int64_t lost_begin(struct db *db, const struct private_dir *directory, struct error *err) {
    struct lost lost = {.run = read_run(directory->file, err)};
    int64_t run_id = -1;
    if (lost.run && parse_run(&lost, err) == 0 && db_begin(db, err) == 0) {
        run_id = begin(&lost, db, err);
        if (run_id < 0)
            db_rollback(db);
        else if (db_commit(db, err))
            run_id = -1;
    }
    free_texts(&lost);
    return run_id;
}

/* Files of tools, and the kinds of profile that come of them: in such a run of nothing else. */
static const struct lost_tool {
    const char *name, *kind;
    enum tool tool;
} left_by[] = {{"perf.data", "cpu", TOOL_PERF_RECORD}, {"perf-stat", "counters", TOOL_PERF_STAT}};

/* The path of the file, if it is there, to be freed; else NULL. */
static char *left(const struct lost *lost, const struct lost_tool *tool) {
    char *path = xasprintf("%s/%s", lost->directory.path, tool->name);
    if (access(path, F_OK) == 0) return path;
    free(path);
    return NULL;
}

static bool has_kind(struct db *db, int64_t run_id, const char *kind) {
    struct error ignored = {0};
    sqlite3_stmt *row = db_prepare(db, "SELECT 1 FROM profiles WHERE run_id = :run AND kind = :kind", &ignored);
    if (!row) return true;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":kind", kind);
    bool has = db_step(db, row, &ignored) != 0;
    sqlite3_reset(row);
    return has;
}

/* What a `clear recover` that was killed had stored of it. */
static int forget_tool(const struct lost *lost, struct db *db, int64_t run_id, const struct lost_tool *tool,
                       struct error *err) {
    char *path = left(lost, tool);
    if (!path) return 0;
    free(path);
    sqlite3_stmt *statement = db_prepare(db, "DELETE FROM profiles WHERE run_id = :run AND kind = :kind", err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_text(statement, ":kind", tool->kind);
    return db_run(db, statement, err);
}

static int forget_process(struct db *db, int64_t run_id, const struct segment *head, struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db, "DELETE FROM processes WHERE run_id = :run AND pid = :pid AND started_ns = :started", err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_int(statement, ":pid", head->pid);
    db_bind_int(statement, ":started", (int64_t)head->start_realtime_ns);
    return db_run(db, statement, err);
}

/* A segment has all that its process did. So what was flushed of it goes, and is written anew. */
static int forget_flushed(const struct lost *lost, struct db *db, int64_t run_id, struct error *err) {
    struct dirent **names = NULL;
    int count = scandir(lost->directory.path, &names, NULL, alphasort), code = 0;
    for (int i = 0; i < count; i++) {
        struct segment_view view;
        struct error ignored = {0};
        if (code == 0 && is_segment(names[i]->d_name) &&
            segment_view_open(&view, lost->directory.file, names[i]->d_name, &ignored) > 0) {
            code = forget_process(db, run_id, &view.head, err);
            segment_view_close(&view);
        }
        free(names[i]);
    }
    free(names);
    for (size_t i = 0; i < sizeof left_by / sizeof *left_by && code == 0; i++)
        code = forget_tool(lost, db, run_id, &left_by[i], err);
    return code;
}

static int end_run(const struct lost *lost, struct db *db, int64_t run_id, const struct collector *collector,
                   struct error *err) {
    struct recording_note note;
    struct collector_totals totals;
    if (recording_note_read(&note, lost->directory.file, err)) return -1;
    collector_totals(collector, &totals);
    const struct run_ending ending = {.wait_status = note.wait_status,
                                      .symbolize_ns = totals.symbolize_ns,
                                      .write_ns = totals.flush_ns - totals.symbolize_ns};
    if (note.has_status) return run_end(db, run_id, &ending, err);
    if (lost->running) return 0;
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/lost/end"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    return db_run(db, statement, err) || run_seal(db, run_id, err) ? -1 : 0;
}

/* Of a run that is over when `only_missing`, where clear was killed before it stored them: nothing that it has is replaced. */
static void store_tools(const struct lost *lost, struct db *db, int64_t run_id, bool only_missing,
                        void (*warn)(const char *message)) {
    const struct ingest_program program = {.path = lost->program ? lost->program : ""};
    for (size_t i = 0; i < sizeof left_by / sizeof *left_by; i++) {
        struct error failure = {0};
        char *path = left(lost, &left_by[i]);
        bool is_there = path && only_missing && has_kind(db, run_id, left_by[i].kind);
        if (path && !is_there && tool_store(db, run_id, left_by[i].tool, path, &program, &failure))
            warn(failure.message);
        free(path);
    }
}

/* perf and the dumps of the program. Each is a transaction of its own, so they come last. */
static void store_others(struct lost *lost, struct db *db, int64_t run_id, const struct collector *collector,
                         void (*warn)(const char *message)) {
    struct self_dumps dumps = {.directory = lost->directory.path, .has_children = true};
    const struct ingest_program program = {.path = lost->program ? lost->program : ""};
    struct error err = {0};
    if (self_dumps_take(&dumps, db, run_id, collector, &program, &err)) warn(err.message);
    for (size_t i = 0; i < dumps.loss_count; i++)
        warn(dumps.losses[i].error.message);
    self_dumps_close(&dumps);
    store_tools(lost, db, run_id, false, warn);
}

/* Only what came after the earlier copy. */
static int pass_earlier(const struct lost *lost, struct collector *collector, struct error *err) {
    if (!lost->earlier) return 0;
    int earlier = open(lost->earlier, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (earlier < 0) return error_fail(err, "%s: %s", lost->earlier, strerror(errno));
    int code = collector_after(collector, earlier, err);
    close(earlier);
    return code;
}

static int store_segments(const struct lost *lost, struct db *db, int64_t run_id, const char *build,
                          struct collector **collector, struct error *err) {
    if (forget_flushed(lost, db, run_id, err) || collector_reopen(collector, db, run_id, lost->directory.file, err))
        return -1;
    if (pass_earlier(lost, *collector, err)) return -1;
    if (lost->build && access(build, F_OK) == 0) collector_moved(*collector, lost->build, build);
    return collector_flush(*collector, true, err);
}

/* The run is over last of all, because what one that is over has is never changed: whoever is killed before that leaves the recording for
 * the next. */
int64_t lost_store(struct lost *lost, struct db *db, void (*warn)(const char *message), bool *was_over,
                   struct error *err) {
    struct collector *collector = NULL;
    *was_over = false;
    if (db_begin(db, err)) return -1;
    char *build = xasprintf("%s/build", lost->directory.path);
    int64_t run_id = find_run(lost, db, was_over, err);
    int code = run_id < 0 ? -1 : 0;
    if (code == 0 && !*was_over) code = store_segments(lost, db, run_id, build, &collector, err);
    if (code || *was_over)
        db_rollback(db);
    else
        code = db_commit(db, err);
    if (code == 0 && !*was_over) {
        store_others(lost, db, run_id, collector, warn);
        code = end_run(lost, db, run_id, collector, err);
    } else if (code == 0 && !lost->is_foreign) {
        store_tools(lost, db, run_id, true, warn);
    }
    collector_close(collector);
    free(build);
    return code ? -1 : run_id;
}
