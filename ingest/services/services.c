#include "ingest/services/services.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "ingest/record/private_dir.h"
#include "ingest/record/recording_note.h"
#include "ingest/services/service_copy.h"
#include "ingest/services/service_dir.h"

#define ROOM_LEAST     (INT64_C(256) << 10) /* what the segment of a small program takes */
#define UNREADY_NS     INT64_C(60000000000) /* a program makes its segment within a millisecond of its directory */
#define AGAIN_LEAST_NS INT64_C(1000000000)
#define AGAIN_MOST_NS  INT64_C(300000000000)

/* What a collector that was killed has begun to store ends shortly after it. */
enum { LOCK_STEP_NS = 50000000, LOCK_STEPS = 100 };

struct service {
    char run[SERVICE_RUN_LENGTH + 1];
    bool is_met, was_idle, is_named,
        is_known;               /* by this look; by the look before; its trouble was said; its note was read */
    bool is_paused, has_ended;  /* by the collector; all of its processes */
    bool is_early;              /* it is to be cut at the next look: its ended processes take memory */
    size_t ended;               /* segments of processes that have ended */
    int64_t bytes;              /* memory of its files */
    struct service_moment seen; /* when one of its processes ran, at last */
    uint64_t since_ns;          /* up to where it is stored, by CLOCK_MONOTONIC */
    uint64_t paused_since_ns;   /* 0: it is not */
    int64_t paused_ns;          /* before, since then */
    int64_t again_ns, pause_ns; /* when it is tried again, and how long was waited */
};

struct services {
    struct services_terms terms;
    int root, state;              /* descriptors of CLEAR_DIR and of WAREHOUSE.collect, which is locked */
    char *state_path, *directory; /* that of WAREHOUSE.collect; CLEAR_DIR as an absolute path without links */
    struct service **items;
    size_t count, capacity;
    struct services_seen *seen;
    struct service left; /* when copies that no recording belongs to are tried again */
    bool is_locked;      /* WAREHOUSE.collect, by us */
    bool is_full;        /* CLEAR_DIR is; it was said */
};

/* ---- saying ------------------------------------------------------------------------------------------------------ */

static void say(struct services *services, char *text) {
    services->terms.say(services->terms.context, text);
    free(text);
}

static void say_once(struct services *services, struct service *service, const char *what) {
    if (service->is_named) return;
    service->is_named = true;
    say(services, xasprintf("%s/%s %s", services->terms.directory, service->run, what));
}

/* What a program cannot say that records nothing (ingest/shim/core/service.c): it has no place to. */
static void warn_unsafe(struct services *services) {
    struct stat status;
    if (fstat(services->root, &status) == 0 && status.st_mode & 022 && !(status.st_mode & S_ISVTX))
        say(services,
            xasprintf("%s: no program records itself there, because others could replace what is in it: chmod +t",
                      services->terms.directory));
}

static void warn_full(struct services *services) {
    struct statvfs system;
    if (fstatvfs(services->root, &system) || !system.f_blocks) return; /* 0: without a limit */
    bool is_full = (int64_t)(system.f_bavail * system.f_frsize) < ROOM_LEAST;
    if (is_full && !services->is_full)
        say(services,
            xasprintf("%s is full: a program that starts now is not recorded, and what has no room is dropped",
                      services->terms.directory));
    services->is_full = is_full;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Ours, into which nobody else may put anything. */
static int open_state(struct services *services, struct error *err) {
    struct stat status;
    const char *path = services->state_path;
    if (mkdir(path, 0700) && errno != EEXIST) return error_fail(err, "%s: %s", path, strerror(errno));
    services->state = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (services->state < 0 && errno == ENOENT) return 0; /* removed since then: no lock can be had */
    if (services->state < 0 || fstat(services->state, &status)) return error_fail(err, "%s: %s", path, strerror(errno));
    if (status.st_uid != geteuid() || status.st_mode & 077)
        return error_fail(err, "%s: belongs to another user, or others may read it: remove it", path);
    return 0;
}

/* Whoever had the lock before removes the directory at its end: then a new one is made. */
static bool has_lock(const struct services *services) {
    struct stat ours, there;
    return flock(services->state, LOCK_EX | LOCK_NB) == 0 && fstat(services->state, &ours) == 0 &&
           stat(services->state_path, &there) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

static int lock_state(struct services *services, struct error *err) {
    for (int i = 0; i < LOCK_STEPS; i++) {
        if (open_state(services, err)) return -1;
        services->is_locked = has_lock(services);
        if (services->is_locked) return 0;
        if (services->state >= 0) close(services->state);
        services->state = -1;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_STEP_NS}, NULL);
    }
    return error_fail(err, "%s: another clear collect stores services there now", services->terms.warehouse);
}

