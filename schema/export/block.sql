-- What waited in profile :profile, of locks or of channels, in the columns of `clear export --sql`: Go's mutex and block
-- profiles are these two figures. Shared and exclusive operations are both counted. Where no caller was recorded, the lock
-- or the channel is the only frame. What never made anybody wait is left out, as Go leaves it out.
SELECT
    locks.trace_id,
    CASE WHEN locks.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    locks.contended + locks.read_contended AS "contentions/count",
    locks.wait_ns + locks.read_wait_ns AS "delay/nanoseconds"
FROM locks
JOIN objects ON objects.id = locks.object_id
WHERE locks.profile_id = :profile AND (locks.contended + locks.read_contended > 0 OR locks.wait_ns + locks.read_wait_ns > 0)
UNION ALL
SELECT
    0,
    'channel#' || channels.channel,
    objects.name,
    channels.push_blocked + channels.pop_blocked,
    channels.push_blocked_ns + channels.pop_blocked_ns
FROM channels
JOIN objects ON objects.id = channels.object_id
WHERE channels.profile_id = :profile AND channels.push_blocked + channels.pop_blocked > 0
ORDER BY 1, 3, 2;
