-- The run :run as the server sees it: the time of its last flush (ns since the epoch), whether its end was not seen, and the end of
-- its newest window (ns since the epoch, 0 for none).
SELECT
    started_ns + duration_ns AS flushed_ns,
    instr(flags, 'unfinished') > 0 AS is_unfinished,
    (SELECT coalesce(max(time_ns), 0) FROM profiles WHERE run_id = :run) AS window_ns
FROM runs
WHERE id = :run