static int open_root(struct services *services, struct error *err) {
    const char *path = services->terms.directory;
    services->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    services->directory = realpath(path, NULL);
    if (services->root >= 0 && services->directory) return 0;
    return error_fail(err, "%s: %s%s", path, strerror(errno),
                      errno == ENOENT ? "; without it no program records itself: mkdir -m 1777 makes it" : "");
}

int services_open(struct services **services, const struct services_terms *terms, struct error *err) {
    struct services *made = xcalloc(1, sizeof *made);
    *services = NULL;
    made->terms = *terms;
    made->state = -1;
    made->state_path = xasprintf("%s.collect", terms->warehouse);
    if (open_root(made, err) || lock_state(made, err)) {
        services_close(made);
        return -1;
    }
    warn_unsafe(made);
    *services = made;
    return 0;
}

void services_close(struct services *services) {
    if (!services) return;
    for (size_t i = 0; i < services->count; i++)
        free(services->items[i]);
    free(services->items);
    if (services->root >= 0) close(services->root);
    if (services->is_locked) rmdir(services->state_path); /* where nothing goes on */
    if (services->state >= 0) close(services->state);
    free(services->state_path);
    free(services->directory);
    free(services);
}

static struct service *find(struct services *services, const char *name) {
    for (size_t i = 0; i < services->count; i++)
        if (strncmp(services->items[i]->run, name, SERVICE_RUN_LENGTH) == 0) return services->items[i];
    if (services->count == services->capacity) {
        services->capacity = services->capacity ? services->capacity * 2 : 64;
        services->items = xrealloc(services->items, services->capacity * sizeof *services->items);
    }
    struct service *service = xcalloc(1, sizeof *service);
    memcpy(service->run, name, SERVICE_RUN_LENGTH);
    return services->items[services->count++] = service;
}

/* ---- the files of a recording in our directory ------------------------------------------------------------------- */

static char *state_path(const struct services *services, const char *run, const char *name) {
    return xasprintf("%s/%.*s/%s", services->state_path, SERVICE_RUN_LENGTH, run, name);
}

static bool is_there(const char *path) {
    return access(path, F_OK) == 0;
}

static void remove_tree(const char *path) {
    struct private_dir directory;
    struct error ignored = {0};
    if (is_there(path) && private_dir_adopt(&directory, path, &ignored) == 1) private_dir_remove(&directory);
}

/* The link `of` names CLEAR_DIR: one warehouse may have the programs of several, which are looked at one after the other. */
static void begin_state(const struct services *services, const char *run) {
    char *of = state_path(services, run, "of");
    mkdirat(services->state, run, 0700);
    int ignored = symlink(services->directory, of); /* it is there since an earlier copy, or the copy fails too */
    (void)ignored;
    free(of);
}

static bool is_of_other(const struct services *services, const char *run) {
    char *of = state_path(services, run, "of"), target[PATH_MAX];
    ssize_t size = readlink(of, target, sizeof target - 1);
    free(of);
    if (size <= 0) return false;
    target[size] = '\0';
    return strcmp(target, services->directory) != 0;
}

static void remove_state(const struct services *services, const char *run) {
    char *path = xasprintf("%s/%.*s", services->state_path, SERVICE_RUN_LENGTH, run);
    remove_tree(path);
    free(path);
}

/* What is stored becomes what the next one begins at. Whoever is killed in between finds `next`, whose run is stored. */
static void rotate(const struct services *services, const char *run) {
    char *next = state_path(services, run, "next"), *base = state_path(services, run, "base");
    char *old = state_path(services, run, "old");
    if (is_there(base)) rename(base, old);
    rename(next, base);
    remove_tree(old);
    free(next);
    free(base);
    free(old);
}

