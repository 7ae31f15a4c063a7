DROP VIEW IF EXISTS thread_use;
CREATE VIEW thread_use AS
-- Question: which stack starts threads, how many, and how long do they live?
-- Rows: one per run and stack that started threads, over all its processes and windows. The first thread of a process is not among
--   them, nor is one that no hook saw being started; processes.threads_started and thread_ns have all. A condition on run_id,
--   also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that started them
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   started [count]: threads started
--   ended [count]: threads that ended, by themselves or with their process
--   life_ns [ns]: sum of the lives of those that ended
--   max_life_ns [ns]: the longest of them
--   short_count [count]: those that ended by themselves and lived less than 1 ms
--   short_ns [ns]: sum of their lives
SELECT
    profiles.run_id,
    used.profile_id,
    places.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    used.started,
    used.ended,
    used.life_ns,
    used.max_life_ns,
    used.short_count,
    used.short_ns
FROM profiles
JOIN thread_use_facts AS used ON used.profile_id = profiles.id
JOIN places ON places.trace_id = used.trace_id;
