-- Profile :into becomes the window of both :from and :into, two neighbours, of which :late is the later one. Comments and mappings are
-- those of both, the period is the longer one (of a heap that was sampled in one of them, or by other means). The earlier one's mappings come first, because the main binary is the first of them.
UPDATE profiles
SET time_ns = :end,
    duration_ns = :duration,
    period = max(profiles.period, other.period),
    dropped = profiles.dropped + other.dropped,
    truncated = profiles.truncated + other.truncated,
    comments = (SELECT json_group_array(value)
                FROM (SELECT DISTINCT value
                      FROM profiles AS both, json_each(both.comments)
                      WHERE both.id IN (:from, :into))),
    mappings = (SELECT json_group_array(value)
                FROM (SELECT value
                      FROM (SELECT value, (both.id = :late) * (1 << 32) + key AS place
                            FROM profiles AS both, json_each(both.mappings)
                            WHERE both.id IN (:from, :into))
                      GROUP BY value
                      ORDER BY min(place)))
FROM (SELECT period, dropped, truncated FROM profiles WHERE id = :from) AS other
WHERE profiles.id = :into;
