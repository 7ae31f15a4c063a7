#include "ingest/record/self_dumps.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "ingest/read/dumps/clear_dumps.h"
#include "ingest/read/readers.h"
#include "ingest/record/recordable.h"
#include "schema/schema.h"

static const struct {
    const char *variable, *file, *kind;
    uint32_t feature;
} dump_kinds[SELF_DUMPS] = {
    {"CLEAR_ALLOC_PROFILE", "alloc.txt", "heap", FEATURE_HEAP},
    {"CLEAR_LOCK_PROFILE", "locks.txt", "lock", FEATURE_LOCKS},
    {"CLEAR_MVCC_PROFILE", "mvcc.txt", "mvcc", FEATURE_CELLS},
    {"CLEAR_CHANNEL_PROFILE", "channels.txt", "channels", FEATURE_CHANNELS},
    {"CLEAR_FIBER_PROFILE", "fibers.txt", "fibers", FEATURE_FIBERS},
};

const char *self_dumps_file(int kind) {
    return dump_kinds[kind].file;
}

const char *self_dumps_variable(int kind) {
    return dump_kinds[kind].variable;
}

/* ---- the environment --------------------------------------------------------------------------------------------- */

/* The variable of a kind that is not recorded stays as the user has set it. */
void self_dumps_open(struct self_dumps *dumps, const char *directory, const struct collector_options *options) {
    size_t count = 0, replaced = 0;
    *dumps = (struct self_dumps){.directory = directory, .has_children = !(options->features & FEATURE_NO_CHILDREN)};
    for (int i = 0; i < SELF_DUMPS; i++) {
        if (!(options->features & dump_kinds[i].feature)) continue;
        if (getenv(dump_kinds[i].variable)) dumps->replaced[replaced++] = dump_kinds[i].variable;
        dumps->variables[count++] =
            xasprintf("%s=%s/" SEGMENT_NO_DUMP_ID ".%s", dump_kinds[i].variable, directory, dump_kinds[i].file);
    }
    dumps->variables[count++] = xasprintf("CLEAR_PROFILE_SAMPLE=%u", options->sample_n > 1 ? options->sample_n : 1);
    bool splits = options->features & FEATURE_SYNC_STACKS;
    dumps->variables[count++] = xasprintf("CLEAR_PROFILE_SYNC_CALLSTACKS%s", splits ? "=1" : "");
}

void self_dumps_close(struct self_dumps *dumps) {
    for (char **variable = dumps->variables; *variable; variable++)
        free(*variable);
    free(dumps->losses);
    *dumps = (struct self_dumps){0};
}

/* ---- who wrote it ------------------------------------------------------------------------------------------------ */

/* One file, and the process that wrote it. */
struct dump_file {
    char *path;
    int kind;                /* index into kinds */
    int64_t pid, started_ns; /* of its name; 0: of a process without our runtime */
    int64_t process_id;      /* 0: it is not known to the recording */
    char *executable;        /* NULL: unknown */
};

static void free_file(struct dump_file *file) {
    free(file->path);
    free(file->executable);
}

static int find_process(struct dump_file *file, struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(
        db, "SELECT id, executable FROM processes WHERE run_id = :run AND pid = :pid AND started_ns = :started", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_int(row, ":pid", file->pid);
    db_bind_int(row, ":started", file->started_ns);
    int code = db_step(db, row, err);
    if (code == 1) {
        file->process_id = sqlite3_column_int64(row, 0);
        file->executable = xstrdup(db_text(row, 1));
        sqlite3_reset(row);
    }
    return code < 0 ? -1 : 0;
}

/* The program whose symbols name the addresses of a dump. Without a known program and load bias they get no names,
 * because names of another program would be wrong. A process without the runtime is static, so it is the target at the
 * addresses of its file. */
static struct ingest_program program_of(const struct dump_file *file, const char *variable,
                                        const struct collector *collector, const struct ingest_program *target) {
    struct ingest_program program = *target;
    if (file->executable) program.path = file->executable;
    bool is_known = program_is_fixed(program.path) && (file->executable || program_contains(program.path, variable));
    if (!is_known && file->process_id) is_known = collector_bias(collector, file->pid, file->started_ns, &program.bias);
    if (!is_known) program.path = NULL;
    return program;
}

/* ---- in the place of the hooks' ---------------------------------------------------------------------------------- */

struct dump_import {
    struct db *db;
    int64_t run_id, profile_id; /* profile_id: of the dump */
    const char *kind;
    int64_t process_id; /* 0: unknown */
    bool was_paused;
};

/* `sql` may have the parameters :run, :profile, :kind, :process (NULL where it is not known) and :text. */
static int run_sql(const struct dump_import *import, const char *sql, const char *text, struct error *err) {
    sqlite3_stmt *statement = db_prepare(import->db, sql, err);
    if (!statement) return -1;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{":run", import->run_id}, {":profile", import->profile_id}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sqlite3_bind_parameter_index(statement, numbers[i].name))
            db_bind_int(statement, numbers[i].name, numbers[i].value);
    if (sqlite3_bind_parameter_index(statement, ":kind")) db_bind_text(statement, ":kind", import->kind);
    if (sqlite3_bind_parameter_index(statement, ":process") && import->process_id)
        db_bind_int(statement, ":process", import->process_id);
    if (sqlite3_bind_parameter_index(statement, ":text")) db_bind_text(statement, ":text", text);
    return db_run(import->db, statement, err);
}

