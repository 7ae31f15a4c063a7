DROP VIEW IF EXISTS peaks;
CREATE VIEW peaks AS
-- Question: how much did each process have live at most, and when?
-- Rows: one per process that allocated. With one thread the figures are exact. With more, they are what was live at one moment, and
--   no more below the highest total than 16 KiB a thread, or 1/512 of the peak a thread where that is more.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process
--   pid [number]: its process id
--   profile_id [id]: its profile of kind heap-peak; heap_peaks has the stacks
--   time_ns [ns since epoch]: when its live bytes came within 1/1024 of the peak
--   at_ns [ns]: the same, from the start of the run
--   peak_count [count]: blocks live at the peak
--   peak_bytes [bytes]: their bytes
SELECT
    profiles.run_id,
    profiles.process_id,
    processes.pid,
    profiles.id AS profile_id,
    profiles.time_ns,
    -- The start is noted a moment before the program runs, so its end may seem to be later than its duration.
    CASE WHEN runs.duration_ns > 0 AND runs.duration_ns < profiles.time_ns - runs.started_ns THEN runs.duration_ns
         ELSE profiles.time_ns - runs.started_ns END AS at_ns,
    (SELECT coalesce(sum(heap_peaks.peak_count), 0)
     FROM heap_peaks
     WHERE heap_peaks.profile_id = profiles.id) AS peak_count,
    (SELECT coalesce(sum(heap_peaks.peak_bytes), 0)
     FROM heap_peaks
     WHERE heap_peaks.profile_id = profiles.id) AS peak_bytes
FROM profiles
JOIN processes ON processes.id = profiles.process_id
JOIN runs ON runs.id = profiles.run_id
WHERE profiles.kind = 'heap-peak';