/* ---- storing ----------------------------------------------------------------------------------------------------- */

static void drop_one(void *context, const char *name) {
    const struct service_dir *dir = context;
    service_dir_drop(dir, name);
}

static void try_later(struct services *services, struct service *service) {
    int64_t pause = service->pause_ns ? service->pause_ns * 2 : AGAIN_LEAST_NS;
    service->pause_ns = pause < AGAIN_MOST_NS ? pause : AGAIN_MOST_NS;
    service->again_ns = clock_monotonic_ns() + service->pause_ns;
    services->seen->failed++;
}

/* The copy `next`, from a copy that is being made. 0, or -1: it was said why. */
static int make_next(struct services *services, struct service *service, const struct service_dir *dir, bool is_final,
                     const char *next) {
    struct error err = {0};
    char *fresh = state_path(services, service->run, "next.new"), *base = state_path(services, service->run, "base");
    uint64_t now_ns = (uint64_t)clock_monotonic_ns(), since_ns = service->paused_since_ns;
    const struct service_cut cut = {.warehouse = services->terms.warehouse,
                                    .earlier = is_there(base) ? base : NULL,
                                    .is_final = is_final,
                                    .until = is_final ? service->seen : service_moment_now(),
                                    .paused_ns = service->paused_ns + (since_ns ? (int64_t)(now_ns - since_ns) : 0)};
    begin_state(services, service->run);
    remove_tree(fresh);
    int code = service_copy(dir, &cut, fresh, &err);
    if (code == 0 && rename(fresh, next)) code = error_fail(&err, "%s: %s", next, strerror(errno));
    if (code) say(services, xasprintf("%s", err.message));
    free(fresh);
    free(base);
    return code;
}

static int store_next(struct services *services, struct service *service, const char *next) {
    char *base = state_path(services, service->run, "base");
    int code = services->terms.store(services->terms.context, next, is_there(base) ? base : NULL);
    free(base);
    return code;
}

/* It is stored: what is not needed any more goes. `dir`: NULL where it is gone already. */
static void clean_up(struct services *services, struct service *service, struct service_dir *dir, const char *next) {
    services->seen->stored++;
    service->pause_ns = service->again_ns = 0;
    if (service_copy_is_final(next)) {
        if (dir && !service_dir_remove(dir, services->root))
            say_once(services, service, "is stored, and cannot be removed");
        remove_state(services, service->run);
        return;
    }
    if (dir) service_copy_each_ended(next, drop_one, dir);
    rotate(services, service->run);
    service->is_early = false;
    service->is_known = false; /* it begins anew at another moment */
    service->paused_ns = 0;
    if (service->paused_since_ns) service->paused_since_ns = (uint64_t)clock_monotonic_ns();
}

