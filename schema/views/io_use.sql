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
    used.profile_id,
    places.trace_id,
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
FROM profiles
JOIN io_use_facts AS used ON used.profile_id = profiles.id
JOIN places ON places.trace_id = used.trace_id;
