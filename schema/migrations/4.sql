-- From version 3 to 4: how realloc resizes blocks; histograms of blocks; mappings; threads of a process; wakes, and the mutex of a condition
-- variable; input and output; totals of runs, which are computed when they are first needed; indexes of the
-- runs and of the windows of a process.

ALTER TABLE site_details ADD COLUMN realloc_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN resized_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN resized_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN step_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN step_bytes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE processes ADD COLUMN threads_started INTEGER NOT NULL DEFAULT 0;
ALTER TABLE processes ADD COLUMN threads_most INTEGER NOT NULL DEFAULT 0;
ALTER TABLE processes ADD COLUMN thread_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE processes ADD COLUMN lost_events INTEGER NOT NULL DEFAULT 0;

ALTER TABLE locks ADD COLUMN futile_wakes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locks ADD COLUMN woken INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locks ADD COLUMN own_wakes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locks ADD COLUMN mutex_address INTEGER NOT NULL DEFAULT 0;

CREATE TABLE spins (
    -- What one stack called, in one profile, of what a thread calls that waits without blocking: a loop of these burns a processor. The
    -- first 256 yields and failed tries of a thread are counted one by one, later ones by samples of one in 16.
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of the caller
    yields       INTEGER NOT NULL DEFAULT 0, -- [count] calls of sched_yield and thrd_yield
    short_sleeps INTEGER NOT NULL DEFAULT 0, -- [count] sleeps of less than 1 ms (usleep, nanosleep, ...) that no signal ended; exact
    sleep_ns     INTEGER NOT NULL DEFAULT 0, -- [ns] how long these took in all
    failed_tries INTEGER NOT NULL DEFAULT 0, -- [count] calls that only try (trylock, sem_trywait, tryjoin), and would have had to wait
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_starts (
    -- The threads that one stack started, in one profile. The first thread of a process is not among them, nor is one that no hook saw being
    -- started.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that started them
    started     INTEGER NOT NULL DEFAULT 0, -- [count] threads started
    ended       INTEGER NOT NULL DEFAULT 0, -- [count] threads that ended, by themselves or with their process
    life_ns     INTEGER NOT NULL DEFAULT 0, -- [ns] sum of the lives of those that ended
    max_life_ns INTEGER NOT NULL DEFAULT 0, -- [ns] the longest of them
    short_count INTEGER NOT NULL DEFAULT 0, -- [count] those that ended by themselves and lived less than 1 ms
    short_ns    INTEGER NOT NULL DEFAULT 0, -- [ns] sum of their lives
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE maps (
    -- Mappings of one stack in one profile of the kind mmap: those that the program makes itself by mmap, mremap, brk and sbrk.
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that mapped
    use          TEXT    NOT NULL, -- [text] anonymous (private memory), file (a private mapping of a file), shared, stack (MAP_STACK),
                                   -- reserved (made without access), break (brk, sbrk)
    label_set_id INTEGER NOT NULL REFERENCES label_sets(id), -- [id] the use, as a label
    map_count    INTEGER NOT NULL DEFAULT 0, -- [count] mappings made
    map_bytes    INTEGER NOT NULL DEFAULT 0, -- [bytes] of address space that they took
    unmap_count  INTEGER NOT NULL DEFAULT 0, -- [count] mappings of this stack that were unmapped, moved or replaced
    unmap_bytes  INTEGER NOT NULL DEFAULT 0, -- [bytes] likewise, also of parts of mappings
    PRIMARY KEY (profile_id, trace_id, use)
) STRICT, WITHOUT ROWID;

CREATE TABLE histograms (
    -- Blocks of one allocation site by size and by lifetime, in one profile of the kind lifetimes (clear profile --lifetimes). A row is a
    -- bucket: values from from_value up to below twice that; from_value 0 is the value 0.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    histogram  TEXT    NOT NULL, -- [text] size: bytes of each block; lifetime: ns from the allocation to the free, of freed blocks; passed:
                                 -- blocks that its thread allocated in between, of blocks that this thread freed
    from_value INTEGER NOT NULL, -- [count] the lowest value of the bucket, in bytes, ns or blocks: 0, 1, 2, 4, 8, ...
    count      INTEGER NOT NULL, -- [count] blocks
    PRIMARY KEY (profile_id, trace_id, histogram, from_value)
) STRICT, WITHOUT ROWID;

CREATE TABLE io (
    -- Calls that read, write, open or close files and sockets, of one stack in one profile of the kind io.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that called
    call        TEXT    NOT NULL,           -- [text] read, pread, readv, preadv, recv, recvfrom, recvmsg, write, pwrite, writev, pwritev,
                                            -- send, sendto, sendmsg, fflush (that had something to write), fsync, fdatasync, open, close;
                                            -- relatives count as one: pread64 as pread, openat as open
    calls       INTEGER NOT NULL DEFAULT 0, -- [count] that returned, with errors and would_block
    bytes       INTEGER NOT NULL DEFAULT 0, -- [bytes] moved by them
    errors      INTEGER NOT NULL DEFAULT 0, -- [count] calls that failed, without would_block
    would_block INTEGER NOT NULL DEFAULT 0, -- [count] calls of non-blocking files that were not ready (EAGAIN)
    small_calls INTEGER NOT NULL DEFAULT 0, -- [count] calls that moved 1 to 511 bytes
    small_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] moved by these
    short_calls INTEGER NOT NULL DEFAULT 0, -- [count] calls that moved at least one byte and fewer than asked for; 0 for calls with vectors
    time_ns     INTEGER NOT NULL DEFAULT 0, -- [ns] in all these calls, waiting included; an estimate where timed_calls is less than calls
    max_time_ns INTEGER NOT NULL DEFAULT 0, -- [ns] in the longest call that was timed
    timed_calls INTEGER NOT NULL DEFAULT 0, -- [count] calls that were timed
    PRIMARY KEY (profile_id, trace_id, call)
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_newest ON runs(id DESC);
DROP INDEX profiles_peak;
CREATE INDEX profiles_process ON profiles(process_id, kind) WHERE process_id IS NOT NULL;

CREATE TABLE threads (
    -- A thread of a recorded process that had an event (clear profile --trace). The kernel may give its id to another thread afterwards:
    -- the name is that of the last one.
    process_id INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    tid        INTEGER NOT NULL, -- [number] the kernel's id
    name       TEXT    NOT NULL, -- [text] as of its first event; at most 15 bytes
    PRIMARY KEY (process_id, tid)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    -- One event of a thread: a wait, or a release that ended the wait of another thread (clear profile --trace). They are stored when the
    -- process has ended, the latest that its rings kept; processes.lost_events has how many they did not.
    id          INTEGER PRIMARY KEY, -- [id] the event
    process_id  INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    tid         INTEGER NOT NULL, -- [number] the kernel's id of the thread
    start_ns    INTEGER NOT NULL, -- [ns] since the start of the run
    duration_ns INTEGER NOT NULL, -- [ns] how long it took; of a release 0
    kind        TEXT    NOT NULL, -- [text] mutex, rwlock, spin, own: a wait for such a lock; read: for the read side of an rwlock; cond,
                                  -- sem, barrier, join, futex: a wait for one; release: of a lock that others waited for
    object_id   INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock, or what is waited for
    address     INTEGER NOT NULL, -- [address] of it in the process
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that waited, or released; 0: unknown
    owner_tid   INTEGER, -- [number] the thread that had the mutex, or wrote under the rwlock, when the wait began; NULL: unknown, or none
    is_late     INTEGER NOT NULL DEFAULT 0 -- [0 or 1] 1: the wait ended at its time limit, or was interrupted or cancelled
) STRICT;
CREATE INDEX events_thread ON events(process_id, tid, start_ns);
CREATE INDEX events_release ON events(process_id, address, start_ns) WHERE kind = 'release';

CREATE TABLE run_totals (
    -- The totals of a run, kept when it ends or was read, so that the view run_summary reads one row of a run instead of its sites. A run
    -- without a row is summed from its rows: a run that is not over, or one whose row was deleted because its rows were changed by hand.
    run_id          INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    alloc_count     INTEGER NOT NULL, -- [count] blocks allocated
    alloc_bytes     INTEGER NOT NULL, -- [bytes] bytes allocated
    inuse_count     INTEGER NOT NULL, -- [count] blocks live at the end
    inuse_bytes     INTEGER NOT NULL, -- [bytes] bytes live at the end
    peak_bytes      INTEGER NOT NULL, -- [bytes] live at most: the sum of the peaks of its processes; 0: not recorded
    lock_acquires   INTEGER NOT NULL, -- [count] acquisitions of locks, exclusive and shared
    lock_contended  INTEGER NOT NULL, -- [count] how often a thread had to wait for one, whether it got it or not
    lock_wait_ns    INTEGER NOT NULL, -- [ns] sum of their waits
    cpu_ns          INTEGER NOT NULL, -- [ns] CPU time of the program that was sampled
    recorder_cpu_ns INTEGER NOT NULL  -- [ns] CPU time that the recording took inside the program, beside cpu_ns
) STRICT;

CREATE TRIGGER run_totals_site_rows_insert AFTER INSERT ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_site_rows_delete AFTER DELETE ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_site_rows_update AFTER UPDATE ON site_rows
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_locks_insert AFTER INSERT ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_locks_delete AFTER DELETE ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_locks_update AFTER UPDATE ON locks
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_cpu_insert AFTER INSERT ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = NEW.profile_id);
END;

CREATE TRIGGER run_totals_cpu_delete AFTER DELETE ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id = (SELECT run_id FROM profiles WHERE id = OLD.profile_id);
END;

CREATE TRIGGER run_totals_cpu_update AFTER UPDATE ON cpu
BEGIN
    DELETE FROM run_totals WHERE run_id IN (SELECT run_id FROM profiles WHERE id IN (OLD.profile_id, NEW.profile_id));
END;

CREATE TRIGGER run_totals_profiles_delete AFTER DELETE ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id = OLD.run_id;
END;

CREATE TRIGGER run_totals_profiles_update AFTER UPDATE OF id, run_id, kind ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id IN (OLD.run_id, NEW.run_id);
END;

CREATE TABLE pins (
    -- One run that clear gc and `retention` keep, because somebody said so with clear pin.
    run_id    INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    why       TEXT    NOT NULL DEFAULT '', -- [text] the reason; empty: none was given
    pinned_ns INTEGER NOT NULL -- [ns since epoch] when it was pinned
) STRICT;

CREATE TABLE accepted_changes (
    -- One change of a figure that is known: it is shown, but is no news any more, and it does not fail a gate.
    run_uuid    TEXT    NOT NULL, -- [text] runs.uuid of a run in which the figure was seen to have changed: the same in another file. The
                                  -- run may have been deleted
    figure      TEXT    NOT NULL, -- [text] as in the view series
    subject     TEXT    NOT NULL DEFAULT '', -- [text] as in the view series, or a GLOB pattern of subjects; empty: the whole run
    why         TEXT    NOT NULL, -- [text] the reason that the user gave
    accepted_ns INTEGER NOT NULL, -- [ns since epoch] when
    PRIMARY KEY (run_uuid, figure, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_places (
    -- Where exports list one stack, label set or object of a run that clear merge took from another file: only for runs of which the order of
    -- ids here is not that of ids there, so that an export has the same bytes in both files.
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    thing  TEXT    NOT NULL, -- [text] trace, label_set, object
    id     INTEGER NOT NULL, -- [id] of that thing in this file
    place  INTEGER NOT NULL, -- [number] exports are sorted by it: its id in the first file
    PRIMARY KEY (run_id, thing, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE gates (
    -- One rule of clear gate: which change of which figure is too much. They come from `gates:` in clear.yaml, or else are clear's own.
    name          TEXT PRIMARY KEY, -- [text] of the rule
    place         INTEGER NOT NULL, -- [number] 1, 2, ...: the order in which the rules were given
    figure        TEXT NOT NULL DEFAULT '',  -- [text] figure of the view series; empty: the rule is a query
    query         TEXT NOT NULL DEFAULT '',  -- [text] @NAME of a saved query, or a SELECT, with the columns subject, old and new
    subject       TEXT NOT NULL DEFAULT '',  -- [text] GLOB pattern of the subjects that are judged; empty: the whole run
    direction     TEXT NOT NULL DEFAULT 'up', -- [text] up, down or both: which change is judged
    limit_percent REAL NOT NULL DEFAULT 0,   -- [percent] of the old value: a change must be more than this, ...
    limit_value   REAL NOT NULL DEFAULT 0,   -- [unit of the figure] ... and more than this
    runs          INTEGER NOT NULL DEFAULT 1, -- [count] runs that each side needs at least; never less than 5 of a timed figure
    is_timed      INTEGER NOT NULL DEFAULT 0, -- [0 or 1] the figure varies from run to run
    action        TEXT NOT NULL DEFAULT 'fail', -- [text] fail or warn
    is_own        INTEGER NOT NULL DEFAULT 0 -- [0 or 1] the rule is clear's own
) STRICT;

PRAGMA user_version = 4;
