CREATE TABLE function_facts (
    -- What the allocation sites of one function did in a run, together. A function of zeros has no row.
    run_id      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    subject_id  INTEGER NOT NULL REFERENCES subjects(id), -- [id] the function, named as in the view place_subjects
    alloc_count INTEGER NOT NULL, -- [count] blocks allocated
    alloc_bytes INTEGER NOT NULL, -- [bytes] bytes allocated
    inuse_count INTEGER NOT NULL, -- [count] blocks live at the end
    inuse_bytes INTEGER NOT NULL, -- [bytes] bytes live at the end
    peak_bytes  INTEGER NOT NULL, -- [bytes] live when the live bytes of their processes were highest
    PRIMARY KEY (run_id, subject_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE figure_facts (
    -- One other figure of a run: of the whole run where that was recorded, also where it is 0; of a function, a lock, what else is waited for, a
    -- cell, a channel or a system call where it is not 0.
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    figure     TEXT    NOT NULL, -- [text] as in the view figure_kinds
    subject_id INTEGER NOT NULL REFERENCES subjects(id), -- [id] what it is of; 0: the whole run
    value      INTEGER NOT NULL, -- [unit of the figure] the figure
    PRIMARY KEY (run_id, figure, subject_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE subjects (
    -- What a figure is of, as the view series names it. Each is stored once per file.
    id   INTEGER PRIMARY KEY, -- [id] the subject; 0: the whole run
    name TEXT NOT NULL UNIQUE -- [text] function parse_line, lock pool:g_lock, ...; empty: the whole run
) STRICT;

-- Fill
INSERT OR IGNORE INTO subjects(id, name) VALUES (0, '');

-- ---- functions ----

-- Stacks of one function and, where that is not known, of one address have one name: trace_id is one of them. The windows of a site are summed
-- already (sealed_totals, heap.sql).
CREATE TEMP TABLE IF NOT EXISTS function_sums (
    function_id INTEGER, location_id INTEGER, trace_id INTEGER, alloc_count INTEGER, alloc_bytes INTEGER, inuse_count INTEGER,
    inuse_bytes INTEGER, peak_bytes INTEGER, io_calls INTEGER, io_bytes INTEGER, io_time_ns INTEGER);

DELETE FROM function_sums;

-- Summed in memory.
INSERT INTO function_sums
SELECT coalesce(traces.function_id, 0), CASE WHEN traces.function_id IS NULL THEN coalesce(traces.location_id, 0) ELSE 0 END,
       used.trace_id AS max, alloc_count AS sum, alloc_bytes AS sum, inuse_count AS sum, inuse_bytes AS sum, peak_bytes AS sum, calls AS sum,
       bytes AS sum, time_ns AS sum
FROM (SELECT trace_id, alloc_count, alloc_bytes, alloc_count - free_count AS inuse_count, alloc_bytes - free_bytes AS inuse_bytes,
             0 AS peak_bytes, 0 AS calls, 0 AS bytes, 0 AS time_ns
      FROM sealed_totals
      WHERE NOT EXISTS (SELECT 1 FROM sealed_plain)
      UNION ALL
      SELECT trace_id, alloc_count, alloc_bytes, alloc_count - free_count, alloc_bytes - free_bytes, 0, 0, 0, 0
      FROM sites
      WHERE profile_id IN (SELECT profile_id FROM sealed_plain)
      UNION ALL
      SELECT heap_peaks.trace_id, 0, 0, 0, 0, peak_bytes, 0, 0, 0
      FROM profiles
      JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
      WHERE profiles.run_id = :run
      UNION ALL
      SELECT used.trace_id, 0, 0, 0, 0, 0, calls, bytes, used.time_ns
      FROM profiles
      JOIN io_use_facts AS used ON used.profile_id = profiles.id
      WHERE profiles.run_id = :run) AS used
JOIN traces ON traces.id = used.trace_id;

CREATE TEMP TABLE IF NOT EXISTS named_sums (
    name TEXT, alloc_count INTEGER, alloc_bytes INTEGER, inuse_count INTEGER, inuse_bytes INTEGER, peak_bytes INTEGER, io_calls INTEGER,
    io_bytes INTEGER, io_time_ns INTEGER);

DELETE FROM named_sums;

-- Needs function_sums
INSERT INTO named_sums
SELECT 'function ' || function, sum(alloc_count), sum(alloc_bytes), sum(inuse_count), sum(inuse_bytes), sum(peak_bytes), sum(io_calls),
       sum(io_bytes), sum(io_time_ns)
FROM function_sums
JOIN place_subjects ON place_subjects.trace_id = function_sums.trace_id
GROUP BY function;

-- Needs named_sums
INSERT OR IGNORE INTO subjects(name) SELECT name FROM named_sums;

-- Needs named_sums
INSERT INTO function_facts(run_id, subject_id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes)
SELECT :run, subjects.id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes
FROM named_sums
JOIN subjects ON subjects.name = named_sums.name
WHERE alloc_count <> 0 OR alloc_bytes <> 0 OR inuse_count <> 0 OR inuse_bytes <> 0 OR peak_bytes <> 0
ORDER BY subjects.id;

-- ---- other figures of subjects ----

CREATE TEMP TABLE IF NOT EXISTS cpu_sums (location_id INTEGER, trace_id INTEGER, cpu_ns INTEGER);

DELETE FROM cpu_sums;

-- The first id of the JSON array is the location that ran.
-- Summed in memory.
INSERT INTO cpu_sums
SELECT CAST(substr(traces.stack, 2) AS INTEGER), cpu.trace_id AS max, cpu.cpu_ns AS sum
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
JOIN traces ON traces.id = cpu.trace_id
WHERE profiles.run_id = :run AND profiles.kind <> 'recorder';

CREATE TEMP TABLE IF NOT EXISTS subject_sums (figure TEXT, name TEXT, value INTEGER);

DELETE FROM subject_sums;

-- Needs named_sums or cpu_sums or syscalls
INSERT INTO subject_sums
SELECT kind.figure, name, CASE kind.figure WHEN 'io_calls' THEN io_calls WHEN 'io_bytes' THEN io_bytes ELSE io_time_ns END
FROM named_sums
CROSS JOIN (SELECT 'io_calls' AS figure UNION ALL VALUES ('io_bytes'), ('io_time_ns')) AS kind
WHERE io_calls <> 0 OR io_bytes <> 0 OR io_time_ns <> 0
UNION ALL
SELECT 'cpu_ns', 'function ' || function, sum(cpu_ns)
FROM cpu_sums
JOIN leaf_subjects ON leaf_subjects.trace_id = cpu_sums.trace_id
GROUP BY function
UNION ALL
SELECT 'syscalls', 'syscall ' || syscalls.name, sum(calls)
FROM profiles
JOIN syscalls ON syscalls.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY syscalls.name;

-- Needs lock_use_facts
INSERT INTO subject_sums
SELECT kind.figure, 'lock ' || objects.name,
       sum(CASE kind.figure WHEN 'lock_acquires' THEN acquires + read_acquires
                            WHEN 'lock_contended' THEN contended + read_contended + timeouts + unfinished
                            WHEN 'lock_wait_ns' THEN wait_ns + read_wait_ns
                            ELSE hold_ns END)
FROM profiles
JOIN lock_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
CROSS JOIN (SELECT 'lock_acquires' AS figure UNION ALL VALUES ('lock_contended'), ('lock_wait_ns'), ('lock_hold_ns')) AS kind
WHERE profiles.run_id = :run
GROUP BY kind.figure, objects.name;

-- Needs wait_use_facts
INSERT INTO subject_sums
SELECT kind.figure, 'wait ' || objects.name,
       sum(CASE kind.figure WHEN 'waits' THEN contended + timeouts + unfinished ELSE wait_ns END)
FROM profiles
JOIN wait_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
CROSS JOIN (SELECT 'waits' AS figure UNION ALL VALUES ('wait_ns')) AS kind
WHERE profiles.run_id = :run
GROUP BY kind.figure, objects.name;

-- Needs cell_use_facts
INSERT INTO subject_sums
SELECT kind.figure, 'cell ' || objects.name,
       sum(CASE kind.figure WHEN 'cell_reads' THEN reads WHEN 'cell_commits' THEN commits WHEN 'cell_retries' THEN retries
                            ELSE update_failures END)
FROM profiles
JOIN cell_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
CROSS JOIN (SELECT 'cell_reads' AS figure UNION ALL VALUES ('cell_commits'), ('cell_retries'), ('cell_update_failures')) AS kind
WHERE profiles.run_id = :run
GROUP BY kind.figure, objects.name;

-- Needs channel_use_facts
INSERT INTO subject_sums
SELECT kind.figure, 'channel ' || objects.name,
       sum(CASE kind.figure WHEN 'channel_pushes' THEN pushes WHEN 'channel_pops' THEN pops WHEN 'channel_push_blocked' THEN push_blocked
                            ELSE pop_blocked END)
FROM profiles
JOIN channel_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
CROSS JOIN (SELECT 'channel_pushes' AS figure UNION ALL VALUES ('channel_pops'), ('channel_push_blocked'), ('channel_pop_blocked')) AS kind
WHERE profiles.run_id = :run
GROUP BY kind.figure, objects.name;

-- Needs subject_sums
INSERT OR IGNORE INTO subjects(name) SELECT name FROM subject_sums WHERE value <> 0;

-- Needs subject_sums
INSERT INTO figure_facts(run_id, figure, subject_id, value)
SELECT :run, figure, subjects.id, value
FROM subject_sums
JOIN subjects ON subjects.name = subject_sums.name
WHERE value <> 0;

-- ---- the whole run ----

-- What its subjects have together, of each kind of profile that the run has.
INSERT INTO figure_facts(run_id, figure, subject_id, value)
SELECT :run, figure_kinds.figure, 0,
       coalesce(CASE figure_kinds.figure
                     WHEN 'alloc_count' THEN (SELECT sum(alloc_count) FROM function_facts WHERE run_id = :run)
                     WHEN 'alloc_bytes' THEN (SELECT sum(alloc_bytes) FROM function_facts WHERE run_id = :run)
                     WHEN 'inuse_count' THEN (SELECT sum(inuse_count) FROM function_facts WHERE run_id = :run)
                     WHEN 'inuse_bytes' THEN (SELECT sum(inuse_bytes) FROM function_facts WHERE run_id = :run)
                     WHEN 'peak_bytes' THEN (SELECT sum(peak_bytes) FROM function_facts WHERE run_id = :run)
                     ELSE (SELECT sum(value) FROM subject_sums WHERE subject_sums.figure = figure_kinds.figure) END, 0)
FROM figure_kinds
WHERE figure_kinds.profile_kind IN (SELECT kind FROM profiles WHERE run_id = :run) AND figure_kinds.adds_up = 'subjects';

INSERT INTO figure_facts(run_id, figure, subject_id, value)
SELECT :run, 'duration_ns', 0, duration_ns
FROM runs
WHERE id = :run AND duration_ns > 0
UNION ALL
SELECT :run, 'threads_started', 0, sum(threads_started)
FROM processes
WHERE run_id = :run
HAVING sum(threads_started) > 0
UNION ALL
SELECT :run, 'dropped', 0, coalesce(sum(dropped), 0)
FROM profiles
WHERE run_id = :run
UNION ALL
SELECT :run, 'truncated', 0, coalesce(sum(truncated), 0)
FROM profiles
WHERE run_id = :run
UNION ALL
SELECT :run, 'recorder_cpu_ns', 0, coalesce(sum(cpu.cpu_ns), 0)
FROM profiles
LEFT JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'recorder'
HAVING count(*) > 0;
