#include "query/whatif/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

enum {
    SEEN_PERCENT = 90, /* of the time of the lock's waits: less is no basis */
    IDLE_PERCENT =
        20, /* of its life that a thread had CPU time: with less, and no event, it waited for what nobody saw */
};

/* Something that a thread does at a moment; `until_ns`: when it goes on. */
struct happening {
    int64_t ns, until_ns;
    enum replay_what what;
    size_t object;
    int64_t order; /* of marks at one moment; two apart, so that a start can stand before any of them */
};

struct whatif_track {
    int64_t tid, first_ns, died_ns; /* died_ns: 0 where no event says it */
    struct happening *marks;
    size_t count, capacity;
    bool is_started;
    size_t parent; /* SIZE_MAX: unknown */
};

struct schedule {
    struct whatif_process *process;
    struct whatif_track *tracks; /* track 0 is the first thread */
    size_t count;
    int64_t *addresses; /* of locks, by their numbers */
    int64_t lock_address, start_ns, end_ns;
};

static size_t track_of(struct schedule *all, int64_t tid) {
    for (size_t i = all->count; i--;)
        if (all->tracks[i].tid == tid) return i;
    all->tracks = xrealloc(all->tracks, (all->count + 1) * sizeof *all->tracks);
    all->tracks[all->count] = (struct whatif_track){.tid = tid, .first_ns = INT64_MAX, .parent = SIZE_MAX};
    return all->count++;
}

static size_t lock_of(struct schedule *all, int64_t address) {
    for (size_t i = 0; i < all->process->locks; i++)
        if (all->addresses[i] == address) return i;
    all->addresses = xrealloc(all->addresses, (all->process->locks + 1) * sizeof *all->addresses);
    all->addresses[all->process->locks] = address;
    return all->process->locks++;
}

static void add_mark(struct schedule *all, size_t number, struct happening mark) {
    struct whatif_track *track = &all->tracks[number];
    if (track->count == track->capacity) {
        track->capacity = track->capacity ? 2 * track->capacity : 64;
        track->marks = xrealloc(track->marks, track->capacity * sizeof *track->marks);
    }
    mark.order = 2 * (int64_t)track->count;
    track->marks[track->count++] = mark;
    if (mark.ns < track->first_ns) track->first_ns = mark.ns;
}

/* ---- events ---- */

static bool is_lock(const char *kind) {
    static const char *const kinds[] = {"mutex", "rwlock", "read", "spin", "own"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0) return true;
    return false;
}

/* A hold begins when the wait before it ends; one without a wait took the lock itself. A wait without a hold had the lock for a moment that nobody
 * waited for: that is part of the work behind it. */
static void add_hold(struct schedule *all, size_t thread, size_t lock, int64_t start_ns, int64_t end_ns) {
    const struct whatif_track *track = &all->tracks[thread];
    const struct happening *last = NULL;
    for (size_t i = track->count; i-- && !last;)
        if (track->marks[i].what == REPLAY_GIVE && track->marks[i].object == lock) last = &track->marks[i];
    if (last && last->ns == start_ns) {
        all->tracks[thread].marks[last - track->marks].ns = end_ns; /* of the wait that ended then */
        all->tracks[thread].marks[last - track->marks].until_ns = end_ns;
    } else {
        add_mark(all, thread, (struct happening){start_ns, start_ns, REPLAY_TAKE, lock});
        add_mark(all, thread, (struct happening){end_ns, end_ns, REPLAY_GIVE, lock});
    }
    if (lock != all->process->lock) return;
    all->process->holds++;
    all->process->hold_ns += end_ns - start_ns;
}

