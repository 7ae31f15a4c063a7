DROP VIEW IF EXISTS series_runs;
CREATE VIEW series_runs AS
-- Question: what was a figure of a whole run?
-- Rows: one per run and figure that was recorded: also where it is 0. Of a file that was ingested, the duration is often not known
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: duration_ns, cpu_ns, recorder_cpu_ns, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, lock_acquires,
--     lock_contended, lock_wait_ns, lock_hold_ns, waits, wait_ns, cell_reads, cell_commits, cell_retries, cell_update_failures,
--     channel_pushes, channel_pops, channel_push_blocked, channel_pop_blocked, io_calls, io_bytes, io_time_ns, syscalls,
--     threads_started, dropped, truncated
--   subject [text]: empty
--   value [unit of the figure]: the figure
--   scope [text]: run
SELECT
    runs.run_id,
    runs.started_ns,
    total.figure,
    '' AS subject,
    CASE total.figure
         WHEN 'duration_ns' THEN duration_ns
         WHEN 'cpu_ns' THEN cpu_ns
         WHEN 'recorder_cpu_ns' THEN recorder_cpu_ns
         WHEN 'alloc_count' THEN alloc_count
         WHEN 'alloc_bytes' THEN alloc_bytes
         WHEN 'inuse_count' THEN inuse_count
         WHEN 'inuse_bytes' THEN inuse_bytes
         WHEN 'peak_bytes' THEN peak_bytes
         WHEN 'lock_acquires' THEN lock_acquires
         WHEN 'lock_contended' THEN lock_contended
         WHEN 'lock_wait_ns' THEN lock_wait_ns
         WHEN 'dropped' THEN dropped
         WHEN 'truncated' THEN truncated END AS value,
    'run' AS scope
FROM (SELECT 'duration_ns' AS figure, '' AS kind
      UNION ALL VALUES ('cpu_ns', 'cpu'), ('recorder_cpu_ns', 'recorder'), ('alloc_count', 'heap'), ('alloc_bytes', 'heap'),
                       ('inuse_count', 'heap'), ('inuse_bytes', 'heap'), ('peak_bytes', 'heap-peak'), ('lock_acquires', 'lock'),
                       ('lock_contended', 'lock'), ('lock_wait_ns', 'lock'), ('dropped', ''), ('truncated', '')) AS total
CROSS JOIN run_summary AS runs
WHERE EXISTS (SELECT 1 FROM profiles WHERE profiles.run_id = runs.run_id AND profiles.kind = total.kind)
   OR (total.kind = '' AND (total.figure <> 'duration_ns' OR runs.duration_ns > 0))
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, '',
       (SELECT coalesce(sum(hold_ns), 0)
        FROM profiles
        JOIN locks ON locks.profile_id = profiles.id
        WHERE profiles.run_id = runs.id AND profiles.kind = 'lock'),
       'run'
FROM (SELECT 'lock_hold_ns' AS figure) AS total
CROSS JOIN runs
WHERE EXISTS (SELECT 1 FROM profiles WHERE profiles.run_id = runs.id AND profiles.kind = 'lock')
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, '',
       (SELECT coalesce(sum(CASE total.figure WHEN 'waits' THEN contended + timeouts + unfinished
                                             WHEN 'wait_ns' THEN wait_ns END), 0)
        FROM profiles
        JOIN locks ON locks.profile_id = profiles.id
        WHERE profiles.run_id = runs.id AND profiles.kind = 'wait'),
       'run'
FROM (SELECT 'waits' AS figure UNION ALL VALUES ('wait_ns')) AS total
CROSS JOIN runs
WHERE EXISTS (SELECT 1 FROM profiles WHERE profiles.run_id = runs.id AND profiles.kind = 'wait')
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, '',
       (SELECT coalesce(sum(CASE total.figure WHEN 'cell_reads' THEN reads
                                             WHEN 'cell_commits' THEN commits
                                             WHEN 'cell_retries' THEN retries
                                             WHEN 'cell_update_failures' THEN update_failures END), 0)
        FROM profiles
        JOIN cells ON cells.profile_id = profiles.id
        WHERE profiles.run_id = runs.id AND profiles.kind = 'mvcc'),
       'run'
FROM (SELECT 'cell_reads' AS figure UNION ALL VALUES ('cell_commits'), ('cell_retries'), ('cell_update_failures')) AS total
CROSS JOIN runs
WHERE EXISTS (SELECT 1 FROM profiles WHERE profiles.run_id = runs.id AND profiles.kind = 'mvcc')
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, '',
       (SELECT coalesce(sum(CASE total.figure WHEN 'channel_pushes' THEN pushes
                                             WHEN 'channel_pops' THEN pops
                                             WHEN 'channel_push_blocked' THEN push_blocked
                                             WHEN 'channel_pop_blocked' THEN pop_blocked END), 0)
        FROM profiles
        JOIN channels ON channels.profile_id = profiles.id
        WHERE profiles.run_id = runs.id AND profiles.kind = 'channels'),
       'run'
FROM (SELECT 'channel_pushes' AS figure UNION ALL VALUES ('channel_pops'), ('channel_push_blocked'), ('channel_pop_blocked')) AS total
CROSS JOIN runs
WHERE EXISTS (SELECT 1 FROM profiles WHERE profiles.run_id = runs.id AND profiles.kind = 'channels')
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, '',
       (SELECT coalesce(sum(CASE total.figure WHEN 'io_calls' THEN calls
                                             WHEN 'io_bytes' THEN bytes
                                             WHEN 'io_time_ns' THEN io.time_ns END), 0)
        FROM profiles
        JOIN io ON io.profile_id = profiles.id
        WHERE profiles.run_id = runs.id AND profiles.kind = 'io'),
       'run'
FROM (SELECT 'io_calls' AS figure UNION ALL VALUES ('io_bytes'), ('io_time_ns')) AS total
CROSS JOIN runs
WHERE EXISTS (SELECT 1 FROM profiles WHERE profiles.run_id = runs.id AND profiles.kind = 'io')
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, '',
       (SELECT coalesce(sum(calls), 0)
        FROM profiles
        JOIN syscalls ON syscalls.profile_id = profiles.id
        WHERE profiles.run_id = runs.id AND profiles.kind = 'syscalls'),
       'run'
FROM (SELECT 'syscalls' AS figure) AS total
CROSS JOIN runs
WHERE EXISTS (SELECT 1 FROM profiles WHERE profiles.run_id = runs.id AND profiles.kind = 'syscalls')
UNION ALL
SELECT runs.id, runs.started_ns, 'threads_started', '',
       (SELECT sum(threads_started) FROM processes WHERE processes.run_id = runs.id),
       'run'
FROM runs
WHERE EXISTS (SELECT 1 FROM processes WHERE processes.run_id = runs.id AND threads_started > 0);