static int warn(const struct dump_import *import, const char *text, struct error *err) {
    return run_sql(import, "UPDATE profiles SET comments = json_insert(comments, '$[#]', :text) WHERE id = :profile",
                   text, err);
}

static int warn_of_pause(const struct dump_import *import, struct error *err) {
    static const char text[] = "# WARNING: recording was paused for a time; the dump of the program includes that time";
    return import->was_paused ? warn(import, text, err) : 0;
}

/* Replaces the profiles of the hooks. What they have about the whole run (counters recorder.*, processes that could not
 * be recorded) is moved first. */
static int replace_hooks(struct dump_import *import, struct error *err) {
    static const char *const steps[] = {"ingest/self_dumps/dump_profile", "ingest/self_dumps/dump_counters",
                                        "ingest/self_dumps/dump_comments", "ingest/self_dumps/dump_replaces"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (run_sql(import, embedded_text(steps[i]), NULL, err)) return -1;
    return warn_of_pause(import, err);
}

/* ---- one dump ---------------------------------------------------------------------------------------------------- */

/* 1: it is a dump of that kind, 0: there is no file, -1: it is something else. */
static int check_dump(const char *path, int kind, struct error *err) {
    struct stat about;
    struct input input;
    if (lstat(path, &about) != 0) return 0;
    if (!S_ISREG(about.st_mode)) return error_fail(err, "%s: is not a regular file", path);
    if (input_open(&input, path, err) != 0) return -1;
    const char *file = dump_file_of(&input);
    input_close(&input);
    if (!file) return error_fail(err, "%s: %s", path, about.st_size ? "is not a dump of CLEAR's runtime" : "is empty");
    return strcmp(file, dump_kinds[kind].file) == 0 ? 1 : error_fail(err, "%s: is a dump of another kind", path);
}

static int store_dump(struct dump_import *import, const char *path, const struct ingest_program *program,
                      struct error *err) {
    if (db_begin(import->db, err)) return -1;
    if (ingest_into_run(import->db, import->run_id, path, &format_clear_dump, program, err) == 0 &&
        db_int(import->db, "SELECT max(id) FROM profiles", 0, &import->profile_id, err) == 0 &&
        replace_hooks(import, err) == 0)
        return db_commit(import->db, err);
    db_rollback(import->db);
    return -1;
}

/* Removes the private directory and the ID from the file's name, because the directory will be gone. */
static void shorten(struct error *err, const char *directory) {
    size_t size = strlen(directory) + 1 + SEGMENT_DUMP_ID + 1;
    char *at = strstr(err->message, directory);
    if (at && strlen(at) > size) memmove(at, at + size, strlen(at + size) + 1);
}

/* The recording that dumps are taken into. */
struct dump_recording {
    struct self_dumps *dumps;
    struct db *db;
    int64_t run_id;
    const struct collector *collector;
    const struct ingest_program *target;
};

static int take_file(const struct dump_recording *recording, struct dump_file *file, struct error *err) {
    struct self_dumps *dumps = recording->dumps;
    struct collector_totals totals;
    int code = check_dump(file->path, file->kind, err);
    if (code == 1 && file->pid) code = find_process(file, recording->db, recording->run_id, err) < 0 ? -1 : 1;
    if (code != 1) return code;
    if (file->pid && !file->process_id && !dumps->has_children) return 0; /* a child that is not recorded */
    collector_totals(recording->collector, &totals);
    struct dump_import import = {.db = recording->db,
                                 .run_id = recording->run_id,
                                 .kind = dump_kinds[file->kind].kind,
                                 .process_id = file->process_id,
                                 .was_paused = totals.paused_ns > 0};
    struct ingest_program program =
        program_of(file, dump_kinds[file->kind].variable, recording->collector, recording->target);
    if (store_dump(&import, file->path, &program, err) < 0) return -1;
    dumps->is_taken[file->kind] = true;
    return 0;
}

/* Stores a warning with the first profile of the run, for doctor. */
static int note_loss(const struct dump_recording *recording, int kind, struct error *loss, struct error *err) {
    struct self_dumps *dumps = recording->dumps;
    struct dump_import import = {.db = recording->db, .run_id = recording->run_id};
    shorten(loss, dumps->directory);
    dumps->losses = xrealloc(dumps->losses, (dumps->loss_count + 1) * sizeof *dumps->losses);
    dumps->losses[dumps->loss_count++] = (struct self_dump_loss){kind, *loss};
    char *text = xasprintf("# WARNING: the program's own dump is not stored: %s", loss->message);
    int code = run_sql(&import, embedded_text("ingest/self_dumps/dump_lost"), text, err);
    free(text);
    return code;
}

/* "0000001234-01700000000123456789.alloc.txt": whose dump it is; false for the other files of a recording. */
static bool read_name(const char *name, struct dump_file *file) {
    size_t digits = strspn(name, "0123456789");
    if (digits != SEGMENT_DUMP_PID || name[digits] != '-' || strlen(name) <= SEGMENT_DUMP_ID ||
        name[SEGMENT_DUMP_ID] != '.')
        return false;
    file->pid = strtoll(name, NULL, 10);
    file->started_ns = strtoll(name + SEGMENT_DUMP_PID + 1, NULL, 10);
    for (file->kind = 0; file->kind < SELF_DUMPS; file->kind++)
        if (strcmp(name + SEGMENT_DUMP_ID + 1, dump_kinds[file->kind].file) == 0) return true;
    return false;
}

/* In the order of the names, which is that of the processes: the same recording gives the same rows. */
int self_dumps_take(struct self_dumps *dumps, struct db *db, int64_t run_id, const struct collector *collector,
                    const struct ingest_program *target, struct error *err) {
    const struct dump_recording recording = {dumps, db, run_id, collector, target};
    struct dirent **names = NULL;
    int count = scandir(dumps->directory, &names, NULL, alphasort), code = 0;
    for (int i = 0; i < count; i++) {
        struct dump_file file = {0};
        struct error loss = {0};
        if (code == 0 && read_name(names[i]->d_name, &file)) {
            file.path = xasprintf("%s/%s", dumps->directory, names[i]->d_name);
            if (take_file(&recording, &file, &loss) < 0) code = note_loss(&recording, file.kind, &loss, err);
            free_file(&file);
        }
        free(names[i]);
    }
    free(names);
    return code < 0 ? -1 : dump_mark_run(db, run_id, err);
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

int self_dumps_totals(const struct self_dumps *dumps, struct db *db, int64_t run_id, struct collector_totals *totals,
                      struct error *err) {
    bool any = false;
    for (int i = 0; i < SELF_DUMPS; i++)
        any = any || dumps->is_taken[i];
    if (!any) return 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("ingest/self_dumps/dump_totals"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) != 1) return -1;
    uint64_t *const heap[] = {&totals->alloc_count, &totals->alloc_bytes, &totals->free_count, &totals->free_bytes,
                              &totals->sites};
    uint64_t *const others[][2] = {{&totals->acquires, &totals->locks},
                                   {&totals->cell_events, &totals->cells},
                                   {&totals->channel_events, &totals->channels}};
    for (int i = 0; i < 5 && dumps->is_taken[0]; i++)
        *heap[i] = (uint64_t)sqlite3_column_int64(row, i);
    for (int kind = 1; kind <= 3; kind++)
        for (int i = 0; i < 2 && dumps->is_taken[kind]; i++)
            *others[kind - 1][i] = (uint64_t)sqlite3_column_int64(row, 5 + (kind - 1) * 2 + i);
    if (dumps->is_taken[4]) totals->fibers = (uint64_t)sqlite3_column_int64(row, 11);
    sqlite3_reset(row);
    if (!totals->processes) totals->processes = 1; /* a static one, of which only the dump is known */
    return 0;
}
