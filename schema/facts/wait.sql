CREATE TABLE wait_facts (
    -- A condition variable, semaphore, barrier or futex that threads of a process waited for: its callers and the windows of the process summed.
    -- Those of one mutex, of one pair of semaphores, or futexes whose waiters wake each other, are the sides of one queue.
    run_id         INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id     INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    object_id      INTEGER NOT NULL REFERENCES objects(id), -- [id] the condition variable, semaphore, barrier or futex
    address        INTEGER NOT NULL, -- [address] of it in the process
    kind           TEXT    NOT NULL, -- [text] cond, sem, barrier, futex
    mutex_address  INTEGER NOT NULL, -- [address] of the mutex that its waiters release; 0: not known, as of a semaphore or futex
    waits          INTEGER NOT NULL, -- [count] waits that had to wait, also those that ended at a time limit or with the process
    wait_ns        INTEGER NOT NULL, -- [ns] sum of them
    wait_percent   INTEGER, -- [percent] that, of the run's duration, a whole number; NULL: the duration is not known
    thread_percent INTEGER, -- [percent] that, of the thread time of the run as in lock_facts, a whole number; NULL: not known
    timeouts       INTEGER NOT NULL, -- [count] waits that ended at their time limit
    broadcasts     INTEGER NOT NULL, -- [count] wakes of all waiters
    futile_wakes   INTEGER NOT NULL, -- [count] threads that were woken and waited again, because what they waited for was not there
    futile_percent INTEGER NOT NULL, -- [percent] that, of the waits, a whole number
    signals        INTEGER NOT NULL, -- [count] wakes of one
    own_wakes      INTEGER NOT NULL, -- [count] of a futex or semaphore: of the wakes, those by threads that had waited for it before
    lost_wakes     INTEGER NOT NULL, -- [count] of a condition variable: of timeouts, those before which a signal met nobody, as in locks
    woken          INTEGER NOT NULL, -- [count] of a futex: threads that were woken
    is_lock        INTEGER NOT NULL, -- [0 or 1] a lock or pool: own_wakes are half of the wakes or more, for who takes a lock also gives it back,
                                     -- while who waits for a queue is woken by others
    sides          INTEGER NOT NULL, -- [count] sides of its queue that were waited on
    side           INTEGER NOT NULL, -- [number] 1: it is the one for items, or the only one, and nothing says that it is for room; 2: the one for
                                     -- room; 3 and more: others of its mutex
    told_by        TEXT    NOT NULL, -- [text] what says which side it is: names (of the object, or of the functions that wait), units (of a
                                     -- semaphore: whether it began with any), order (of first use, of two), nothing (no other one was used), or
                                     -- nameless (as nothing: all that waits is in a library whose functions have no names)
    is_longest     INTEGER NOT NULL, -- [0 or 1] no other side of its queue was waited for longer; 0 also where the queue is not known
    is_bounded     INTEGER NOT NULL, -- [0 or 1] there is a semaphore for room, or who waits for it wakes another one of its kind
    is_of_main     INTEGER NOT NULL, -- [0 or 1] the first thread waits: what it does is what the program does
    is_of_python   INTEGER NOT NULL, -- [0 or 1] python3 made it, which uses a semaphore for joins, events and locks
    waiting_functions INTEGER NOT NULL, -- [count] functions that waited for it, each a tenth of the time or longer
    join_percent   REAL,             -- [percent] waits for the end of threads in the process, of the run's duration; NULL: none, or not known
    waiter_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that waited longest; 0: not known
    waker_trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that used it first without a wait: that woke others; 0: not known
    PRIMARY KEY (run_id, process_id, object_id, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE wait_caller_facts (
    -- One stack that waited for what wait_facts has.
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    object_id  INTEGER NOT NULL REFERENCES objects(id), -- [id] as in wait_facts
    address    INTEGER NOT NULL, -- [address] as in wait_facts
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    wait_ns    INTEGER NOT NULL, -- [ns] sum of its waits
    PRIMARY KEY (run_id, process_id, object_id, address, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE wait_work_facts (
    -- What is done behind a line that waits for a lock of wait_facts (is_lock, waits of 0.1 ms and more in all): the calls that took a tenth of its
    -- wait_ns or more.
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    object_id  INTEGER NOT NULL REFERENCES objects(id), -- [id] as in wait_facts
    address    INTEGER NOT NULL, -- [address] as in wait_facts
    trace_id   INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that calls
    call       TEXT    NOT NULL, -- [text] as in io
    time_ns    INTEGER NOT NULL, -- [ns] in these calls
    PRIMARY KEY (run_id, process_id, object_id, address, trace_id, call)
) STRICT, WITHOUT ROWID;

-- Fill
-- What each stack waited, by process: the windows are summed already. Ends of threads are among them.
CREATE TEMP TABLE IF NOT EXISTS wait_sums (
    process_id INTEGER, object_id INTEGER, address INTEGER, kind TEXT, trace_id INTEGER, first_trace_id INTEGER, mutex_address INTEGER,
    passes INTEGER, waits INTEGER, wait_ns INTEGER, timeouts INTEGER, broadcasts INTEGER, futile_wakes INTEGER, signals INTEGER,
    own_wakes INTEGER, lost_wakes INTEGER, woken INTEGER);

DELETE FROM wait_sums;

-- Needs wait_use_facts
INSERT INTO wait_sums
SELECT profiles.process_id, object_id, address, used.kind, trace_id, waker_trace_id, mutex_address, acquires, contended + timeouts + unfinished,
       wait_ns, timeouts, broadcasts, futile_wakes, signals, own_wakes, lost_wakes, woken
FROM profiles
JOIN wait_use_facts AS used ON used.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.process_id IS NOT NULL;

-- The functions that waited for each; is_minor: less than a tenth of the time, as the other side of a queue with one condition variable.
CREATE TEMP TABLE IF NOT EXISTS wait_functions (
    process_id INTEGER, object_id INTEGER, address INTEGER, function_id INTEGER, is_minor INTEGER);

CREATE INDEX IF NOT EXISTS temp.wait_functions_thing ON wait_functions(process_id, object_id, address, function_id);

DELETE FROM wait_functions;

-- Needs wait_sums
INSERT INTO wait_functions
SELECT process_id, object_id, address, function_id, 10 * wait_ns < sum(wait_ns) OVER (PARTITION BY process_id, object_id, address)
FROM (SELECT process_id, object_id, address, traces.function_id, sum(wait_ns) AS wait_ns
      FROM wait_sums
      JOIN traces ON traces.id = wait_sums.trace_id
      WHERE kind <> 'join'
      GROUP BY process_id, object_id, address, traces.function_id) AS waits;

-- The functions of a channel's library, which say whether a thread sends or receives, and main, in the stacks that waited.
CREATE TEMP TABLE IF NOT EXISTS wait_frames (
    trace_id INTEGER, function_id INTEGER, is_main INTEGER, PRIMARY KEY (trace_id, function_id)) WITHOUT ROWID;

DELETE FROM wait_frames;

-- Needs wait_sums
INSERT OR IGNORE INTO wait_frames
WITH
telling AS MATERIALIZED (
    SELECT id, name = 'main' AS is_main
    FROM functions
    WHERE name = 'main'
    UNION ALL
    SELECT id, 0
    FROM functions
    WHERE name GLOB 'std::sync::mp*'
    UNION ALL
    SELECT id, 0
    FROM functions
    WHERE name GLOB 'crossbeam_channel::*'
)
SELECT waited.trace_id, telling.id, telling.is_main
FROM (SELECT DISTINCT trace_id FROM wait_sums WHERE trace_id <> 0 AND kind <> 'join') AS waited
JOIN traces ON traces.id = waited.trace_id
JOIN json_each(traces.stack) AS step
JOIN location_lines AS frame ON frame.location_id = step.value
JOIN telling ON telling.id = frame.function_id;

-- One row for each thing that threads waited for or woke others with, in the order of their first use. hint: what its name says, 0: items,
-- 2: room, 1: nothing. A semaphore whose first use without a wait was one of who waits for it, and no post, began with units: it counts room.
CREATE TEMP TABLE IF NOT EXISTS wait_things (
    place INTEGER PRIMARY KEY, process_id INTEGER, object_id INTEGER, address INTEGER, kind TEXT, mutex_address INTEGER, passes INTEGER,
    waits INTEGER, wait_ns INTEGER, timeouts INTEGER, broadcasts INTEGER, futile_wakes INTEGER, signals INTEGER, own_wakes INTEGER,
    lost_wakes INTEGER, woken INTEGER, is_lock INTEGER, hint INTEGER, begins_with_units INTEGER, waker_trace_id INTEGER, waker_function_id INTEGER);

CREATE INDEX IF NOT EXISTS temp.wait_things_near ON wait_things(process_id, kind, address);

CREATE INDEX IF NOT EXISTS temp.wait_things_waker ON wait_things(process_id, kind, waker_function_id, waits, object_id);

DELETE FROM wait_things;

-- Needs wait_sums
INSERT INTO wait_things(process_id, object_id, address, kind, mutex_address, passes, waits, wait_ns, timeouts, broadcasts, futile_wakes, signals,
                        own_wakes, lost_wakes, woken, is_lock, hint, begins_with_units, waker_trace_id, waker_function_id)
SELECT process_id, object_id, address, kind, mutex_address, passes, waits, wait_ns, timeouts, broadcasts, futile_wakes, signals, own_wakes,
       lost_wakes, woken, kind <> 'cond' AND own_wakes > 0 AND 2 * own_wakes >= signals + broadcasts,
       CASE WHEN kind = 'sem' AND last LIKE '%full%' AND last NOT LIKE '%not_full%' THEN 0
            WHEN kind = 'sem' AND last LIKE '%empty%' AND last NOT LIKE '%not_empty%' THEN 2
            WHEN last LIKE '%not_empty%' OR last LIKE '%notempty%' OR last LIKE '%nonempty%' OR last LIKE '%item%' OR last LIKE '%consume%'
                 OR last LIKE '%fill%' THEN 0
            WHEN last LIKE '%not_full%' OR last LIKE '%notfull%' OR last LIKE '%nonfull%' OR last LIKE '%room%' OR last LIKE '%space%'
                 OR last LIKE '%produce%' THEN 2
            ELSE 1 END,
       begins_with_units, iif(begins_with_units, NULL, first_trace_id), iif(begins_with_units, NULL, first_function_id)
FROM (SELECT used.*, waking.first_trace_id, traces.function_id AS first_function_id,
             -- Of program:(anonymous namespace)::has_room it is has_room that says something.
             replace(objects.name, rtrim(objects.name, replace(objects.name, ':', '')), '') AS last,
             used.kind = 'sem' AND EXISTS (SELECT 1
                                           FROM wait_functions AS waiter
                                           WHERE waiter.process_id = used.process_id AND waiter.object_id = used.object_id
                                             AND waiter.address = used.address AND waiter.function_id = traces.function_id) AS begins_with_units
      FROM (SELECT process_id, object_id, address, max(kind) AS kind, max(mutex_address) AS mutex_address, sum(passes) AS passes,
                   sum(waits) AS waits, sum(wait_ns) AS wait_ns, sum(timeouts) AS timeouts, sum(broadcasts) AS broadcasts,
                   sum(futile_wakes) AS futile_wakes, sum(signals) AS signals, sum(own_wakes) AS own_wakes,
                   sum(lost_wakes) AS lost_wakes, sum(woken) AS woken
            FROM wait_sums
            WHERE kind <> 'join'
            GROUP BY process_id, object_id, address) AS used
      JOIN objects ON objects.id = used.object_id
      LEFT JOIN (SELECT process_id, object_id, address, max(first_trace_id) AS first_trace_id
                 FROM wait_sums
                 WHERE kind <> 'join' AND trace_id = 0 AND first_trace_id <> 0
                 GROUP BY process_id, object_id, address) AS waking
          ON waking.process_id = used.process_id AND waking.object_id = used.object_id AND waking.address = used.address
      LEFT JOIN traces ON traces.id = waking.first_trace_id) AS told
ORDER BY object_id, address, process_id;

-- Who waits for a futex and who wakes it: the kernel does not say which lock the waiters of a futex release. Two of them are one queue if who
-- waits for one wakes the other, and the other way round.
CREATE TEMP TABLE IF NOT EXISTS wait_pairs (
    process_id INTEGER, waker_function_id INTEGER, waiter_function_id INTEGER, place INTEGER, address INTEGER,
    PRIMARY KEY (process_id, waker_function_id, waiter_function_id, place)) WITHOUT ROWID;

DELETE FROM wait_pairs;

-- Needs wait_things
INSERT INTO wait_pairs
SELECT thing.process_id, thing.waker_function_id, waiter.function_id, thing.place, thing.address
FROM wait_things AS thing
JOIN wait_functions AS waiter ON waiter.process_id = thing.process_id AND waiter.object_id = thing.object_id
                             AND waiter.address = thing.address
WHERE thing.kind = 'futex' AND thing.waker_function_id IS NOT NULL AND waiter.function_id IS NOT NULL;

-- The semaphores that are no locks, by what they counted, in buckets of a digit and an exponent; the narrowest, from 8.5 to 9.5, is wider than a
-- tenth. is_room: it may be the one for room, also if nobody waited for it.
CREATE TEMP TABLE IF NOT EXISTS wait_semaphores (
    process_id INTEGER, signals_bucket TEXT, passes_bucket TEXT, is_room INTEGER, address INTEGER, place INTEGER, passes INTEGER,
    signals INTEGER, PRIMARY KEY (process_id, signals_bucket, passes_bucket, is_room, address, place)) WITHOUT ROWID;

DELETE FROM wait_semaphores;

-- Needs wait_things
INSERT INTO wait_semaphores
SELECT process_id, printf('%.0e', signals), printf('%.0e', passes), begins_with_units OR hint = 2 OR waits = 0, address, place, passes, signals
FROM wait_things
WHERE kind = 'sem' AND NOT is_lock;

-- Needs wait_sums
INSERT INTO wait_caller_facts(run_id, process_id, object_id, address, trace_id, wait_ns)
SELECT :run, process_id, object_id, address, trace_id, sum(wait_ns)
FROM wait_sums
WHERE trace_id <> 0 AND kind <> 'join'
GROUP BY process_id, object_id, address, trace_id;

-- Needs wait_things
INSERT INTO wait_facts(run_id, process_id, object_id, address, kind, mutex_address, waits, wait_ns, wait_percent, thread_percent, timeouts,
                       broadcasts, futile_wakes, futile_percent, signals, own_wakes, lost_wakes, woken, is_lock, sides, side, told_by,
                       is_longest, is_bounded, is_of_main, is_of_python, waiting_functions, join_percent, waiter_trace_id, waker_trace_id)
WITH
-- The two semaphores of a queue: each item takes one from the one and gives one to the other, so the counts are equal within a tenth, and one
-- of them is room. (Where none is, threads ask and answer.) Those in neighbouring buckets may be that near; of each the next one in memory is
-- looked for, above and below.
asked AS (
    SELECT DISTINCT one.place, one.process_id, one.address, one.passes, one.signals, is_room.value AS is_room,
           printf('%.0e', one.passes * passes.value) AS signals_bucket, printf('%.0e', one.signals * signals.value) AS passes_bucket
    FROM wait_things AS one
    JOIN json_each('[0.896, 1.0, 1.116]') AS passes
    JOIN json_each('[0.896, 1.0, 1.116]') AS signals
    JOIN json_each('[0, 1]') AS is_room ON is_room.value OR one.begins_with_units OR one.hint = 2
    WHERE one.kind = 'sem' AND one.waits > 0 AND NOT one.is_lock
),
near AS (
    SELECT asked.place, asked.address,
           (SELECT other.place
            FROM wait_semaphores AS other
            WHERE other.process_id = asked.process_id AND other.signals_bucket = asked.signals_bucket
              AND other.passes_bucket = asked.passes_bucket AND other.is_room = asked.is_room AND other.address > asked.address
              AND 10 * abs(asked.passes - other.signals) <= asked.passes AND 10 * abs(other.passes - asked.signals) <= other.passes
            ORDER BY other.address
            LIMIT 1) AS other_place
    FROM asked
    UNION ALL
    SELECT asked.place, asked.address,
           (SELECT other.place
            FROM wait_semaphores AS other
            WHERE other.process_id = asked.process_id AND other.signals_bucket = asked.signals_bucket
              AND other.passes_bucket = asked.passes_bucket AND other.is_room = asked.is_room AND other.address < asked.address
              AND 10 * abs(asked.passes - other.signals) <= asked.passes AND 10 * abs(other.passes - asked.signals) <= other.passes
            ORDER BY other.address DESC
            LIMIT 1)
    FROM asked
),
semaphore AS MATERIALIZED (
    SELECT place, partner
    FROM (SELECT near.place, other.address AS partner,
                 row_number() OVER (PARTITION BY near.place ORDER BY abs(near.address - other.address), other.object_id) AS rank
          FROM near
          JOIN wait_things AS other ON other.place = near.other_place) AS ranked
    WHERE rank = 1
),
-- The futex whose waiters wake those of this one.
other_side AS MATERIALIZED (
    SELECT place, (SELECT address FROM wait_things AS other WHERE other.place = found.other_place) AS address
    FROM (SELECT thing.place,
                 (SELECT min((SELECT min(pair.place)
                              FROM wait_pairs AS pair
                              WHERE pair.process_id = thing.process_id AND pair.waker_function_id = waiter.function_id
                                AND pair.waiter_function_id = thing.waker_function_id AND pair.address <> thing.address))
                  FROM wait_functions AS waiter
                  WHERE waiter.process_id = thing.process_id AND waiter.object_id = thing.object_id
                    AND waiter.address = thing.address) AS other_place
          FROM wait_things AS thing
          WHERE thing.kind = 'futex' AND thing.waits > 0 AND NOT thing.is_lock) AS found
),
-- What the names of the functions that wait say, as `hint`. A verb is the first or the last word, or one between underscores.
verb AS MATERIALIZED (
    SELECT id,
           last LIKE 'pop%' OR last LIKE 'get%' OR last LIKE 'take%' OR last LIKE 'recv%' OR last LIKE 'receive%' OR last LIKE 'dequeue%'
               OR last LIKE 'consume%' OR last LIKE 'fetch%' OR instr(words, '_pop_') OR instr(words, '_get_') OR instr(words, '_take_')
               OR instr(words, '_recv_') OR instr(words, '_dequeue_') AS takes,
           last LIKE 'push%' OR last LIKE 'put%' OR last LIKE 'send%' OR last LIKE 'enqueue%' OR last LIKE 'produce%' OR last LIKE 'offer%'
               OR last LIKE 'submit%' OR last LIKE 'append%' OR instr(words, '_push_') OR instr(words, '_put_') OR instr(words, '_send_')
               OR instr(words, '_enqueue_') AS gives
    FROM (SELECT id, last, '_' || lower(last) || '_' AS words
          FROM (SELECT id, replace(name, rtrim(name, replace(name, ':', '')), '') AS last
                FROM functions
                WHERE id IN (SELECT function_id FROM wait_functions UNION SELECT function_id FROM wait_frames)) AS called) AS named
),
waiting AS MATERIALIZED (
    SELECT process_id, object_id, address, 1 - max(takes) + max(gives) AS hint
    FROM (SELECT process_id, object_id, address, function_id
          FROM wait_functions
          WHERE NOT is_minor
          UNION ALL
          SELECT process_id, object_id, address, function_id
          FROM wait_sums
          JOIN wait_frames ON wait_frames.trace_id = wait_sums.trace_id
          WHERE kind = 'futex' AND NOT is_main) AS named
    JOIN verb ON verb.id = named.function_id
    GROUP BY process_id, object_id, address
),
queue_of AS (
    SELECT
        thing.*,
        CASE WHEN is_lock OR kind = 'barrier' THEN thing.address
             WHEN kind = 'futex' THEN min(thing.address, coalesce(other_side.address, thing.address))
             WHEN kind = 'sem' THEN min(thing.address, coalesce(semaphore.partner, thing.address))
             ELSE mutex_address END AS queue_address,
        semaphore.partner IS NOT NULL AS has_room_side,
        CASE WHEN thing.hint <> 1 OR is_lock OR kind = 'barrier' THEN thing.hint
             WHEN coalesce(waiting.hint, 1) <> 1 THEN waiting.hint
             WHEN kind = 'sem' THEN iif(begins_with_units, 2, 0)
             ELSE 1 END AS said,
        kind = 'sem' AND thing.hint = 1 AND coalesce(waiting.hint, 1) = 1 AS is_told_by_units,
        NOT EXISTS (SELECT 1
                    FROM wait_functions AS waiter
                    JOIN functions ON functions.id = waiter.function_id
                    WHERE waiter.process_id = thing.process_id AND waiter.object_id = thing.object_id AND waiter.address = thing.address
                      AND functions.name NOT GLOB '*.so*+0x*') AS is_nameless,
        -- The other side, if nobody ever waited for it: who waits here wakes it. Was it used first?
        CASE WHEN kind NOT IN ('sem', 'barrier') AND NOT is_lock THEN
            (SELECT min((SELECT min(other.object_id)
                         FROM wait_things AS other
                         WHERE other.process_id = thing.process_id AND other.kind = thing.kind
                           AND other.waker_function_id = waiter.function_id AND other.waits = 0))
             FROM wait_functions AS waiter
             WHERE waiter.process_id = thing.process_id AND waiter.object_id = thing.object_id
               AND waiter.address = thing.address) < thing.object_id END AS is_second
    FROM wait_things AS thing
    LEFT JOIN semaphore ON semaphore.place = thing.place
    LEFT JOIN other_side ON other_side.place = thing.place
    LEFT JOIN waiting ON waiting.process_id = thing.process_id AND waiting.object_id = thing.object_id AND waiting.address = thing.address
    WHERE thing.waits > 0
),
side AS (
    SELECT
        queue_of.*,
        count(*) OVER queue AS sides,
        -- The other side may never have waited: a name that says which one this is counts more than their order.
        CASE said WHEN 0 THEN 1 WHEN 2 THEN max(2, row_number() OVER queue_order)
                  ELSE row_number() OVER queue_order + iif(count(*) OVER queue = 1 AND is_second, 1, 0) END AS side,
        -- Where a name says what one of two is for, it says it of the other one too.
        CASE WHEN min(said) OVER queue = 1 AND max(said) OVER queue = 1
             THEN CASE WHEN count(*) OVER queue = 1 AND is_second IS NULL THEN 'nothing' WHEN is_nameless THEN 'nameless' ELSE 'order' END
             ELSE iif(is_told_by_units, 'units', 'names') END AS told_by,
        queue_address <> 0 AND wait_ns = max(wait_ns) OVER queue AS is_longest
    FROM queue_of
    WINDOW queue AS (PARTITION BY process_id, kind, is_lock, queue_address),
           queue_order AS (PARTITION BY process_id, kind, is_lock, queue_address ORDER BY said, object_id, address)
)
SELECT
    :run, side.process_id, side.object_id, side.address, side.kind, mutex_address, waits, side.wait_ns,
    CAST(round(100.0 * side.wait_ns / nullif(duration_ns, 0)) AS INTEGER),
    CAST(round(100.0 * side.wait_ns / nullif(max(duration_ns, coalesce(lock_ns + everywhere.wait_ns, 0)), 0)) AS INTEGER),
    timeouts, broadcasts, futile_wakes, CAST(round(100.0 * futile_wakes / waits) AS INTEGER), signals, own_wakes, lost_wakes, woken, is_lock,
    sides, side, told_by, is_longest,
    has_room_side
        OR side.kind <> 'sem'
           AND EXISTS (SELECT 1
                       FROM wait_functions AS waiter
                       JOIN wait_things AS other ON other.process_id = waiter.process_id AND other.kind = side.kind
                                                AND other.waker_function_id = waiter.function_id AND other.place <> side.place
                       WHERE waiter.process_id = side.process_id AND waiter.object_id = side.object_id AND waiter.address = side.address),
    EXISTS (SELECT 1
            FROM wait_caller_facts AS caller
            JOIN wait_frames ON wait_frames.trace_id = caller.trace_id
            WHERE caller.run_id = :run AND caller.process_id = side.process_id AND caller.object_id = side.object_id
              AND caller.address = side.address AND is_main),
    objects.name LIKE '%PyThread%',
    (SELECT count(*)
     FROM wait_functions AS waiter
     WHERE waiter.process_id = side.process_id AND waiter.object_id = side.object_id AND waiter.address = side.address AND NOT is_minor),
    100.0 * ends.wait_ns / nullif(duration_ns, 0),
    coalesce((SELECT trace_id
              FROM wait_caller_facts AS caller
              WHERE caller.run_id = :run AND caller.process_id = side.process_id AND caller.object_id = side.object_id
                AND caller.address = side.address
              ORDER BY caller.wait_ns DESC, trace_id
              LIMIT 1), 0),
    coalesce(waker_trace_id, 0)
FROM side
JOIN run_facts ON run_facts.run_id = :run
JOIN objects ON objects.id = side.object_id
JOIN (SELECT object_id, address, sum(wait_ns) AS wait_ns
      FROM wait_sums
      GROUP BY object_id, address) AS everywhere ON everywhere.object_id = side.object_id AND everywhere.address = side.address
LEFT JOIN (SELECT process_id, sum(wait_ns) AS wait_ns
           FROM wait_sums
           WHERE kind = 'join'
           GROUP BY process_id) AS ends ON ends.process_id = side.process_id;

-- Needs wait_facts
-- Needs io
INSERT INTO wait_work_facts(run_id, process_id, object_id, address, trace_id, call, time_ns)
WITH
taker AS MATERIALIZED (
    SELECT thing.process_id, thing.object_id, thing.address, traces.function_id, min(traces.line) AS line, thing.wait_ns
    FROM wait_facts AS thing
    JOIN wait_caller_facts AS caller USING (run_id, process_id, object_id, address)
    JOIN traces ON traces.id = caller.trace_id
    WHERE thing.run_id = :run AND thing.is_lock AND thing.wait_ns >= 100000 AND traces.line > 0
    GROUP BY thing.process_id, thing.object_id, thing.address, traces.function_id
),
called AS MATERIALIZED (
    SELECT io.trace_id, io.call, sum(io.time_ns) AS time_ns
    FROM profiles
    JOIN io ON io.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'io' AND EXISTS (SELECT 1 FROM taker)
    GROUP BY io.trace_id, io.call
),
reached AS MATERIALIZED (
    SELECT called.trace_id, frame.function_id, max(frame.line) AS line
    FROM (SELECT DISTINCT trace_id FROM called) AS called
    JOIN traces ON traces.id = called.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN location_lines AS frame ON frame.location_id = step.value
    WHERE frame.function_id IN (SELECT function_id FROM taker)
    GROUP BY called.trace_id, frame.function_id
)
SELECT DISTINCT :run, taker.process_id, taker.object_id, taker.address, called.trace_id, called.call, called.time_ns
FROM reached
JOIN taker ON taker.function_id = reached.function_id AND taker.line < reached.line
JOIN called ON called.trace_id = reached.trace_id
WHERE called.time_ns * 10 >= taker.wait_ns;
