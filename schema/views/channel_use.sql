DROP VIEW IF EXISTS channel_use;
CREATE VIEW channel_use AS
-- Question: which channel is full or empty, and who waits for it?
-- Rows: one per run, process and channel, over all windows of the recording; of an ingested file one per profile and channel. A
--   condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that made the channel; 0: unknown
--   object_id [id]: the channel, in objects
--   object [text]: its name for people
--   channel [number]: its number in the process
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   capacity [count]: messages that fit in; 0: no limit, or unknown
--   pushes [count]: messages sent
--   pops [count]: messages received
--   push_blocked [count]: pushes that had to wait
--   pop_blocked [count]: pops that had to wait
--   max_depth [count]: the most messages in it at one time
--   push_blocked_ns [ns]: sum of the waits of pushes; 0 in dumps, which have no times
--   pop_blocked_ns [ns]: sum of the waits of pops; 0 in dumps, which have no times
SELECT
    profiles.run_id,
    coalesce(channels.profile_id, CAST(substr(used.value, 41, 20) AS INTEGER)) AS profile_id,
    places.trace_id,
    objects.id AS object_id,
    objects.name AS object,
    coalesce(channels.channel, CAST(substr(used.value, 21, 20) AS INTEGER)) AS channel,
    places.function,
    places.file,
    places.line,
    places.module,
    coalesce(channels.capacity, CAST(substr(used.value, 61, 20) AS INTEGER)) AS capacity,
    coalesce(channels.pushes, CAST(substr(used.value, 81, 20) AS INTEGER)) AS pushes,
    coalesce(channels.pops, CAST(substr(used.value, 101, 20) AS INTEGER)) AS pops,
    coalesce(channels.push_blocked, CAST(substr(used.value, 121, 20) AS INTEGER)) AS push_blocked,
    coalesce(channels.pop_blocked, CAST(substr(used.value, 141, 20) AS INTEGER)) AS pop_blocked,
    coalesce(channels.max_depth, CAST(substr(used.value, 161, 20) AS INTEGER)) AS max_depth,
    coalesce(channels.push_blocked_ns, CAST(substr(used.value, 181, 20) AS INTEGER)) AS push_blocked_ns,
    coalesce(channels.pop_blocked_ns, CAST(substr(used.value, 201, 20) AS INTEGER)) AS pop_blocked_ns
FROM window_roles AS profiles
-- The sums of windows come from json_each, as in the view heap.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT '["' || group_concat(sums, '","') || '"]'
             FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d',
                          channels.object_id, channels.channel, max(windows.id), max(channels.capacity), sum(channels.pushes),
                          sum(channels.pops), sum(channels.push_blocked), sum(channels.pop_blocked), max(channels.max_depth),
                          sum(channels.push_blocked_ns), sum(channels.pop_blocked_ns)) AS sums
                   FROM profiles AS windows
                   JOIN channels ON channels.profile_id = windows.id
                   WHERE windows.process_id = profiles.process_id AND windows.kind = profiles.kind
                     AND windows.run_id = profiles.run_id
                   GROUP BY channels.object_id, channels.channel))
        ELSE '[]'
    END) AS used
LEFT JOIN channels ON channels.profile_id = iif(used.value = 0, profiles.profile_id, NULL)
JOIN objects ON objects.id = iif(used.value = 0, channels.object_id, CAST(substr(used.value, 1, 20) AS INTEGER))
JOIN places ON places.trace_id = objects.trace_id;
