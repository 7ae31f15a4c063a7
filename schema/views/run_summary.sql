DROP VIEW IF EXISTS run_summary;
CREATE VIEW run_summary AS
-- Question: which runs are in this file, and how much did each cost?
-- Rows: one per run, its processes summed. Values are summed as they are, also where profiles have different periods (512 KiB of
--   Go, 2 MiB of C++): the values of a sampled profile are already estimates of all events. profiles.period has the period of
--   each. The totals of a run that is over are kept in run_totals.
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
--   peak_bytes [bytes]: live at most: the sum of the peaks of its processes (view peaks); 0: not recorded
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
    CASE WHEN runs.exit_signal IS NOT NULL THEN 'signal ' || runs.exit_signal
         WHEN runs.exit_status IS NOT NULL THEN 'exit ' || runs.exit_status
         ELSE '' END AS exit,
    runs.exit_status,
    runs.exit_signal,
    (SELECT count(*) FROM processes WHERE processes.run_id = runs.id) AS processes,
    coalesce(run_totals.alloc_count,
             (SELECT sum(alloc_count)
              FROM profiles
              JOIN site_rows ON site_rows.profile_id = profiles.id
              WHERE profiles.run_id = runs.id), 0) AS alloc_count,
    coalesce(run_totals.alloc_bytes,
             (SELECT sum(alloc_bytes)
              FROM profiles
              JOIN sites ON sites.profile_id = profiles.id
              WHERE profiles.run_id = runs.id), 0) AS alloc_bytes,
    coalesce(run_totals.inuse_count,
             (SELECT sum(alloc_count - free_count)
              FROM profiles
              JOIN site_rows ON site_rows.profile_id = profiles.id
              WHERE profiles.run_id = runs.id), 0) AS inuse_count,
    coalesce(run_totals.inuse_bytes,
             (SELECT sum(alloc_bytes - free_bytes)
              FROM profiles
              JOIN sites ON sites.profile_id = profiles.id
              WHERE profiles.run_id = runs.id), 0) AS inuse_bytes,
    coalesce(run_totals.peak_bytes,
             (SELECT sum(peak_bytes)
              FROM profiles
              JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
              WHERE profiles.run_id = runs.id), 0) AS peak_bytes,
    coalesce(run_totals.lock_acquires,
             (SELECT sum(acquires + read_acquires)
              FROM profiles
              JOIN locks ON locks.profile_id = profiles.id
              WHERE profiles.run_id = runs.id AND profiles.kind <> 'wait'), 0) AS lock_acquires,
    coalesce(run_totals.lock_contended,
             (SELECT sum(contended + read_contended + timeouts + unfinished)
              FROM profiles
              JOIN locks ON locks.profile_id = profiles.id
              WHERE profiles.run_id = runs.id AND profiles.kind <> 'wait'), 0) AS lock_contended,
    coalesce(run_totals.lock_wait_ns,
             (SELECT sum(wait_ns + read_wait_ns)
              FROM profiles
              JOIN locks ON locks.profile_id = profiles.id
              WHERE profiles.run_id = runs.id AND profiles.kind <> 'wait'), 0) AS lock_wait_ns,
    coalesce(run_totals.cpu_ns,
             (SELECT sum(cpu_ns)
              FROM profiles
              JOIN cpu ON cpu.profile_id = profiles.id
              WHERE profiles.run_id = runs.id AND profiles.kind <> 'recorder'), 0) AS cpu_ns,
    coalesce(run_totals.recorder_cpu_ns,
             (SELECT sum(cpu_ns)
              FROM profiles
              JOIN cpu ON cpu.profile_id = profiles.id
              WHERE profiles.run_id = runs.id AND profiles.kind = 'recorder'), 0) AS recorder_cpu_ns,
    coalesce(run_totals.dropped, (SELECT sum(dropped) FROM profiles WHERE profiles.run_id = runs.id), 0) AS dropped,
    coalesce(run_totals.truncated, (SELECT sum(truncated) FROM profiles WHERE profiles.run_id = runs.id), 0) AS truncated,
    max(runs.sample_n,
        coalesce(run_totals.sample_n, (SELECT max(sample_n) FROM profiles WHERE profiles.run_id = runs.id), 1)) AS sample_n,
    max(coalesce(run_totals.sample_bytes,
                 (SELECT max(period)
                  FROM profiles
                  WHERE profiles.run_id = runs.id AND kind = 'heap' AND period_type = 'space' AND sample_n <= 1), 1),
        1) AS sample_bytes,
    runs.flags
FROM runs
LEFT JOIN run_totals ON run_totals.run_id = runs.id;
