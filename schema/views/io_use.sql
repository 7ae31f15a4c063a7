DROP VIEW IF EXISTS io_use;
CREATE VIEW io_use AS
-- Question: which stacks read, write, open and close files and sockets, how often, and how much does each call move?
-- Rows: one per run, process, stack and call, over all windows of the recording. A condition WHERE run_id = 3, or = :run, reads that
--   run only.
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
    used.run_id,
    used.profile_id,
    used.trace_id,
    used.call,
    places.function,
    places.file,
    places.line,
    places.module,
    used.calls,
    used.bytes,
    used.errors,
    used.would_block,
    used.small_calls,
    used.small_bytes,
    used.short_calls,
    used.time_ns,
    used.max_time_ns,
    used.timed_calls
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, io.trace_id, io.call, sum(calls) AS calls, sum(bytes) AS bytes,
             sum(errors) AS errors, sum(would_block) AS would_block, sum(small_calls) AS small_calls,
             sum(small_bytes) AS small_bytes, sum(short_calls) AS short_calls, sum(io.time_ns) AS time_ns,
             max(max_time_ns) AS max_time_ns, sum(timed_calls) AS timed_calls
      FROM io
      JOIN profiles ON profiles.id = io.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, io.trace_id, io.call) AS used
JOIN places ON places.trace_id = used.trace_id;
