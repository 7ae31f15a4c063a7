DROP VIEW IF EXISTS thread_use;
CREATE VIEW thread_use AS
-- Question: which stack starts threads, how many, and how long do they live?
-- Rows: one per run and stack that started threads, over all its processes and windows. The first thread of a process is not among
--   them, nor is one that no hook saw being started; processes.threads_started and thread_ns have all. A condition WHERE run_id = 3,
--   or = :run, reads that run only.
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
    used.run_id,
    used.profile_id,
    used.trace_id,
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
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, thread_starts.trace_id, sum(started) AS started,
             sum(ended) AS ended, sum(life_ns) AS life_ns, max(max_life_ns) AS max_life_ns,
             sum(short_count) AS short_count, sum(short_ns) AS short_ns
      FROM thread_starts
      JOIN profiles ON profiles.id = thread_starts.profile_id
      GROUP BY profiles.run_id, thread_starts.trace_id) AS used
JOIN places ON places.trace_id = used.trace_id;
