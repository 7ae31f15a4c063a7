#include "ingest/read/dumps/clear_dumps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ingest/read/readers.h"
#include "ingest/read/run_text.h"
#include "ingest/symbols/source_rows.h"
#include "schema/schema.h"

/* ---- which dump it is -------------------------------------------------------------------------------------------- */

enum { HEAD = 4096, HEAD_LINES = 40 }; /* bytes that are read to recognise a dump */

static int read_alloc(struct dump_reader *dump, struct error *err) {
    return dump_read_rows(dump, "heap", err);
}
static int read_locks(struct dump_reader *dump, struct error *err) {
    return dump_read_rows(dump, "lock", err);
}
static int read_cells(struct dump_reader *dump, struct error *err) {
    return dump_read_rows(dump, "mvcc", err);
}
static int read_channels(struct dump_reader *dump, struct error *err) {
    return dump_read_rows(dump, "channels", err);
}

static const struct dump_kind {
    const char *file;            /* in a directory */
    const char *titles[4];       /* a line near the start begins with one of them; ends with NULL */
    const char *profile, *other; /* files of a directory that hold the same kind in another format: see below */
    int (*read)(struct dump_reader *dump, struct error *err);
} kinds[] = {
    {"alloc.txt", {"# alloc-profile v", "# total_allocs:", "# addr alloc_count"}, "heap.pb.gz", NULL, read_alloc},
    {"locks.txt", {"# lock-profile v", "# addr\tacquires", "# addr acquires"}, NULL, "lock.pb.gz", read_locks},
    {"mvcc.txt", {"# mvcc-profile v", "# addr\tstruct_size", "# addr struct_size"}, NULL, "mvcc.pb.gz", read_cells},
    {"channels.txt", {"# channel-profile v"}, "channels.pb.gz", NULL, read_channels},
    {"fibers.txt", {"# fiber-profile v"}, NULL, NULL, dump_read_fibers},
    {"syscalls.txt", {"% time "}, NULL, NULL, dump_read_syscalls},
    {"perf-stat.txt", {"Performance counter stats for"}, NULL, NULL, dump_read_counters},
};
enum { KINDS = sizeof kinds / sizeof *kinds, FIBERS = 4 };

/* The kind of dump, by lines at its start; NULL for none. */
static const struct dump_kind *recognise_dump(const struct input *input) {
    struct input head = *input;
    if (!input->data) return NULL;
    if (head.size > HEAD) head.size = HEAD;
    struct input_lines lines = {.input = &head};
    while (input_next_line(&lines) && lines.number <= HEAD_LINES) {
        struct span line = span_trim(span_of_line(&lines));
        for (size_t i = 0; i < KINDS; i++)
            for (const char *const *title = kinds[i].titles; *title; title++)
                if (span_starts(line, *title)) return &kinds[i];
        /* A title comes before rows. */
        if (span_size(line) && *line.at != '#') return NULL;
    }
    return NULL;
}

const char *dump_file_of(const struct input *input) {
    const struct dump_kind *kind = recognise_dump(input);
    return kind ? kind->file : NULL;
}

/* ---- a single dump ----------------------------------------------------------------------------------------------- */

static int begin_run(struct ingest *ingest, int64_t sample_n, int64_t duration_ns, struct error *err) {
    const struct ingest_run run = {.sample_n = sample_n, .duration_ns = duration_ns};
    return ingest_begin_run(ingest, &run, err);
}

static bool recognise_file(const struct input *input) {
    return recognise_dump(input) != NULL;
}

static int read_file(struct ingest *ingest, const struct input *input, struct error *err) {
    struct dump_names names;
    struct dump_reader dump;
    dump_names_open(&names, ingest, input->path);
    int code = dump_open(&dump, ingest, &names, input, err);
    if (code == 0) {
        code = begin_run(ingest, dump.sample_n, 0, err);
        if (code == 0) code = recognise_dump(input)->read(&dump, err);
        if (code == 0) code = dump_names_store_sources(&names, err);
        dump_close(&dump);
    }
    dump_names_close(&names);
    return code;
}

const struct format format_clear_dump = {
    .name = "clear-dump",
    .help = "a text dump of CLEAR's runtime (alloc, locks, mvcc, channels, fibers), of strace -c or perf stat",
    .recognise = recognise_file,
    .read = read_file,
};

