CREATE TABLE queue_facts (
    -- What waited in a queue when the live bytes of its process were highest, where that is 1 MiB or more: blocks of a function that signals a
    -- condition variable, semaphore or futex 500 times or more, nearly always without a waiter, or that calls one which does; or of one that sends
    -- on a channel without a bound of Rust.
    run_id         INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id       INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of most of these bytes
    object_id      INTEGER REFERENCES objects(id), -- [id] what is signalled; NULL: a channel of Rust, and so are the next five
    pushes         INTEGER,          -- [count] signals
    waits          INTEGER,          -- [count] waits for them that had to wait
    wait_ns        INTEGER,          -- [ns] sum of these
    waker_trace_id INTEGER REFERENCES traces(id), -- [id] the stack that signalled first
    waiter_trace_id INTEGER REFERENCES traces(id), -- [id] the stack that waited longest, which takes from the queue; 0: none did
    peak_count     INTEGER NOT NULL, -- [count] blocks of the function live at that moment
    peak_bytes     INTEGER NOT NULL, -- [bytes] their bytes
    peak_percent   INTEGER NOT NULL, -- [percent] that, of what the process had live, a whole number
    queued_percent INTEGER NOT NULL, -- [percent] that, of all bytes that the function allocated in the run, a whole number
    filled_percent INTEGER,          -- [percent] of the life of the process that was over then, a whole number; NULL: not known
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- The functions whose blocks were 1 MiB or more at the peak of a process, with the stack of most of them.
CREATE TEMP TABLE IF NOT EXISTS queue_sites (
    process_id INTEGER, function_id INTEGER, trace_id INTEGER, profile_id INTEGER, peak_count INTEGER, peak_bytes INTEGER,
    PRIMARY KEY (process_id, function_id)) WITHOUT ROWID;

DELETE FROM queue_sites;

CREATE TEMP TABLE IF NOT EXISTS queue_functions (process_id INTEGER, function_id INTEGER, peak_bytes INTEGER, PRIMARY KEY (process_id, function_id)) WITHOUT ROWID;

DELETE FROM queue_functions;

-- Needs heap_peaks
-- Summed in memory.
INSERT INTO queue_functions
SELECT profiles.process_id, traces.function_id, peak_bytes AS sum
FROM profiles
JOIN heap_peaks AS peak ON peak.profile_id = profiles.id
JOIN traces ON traces.id = peak.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'heap-peak' AND profiles.process_id IS NOT NULL AND traces.function_id IS NOT NULL;

-- Needs queue_functions
DELETE FROM queue_functions WHERE peak_bytes < 1048576;

-- Needs queue_functions
INSERT INTO queue_sites
SELECT process_id, function_id, trace_id, profile_id, sum(peak_count), sum(peak_bytes)
FROM (SELECT profiles.process_id, traces.function_id, peak.trace_id, peak.profile_id, peak_count, peak_bytes,
             max(peak_bytes) OVER (PARTITION BY profiles.process_id, traces.function_id) AS most
      FROM profiles
      JOIN heap_peaks AS peak ON peak.profile_id = profiles.id
      JOIN traces ON traces.id = peak.trace_id
      WHERE profiles.run_id = :run AND profiles.kind = 'heap-peak'
        AND (profiles.process_id, traces.function_id) IN (SELECT process_id, function_id FROM queue_functions)
      ORDER BY peak_bytes DESC, peak.trace_id)
GROUP BY process_id, function_id
HAVING sum(peak_bytes) >= 1048576;

-- What is signalled far more often than it is waited for.
CREATE TEMP TABLE IF NOT EXISTS queue_signals (
    process_id INTEGER, object_id INTEGER, pushes INTEGER, waits INTEGER, wait_ns INTEGER, waker_trace_id INTEGER, waiter_trace_id INTEGER);

DELETE FROM queue_signals;

-- Needs queue_sites
INSERT INTO queue_signals
SELECT process_id, object_id, sum(signals + broadcasts), sum(contended + timeouts + unfinished), sum(wait_ns), max(waker_trace_id),
       max(iif(wait_ns = longest, trace_id, 0))
FROM (SELECT profiles.process_id, used.*, max(wait_ns) OVER (PARTITION BY profiles.process_id, object_id, address) AS longest
      FROM profiles
      JOIN wait_use_facts AS used ON used.profile_id = profiles.id
      WHERE profiles.run_id = :run AND used.kind IN ('cond', 'sem', 'futex')
        AND profiles.process_id IN (SELECT process_id FROM queue_sites))
GROUP BY process_id, object_id, address
HAVING sum(signals + broadcasts) >= 500 AND sum(contended + timeouts + unfinished) * 10 <= sum(signals + broadcasts)
   AND sum(own_wakes) * 2 < sum(signals + broadcasts) AND max(waker_trace_id) <> 0;

-- Needs queue_sites
INSERT INTO queue_facts(run_id, trace_id, object_id, pushes, waits, wait_ns, waker_trace_id, waiter_trace_id, peak_count, peak_bytes, peak_percent,
                        queued_percent, filled_percent)
WITH
frame AS MATERIALIZED (
    SELECT waker.trace_id, functions.id AS function_id, functions.name,
           row_number() OVER (PARTITION BY waker.trace_id ORDER BY CAST(step.key AS INTEGER), line.position) AS place
    FROM (SELECT DISTINCT waker_trace_id AS trace_id FROM queue_signals) AS waker
    JOIN traces ON traces.id = waker.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN location_lines AS line ON line.location_id = step.value
    JOIN functions ON functions.id = line.function_id
),
-- The function that signals, and the one that calls it to put something into the queue.
pushing AS MATERIALIZED (
    SELECT own.trace_id, frame.function_id, min(frame.place) AS place
    FROM (SELECT frame.trace_id, min(place) AS place
          FROM frame
          JOIN traces ON traces.id = frame.trace_id AND traces.function_id = frame.function_id
          GROUP BY frame.trace_id) AS own
    JOIN frame ON frame.trace_id = own.trace_id AND (frame.place = own.place OR frame.place = own.place + 1 AND frame.name <> 'main')
    GROUP BY own.trace_id, frame.function_id
),
sending AS MATERIALIZED (
    SELECT id
    FROM functions
    WHERE name GLOB 'std::sync::mpmc::list::Channel<*>::send*' OR name GLOB 'crossbeam_channel::flavors::list::Channel<*>::send*'
       OR name GLOB 'std::sync::mpsc::stream::Packet<*>::send*' OR name GLOB 'std::sync::mpsc::shared::Packet<*>::send*' -- before Rust 1.67
),
channel AS MATERIALIZED (
    SELECT DISTINCT traces.function_id
    FROM sending
    JOIN profiles ON profiles.run_id = :run AND profiles.kind = 'heap-peak'
    JOIN heap_peaks AS peak ON peak.profile_id = profiles.id
    JOIN traces ON traces.id = peak.trace_id AND traces.function_id IN (SELECT function_id FROM queue_sites)
    WHERE EXISTS (SELECT 1
                  FROM json_each(traces.stack) AS step
                  JOIN location_lines AS line ON line.location_id = step.value
                  WHERE line.function_id = sending.id)
),
queue AS MATERIALIZED (
    SELECT site.*, signalled.object_id, pushes, waits, wait_ns, waker_trace_id, waiter_trace_id
    FROM queue_sites AS site
    JOIN queue_signals AS signalled ON signalled.process_id = site.process_id
    JOIN pushing ON pushing.trace_id = signalled.waker_trace_id AND pushing.function_id = site.function_id
    UNION ALL
    SELECT site.*, NULL, NULL, NULL, NULL, NULL, NULL
    FROM queue_sites AS site
    JOIN channel ON channel.function_id = site.function_id
),
allocated AS MATERIALIZED (
    SELECT traces.function_id, sum(sites.alloc_bytes) AS bytes
    FROM profiles
    JOIN sites ON sites.profile_id = profiles.id
    JOIN traces ON traces.id = sites.trace_id
    WHERE profiles.run_id = :run AND traces.function_id IN (SELECT function_id FROM queue)
    GROUP BY traces.function_id
)
SELECT :run, trace_id, object_id, pushes, waits, wait_ns, waker_trace_id, waiter_trace_id, peak_count, peak_bytes,
       CAST(round(100.0 * peak_bytes / max(whole, 1)) AS INTEGER), CAST(round(100.0 * peak_bytes / max(allocated.bytes, 1)) AS INTEGER),
       filled_percent
FROM (SELECT queue.*, row_number() OVER (PARTITION BY queue.trace_id ORDER BY pushes DESC, object_id) AS rank,
             (SELECT sum(peak_bytes) FROM heap_peaks WHERE heap_peaks.profile_id = queue.profile_id) AS whole,
             CAST(round(max(0, min(100, 100.0 * (profiles.time_ns - started_ns) / nullif(ended_ns - started_ns, 0)))) AS INTEGER) AS filled_percent
      FROM queue
      JOIN profiles ON profiles.id = queue.profile_id
      JOIN processes ON processes.id = queue.process_id) AS ranked
JOIN allocated ON allocated.function_id = ranked.function_id
WHERE rank = 1;
