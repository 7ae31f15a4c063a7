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
    used.profile_id,
    places.trace_id,
    objects.id AS object_id,
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
FROM profiles
JOIN channel_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = objects.trace_id;
