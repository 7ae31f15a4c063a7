-- The calls of input and output of the windows of run :run that end after :from and up to :to, in the columns of
-- `clear export --sql`.
SELECT
    io.trace_id,
    io.call AS "label:call",
    sum(io.calls) AS "calls/count",
    sum(io.bytes) AS "bytes/bytes",
    sum(io.time_ns) AS "time/nanoseconds"
FROM io
JOIN profiles ON profiles.id = io.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), io.trace_id, io.call
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = io.trace_id), io.trace_id),
    io.call;