/* ---- task sites of a recorded run -------------------------------------------------------------------------------- */

static int mark_profile(struct ingest *ingest, const struct input *input, struct error *err) {
    struct dump_reader dump;
    if (dump_open(&dump, ingest, NULL, input, err)) return -1;
    int code = dump_read_task_sites(&dump, true, err);
    dump_close(&dump);
    return code;
}

/* Each row has a profile of fibers and a transpiled text. */
static int mark_all(struct ingest *ingest, struct error *err) {
    sqlite3_stmt *row = db_prepare(ingest->db, embedded_text("ingest/transpiled_sources.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", ingest->run_id);
    int code;
    while ((code = db_step(ingest->db, row, err)) == 1) {
        struct input input;
        const char *text = db_text(row, 1);
        ingest->profile_id = sqlite3_column_int64(row, 0);
        if (input_open_memory(&input, "transpiled source", (const uint8_t *)text, strlen(text), err)) return -1;
        code = mark_profile(ingest, &input, err);
        input_close(&input);
        if (code) break;
    }
    return code;
}

int dump_mark_run(struct db *db, int64_t run_id, struct error *err) {
    struct ingest ingest = {.db = db, .run_id = run_id, .options.lenient = true};
    if (db_begin(db, err)) return -1;
    if (mark_all(&ingest, err) == 0) return db_commit(db, err);
    db_rollback(db);
    return -1;
}

/* ---- a directory ------------------------------------------------------------------------------------------------- */

/* The files of a directory that are not text dumps. */
static const char *const profiles[] = {
    "heap.pb.gz",    "lock.pb.gz", "mvcc.pb.gz",      "channels.pb.gz", "cpu.pb.gz",  "io.pb.gz",       "spin.pb.gz",
    "threads.pb.gz", "wait.pb.gz", "heap-peak.pb.gz", "leak.pb.gz",     "mmap.pb.gz", "lifetimes.pb.gz"};
enum { PROFILES = sizeof profiles / sizeof *profiles, PERF = KINDS + PROFILES, ZIG, SOURCE, FILES };

/* A file of the directory: first the text dumps, then profiles, perf.data, transpiled.zig, source.cht. */
struct member {
    char *path;
    struct input input;
    bool is_there;
};

struct directory {
    struct ingest *ingest;
    struct dump_names names;
    struct member members[FILES];
};

static const char *member_name(int index) {
    if (index < KINDS) return kinds[index].file;
    if (index < PERF) return profiles[index - KINDS];
    return index == PERF ? "perf.data" : index == ZIG ? "transpiled.zig" : "source.cht";
}

static bool is_file(const char *directory, const char *name) {
    struct stat status;
    char *path = xasprintf("%s/%s", directory, name);
    bool is = lstat(path, &status) == 0 && (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode));
    free(path);
    return is;
}

static bool is_called_profile(const char *path) {
    struct span name = {path, path + strlen(path)};
    while (span_size(name) > 1 && name.end[-1] == '/')
        name.end--;
    return span_size(name) > 8 && memcmp(name.end - 8, ".profile", 8) == 0;
}

/* Any directory may have profiles that are called heap.pb.gz and cpu.pb.gz; then each is read as a file of its own.
 * With a text dump among them, or when the directory is called NAME.profile, they are one run. */
static bool recognise_directory(const struct input *input) {
    if (!input->is_directory) return false;
    int candidates = is_called_profile(input->path) ? ZIG : KINDS;
    if (is_file(input->path, RUN_TEXT_FILE)) return true;
    for (int i = 0; i < candidates; i++)
        if (is_file(input->path, member_name(i))) return true;
    return false;
}

static int open_member(struct member *member, const char *directory, const char *name, struct error *err) {
    struct stat status;
    member->path = xasprintf("%s/%s", directory, name);
    if (lstat(member->path, &status) != 0) return 0;
    if (S_ISLNK(status.st_mode))
        return error_fail(err,
                          "%s: is a symbolic link, which could bring any file of yours into the warehouse: copy it",
                          member->path);
    if (!S_ISREG(status.st_mode) || status.st_size == 0) return 0;
    if (input_open(&member->input, member->path, err) != 0) return -1;
    member->is_there = true;
    return input_complete(&member->input, err);
}