static void add_event(struct schedule *all, sqlite3_stmt *row) {
    enum { TID, START, DURATION, KIND, ADDRESS, OWNER, CLASS };
    size_t thread = track_of(all, sqlite3_column_int64(row, TID));
    int64_t start = sqlite3_column_int64(row, START), end = start + sqlite3_column_int64(row, DURATION);
    int64_t owner = sqlite3_column_int64(row, OWNER), address = sqlite3_column_int64(row, ADDRESS);
    const char *kind = db_text(row, KIND), *class = db_text(row, CLASS);
    if (strcmp(kind, "death") == 0) {
        all->tracks[thread].died_ns = start;
    } else if (strcmp(kind, "birth") == 0) {
        if (!owner) return;
        size_t parent = track_of(all, owner);
        all->tracks[thread].is_started = true;
        all->tracks[thread].parent = parent;
        all->tracks[thread].first_ns = start;
        add_mark(all, parent, (struct happening){start, start, REPLAY_START, thread});
    } else if (is_lock(kind)) {
        size_t lock = lock_of(all, address);
        add_mark(all, thread, (struct happening){start, end, REPLAY_TAKE, lock});
        add_mark(all, thread, (struct happening){end, end, REPLAY_GIVE, lock});
    } else if (strcmp(class, "hold") == 0) {
        add_hold(all, thread, lock_of(all, address), start, end);
    } else if (strcmp(kind, "join") == 0 && owner) {
        add_mark(all, thread, (struct happening){start, end, REPLAY_JOIN, track_of(all, owner)});
    } else {
        if (strcmp(class, "wait") == 0) all->process->other_wait_ns += end - start;
        add_mark(all, thread, (struct happening){start, end, REPLAY_SLEEP, 0});
    }
}

/* ---- steps ---- */

