-- The channels of one run, its processes and windows summed; channels with the same identity are one row.
-- blocked: pushes and pops that had to wait. wait_ns is 0 in dumps, which have no times.
SELECT
    objects.trace_id,
    objects.identity,
    objects.name,
    sum(channels.pushes + channels.pops) AS operations,
    sum(channels.push_blocked + channels.pop_blocked) AS blocked,
    sum(channels.push_blocked_ns + channels.pop_blocked_ns) AS wait_ns,
    sum(channels.push_blocked) AS push_blocked,
    sum(channels.pop_blocked) AS pop_blocked,
    max(channels.max_depth) AS max_depth
FROM profiles
JOIN channels ON channels.profile_id = profiles.id
JOIN objects ON objects.id = channels.object_id
WHERE profiles.run_id = :run
GROUP BY channels.object_id
