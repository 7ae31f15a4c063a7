DROP VIEW IF EXISTS io_use;
CREATE VIEW io_use AS
-- Question: which stacks read, write, open and close files and sockets, how often, and how much does each call move?
-- Rows: one per run, process, stack and call, over all windows of the recording. A condition on run_id, also by a join or a
--   subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that called
--   call [text]: read, write, ...: as in the table io
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   calls [count]: that returned, with errors and would_block
--   bytes [bytes]: moved by them
--   errors [count]: calls that failed, without would_block
--   would_block [count]: calls of non-blocking files that were not ready
--   small_calls [count]: calls that moved 1 to 511 bytes
--   small_bytes [bytes]: moved by these
--   short_calls [count]: calls that moved at least one byte and fewer than asked for; 0 for calls with vectors
--   time_ns [ns]: in all these calls, waiting included; an estimate where timed_calls is less than calls
--   max_time_ns [ns]: in the longest call that was timed
--   timed_calls [count]: calls that were timed
SELECT
    profiles.run_id,
    coalesce(io.profile_id, CAST(substr(used.value, 21, 20) AS INTEGER)) AS profile_id,
    places.trace_id,
    coalesce(io.call, substr(used.value, 241)) AS call,
    places.function,
    places.file,
    places.line,
    places.module,
    coalesce(io.calls, CAST(substr(used.value, 41, 20) AS INTEGER)) AS calls,
    coalesce(io.bytes, CAST(substr(used.value, 61, 20) AS INTEGER)) AS bytes,
    coalesce(io.errors, CAST(substr(used.value, 81, 20) AS INTEGER)) AS errors,
    coalesce(io.would_block, CAST(substr(used.value, 101, 20) AS INTEGER)) AS would_block,
    coalesce(io.small_calls, CAST(substr(used.value, 121, 20) AS INTEGER)) AS small_calls,
    coalesce(io.small_bytes, CAST(substr(used.value, 141, 20) AS INTEGER)) AS small_bytes,
    coalesce(io.short_calls, CAST(substr(used.value, 161, 20) AS INTEGER)) AS short_calls,
    coalesce(io.time_ns, CAST(substr(used.value, 181, 20) AS INTEGER)) AS time_ns,
    coalesce(io.max_time_ns, CAST(substr(used.value, 201, 20) AS INTEGER)) AS max_time_ns,
    coalesce(io.timed_calls, CAST(substr(used.value, 221, 20) AS INTEGER)) AS timed_calls
FROM window_roles AS profiles
-- The sums of windows come from json_each, as in the view heap.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT '["' || group_concat(sums, '","') || '"]'
             FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%s',
                          io.trace_id, max(windows.id), sum(io.calls), sum(io.bytes), sum(io.errors), sum(io.would_block),
                          sum(io.small_calls), sum(io.small_bytes), sum(io.short_calls), sum(io.time_ns), max(io.max_time_ns),
                          sum(io.timed_calls), replace(replace(io.call, '\', '\\'), '"', '\"')) AS sums
                   FROM profiles AS windows
                   JOIN io ON io.profile_id = windows.id
                   WHERE windows.process_id = profiles.process_id AND windows.kind = profiles.kind
                     AND windows.run_id = profiles.run_id
                   GROUP BY io.trace_id, io.call))
        ELSE '[]'
    END) AS used
LEFT JOIN io ON io.profile_id = iif(used.value = 0, profiles.profile_id, NULL)
JOIN places ON places.trace_id = iif(used.value = 0, io.trace_id, CAST(substr(used.value, 1, 20) AS INTEGER));
