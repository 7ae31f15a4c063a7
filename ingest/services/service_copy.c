#include "ingest/services/service_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/path.h"
#include "ingest/record/lost.h"
#include "ingest/record/recording_note.h"
#include "ingest/writer/run_uuid.h"
#include "schema/schema.h"

struct service_moment service_moment_now(void) {
    struct service_moment moment = {.ns = (uint64_t)clock_monotonic_ns(), .ticks = __rdtsc()};
    return moment;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int write_file(int directory, const char *name, const void *bytes, size_t size, struct error *err) {
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_written = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    int why = errno;
    if (file >= 0 && close(file) != 0 && is_written) {
        is_written = false;
        why = errno;
    }
    return is_written ? 0 : error_fail(err, "%s: %s", name, strerror(why));
}

struct service_copying {
    const struct service_dir *dir;
    int to;
    struct error *err;
};

/* Whether it ran is asked before it is copied: one that ends meanwhile is copied again by the next one. */
static bool copy_segment(void *context, const char *name, bool is_running) {
    struct service_copying *copying = context;
    int64_t size;
    int from = service_dir_file(copying->dir, name, &size);
    if (from < 0) return true; /* it is none any more */
    int to = openat(copying->to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_copied = to >= 0 && lost_copy_contents(from, to, (off_t)size);
    int why = errno;
    close(from);
    if (to >= 0 && close(to) != 0 && is_copied) {
        is_copied = false;
        why = errno;
    }
    if (!is_copied) {
        error_fail(copying->err, "%s: %s", name, strerror(why));
        return false;
    }
    if (!is_running) return true;
    char *mark = xasprintf("%s" RECORDING_RUNS_SUFFIX, name);
    int code = write_file(copying->to, mark, "", 0, copying->err);
    free(mark);
    return code == 0;
}

/* ---- what is known of it ----------------------------------------------------------------------------------------- */

/* Of the copy before; zeros where there is none. */
struct before {
    uint64_t part, until_ns;
};

static int read_before(const char *earlier, struct before *before, struct error *err) {
    struct recording_note note;
    char text[24] = "";
    *before = (struct before){0};
    if (!earlier) return 0;
    int directory = open(earlier, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) return error_fail(err, "%s: %s", earlier, strerror(errno));
    int file = openat(directory, RECORDING_CUT_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && read(file, text, sizeof text - 1) > 0) before->part = strtoull(text, NULL, 10);
    if (file >= 0) close(file);
    int code = recording_note_read(&note, directory, err);
    if (code == 0) before->until_ns = note.flush_ns;
    close(directory);
    return code;
}

static struct recording_note note_of(const struct service_dir *dir, const struct service_cut *cut,
                                     const struct before *before) {
    const struct service_note *service = &dir->note;
    struct recording_note note = {0};
    recording_note_init(&note);
    memcpy(note.boot_id, service->boot_id, sizeof note.boot_id);
    note.uses_tsc = (dir->control.features & FEATURE_TSC) != 0;
    note.first_pid = service->pid;
    note.start_ns = service->start_monotonic_ns;
    note.start_ticks = service->start_ticks;
    note.start_realtime_ns = (int64_t)service->start_realtime_ns;
    note.flush_ns = cut->until.ns ? cut->until.ns : service->start_monotonic_ns;
    note.flush_ticks = cut->until.ns ? cut->until.ticks : service->start_ticks;
    if (!note.uses_tsc) note.flush_ticks = note.flush_ns;
    note.program_started_ns = before->until_ns ? before->until_ns : note.start_ns;
    note.paused_ns = (uint64_t)cut->paused_ns;
    return note;
}

/* As a shell would have it; the last argument may be cut. */
static void add_command(struct buffer *out, const struct service_note *note) {
    char *text = xcalloc(note->arguments_size + 1, 1);
    memcpy(text, note->arguments, note->arguments_size);
    for (size_t at = 0; at < note->arguments_size; at += strlen(text + at) + 1) {
        if (at) buffer_add_text(out, " ");
        escape_shell(out, text + at);
    }
    if (!note->arguments_size) escape_shell(out, note->executable);
    free(text);
}

static char *user_of(uid_t uid) {
    const struct passwd *user = getpwuid(uid);
    return user ? xstrdup(user->pw_name) : xasprintf("%u", (unsigned)uid);
}

static void bind_texts(sqlite3_stmt *row, const struct service_dir *dir, const struct service_cut *cut,
                       const char *command) {
    char host[256] = "", *user = user_of(dir->owner);
    char *service = xasprintf("%.*s", SERVICE_RUN_LENGTH, dir->name);
    gethostname(host, sizeof host - 1);
    db_bind_text(row, ":command", command);
    db_bind_text(row, ":host", host);
    db_bind_text(row, ":user", user);
    db_bind_text(row, ":service", service);
    db_bind_text(row, ":program", path_base(dir->note.executable));
    db_bind_text(row, ":executable", dir->note.executable);
    db_bind_text(row, ":warehouse", cut->warehouse);
    free(user);
    free(service);
}

/* The text of run.json; free() it. */
static char *describe(const struct service_dir *dir, const struct service_cut *cut, const struct recording_note *note,
                      uint64_t part, struct error *err) {
    struct db db;
    char uuid[RUN_UUID_SIZE], *text = NULL;
    struct buffer command = {0};
    if (run_uuid(uuid, err) || db_open_bare(&db, "the run of a service", err)) return NULL;
    sqlite3_stmt *row = db_prepare(&db, embedded_text("ingest/service_copy/describe"), err);
    if (row) {
        add_command(&command, &dir->note);
        bind_texts(row, dir, cut, buffer_text(&command));
        db_bind_text(row, ":uuid", uuid);
        db_bind_int(row, ":started", note->start_realtime_ns + (int64_t)(note->program_started_ns - note->start_ns));
        db_bind_int(row, ":sample_n", dir->control.sample_n > 1 ? dir->control.sample_n : 1);
        if (part) db_bind_int(row, ":part", (int64_t)part);
        if (db_step(&db, row, err) == 1) text = xstrdup(db_text(row, 0));
    }
    struct error ignored = {0};
    db_close(&db, &ignored);
    buffer_free(&command);
    return text;
}

/* ---- the copy ---------------------------------------------------------------------------------------------------- */

static int copy_into(int to, const struct service_dir *dir, const struct service_cut *cut, struct error *err) {
    struct service_copying copying = {.dir = dir, .to = to, .err = err};
    struct before before;
    if (read_before(cut->earlier, &before, err)) return -1;
    const struct recording_note note = note_of(dir, cut, &before);
    bool has_parts = before.part || !cut->is_final;
    char *run = describe(dir, cut, &note, has_parts ? before.part + 1 : 0, err), part[24];
    if (!run) return -1;
    int code = write_file(to, RECORDING_RUN_FILE, run, strlen(run), err);
    free(run);
    snprintf(part, sizeof part, "%llu\n", (unsigned long long)before.part + 1);
    if (code == 0 && !cut->is_final) code = write_file(to, RECORDING_CUT_FILE, part, strlen(part), err);
    if (code || write_file(to, "control", &dir->control, sizeof dir->control, err) ||
        write_file(to, "note", &note, sizeof note, err))
        return -1;
    if (service_dir_each(dir, copy_segment, &copying)) return 0;
    return err->status == ERROR_NONE ? error_fail(err, "its segments cannot be listed") : -1;
}

static void remove_copy(const char *path) {
    struct private_dir copy;
    struct error ignored = {0};
    if (private_dir_adopt(&copy, path, &ignored) == 1) private_dir_remove(&copy);
}

int service_copy(const struct service_dir *dir, const struct service_cut *cut, const char *to, struct error *err) {
    if (mkdir(to, 0700)) return error_fail(err, "%s: %s", to, strerror(errno));
    int file = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int code = file < 0 ? error_fail(err, "%s: %s", to, strerror(errno)) : copy_into(file, dir, cut, err);
    if (file >= 0) close(file);
    if (code == 0) return 0;
    remove_copy(to);
    return error_prefix(err, "a copy of %s: ", dir->name);
}

bool service_copy_is_final(const char *path) {
    char *cut = xasprintf("%s/" RECORDING_CUT_FILE, path);
    bool is_cut = access(cut, F_OK) == 0;
    free(cut);
    return !is_cut;
}

void service_copy_each_ended(const char *path, void (*visit)(void *context, const char *name), void *context) {
    struct dirent **names = NULL;
    int count = scandir(path, &names, NULL, NULL);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        char *mark = xasprintf("%s/%s" RECORDING_RUNS_SUFFIX, path, name);
        size_t size = strlen(name);
        if (size > 4 && strcmp(name + size - 4, ".seg") == 0 && access(mark, F_OK) != 0) visit(context, name);
        free(mark);
        free(names[i]);
    }
    free(names);
}
