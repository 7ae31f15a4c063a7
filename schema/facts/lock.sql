CREATE TABLE lock_facts (
    -- One lock of a run: its callers and the windows of all processes summed, of longest waits and holds the longest. Values are summed as they
    -- are, also where profiles have different periods.
    run_id            INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id         INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    address           INTEGER NOT NULL, -- [address] of the lock in the process
    kind              TEXT    NOT NULL, -- [text] mutex, rwlock, spin, own; empty: unknown
    acquires          INTEGER NOT NULL, -- [count] exclusive acquisitions
    contended         INTEGER NOT NULL, -- [count] those of them that had to wait
    read_acquires     INTEGER NOT NULL, -- [count] shared acquisitions, whose holds are not timed
    read_contended    INTEGER NOT NULL, -- [count] those of them that had to wait
    total_acquires    INTEGER NOT NULL, -- [count] acquires + read_acquires
    total_contended   INTEGER NOT NULL, -- [count] contended + read_contended, and the waits that ended without the lock
    read_percent      INTEGER NOT NULL, -- [percent] read_acquires of total_acquires, a whole number
    contended_percent INTEGER NOT NULL, -- [percent] total_contended of total_acquires and the waits that ended without the lock, a whole number
    wait_ns           INTEGER NOT NULL, -- [ns] sum of all waits
    max_wait_ns       INTEGER NOT NULL, -- [ns] the longest wait
    wait_percent      INTEGER, -- [percent] wait_ns of the thread time of the run, a whole number: the lives of all threads, less what they waited
                               -- for that is no lock (run_facts.lock_ns), and no less than the run's duration. Where lives of threads are not known
                               -- (files before version 4, ingested ones), of the duration, and above 100 where several threads wait at once.
                               -- NULL: that is not known either
    hold_ns           INTEGER NOT NULL, -- [ns] sum of the exclusive holds
    mean_hold_ns      REAL    NOT NULL, -- [ns] hold_ns / acquires
    other_hold_ns     REAL,             -- [ns] the mean of the holds without the longest: one holder that lost its processor does not make a
                                        -- short lock long. NULL: it is not known how many were timed, or one was
    max_hold_ns       INTEGER NOT NULL, -- [ns] the longest exclusive hold
    timeouts          INTEGER NOT NULL, -- [count] waits that ended at their time limit, without the lock
    unfinished        INTEGER NOT NULL, -- [count] waits that were not over when the process ended
    condition_waits   INTEGER NOT NULL, -- [count] of a mutex: waits on condition variables that released it
    unfinished_max_wait_ns INTEGER NOT NULL, -- [ns] the longest wait of a caller that was still waiting when the process ended
    is_longest        INTEGER NOT NULL, -- [0 or 1] the threads of the run waited for no other lock longer
    io_ns             INTEGER, -- [ns] in calls that read, write, open and close, made by the functions that take the lock, behind the line where
                               -- they do. Where one line takes several locks, as those of a table's parts: its part of that, by how often it was
                               -- taken. NULL: no such calls, or threads waited less than 0.1 ms for the lock, or an ingested file
    work_allocs       INTEGER, -- [count] blocks allocated there; NULL: the same
    write_calls       INTEGER, -- [count] calls of write and send there; NULL: the same
    write_bytes       INTEGER, -- [bytes] moved by them; NULL: the same
    wait_delay_ns     INTEGER, -- [ns] of wait_ns, about: the thread that had the lock, or the one that waited, was ready to run and had no
                               -- processor. Where looks of the recorder saw half of the waits or more, these stand for all; else of those that were
                               -- seen alone, at least. NULL: none was
    hold_delay_ns     INTEGER, -- [ns] of hold_ns, about, while others waited: the thread that had the lock was ready and had no processor. As above
    seen_percent      INTEGER, -- [percent] of wait_ns that was seen, a whole number, at most 100; NULL: nothing was
    is_of_runtime     INTEGER NOT NULL, -- [0 or 1] code of a language's runtime waits for it, nine tenths of wait_ns or more: of the JVM, node, python3
                                        -- or ruby, whose own locks are not those of the program that they run
    PRIMARY KEY (run_id, object_id, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE lock_caller_facts (
    -- One stack that took a lock; where callers were not recorded, the one that allocated the lock, else the one that took it first.
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id  INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    address    INTEGER NOT NULL, -- [address] of the lock in the process
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    operations INTEGER NOT NULL, -- [count] acquisitions, exclusive and shared
    wait_ns    INTEGER NOT NULL, -- [ns] sum of its waits
    hold_ns    INTEGER NOT NULL, -- [ns] sum of its exclusive holds
    unfinished INTEGER NOT NULL, -- [count] waits of this caller that were not over when the process ended
    PRIMARY KEY (run_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE lock_work_facts (
    -- What is done behind a line that takes a lock: the calls that took a tenth of lock_facts.io_ns or more, and the stacks that allocated a tenth
    -- of lock_facts.work_allocs or more.
    run_id    INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    address   INTEGER NOT NULL, -- [address] of the lock in the process
    trace_id  INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that does it
    call      TEXT    NOT NULL, -- [text] as in io; or allocations
    amount    INTEGER NOT NULL, -- [unit of the call] ns in the calls, or blocks allocated
    PRIMARY KEY (run_id, object_id, address, trace_id, call)
) STRICT, WITHOUT ROWID;

CREATE TABLE lock_unfinished_facts (
    -- The waits for a lock in one process that were not over when it ended, or that never end.
    run_id      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id   INTEGER NOT NULL REFERENCES objects(id), -- [id] the lock
    address     INTEGER NOT NULL, -- [address] of the lock in the process
    number      INTEGER NOT NULL, -- [number] 1, 2, ...: of the process among those that waited for it so
    wait_ns     INTEGER NOT NULL, -- [ns] the longest wait of a caller that was still waiting
    max_hold_ns INTEGER NOT NULL, -- [ns] the longest exclusive hold of the lock in the process
    is_chained  INTEGER NOT NULL, -- [0 or 1] another lock of the process has such waits too
    is_taken    INTEGER NOT NULL, -- [0 or 1] somebody took the lock in a window that began after the longest wait did
    is_child    INTEGER NOT NULL, -- [0 or 1] another process of the run began before this one, whose end is therefore not known; 0 where it was
                                  -- searched for lost blocks: it ended by exit, so a thread that held the lock could still run
    goes_on     INTEGER NOT NULL, -- [0 or 1] the process had not ended with the recording: these waits are of threads that wait for each other
    PRIMARY KEY (run_id, object_id, address, number)
) STRICT, WITHOUT ROWID;

-- Fill
-- The waits that were not over when their process ended: lock_use_facts does not say when each window was.
CREATE TEMP TABLE IF NOT EXISTS lock_waiting (
    process_id INTEGER, object_id INTEGER, address INTEGER, wait_ns INTEGER, max_hold_ns INTEGER, taken_ns INTEGER, ended_ns INTEGER);

DELETE FROM lock_waiting;

-- Where holds were sampled, with a budget, one may have been as long as the longest wait.
-- Needs lock_use_facts
INSERT INTO lock_waiting
SELECT profiles.process_id, locks.object_id, locks.address, max(iif(locks.unfinished > 0, max(max_wait_ns, read_max_wait_ns), 0)),
       max(max(max_hold_ns, iif(profiles.period > 1 AND profiles.sample_n <= 1, max_wait_ns, 0))),
       max(iif(acquires + read_acquires > 0 AND duration_ns > 0, time_ns - duration_ns, NULL)), max(time_ns)
FROM (SELECT DISTINCT profiles.process_id, used.object_id, used.address
      FROM profiles
      JOIN lock_use_facts AS used ON used.profile_id = profiles.id
      WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND used.unfinished > 0) AS waiting
JOIN profiles ON profiles.run_id = :run AND profiles.kind = 'lock' AND profiles.process_id IS waiting.process_id
JOIN locks ON locks.profile_id = profiles.id AND locks.object_id = waiting.object_id AND locks.address = waiting.address
GROUP BY profiles.process_id, locks.object_id, locks.address;

-- How often functions with lines took locks. A row of holds alone has the line of the release.
CREATE TEMP TABLE IF NOT EXISTS lock_takers (
    object_id INTEGER, address INTEGER, function_id INTEGER, line INTEGER, operations INTEGER, share REAL,
    PRIMARY KEY (object_id, address, function_id)) WITHOUT ROWID;

DELETE FROM lock_takers;

-- Needs lock_use_facts
INSERT INTO lock_takers
SELECT object_id, address, function_id, line, operations, 1.0 * operations / sum(operations) OVER (PARTITION BY function_id, line)
FROM (SELECT used.object_id, used.address, traces.function_id, min(traces.line) AS line,
             sum(acquires + read_acquires + contended + read_contended + timeouts + unfinished) AS operations
      FROM profiles
      JOIN lock_use_facts AS used ON used.profile_id = profiles.id
      JOIN traces ON traces.id = iif(used.trace_id <> 0, used.trace_id, used.first_trace_id)
      WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND (SELECT source = 'profile' FROM runs WHERE id = :run)
        AND traces.line > 0 AND traces.function_id IS NOT NULL
      GROUP BY used.object_id, used.address, traces.function_id) AS taken
WHERE operations > 0;

-- The stacks that read, write, open, close or allocate behind a line that takes a lock. Each stack is looked through once, for the functions
-- that take locks. share: of what a stack does, for what 32 locks of one line have behind them is not under each of them.
CREATE TEMP TABLE IF NOT EXISTS lock_works (
    object_id INTEGER, address INTEGER, trace_id INTEGER, share REAL, PRIMARY KEY (object_id, address, trace_id)) WITHOUT ROWID;

DELETE FROM lock_works;

-- Needs lock_takers
INSERT INTO lock_works
WITH
taker AS MATERIALIZED (
    SELECT lock.object_id, lock.address, function_id, line, share
    FROM (SELECT object_id, address
          FROM profiles
          JOIN lock_use_facts AS used ON used.profile_id = profiles.id
          WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND (SELECT source = 'profile' FROM runs WHERE id = :run)
          GROUP BY object_id, address
          HAVING sum(wait_ns + read_wait_ns) >= 100000 AND sum(acquires) > 0) AS lock
    JOIN lock_takers AS taken ON taken.object_id = lock.object_id AND taken.address = lock.address
),
called AS MATERIALIZED (
    SELECT io.trace_id
    FROM profiles
    JOIN io ON io.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'io' AND EXISTS (SELECT 1 FROM taker)
    UNION
    SELECT site_keys.trace_id
    FROM profiles
    JOIN site_rows ON site_rows.profile_id = profiles.id
    JOIN site_keys ON site_keys.id = site_rows.site_key_id
    WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND EXISTS (SELECT 1 FROM taker)
),
reached AS MATERIALIZED (
    SELECT called.trace_id, frame.function_id, max(frame.line) AS line
    FROM called
    JOIN traces ON traces.id = called.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN location_lines AS frame ON frame.location_id = step.value
    WHERE frame.function_id IN (SELECT function_id FROM taker)
    GROUP BY called.trace_id, frame.function_id
)
SELECT taker.object_id, taker.address, reached.trace_id, max(share)
FROM reached
JOIN taker ON taker.function_id = reached.function_id AND taker.line < reached.line
GROUP BY taker.object_id, taker.address, reached.trace_id;

-- Needs lock_use_facts
INSERT INTO lock_facts(run_id, object_id, address, kind, acquires, contended, read_acquires, read_contended, total_acquires, total_contended,
                       read_percent, contended_percent, wait_ns, max_wait_ns, wait_percent, hold_ns, mean_hold_ns, other_hold_ns, max_hold_ns, timeouts,
                       unfinished, condition_waits, unfinished_max_wait_ns, is_longest, io_ns, work_allocs, write_calls, write_bytes,
                       wait_delay_ns, hold_delay_ns, seen_percent, is_of_runtime)
WITH
of_runtime AS MATERIALIZED (
    SELECT used.object_id, used.address, sum(wait_ns + read_wait_ns) AS wait_ns
    FROM profiles
    JOIN lock_use_facts AS used ON used.profile_id = profiles.id
    JOIN traces ON traces.id = used.trace_id
    JOIN locations ON locations.id = traces.location_id
    JOIN mappings ON mappings.id = locations.mapping_id
    WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND wait_ns + read_wait_ns > 0
      AND (mappings.filename GLOB '*/libjvm.so*' OR mappings.filename GLOB '*/libnode.so*' OR mappings.filename GLOB '*/bin/node'
           OR mappings.filename GLOB '*/bin/nodejs' OR mappings.filename GLOB '*/libpython3*' OR mappings.filename GLOB '*/bin/python3*'
           OR mappings.filename GLOB '*/libruby*' OR mappings.filename GLOB '*/bin/ruby*')
    GROUP BY used.object_id, used.address
),
lock AS MATERIALIZED (
    SELECT object_id, address, max(used.kind) AS kind, sum(acquires) AS acquires, sum(contended) AS contended, sum(read_acquires) AS read_acquires,
           sum(read_contended) AS read_contended, sum(acquires + read_acquires) AS total_acquires,
           sum(contended + read_contended + timeouts + unfinished) AS total_contended,
           sum(acquires + read_acquires + timeouts + unfinished) AS attempts, sum(wait_ns + read_wait_ns) AS wait_ns,
           max(max(max_wait_ns, read_max_wait_ns)) AS max_wait_ns, sum(hold_ns) AS hold_ns, max(max_hold_ns) AS max_hold_ns,
           sum(timed_holds) AS timed_holds, sum(timeouts) AS timeouts, sum(unfinished) AS unfinished, sum(condition_waits) AS condition_waits,
           nullif(sum(wait_seen_ns), 0) AS seen_ns, sum(wait_delay_ns) AS delay_ns, sum(hold_delay_ns) AS hold_delay_ns,
           iif(2 * sum(wait_seen_ns) >= sum(wait_ns + read_wait_ns), max(1.0, 1.0 * sum(wait_ns + read_wait_ns) / sum(wait_seen_ns)), 1.0) AS stands_for
    FROM profiles
    JOIN lock_use_facts AS used ON used.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'lock'
    GROUP BY object_id, address
),
waiting AS MATERIALIZED (
    SELECT object_id, address, max(wait_ns) AS max_wait_ns
    FROM lock_waiting
    GROUP BY object_id, address
),
called AS MATERIALIZED (
    SELECT io.trace_id, sum(io.time_ns) AS io_ns, sum(iif(call IN ('write', 'send'), calls, NULL)) AS write_calls,
           sum(iif(call IN ('write', 'send'), bytes, NULL)) AS write_bytes
    FROM profiles
    JOIN io ON io.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'io' AND io.trace_id IN (SELECT trace_id FROM lock_works)
    GROUP BY io.trace_id
),
allocated AS MATERIALIZED (
    SELECT sites.trace_id, sum(alloc_count) AS allocs
    FROM profiles
    JOIN sites ON sites.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND sites.trace_id IN (SELECT trace_id FROM lock_works)
    GROUP BY sites.trace_id
),
work AS MATERIALIZED (
    SELECT object_id, address, CAST(round(sum(io_ns * share)) AS INTEGER) AS io_ns, CAST(round(sum(allocs * share)) AS INTEGER) AS allocs,
           CAST(round(sum(write_calls * share)) AS INTEGER) AS write_calls, CAST(round(sum(write_bytes * share)) AS INTEGER) AS write_bytes
    FROM lock_works
    LEFT JOIN called ON called.trace_id = lock_works.trace_id
    LEFT JOIN allocated ON allocated.trace_id = lock_works.trace_id
    GROUP BY object_id, address
)
SELECT :run, lock.object_id, lock.address, kind, acquires, contended, read_acquires, read_contended, total_acquires, total_contended,
       coalesce(CAST(round(100.0 * read_acquires / nullif(total_acquires, 0)) AS INTEGER), 0),
       coalesce(CAST(round(100.0 * total_contended / nullif(attempts, 0)) AS INTEGER), 0),
       lock.wait_ns, lock.max_wait_ns, CAST(round(100.0 * lock.wait_ns / nullif(max(duration_ns, coalesce(lock_ns, 0)), 0)) AS INTEGER), hold_ns,
       coalesce(1.0 * hold_ns / nullif(acquires, 0), 0.0),
       iif(acquires > 0 AND timed_holds > 1,
           max(0.0, hold_ns - 1.0 * max_hold_ns * acquires / timed_holds) / (acquires - 1.0 * acquires / timed_holds), NULL),
       max_hold_ns, timeouts, unfinished, condition_waits, coalesce(waiting.max_wait_ns, 0),
       lock.wait_ns = (SELECT max(wait_ns) FROM lock),
       work.io_ns, work.allocs, work.write_calls, work.write_bytes,
       iif(seen_ns > 0, CAST(min(lock.wait_ns, stands_for * delay_ns) AS INTEGER), NULL),
       iif(seen_ns > 0, CAST(min(hold_ns, stands_for * hold_delay_ns) AS INTEGER), NULL),
       CAST(min(100, round(100.0 * seen_ns / nullif(lock.wait_ns, 0))) AS INTEGER), coalesce(10 * of_runtime.wait_ns >= 9 * lock.wait_ns, 0)
FROM lock
JOIN run_facts ON run_facts.run_id = :run
LEFT JOIN waiting ON waiting.object_id = lock.object_id AND waiting.address = lock.address
LEFT JOIN work ON work.object_id = lock.object_id AND work.address = lock.address
LEFT JOIN of_runtime ON of_runtime.object_id = lock.object_id AND of_runtime.address = lock.address;

-- Needs lock_works
INSERT INTO lock_work_facts(run_id, object_id, address, trace_id, call, amount)
SELECT :run, lock_works.object_id, lock_works.address, lock_works.trace_id, call, CAST(round(time_ns * share) AS INTEGER)
FROM (SELECT io.trace_id, io.call, sum(io.time_ns) AS time_ns
      FROM profiles
      JOIN io ON io.profile_id = profiles.id
      WHERE profiles.run_id = :run AND profiles.kind = 'io' AND io.trace_id IN (SELECT trace_id FROM lock_works)
      GROUP BY io.trace_id, io.call) AS called
JOIN lock_works ON lock_works.trace_id = called.trace_id
JOIN lock_facts ON lock_facts.run_id = :run AND lock_facts.object_id = lock_works.object_id AND lock_facts.address = lock_works.address
WHERE time_ns * share * 10 >= lock_facts.io_ns
UNION ALL
SELECT :run, lock_works.object_id, lock_works.address, lock_works.trace_id, 'allocations', CAST(round(allocs * share) AS INTEGER)
FROM (SELECT sites.trace_id, sum(alloc_count) AS allocs
      FROM profiles
      JOIN sites ON sites.profile_id = profiles.id
      WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND sites.trace_id IN (SELECT trace_id FROM lock_works)
      GROUP BY sites.trace_id) AS allocated
JOIN lock_works ON lock_works.trace_id = allocated.trace_id
JOIN lock_facts ON lock_facts.run_id = :run AND lock_facts.object_id = lock_works.object_id AND lock_facts.address = lock_works.address
WHERE lock_facts.work_allocs > 0 AND allocs * share * 10 >= lock_facts.work_allocs;

-- Needs lock_use_facts
INSERT INTO lock_caller_facts(run_id, object_id, address, trace_id, operations, wait_ns, hold_ns, unfinished)
SELECT :run, object_id, address,
       CASE WHEN used.trace_id <> 0 THEN used.trace_id WHEN objects.trace_id <> 0 THEN objects.trace_id ELSE first_trace_id END AS caller,
       sum(acquires + read_acquires), sum(wait_ns + read_wait_ns), sum(hold_ns), sum(iif(used.trace_id <> 0, unfinished, 0))
FROM profiles
JOIN lock_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
WHERE profiles.run_id = :run AND profiles.kind = 'lock'
GROUP BY object_id, address, caller
HAVING caller <> 0;

-- Needs lock_waiting
INSERT INTO lock_unfinished_facts(run_id, object_id, address, number, wait_ns, max_hold_ns, is_chained, is_taken, is_child, goes_on)
SELECT :run, object_id, address, row_number() OVER (PARTITION BY object_id, address ORDER BY process_id), wait_ns, max_hold_ns,
       count(*) OVER (PARTITION BY process_id) > 1, coalesce(taken_ns > waiting.ended_ns - wait_ns, 0),
       coalesce(started_ns > (SELECT min(started_ns) FROM processes WHERE run_id = :run), 0)
           AND NOT EXISTS (SELECT 1 FROM profiles
                           WHERE profiles.run_id = :run AND profiles.kind = 'leak' AND profiles.process_id = waiting.process_id),
       processes.id IS NOT NULL AND processes.ended_ns IS NULL
FROM lock_waiting AS waiting
LEFT JOIN processes ON processes.id = waiting.process_id;
