DROP VIEW IF EXISTS windows;
CREATE VIEW windows AS
-- Question: into which stretches of time is a recording cut? One row a run, process, kind and window: a profile that holds
--   what happened from start_ns to time_ns (ns since the epoch). A moment in which nothing moved is in none.
-- number: counts from 1 in the run and kind, by time_ns; what several processes did in one window has one number. It is
--   that of `clear export --window`.
-- from_ns, to_ns: nanoseconds from the start of the run, as `clear export --from --to` counts. dropped, truncated: in it.
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
