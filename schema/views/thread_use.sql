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
    runs.id AS run_id,
    CAST(substr(used.value, 21, 20) AS INTEGER) AS profile_id,
    places.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    CAST(substr(used.value, 41, 20) AS INTEGER) AS started,
    CAST(substr(used.value, 61, 20) AS INTEGER) AS ended,
    CAST(substr(used.value, 81, 20) AS INTEGER) AS life_ns,
    CAST(substr(used.value, 101, 20) AS INTEGER) AS max_life_ns,
    CAST(substr(used.value, 121, 20) AS INTEGER) AS short_count,
    CAST(substr(used.value, 141, 20) AS INTEGER) AS short_ns
FROM runs
-- By json_each and not by GROUP BY, which lets no condition through that is more than a constant: see the view heap.
JOIN json_each(
    (SELECT '["' || group_concat(sums, '","') || '"]'
     FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d',
                  thread_starts.trace_id, max(profiles.id), sum(thread_starts.started), sum(thread_starts.ended),
                  sum(thread_starts.life_ns), max(thread_starts.max_life_ns), sum(thread_starts.short_count),
                  sum(thread_starts.short_ns)) AS sums
           FROM profiles
           JOIN thread_starts ON thread_starts.profile_id = profiles.id
           WHERE profiles.run_id = runs.id
           GROUP BY thread_starts.trace_id))) AS used
JOIN places ON places.trace_id = CAST(substr(used.value, 1, 20) AS INTEGER);