/* By time; what is at one moment stays in its order. */
static int earlier(const void *left, const void *right) {
    const struct happening *a = left, *b = right;
    if (a->ns != b->ns) return a->ns < b->ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void add_step(struct replay_step *steps, size_t *count, struct replay_step step) {
    if ((step.what == REPLAY_WORK || step.what == REPLAY_SLEEP) && step.ns <= 0) return;
    steps[(*count)++] = step;
}

/* A birth is seen in the new thread, when its parent may wait for that one already: the parent started it before that. */
static void move_starts(struct schedule *all, struct whatif_track *parent) {
    for (size_t i = 0; i < parent->count; i++) {
        struct happening *start = &parent->marks[i];
        if (start->what != REPLAY_START) continue;
        for (size_t j = 0; j < parent->count; j++) {
            const struct happening *wait = &parent->marks[j];
            if (wait->ns > start->ns || wait->until_ns <= start->ns) continue;
            start->ns = start->until_ns = all->tracks[start->object].first_ns = wait->ns;
            start->order = wait->order - 1;
        }
    }
}

/* A join of a thread that has ended already is no event: after a join that waited, its thread has seen the ends of all others that it started
 * and that had ended by then. */
static void add_silent_joins(struct schedule *all, size_t number) {
    size_t count = all->tracks[number].count; /* more are added */
    for (size_t i = 0; i < count; i++) {
        struct happening join = all->tracks[number].marks[i];
        if (join.what != REPLAY_JOIN) continue;
        for (size_t j = 1; j < all->count; j++) {
            const struct whatif_track *other = &all->tracks[j];
            bool is_its = j != number && (other->parent == number || other->parent == SIZE_MAX);
            if (is_its && j != join.object && other->died_ns && other->died_ns <= join.until_ns)
                add_mark(all, number, (struct happening){join.until_ns, join.until_ns, REPLAY_JOIN, j, 0});
        }
    }
}

/* The parent's join of a thread, and its start of it; NULL if it has none. */
static struct happening *mark_of(struct whatif_track *parent, enum replay_what what, size_t object) {
    for (size_t i = 0; i < parent->count; i++)
        if (parent->marks[i].what == what && parent->marks[i].object == object) return &parent->marks[i];
    return NULL;
}

static int is_idle(struct db *db, int64_t process_id, const struct whatif_track *track, bool *idle, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("whatif/schedule/cpu"), err);
    if (!row) return -1;
    db_bind_int(row, ":process", process_id);
    db_bind_int(row, ":tid", track->tid);
    int code = db_step(db, row, err);
    *idle = code == 1 && sqlite3_column_type(row, 0) != SQLITE_NULL &&
            100.0 * sqlite3_column_double(row, 0) < (double)IDLE_PERCENT * (double)(track->died_ns - track->first_ns);
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* A thread without an event that hardly used a processor waited for others, such as the one that reads what all of them write, until its parent
 * asked for its end: only what it did from then on is its own. Otherwise the time that it waited would be work that no change makes shorter. */
static int shorten_idle(struct schedule *all, struct db *db, int64_t process_id, struct error *err) {
    for (size_t i = 1; i < all->count; i++) {
        struct whatif_track *track = &all->tracks[i];
        bool idle = false;
        if (track->count || !track->died_ns || !track->is_started) continue;
        struct whatif_track *parent = &all->tracks[track->parent];
        const struct happening *join = mark_of(parent, REPLAY_JOIN, i);
        struct happening *start = mark_of(parent, REPLAY_START, i);
        if (!join || !start || join->ns <= track->first_ns) continue;
        if (is_idle(db, process_id, track, &idle, err)) return -1;
        if (!idle) continue;
        start->ns = start->until_ns = track->first_ns = join->ns;
        start->order = join->order - 1;
    }
    return 0;
}

/* The work between its marks, from `at` on to the end of the thread. */
static void make_steps(struct schedule *all, size_t number, int64_t at, int64_t end) {
    struct whatif_track *track = &all->tracks[number];
    struct replay_step *steps = xcalloc(2 * track->count + 2, sizeof *steps);
    size_t count = 0;
    qsort(track->marks, track->count, sizeof *track->marks, earlier);
    for (size_t i = 0; i < track->count; i++) {
        const struct happening *mark = &track->marks[i];
        add_step(steps, &count, (struct replay_step){REPLAY_WORK, mark->ns - at, 0});
        if (mark->ns > at) all->process->work_ns += mark->ns - at;
        int64_t sleeps = mark->what == REPLAY_SLEEP ? mark->until_ns - (mark->ns > at ? mark->ns : at) : 0;
        add_step(steps, &count, (struct replay_step){mark->what, sleeps, mark->object});
        if (mark->until_ns > at) at = mark->until_ns;
    }
    add_step(steps, &count, (struct replay_step){REPLAY_WORK, end - at, 0});
    if (end > at) all->process->work_ns += end - at;
    all->process->threads[number] = (struct replay_thread){.steps = steps,
                                                           .count = count,
                                                           .start_ns = number ? track->first_ns - all->start_ns : 0,
                                                           .is_started = track->is_started};
}

/* A thread that no event saw begin was there at its first event, whatever others do; it has its first work before that where a birth is seen. */
static void make_threads(struct schedule *all) {
    struct whatif_process *process = all->process;
    process->count = all->count;
    process->threads = xcalloc(all->count + 1, sizeof *process->threads);
    for (size_t i = 0; i < all->count; i++) {
        struct whatif_track *track = &all->tracks[i];
        if (track->first_ns == INT64_MAX) track->first_ns = all->start_ns; /* only joined */
        int64_t last = track->count ? track->marks[track->count - 1].until_ns : track->first_ns;
        make_steps(all, i, i ? track->first_ns : all->start_ns,
                   i == 0           ? all->end_ns
                   : track->died_ns ? track->died_ns
                                    : last);
    }
}

/* ---- the warehouse ---- */

static int no_waits(struct db *db, int64_t run_id, const char *name, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("whatif/schedule/longest"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code < 0) return -1;
    char *longest = xstrdup(code ? db_text(row, 0) : "");
    sqlite3_reset(row);
    if (!*longest)
        error_usage(err, "--what-if: no thread of the run waited for a lock");
    else
        error_usage(err,
                    "--what-if: no wait for a lock '%s' is known by its time: record them with clear profile "
                    "--trace=lock,wait,hold,thread; most "
                    "was waited for %s",
                    name, longest);
    free(longest);
    return -1;
}

static int find_lock(struct schedule *all, struct db *db, int64_t run_id, const char *name, int64_t *process_id,
                     struct error *err) {
    enum { PROCESS, ADDRESS, WAITS, WAIT_NS, FIGURE_NS, LOCKS };
    sqlite3_stmt *row = db_prepare(db, embedded_text("whatif/schedule/lock"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":name", name);
    int code = db_step(db, row, err);
    if (code < 1) return code < 0 ? -1 : no_waits(db, run_id, name, err);
    *process_id = sqlite3_column_int64(row, PROCESS);
    all->lock_address = sqlite3_column_int64(row, ADDRESS);
    all->process->waits = sqlite3_column_int64(row, WAITS);
    all->process->wait_ns = sqlite3_column_int64(row, WAIT_NS);
    all->process->same_name = sqlite3_column_int64(row, LOCKS);
    double seen = 100.0 * (double)sqlite3_column_int64(row, WAIT_NS),
           figure = (double)sqlite3_column_int64(row, FIGURE_NS);
    sqlite3_reset(row);
    if (seen < SEEN_PERCENT * figure)
        return error_fail(
            err, "--what-if: the events have only %.0f %% of the time of the waits for %s; a replay needs %d %%",
            seen / figure, name, SEEN_PERCENT);
    return 0;
}

static int read_process(struct schedule *all, struct db *db, int64_t process_id, int64_t *cpu_ns, struct error *err) {
    enum { PID, START, END, LOST, PROCESSORS, CPU };
    sqlite3_stmt *row = db_prepare(db, embedded_text("whatif/schedule/process"), err);
    if (!row) return -1;
    db_bind_int(row, ":process", process_id);
    int code = db_step(db, row, err);
    if (code < 1) return code < 0 ? -1 : error_fail(err, "%s: the process is gone", db->path);
    track_of(all, sqlite3_column_int64(row, PID));
    all->start_ns = sqlite3_column_int64(row, START);
    all->end_ns = sqlite3_column_int64(row, END);
    all->process->duration_ns = all->end_ns - all->start_ns;
    all->process->processors = sqlite3_column_double(row, PROCESSORS);
    *cpu_ns = sqlite3_column_int64(row, CPU);
    int64_t lost = sqlite3_column_int64(row, LOST);
    sqlite3_reset(row);
    if (lost)
        return error_fail(err, "--what-if: the process lost %lld events: a replay would lack them (--trace-size)",
                          (long long)lost);
    if (all->process->duration_ns <= 0) return error_fail(err, "--what-if: the end of the process is not known");
    return 0;
}

static int read_events(struct schedule *all, struct db *db, int64_t process_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("whatif/schedule/events"), err);
    if (!row) return -1;
    db_bind_int(row, ":process", process_id);
    int code;
    while ((code = db_step(db, row, err)) == 1)
        add_event(all, row);
    if (code == 0 && !all->process->holds)
        return error_fail(err,
                          "--what-if: no hold of the lock was recorded: clear profile --trace=lock,wait,hold,thread");
    return code;
}

int whatif_read(struct whatif_process *process, struct db *db, int64_t run_id, const char *name, bool without_idle,
                struct error *err) {
    struct schedule all = {.process = process};
    int64_t process_id = 0, cpu_ns = -1;
    int code = find_lock(&all, db, run_id, name, &process_id, err) || read_process(&all, db, process_id, &cpu_ns, err)
                   ? -1
                   : 0;
    if (code == 0) {
        process->lock = lock_of(&all, all.lock_address);
        code = read_events(&all, db, process_id, err);
    }
    for (size_t i = 0; i < all.count && code == 0; i++)
        move_starts(&all, &all.tracks[i]);
    if (code == 0 && without_idle) code = shorten_idle(&all, db, process_id, err);
    for (size_t i = 0; i < all.count && code == 0; i++)
        add_silent_joins(&all, i);
    if (code == 0) {
        make_threads(&all);
        process->cpu_share = cpu_ns >= 0 && process->work_ns > cpu_ns ? (double)cpu_ns / (double)process->work_ns : 1;
    }
    for (size_t i = 0; i < all.count; i++)
        free(all.tracks[i].marks);
    free(all.tracks);
    free(all.addresses);
    return code;
}

void whatif_free(struct whatif_process *process) {
    for (size_t i = 0; i < process->count; i++)
        free((void *)process->threads[i].steps);
    free(process->threads);
}
