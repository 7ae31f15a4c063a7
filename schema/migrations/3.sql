-- From version 2 to 3: what recording cost apart from the program's own time; peaks of live bytes; details of sites;
-- waits.
-- The table locks is made anew by the statement of tables.sql, so that `.schema` prints the same for a migrated file as for a new one.

ALTER TABLE runs ADD COLUMN symbolize_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN write_ns INTEGER NOT NULL DEFAULT 0;

CREATE TABLE site_details (
    -- More of one allocation site in one profile, where it has any.
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id        INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    temporary_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks freed before the thread that allocated them allocated another one
    calloc_count    INTEGER NOT NULL DEFAULT 0, -- [count] blocks from calloc; those that no column counts are from malloc
    aligned_count   INTEGER NOT NULL DEFAULT 0, -- [count] blocks from posix_memalign, aligned_alloc, memalign, valloc, pvalloc
    realloc_count   INTEGER NOT NULL DEFAULT 0, -- [count] blocks from realloc and reallocarray, also of no old block
    moved_count     INTEGER NOT NULL DEFAULT 0, -- [count] those of them that were moved to another address
    moved_bytes     INTEGER NOT NULL DEFAULT 0, -- [bytes] copied by that: the smaller of the old and the new size
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE leaks (
    -- Blocks of one stack that nothing reached when their process ended (clear profile --leaks). The process has a profile of the kind leak
    -- if it was searched; live blocks of a stack that are not counted here were reachable.
    profile_id     INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id       INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    lost_count     INTEGER NOT NULL DEFAULT 0, -- [count] blocks that no pointer leads to
    lost_bytes     INTEGER NOT NULL DEFAULT 0, -- [bytes] their bytes
    indirect_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks that only lost blocks point at
    indirect_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] their bytes
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE heap_peaks (
    -- What one stack had live when the live bytes of its process were highest: in the process's profile of kind heap-peak, whose
    -- time_ns is that moment.
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that allocated
    peak_count INTEGER NOT NULL DEFAULT 0, -- [count] blocks live at that moment
    peak_bytes INTEGER NOT NULL DEFAULT 0, -- [bytes] their bytes
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Waits that did not become acquisitions, and what is waited for that is no lock.
CREATE TEMP TABLE former_locks AS SELECT * FROM locks;
DROP TABLE locks;
CREATE TABLE locks (
    -- The figures of one lock in one profile, or of another thing that threads wait for (profiles of the kind wait). A recorded lock has
    -- one row for all acquisitions without a wait (trace_id 0), and one for each stack that had to wait.
    profile_id       INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    object_id        INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    address          INTEGER NOT NULL,            -- [address] of the lock in the process
    trace_id         INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- [id] the stack of the caller; 0: none was
                                                  -- recorded, as for acquisitions without a wait
    kind             TEXT    NOT NULL DEFAULT '', -- [text] mutex, rwlock, spin, own (a lock that the program made itself); cond, sem,
                                                  -- barrier, join (the end of a thread), futex (of another runtime); empty: unknown
    acquires         INTEGER NOT NULL DEFAULT 0,  -- [count] exclusive acquisitions; of what is no lock: waits that ended as they should, also
                                                  -- those that took no time
    contended        INTEGER NOT NULL DEFAULT 0,  -- [count] those of them that had to wait
    wait_ns          INTEGER NOT NULL DEFAULT 0,  -- [ns] sum of the waits, with those of timeouts and unfinished
    max_wait_ns      INTEGER NOT NULL DEFAULT 0,  -- [ns] the longest of them
    hold_ns          INTEGER NOT NULL DEFAULT 0,  -- [ns] sum of the exclusive holds
    max_hold_ns      INTEGER NOT NULL DEFAULT 0,  -- [ns] the longest exclusive hold that was timed
    read_acquires    INTEGER NOT NULL DEFAULT 0,  -- [count] shared acquisitions, whose holds are not timed
    read_contended   INTEGER NOT NULL DEFAULT 0,  -- [count] those of them that had to wait
    read_wait_ns     INTEGER NOT NULL DEFAULT 0,  -- [ns] sum of their waits
    read_max_wait_ns INTEGER NOT NULL DEFAULT 0,  -- [ns] the longest of their waits
    timeouts         INTEGER NOT NULL DEFAULT 0,  -- [count] waits, exclusive and shared, that ended at their time limit or by a signal, and
                                                  -- are not in contended; their time is in wait_ns
    unfinished       INTEGER NOT NULL DEFAULT 0,  -- [count] waits that were not over when the process ended: a deadlock, or idle threads;
                                                  -- their time is in wait_ns
    failed_tries     INTEGER NOT NULL DEFAULT 0,  -- [count] calls that only try (trylock, sem_trywait, tryjoin), and would have had to wait
    condition_waits  INTEGER NOT NULL DEFAULT 0,  -- [count] of a mutex: waits on condition variables that released it
    timed_holds      INTEGER NOT NULL DEFAULT 0,  -- [count] holds that were timed: where less than acquires, hold_ns is an estimate from a
                                                  -- sample of short holds; 0: not known
    signals          INTEGER NOT NULL DEFAULT 0,  -- [count] wakes of one waiter: pthread_cond_signal, sem_post, FUTEX_WAKE
    broadcasts       INTEGER NOT NULL DEFAULT 0,  -- [count] wakes of several: pthread_cond_broadcast
    first_trace_id   INTEGER NOT NULL DEFAULT 0 REFERENCES traces(id), -- [id] of a recorded lock, in the row without a caller: the stack
                                                  -- that took it first; 0: not known
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                  max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns)
SELECT profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
       max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns
FROM former_locks
ORDER BY profile_id, object_id, address, trace_id;
DROP TABLE former_locks;
CREATE INDEX profiles_peak ON profiles(process_id) WHERE kind = 'heap-peak';

PRAGMA user_version = 3;
