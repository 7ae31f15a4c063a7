DROP VIEW IF EXISTS channel_use;
CREATE VIEW channel_use AS
-- Question: which channel is full, or empty, and who waits at it? One row a profile and channel.
-- trace_id, function, file, line, module (as in the view places): the stack that made the channel, else 0 and ''.
-- capacity, max_depth: messages; capacity 0 is unbounded or unknown. pushes, pops, *_blocked: operations, and how many
--   of them had to wait. *_blocked_ns: how long, nanoseconds.
SELECT
    profiles.run_id,
    channels.profile_id,
    places.trace_id,
    channels.object_id,
    objects.name AS object,
    channels.channel,
    places.function,
    places.file,
    places.line,
    places.module,
    channels.capacity,
    channels.pushes,
    channels.pops,
    channels.push_blocked,
    channels.pop_blocked,
    channels.max_depth,
    channels.push_blocked_ns,
    channels.pop_blocked_ns
FROM channels
JOIN profiles ON profiles.id = channels.profile_id
JOIN objects ON objects.id = channels.object_id
JOIN places ON places.trace_id = objects.trace_id;