static bool has(const struct directory *directory, const char *name) {
    for (int i = 0; i < FILES; i++)
        if (directory->members[i].is_there && strcmp(member_name(i), name) == 0) return true;
    return false;
}

/* Of two files of one kind only one is read. heap.pb.gz and channels.pb.gz have what the texts have, and also names. Of locks and
 * cells the text has more. cpu.pb.gz was made from perf.data. */
static bool is_needed(const struct directory *directory, int index) {
    if (!directory->members[index].is_there) return false;
    if (index < KINDS) return !kinds[index].profile || !has(directory, kinds[index].profile);
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].other && strcmp(kinds[i].other, member_name(index)) == 0 && has(directory, kinds[i].file))
            return false;
    return strcmp(member_name(index), "cpu.pb.gz") != 0 || !directory->members[PERF].is_there;
}

/* Adds the headers of a text dump to the profile that was read instead of it. */
static int add_headers(struct directory *directory, int kind, struct error *err) {
    struct dump_reader dump;
    struct ingest *ingest = directory->ingest;
    if (!directory->members[kind].is_there || !ingest->profile_id) return 0;
    if (dump_open(&dump, ingest, &directory->names, &directory->members[kind].input, err) != 0) return -1;
    sqlite3_stmt *update = db_prepare(ingest->db,
                                      "UPDATE profiles SET sample_n = max(sample_n, :sample_n),"
                                      " dropped = max(dropped, :dropped) WHERE id = :profile",
                                      err);
    if (update) {
        db_bind_int(update, ":sample_n", dump.sample_n);
        db_bind_int(update, ":dropped", dump.dropped);
        db_bind_int(update, ":profile", ingest->profile_id);
    }
    dump_close(&dump);
    return update ? db_run(ingest->db, update, err) : -1;
}

static int read_foreign(struct directory *directory, int index, struct error *err) {
    struct member *member = &directory->members[index];
    const struct format *format = format_find(&member->input);
    if (!format) return error_fail(err, "%s: byte 0: no known format", member->path);
    if (format->read(directory->ingest, &member->input, err) != 0) return -1;
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].profile && strcmp(kinds[i].profile, member_name(index)) == 0)
            return add_headers(directory, i, err);
    return 0;
}

static int read_text(struct directory *directory, int index, struct error *err) {
    struct dump_reader dump;
    if (dump_open(&dump, directory->ingest, &directory->names, &directory->members[index].input, err) != 0) return -1;
    int code = kinds[index].read(&dump, err);
    dump_close(&dump);
    return code;
}

/* fibers.txt is read last, so its profile is open and gets the markers. */
static int read_markers(struct directory *directory, struct error *err) {
    struct dump_reader dump;
    if (!directory->members[ZIG].is_there) return 0;
    if (dump_open(&dump, directory->ingest, &directory->names, &directory->members[ZIG].input, err) != 0) return -1;
    int code = dump_read_task_sites(&dump, directory->members[FIBERS].is_there, err);
    dump_close(&dump);
    return code;
}

/* ---- its sources ---- */

/* The path of source.cht in the debug information, as in the profiles beside it. free() it. */
static char *source_path(struct directory *directory, struct error *err) {
    struct ingest *ingest = directory->ingest;
    sqlite3_stmt *select = db_prepare(ingest->db, embedded_text("ingest/transpiled_path.sql"), err);
    if (!select) return NULL;
    db_bind_int(select, ":run", ingest->run_id);
    int code = db_step(ingest->db, select, err);
    if (code < 0) return NULL;
    char *path = code ? xstrdup(db_text(select, 0)) : xasprintf("%s/source.cht", ingest->input->path);
    sqlite3_reset(select);
    return path;
}

static int put_source(struct directory *directory, const char *file, const char *path, const char *role,
                      struct error *err) {
    char *text = source_read(file);
    int code = text ? sources_put(directory->ingest->db, directory->ingest->run_id, path, role, text, err) : 0;
    free(text);
    return code;
}

/* 1, 0 or -1. */
static int has_sources(struct ingest *ingest, struct error *err) {
    sqlite3_stmt *select = db_prepare(ingest->db, "SELECT 1 FROM sources WHERE run_id = :run LIMIT 1", err);
    if (!select) return -1;
    db_bind_int(select, ":run", ingest->run_id);
    int code = db_step(ingest->db, select, err);
    if (code == 1) sqlite3_reset(select);
    return code;
}

