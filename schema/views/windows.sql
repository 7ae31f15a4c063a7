DROP VIEW IF EXISTS windows;
CREATE VIEW windows AS
-- Question: into which windows of time is a recording divided?
-- Rows: one per run, process, kind and window. Time in which nothing happened is in no window.
-- Columns:
--   run_id [id]: the run
--   kind [text]: heap, lock, cpu and so on
--   number [number]: from 1 in the run and kind, by time_ns; the same for all processes. `clear export --window` takes it
--   process_id [id]: the process
--   profile_id [id]: the profile that is the window
--   start_ns [ns since epoch]: start of the window
--   time_ns [ns since epoch]: end of the window
--   duration_ns [ns]: its length
--   from_ns [ns]: start of the window, from the start of the run, as `clear export --from` counts
--   to_ns [ns]: end of the window, from the start of the run, as `clear export --to` counts
--   dropped [count]: events in the window that could not be recorded
--   truncated [count]: stacks in the window that were cut
SELECT
    profiles.run_id,
    profiles.kind,
    dense_rank() OVER (PARTITION BY profiles.run_id, profiles.kind ORDER BY profiles.time_ns) AS number,
    profiles.process_id,
    profiles.id AS profile_id,
    profiles.time_ns - profiles.duration_ns AS start_ns,
    profiles.time_ns,
    profiles.duration_ns,
    profiles.time_ns - profiles.duration_ns - runs.started_ns AS from_ns,
    profiles.time_ns - runs.started_ns AS to_ns,
    profiles.dropped,
    profiles.truncated
FROM profiles
JOIN runs ON runs.id = profiles.run_id
WHERE profiles.process_id IS NOT NULL;
