CREATE TABLE wait_use_facts (
    -- One condition variable, semaphore, barrier, thread or futex and one stack that waited for it, of one process or ingested profile: the rows
    -- of `locks` in its windows summed.
    profile_id     INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    object_id      INTEGER NOT NULL REFERENCES objects(id), -- [id] what is waited for
    address        INTEGER NOT NULL, -- [address] of it in the process
    trace_id       INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that waited; 0: what took no time, and the wakes
    waker_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that used it first without a wait, in all its rows; 0: not known
    kind           TEXT NOT NULL, -- [text] as in locks
    mutex_address  INTEGER NOT NULL, -- [address] as in locks
    acquires       INTEGER NOT NULL, -- [count] as in locks
    contended      INTEGER NOT NULL, -- [count] as in locks
    timeouts       INTEGER NOT NULL, -- [count] as in locks
    unfinished     INTEGER NOT NULL, -- [count] as in locks
    wait_ns        INTEGER NOT NULL, -- [ns] as in locks
    max_wait_ns    INTEGER NOT NULL, -- [ns] as in locks
    failed_tries   INTEGER NOT NULL, -- [count] as in locks
    signals        INTEGER NOT NULL, -- [count] as in locks
    broadcasts     INTEGER NOT NULL, -- [count] as in locks
    futile_wakes   INTEGER NOT NULL, -- [count] as in locks
    woken          INTEGER NOT NULL, -- [count] as in locks
    own_wakes      INTEGER NOT NULL, -- [count] as in locks
    lost_wakes     INTEGER NOT NULL, -- [count] as in locks
    PRIMARY KEY (profile_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
CREATE TEMP TABLE IF NOT EXISTS wait_use_sums (
    owner INTEGER, profile_kind TEXT, object_id INTEGER, address INTEGER, trace_id INTEGER, kind TEXT, profile_id INTEGER,
    first_trace_id INTEGER, mutex_address INTEGER, acquires INTEGER, contended INTEGER, timeouts INTEGER, unfinished INTEGER,
    wait_ns INTEGER, max_wait_ns INTEGER, failed_tries INTEGER, signals INTEGER, broadcasts INTEGER, futile_wakes INTEGER, woken INTEGER,
    own_wakes INTEGER, lost_wakes INTEGER);

DELETE FROM wait_use_sums;

-- Summed in memory. owner: the process, or the ingested profile.
INSERT INTO wait_use_sums
SELECT coalesce(profiles.process_id, -profiles.id), profiles.kind, object_id, address, trace_id, locks.kind, profiles.id AS max,
       first_trace_id AS max, mutex_address AS max, acquires AS sum, contended AS sum, timeouts AS sum, unfinished AS sum, wait_ns AS sum,
       max_wait_ns AS max, failed_tries AS sum, signals AS sum, broadcasts AS sum, futile_wakes AS sum, woken AS sum, own_wakes AS sum,
       lost_wakes AS sum
FROM profiles
JOIN locks ON locks.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'wait' AND profiles.id > :after;

-- Needs wait_use_sums
INSERT INTO wait_use_facts(profile_id, object_id, address, trace_id, waker_trace_id, kind, mutex_address, acquires, contended, timeouts,
                           unfinished, wait_ns, max_wait_ns, failed_tries, signals, broadcasts, futile_wakes, woken, own_wakes, lost_wakes)
SELECT max(profile_id), object_id, address, trace_id, max(max(first_trace_id)) OVER (PARTITION BY owner, object_id, address), max(kind),
       max(mutex_address), sum(acquires), sum(contended), sum(timeouts), sum(unfinished), sum(wait_ns), max(max_wait_ns), sum(failed_tries),
       sum(signals), sum(broadcasts), sum(futile_wakes), sum(woken), sum(own_wakes), sum(lost_wakes)
FROM wait_use_sums
GROUP BY owner, profile_kind, object_id, address, trace_id;
