-- The channels of a set of runs, those that cost most waiting first. :spans as in serve/lock_objects.sql.
SELECT
    objects.name,
    objects.identity,
    sum(push_blocked_ns) AS push_blocked_ns,
    sum(pop_blocked_ns) AS pop_blocked_ns,
    sum(pushes) AS pushes,
    sum(pops) AS pops,
    sum(push_blocked) AS push_blocked,
    sum(pop_blocked) AS pop_blocked,
    max(max_depth) AS max_depth,
    max(capacity) AS capacity
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN channels ON channels.profile_id = profiles.id
JOIN objects ON objects.id = channels.object_id
GROUP BY objects.id
ORDER BY push_blocked_ns + pop_blocked_ns DESC, pushes + pops DESC, objects.id
