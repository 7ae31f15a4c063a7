DROP VIEW IF EXISTS run_summary;
CREATE VIEW run_summary AS
-- Question: which runs are in this file, and how much did each cost?
-- Rows: one per run, its processes summed. Values are summed as they are, also where profiles have different periods (512 KiB of
--   Go, 2 MiB of C++): the values of a sampled profile are already estimates of all events. profiles.period has the period of
--   each.
-- Columns:
--   run_id [id]: the run
--   uuid [text]: random UUID: the same run in another file
--   label [text]: the name that the user gave with --label; NULL: none
--   command [text]: the command line, quoted for a shell; empty for an ingested file
--   source [text]: 'profile' for a recorded run, else the path or name of the ingested file
--   started [text]: start in UTC, ISO 8601, whole seconds
--   started_ns [ns since epoch]: start
--   duration_ns [ns]: from the start of the program to its end; of a run that is not over, to the last flush
--   symbolize_ns [ns]: what the recorder spent on finding names for addresses, partly while the program ran
--   write_ns [ns]: and on reading counters and writing rows
--   exit [text]: 'exit 0', 'signal 9'; empty: not over, or an ingested file
--   exit_status [number]: 0 to 255; NULL: not over, ended by a signal, or an ingested file
--   exit_signal [number]: the signal that ended it; NULL: none
--   processes [count]: recorded processes
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   inuse_count [count]: blocks live at the end
--   inuse_bytes [bytes]: bytes live at the end
--   lock_acquires [count]: acquisitions of locks, exclusive and shared
--   lock_contended [count]: how often a thread had to wait for one, whether it got it or not
--   lock_wait_ns [ns]: sum of their waits
--   cpu_ns [ns]: CPU time of the program that was sampled
--   recorder_cpu_ns [ns]: CPU time that the recording took inside the program, beside cpu_ns
--   dropped [count]: events that could not be recorded
--   truncated [count]: stacks that were cut
--   sample_n [count]: every Nth event was recorded, and counted N times; 1: all were
--   sample_bytes [bytes]: allocations were sampled by size, one per this many bytes on average; 1: all were recorded
--   flags [text]: as in runs
SELECT
    runs.id AS run_id,
    runs.uuid,
    runs.label,
    runs.command,
    runs.source,
    strftime('%Y-%m-%dT%H:%M:%SZ', runs.started_ns / 1000000000, 'unixepoch') AS started,
    runs.started_ns,
    runs.duration_ns,
    runs.symbolize_ns,
    runs.write_ns,
    CASE WHEN runs.exit_signal IS NOT NULL THEN printf('signal %d', runs.exit_signal)
         WHEN runs.exit_status IS NOT NULL THEN printf('exit %d', runs.exit_status)
         ELSE '' END AS exit,
    runs.exit_status,
    runs.exit_signal,
    (SELECT count(*) FROM processes WHERE processes.run_id = runs.id) AS processes,
    coalesce(heap.alloc_count, 0) AS alloc_count,
    coalesce(heap.alloc_bytes, 0) AS alloc_bytes,
    coalesce(heap.inuse_count, 0) AS inuse_count,
    coalesce(heap.inuse_bytes, 0) AS inuse_bytes,
    coalesce(lock.acquires, 0) AS lock_acquires,
    coalesce(lock.contended, 0) AS lock_contended,
    coalesce(lock.wait_ns, 0) AS lock_wait_ns,
    coalesce(processor.cpu_ns, 0) AS cpu_ns,
    coalesce(processor.recorder_cpu_ns, 0) AS recorder_cpu_ns,
    coalesce(loss.dropped, 0) AS dropped,
    coalesce(loss.truncated, 0) AS truncated,
    max(runs.sample_n, coalesce(loss.sample_n, 1)) AS sample_n,
    max(coalesce(loss.sample_bytes, 1), 1) AS sample_bytes,
    runs.flags
FROM runs
-- Inner joins with one row for every run, so that SQLite passes a condition on run_id into each sum. They read the tables and not the
-- view sites, because SQLite 3.40 computes all of a view that is a join before it left-joins it.
JOIN (SELECT runs.id AS run_id, sum(alloc_count) AS alloc_count,
             sum(coalesce(alloc_bytes, alloc_count * block_bytes)) AS alloc_bytes,
             sum(alloc_count - free_count) AS inuse_count,
             sum(coalesce(alloc_bytes, alloc_count * block_bytes)
                 - coalesce(free_bytes, free_count * block_bytes)) AS inuse_bytes
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id
      LEFT JOIN site_rows ON site_rows.profile_id = profiles.id
      LEFT JOIN site_keys ON site_keys.id = site_rows.site_key_id
      GROUP BY runs.id) AS heap ON heap.run_id = runs.id
JOIN (SELECT runs.id AS run_id, sum(acquires + read_acquires) AS acquires,
             sum(contended + read_contended + timeouts + unfinished) AS contended,
             sum(wait_ns + read_wait_ns) AS wait_ns
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id AND profiles.kind <> 'wait'
      LEFT JOIN locks ON locks.profile_id = profiles.id
      GROUP BY runs.id) AS lock ON lock.run_id = runs.id
JOIN (SELECT runs.id AS run_id, sum(cpu_ns) FILTER (WHERE profiles.kind <> 'recorder') AS cpu_ns,
             sum(cpu_ns) FILTER (WHERE profiles.kind = 'recorder') AS recorder_cpu_ns
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id
      LEFT JOIN cpu ON cpu.profile_id = profiles.id
      GROUP BY runs.id) AS processor ON processor.run_id = runs.id
JOIN (SELECT runs.id AS run_id, sum(dropped) AS dropped, sum(truncated) AS truncated,
             max(profiles.sample_n) AS sample_n,
             max(profiles.period) FILTER (WHERE profiles.kind = 'heap' AND profiles.period_type = 'space'
                                                AND profiles.sample_n <= 1) AS sample_bytes
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id
      GROUP BY runs.id) AS loss ON loss.run_id = runs.id;