/* Stores the transpiled texts to which the debug information of the binary did not lead, with the names that are
 * known. */
static int store_sources(struct directory *directory, struct error *err) {
    if (ingest_end_profile(directory->ingest, err) || dump_names_store_sources(&directory->names, err)) return -1;
    int has_some = has_sources(directory->ingest, err);
    if (has_some) return has_some < 0 ? -1 : 0;
    const char *transpiled = directory->members[ZIG].path, *source = directory->members[SOURCE].path;
    if (put_source(directory, transpiled, transpiled, TRANSPILED_ROLE, err)) return -1;
    if (!directory->members[SOURCE].is_there) return 0;
    char *path = source_path(directory, err);
    int code = path ? put_source(directory, source, path, SOURCE_ROLE, err) : -1;
    free(path);
    return code;
}

static int read_members(struct directory *directory, struct error *err) {
    for (int i = 0; i < ZIG; i++) {
        if (i == FIBERS || !is_needed(directory, i)) continue;
        if ((i < KINDS ? read_text(directory, i, err) : read_foreign(directory, i, err)) != 0) return -1;
    }
    if (directory->members[FIBERS].is_there && read_text(directory, FIBERS, err) != 0) return -1;
    return read_markers(directory, err) || store_sources(directory, err) ? -1 : 0;
}

/* The run has the greatest sampling rate of all dumps; each profile has its own. */
static int find_sample_n(struct directory *directory, int64_t *sample_n, struct error *err) {
    *sample_n = 1;
    for (int i = 0; i < KINDS; i++) {
        struct dump_reader dump;
        if (!directory->members[i].is_there) continue;
        uint64_t skipped = directory->ingest->rows_skipped;
        if (dump_open(&dump, directory->ingest, &directory->names, &directory->members[i].input, err) != 0) return -1;
        directory->ingest->rows_skipped = skipped; /* it is opened and counted again later */
        if (dump.sample_n > *sample_n) *sample_n = dump.sample_n;
        dump_close(&dump);
    }
    return 0;
}

/* 1: the directory has all rows of its run, which were read, and its other files have nothing to add to them; 0: it has not, or is a snapshot
 * of a process, of which differences are stored. -1 with the error set. */
static int read_rows(struct ingest *ingest, const char *directory, struct error *err) {
    struct member member = {0};
    if (ingest->options.cumulative) return 0;
    int code = open_member(&member, directory, RUN_TEXT_FILE, err);
    if (code == 0 && member.is_there) {
        if (format_run_text.recognise(&member.input))
            code = format_run_text.read(ingest, &member.input, err) ? -1 : 1;
        else
            code = error_fail(err, "%s: byte 0: is not the rows of a run", member.path);
    }
    if (member.is_there) input_close(&member.input);
    free(member.path);
    return code;
}

static int read_files(struct ingest *ingest, const struct input *input, struct error *err) {
    struct directory directory = {.ingest = ingest};
    int code = 0;
    int64_t sample_n = 1;
    dump_names_open(&directory.names, ingest, input->path);
    for (int i = 0; i < FILES && code == 0; i++)
        code = open_member(&directory.members[i], input->path, member_name(i), err);
    if (code == 0) code = find_sample_n(&directory, &sample_n, err);
    if (code == 0) code = begin_run(ingest, sample_n, 0, err);
    if (code == 0) code = read_members(&directory, err);
    for (int i = 0; i < FILES; i++) {
        if (directory.members[i].is_there) input_close(&directory.members[i].input);
        free(directory.members[i].path);
    }
    dump_names_close(&directory.names);
    return code;
}

static int read_directory(struct ingest *ingest, const struct input *input, struct error *err) {
    int has_rows = read_rows(ingest, input->path, err);
    return has_rows ? has_rows < 0 ? -1 : 0 : read_files(ingest, input, err);
}

const struct format format_clear_directory = {
    .name = "clear-profile",
    .help = "a directory NAME.profile/ of such dumps, next to the binary NAME, which gives them function names",
    .recognise = recognise_directory,
    .read = read_directory,
};
