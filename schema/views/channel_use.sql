DROP VIEW IF EXISTS channel_use;
CREATE VIEW channel_use AS
-- Question: which channel is full, or empty, and who waits at it? One row a run, process and channel, over all windows of the
--   recording; of an ingested artefact one a profile and channel.
-- trace_id, function, file, line, module (as in the view places): the stack that made the channel, else 0 and ''.
-- capacity, max_depth: messages; capacity 0 is unbounded or unknown. pushes, pops, *_blocked: operations, and how many
--   of them had to wait. *_blocked_ns: how long, nanoseconds. profile_id: the newest profile that has the row.
-- WHERE run_id = 3, or = :run, reads that run alone.
SELECT
    used.run_id,
    used.profile_id,
    places.trace_id,
    used.object_id,
    objects.name AS object,
    used.channel,
    places.function,
    places.file,
    places.line,
    places.module,
    used.capacity,
    used.pushes,
    used.pops,
    used.push_blocked,
    used.pop_blocked,
    used.max_depth,
    used.push_blocked_ns,
    used.pop_blocked_ns
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, channels.object_id, channels.channel,
             max(capacity) AS capacity, sum(pushes) AS pushes, sum(pops) AS pops, sum(push_blocked) AS push_blocked,
             sum(pop_blocked) AS pop_blocked, max(max_depth) AS max_depth, sum(push_blocked_ns) AS push_blocked_ns,
             sum(pop_blocked_ns) AS pop_blocked_ns
      FROM channels
      JOIN profiles ON profiles.id = channels.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, channels.object_id,
               channels.channel) AS used
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = objects.trace_id;
