-- What waited in the windows of run :run that end after :from and up to :to, for locks (:kind), channels (:also) or
-- other things (:further; both NULL for none), in the columns of `clear export --sql`: Go's mutex and block profiles are these two figures. Shared and exclusive
-- operations are both counted. Where no caller was recorded, the lock or the channel is the only frame. What made nobody
-- wait is left out, as Go leaves it out.
SELECT
    *
FROM (SELECT
          locks.trace_id,
          CASE WHEN locks.trace_id = 0 THEN objects.name END AS function,
          objects.name AS "label:object",
          sum(locks.contended + locks.read_contended + locks.timeouts + locks.unfinished) AS "contentions/count",
          sum(locks.wait_ns + locks.read_wait_ns) AS "delay/nanoseconds"
      FROM locks
      JOIN profiles ON profiles.id = locks.profile_id
      JOIN objects ON objects.id = locks.object_id
      WHERE profiles.run_id = :run AND profiles.kind IN (:kind, :also, :further) AND profiles.time_ns > :from AND profiles.time_ns <= :to
      GROUP BY locks.trace_id, locks.object_id
      HAVING sum(locks.contended + locks.read_contended + locks.timeouts + locks.unfinished) > 0 OR sum(locks.wait_ns + locks.read_wait_ns) > 0
      UNION ALL
      SELECT
          0,
          'channel#' || channels.channel,
          objects.name,
          sum(channels.push_blocked + channels.pop_blocked),
          sum(channels.push_blocked_ns + channels.pop_blocked_ns)
      FROM channels
      JOIN profiles ON profiles.id = channels.profile_id
      JOIN objects ON objects.id = channels.object_id
      WHERE profiles.run_id = :run AND profiles.kind IN (:kind, :also, :further) AND profiles.time_ns > :from AND profiles.time_ns <= :to
      GROUP BY channels.channel, channels.object_id
      HAVING sum(channels.push_blocked + channels.pop_blocked) > 0 OR sum(channels.push_blocked_ns + channels.pop_blocked_ns) > 0) AS blocked
ORDER BY
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = blocked.trace_id), blocked.trace_id),
    3,
    2;
