-- The events of a run for clear trace, as they are in the view. :thread and :lock are GLOB patterns or NULL; a thread is meant by its name or
-- id. :from and :to are ns since the start of the run. :slowest above 0: so many, the longest first; else all in the order of time.
SELECT *
FROM timeline
WHERE run_id = :run AND start_ns + duration_ns >= :from AND start_ns <= :to
  AND (:thread IS NULL OR thread GLOB :thread OR tid = :thread)
  AND (:lock IS NULL OR object GLOB :lock OR kind GLOB :lock)
ORDER BY iif(:slowest > 0, -duration_ns, start_ns), event_id
LIMIT iif(:slowest > 0, :slowest, -1);
