-- The stacks of one run that read, write, open or close, its processes, windows and calls summed.
SELECT
    io.trace_id,
    sum(io.calls) AS calls,
    sum(io.bytes) AS bytes
FROM profiles
JOIN io ON io.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY io.trace_id
