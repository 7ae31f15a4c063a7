-- The channels of profile :profile, one sample each, in the columns of `clear export --sql`.
SELECT
    'channel#' || channel AS function,
    capacity AS "label:capacity",
    pushes AS "pushes/count",
    pops AS "pops/count",
    push_blocked AS "push_blocked/count",
    pop_blocked AS "pop_blocked/count",
    max_depth AS "max_depth/count"
FROM channels
WHERE profile_id = :profile
ORDER BY channel;
