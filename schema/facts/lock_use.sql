CREATE TABLE lock_use_facts (
    -- One lock and one stack that took it, of one process or ingested profile: the rows of `locks` in its windows summed.
    profile_id       INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    object_id        INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    address          INTEGER NOT NULL, -- [address] of the lock in the process
    trace_id         INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of the caller; 0: none was recorded
    first_trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that took the lock first; 0: not known
    kind             TEXT NOT NULL, -- [text] as in locks
    acquires         INTEGER NOT NULL, -- [count] as in locks
    contended        INTEGER NOT NULL, -- [count] as in locks
    wait_ns          INTEGER NOT NULL, -- [ns] as in locks
    max_wait_ns      INTEGER NOT NULL, -- [ns] as in locks
    hold_ns          INTEGER NOT NULL, -- [ns] as in locks
    max_hold_ns      INTEGER NOT NULL, -- [ns] as in locks
    read_acquires    INTEGER NOT NULL, -- [count] as in locks
    read_contended   INTEGER NOT NULL, -- [count] as in locks
    read_wait_ns     INTEGER NOT NULL, -- [ns] as in locks
    read_max_wait_ns INTEGER NOT NULL, -- [ns] as in locks
    timeouts         INTEGER NOT NULL, -- [count] as in locks
    unfinished       INTEGER NOT NULL, -- [count] as in locks
    failed_tries     INTEGER NOT NULL, -- [count] as in locks
    condition_waits  INTEGER NOT NULL, -- [count] as in locks
    timed_holds      INTEGER NOT NULL, -- [count] as in locks
    wait_seen_ns     INTEGER NOT NULL, -- [ns] as in locks
    wait_delay_ns    INTEGER NOT NULL, -- [ns] as in locks
    hold_delay_ns    INTEGER NOT NULL, -- [ns] as in locks
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- The rows of all windows are summed once; what a lock is called may differ between them.
CREATE TEMP TABLE IF NOT EXISTS lock_windows (
    owner INTEGER, profile_kind TEXT, object_id INTEGER, address INTEGER, trace_id INTEGER, kind TEXT, profile_id INTEGER,
    first_trace_id INTEGER, acquires INTEGER, contended INTEGER, wait_ns INTEGER, max_wait_ns INTEGER, hold_ns INTEGER, max_hold_ns INTEGER,
    read_acquires INTEGER, read_contended INTEGER, read_wait_ns INTEGER, read_max_wait_ns INTEGER, timeouts INTEGER, unfinished INTEGER,
    failed_tries INTEGER, condition_waits INTEGER, timed_holds INTEGER, wait_seen_ns INTEGER, wait_delay_ns INTEGER, hold_delay_ns INTEGER);

DELETE FROM lock_windows;

-- Summed in memory.
INSERT INTO lock_windows
SELECT coalesce(profiles.process_id, -profiles.id), profiles.kind, object_id, address, trace_id, locks.kind, profiles.id AS max,
       first_trace_id AS max, acquires AS sum, contended AS sum, wait_ns AS sum, max_wait_ns AS max, hold_ns AS sum, max_hold_ns AS max,
       read_acquires AS sum, read_contended AS sum, read_wait_ns AS sum, read_max_wait_ns AS max, timeouts AS sum, unfinished AS sum,
       failed_tries AS sum, condition_waits AS sum, timed_holds AS sum, wait_seen_ns AS sum, wait_delay_ns AS sum, hold_delay_ns AS sum
FROM profiles
JOIN locks ON locks.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind <> 'wait' AND profiles.id > :after;

-- Needs lock_windows
INSERT INTO lock_use_facts(profile_id, object_id, address, trace_id, first_trace_id, kind, acquires, contended, wait_ns, max_wait_ns,
                           hold_ns, max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns, timeouts, unfinished,
                           failed_tries, condition_waits, timed_holds, wait_seen_ns, wait_delay_ns, hold_delay_ns)
SELECT max(profile_id), object_id, address, trace_id, max(first_trace_id), max(kind), sum(acquires), sum(contended), sum(wait_ns),
       max(max_wait_ns), sum(hold_ns), max(max_hold_ns), sum(read_acquires), sum(read_contended), sum(read_wait_ns), max(read_max_wait_ns),
       sum(timeouts), sum(unfinished), sum(failed_tries), sum(condition_waits), sum(timed_holds), sum(wait_seen_ns),
       sum(wait_delay_ns), sum(hold_delay_ns)
FROM lock_windows
GROUP BY owner, profile_kind, object_id, address, trace_id;