static void take(struct services *services, struct service *service, struct service_dir *dir, bool is_final) {
    char *next = state_path(services, service->run, "next");
    bool is_ready = is_there(next);
    if (!is_ready && is_final) {
        bool is_taken = service_dir_take(dir, services->root);
        if (is_taken) service_dir_count(dir);
        if (!is_taken || dir->running) { /* a child came before the name was another */
            free(next);
            return;
        }
    }
    if (!is_ready) is_ready = make_next(services, service, dir, is_final, next) == 0;
    if (is_ready && store_next(services, service, next) == 0)
        clean_up(services, service, dir, next);
    else
        try_later(services, service);
    free(next);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

/* Where the copy before ended; else the start of the program. */
static void learn(struct services *services, struct service *service, const struct service_dir *dir) {
    struct recording_note note;
    struct error ignored = {0};
    char *base = state_path(services, service->run, "base");
    int directory = open(base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool has_base = directory >= 0 && recording_note_read(&note, directory, &ignored) == 0;
    service->since_ns = has_base ? note.flush_ns : dir->note.start_monotonic_ns;
    service->is_known = true;
    service->is_paused = dir->control.is_paused != 0;
    if (service->is_paused && !service->paused_since_ns) service->paused_since_ns = (uint64_t)clock_monotonic_ns();
    if (directory >= 0) close(directory);
    free(base);
}

/* 1: known; 0: it is not complete; -1: it is of another version, and was named. */
static int get_to_know(struct services *services, struct service *service, struct service_dir *dir) {
    int code = service_dir_read(dir);
    if (code > 0 && !service->is_known) learn(services, service, dir);
    if (code < 0) {
        services->seen->unknown++;
        say_once(services, service, "is of another version of clear, and is left there");
    }
    return code;
}

static bool is_cut_due(const struct services *services, const struct service *service) {
    uint64_t now_ns = (uint64_t)clock_monotonic_ns(), every_ns = (uint64_t)services->terms.every_ns;
    bool is_time = every_ns && now_ns > service->since_ns && now_ns - service->since_ns >= every_ns;
    return is_time || service->is_early;
}

/* Of a program that could make no segment, or is about to: it has nothing. */
static void look_at_unready(struct services *services, struct service_dir *dir) {
    if (clock_realtime_ns() - dir->changed_ns > UNREADY_NS) (void)service_dir_remove(dir, services->root);
}

static void look_at(struct services *services, struct service *service, struct service_dir *dir, bool is_last) {
    bool is_taken = false, is_idle;
    (void)service_dir_is_name(dir->name, &is_taken);
    service_dir_count(dir);
    services->seen->bytes += dir->bytes;
    service->ended = dir->segments - dir->running;
    service->bytes = dir->bytes;
    is_idle = !dir->running;
    if (!is_idle) service->seen = service_moment_now();
    if (!service->is_known || is_idle || is_cut_due(services, service)) {
        if (!dir->segments && !is_taken) {
            look_at_unready(services, dir);
            return;
        }
        if (get_to_know(services, service, dir) < 1) return;
    }
    service->has_ended = is_idle;
    services->seen->running += !is_idle;
    bool is_due = is_idle ? is_taken || service->was_idle || is_last : is_cut_due(services, service);
    service->was_idle = is_idle;
    int64_t before = services->seen->stored;
    if (is_due && clock_monotonic_ns() >= service->again_ns) take(services, service, dir, is_idle);
    if (is_idle && services->seen->stored == before) services->seen->waiting++;
}

static void visit(struct services *services, const char *name, bool is_last) {
    struct service_dir dir;
    int code = service_dir_open(&dir, services->root, name);
    services->seen->others += code < 0;
    if (code < 1) return;
    struct service *service = find(services, name);
    service->is_met = true;
    look_at(services, service, &dir, is_last);
    service_dir_close(&dir);
}

static void forget_gone(struct services *services) {
    size_t kept = 0;
    for (size_t i = 0; i < services->count; i++) {
        struct service *service = services->items[i];
        if (service->is_met)
            services->items[kept++] = service;
        else
            free(service);
    }
    services->count = kept;
}

/* The names of such directories, the oldest first. */
static int by_start(const struct dirent **one, const struct dirent **other) {
    return strcmp((*one)->d_name + SERVICE_RUN_TIME, (*other)->d_name + SERVICE_RUN_TIME);
}

static int is_run(const struct dirent *entry) {
    bool is_taken;
    return service_dir_is_name(entry->d_name, &is_taken);
}

static bool has_recording(const struct services *services, const char *run) {
    for (size_t i = 0; i < services->count; i++)
        if (strcmp(services->items[i]->run, run) == 0) return true;
    return false;
}

/* False: it could not be stored. */
static bool finish(struct services *services, const char *run) {
    char *next = state_path(services, run, "next");
    struct service service = {.is_met = true};
    memcpy(service.run, run, SERVICE_RUN_LENGTH);
    bool is_left = is_there(next), is_stored = is_left && store_next(services, &service, next) == 0;
    if (is_stored) clean_up(services, &service, NULL, next);
    if (!is_left || is_stored) remove_state(services, run);
    free(next);
    return !is_left || is_stored;
}

/* Copies whose recording is not there any more: their collector was killed when it had removed it, or the machine was restarted. */
static void finish_left(struct services *services) {
    struct dirent **names = NULL;
    bool has_failed = false;
    if (clock_monotonic_ns() < services->left.again_ns) return;
    int count = scandirat(services->state, ".", &names, is_run, by_start);
    for (int i = 0; i < count; i++) {
        const char *run = names[i]->d_name;
        if (!has_recording(services, run) && !is_of_other(services, run) && !finish(services, run)) has_failed = true;
        free(names[i]);
    }
    free(names);
    if (has_failed)
        try_later(services, &services->left);
    else
        services->left.pause_ns = 0;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Recordings are in the order in which they were met, which is that of their starts. A cut frees what ended processes take, and loses
 * nothing, so it is tried first. Then what cannot be stored is dropped. What runs can give nothing back: it is kept from growing. */

static bool cut_early(struct services *services) {
    bool has_early = false;
    for (size_t i = 0; i < services->count && !has_early; i++) {
        struct service *service = services->items[i];
        if (service->has_ended || !service->ended || !service->is_known) continue;
        has_early = service->is_early = !service->pause_ns; /* one that could not be stored is no help */
    }
    return has_early;
}

static void drop(struct services *services, struct service *service) {
    char *taken = xasprintf("%s.taken", service->run);
    struct service_dir dir;
    if (service_dir_open(&dir, services->root, taken) == 1) {
        if (service_dir_remove(&dir, services->root)) services->seen->bytes -= service->bytes;
        remove_state(services, service->run);
        say(services, xasprintf("%s/%s was dropped: it could not be stored, and all take more than %s",
                                services->terms.directory, service->run, units_bytes(services->terms.memory).text));
    }
    free(taken);
}

static void set_paused(struct services *services, struct service *service, bool is_paused) {
    struct service_dir dir;
    char *taken = xasprintf("%s.taken", service->run);
    int code = service_dir_open(&dir, services->root, service->run);
    if (code < 1) code = service_dir_open(&dir, services->root, taken);
    free(taken);
    if (code < 1) return;
    uint64_t now_ns = (uint64_t)clock_monotonic_ns();
    service_dir_pause(&dir, is_paused);
    service_dir_close(&dir);
    if (!is_paused && service->paused_since_ns) service->paused_ns += (int64_t)(now_ns - service->paused_since_ns);
    service->paused_since_ns = is_paused ? now_ns : 0;
    service->is_paused = is_paused;
    say(services, xasprintf("%s/%s %s", services->terms.directory, service->run,
                            is_paused ? "is paused: all recordings take more than --memory" : "goes on"));
}

/* One at each look, as long as it is too much. */
static void pause_oldest(struct services *services) {
    for (size_t i = 0; i < services->count; i++) {
        struct service *service = services->items[i];
        if (service->has_ended || service->is_paused || !service->bytes) continue;
        set_paused(services, service, true);
        return;
    }
}

static void limit_memory(struct services *services) {
    int64_t most = services->terms.memory;
    if (!most) return;
    for (size_t i = 0; i < services->count && services->seen->bytes < most / 4 * 3; i++)
        if (services->items[i]->is_paused) set_paused(services, services->items[i], false);
    if (services->seen->bytes <= most || cut_early(services)) return;
    for (size_t i = 0; i < services->count && services->seen->bytes > most; i++)
        if (services->items[i]->has_ended && services->items[i]->pause_ns) drop(services, services->items[i]);
    if (services->seen->bytes > most) pause_oldest(services);
}

int services_look(struct services *services, bool is_last, struct services_seen *seen, struct error *err) {
    struct dirent **names = NULL;
    *seen = (struct services_seen){0};
    services->seen = seen;
    int count = scandirat(services->root, ".", &names, is_run, by_start);
    if (count < 0) return error_fail(err, "%s: %s", services->terms.directory, strerror(errno));
    for (size_t i = 0; i < services->count; i++)
        services->items[i]->is_met = false;
    for (int i = 0; i < count; i++) {
        visit(services, names[i]->d_name, is_last);
        free(names[i]);
    }
    free(names);
    forget_gone(services);
    finish_left(services);
    limit_memory(services);
    warn_full(services);
    return 0;
}
