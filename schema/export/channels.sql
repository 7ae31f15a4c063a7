-- The channels of run :run, one sample each, in the columns of `clear export --sql`.
SELECT
    'channel#' || channels.channel AS function,
    channels.capacity AS "label:capacity",
    channels.pushes AS "pushes/count",
    channels.pops AS "pops/count",
    channels.push_blocked AS "push_blocked/count",
    channels.pop_blocked AS "pop_blocked/count",
    channels.max_depth AS "max_depth/count"
FROM channels
JOIN profiles ON profiles.id = channels.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'channels'
ORDER BY channels.channel, channels.profile_id;
