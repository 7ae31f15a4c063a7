-- The channels of the windows of run :run that end after :from and up to :to, one sample a process and channel, in the columns
-- of `clear export --sql`.
SELECT
    'channel#' || channels.channel AS function,
    nullif(max(channels.capacity), 0) AS "label:capacity", -- pprof reads a label that is 0 and has no unit as none
    sum(channels.pushes) AS "pushes/count",
    sum(channels.pops) AS "pops/count",
    sum(channels.push_blocked) AS "push_blocked/count",
    sum(channels.pop_blocked) AS "pop_blocked/count",
    max(channels.max_depth) AS "max_depth/count"
FROM channels
JOIN profiles ON profiles.id = channels.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), channels.channel, channels.object_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    channels.channel,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = channels.object_id), channels.object_id);
