DROP VIEW IF EXISTS memory;
CREATE VIEW memory AS
-- Question: how much memory was live in the course of a run?
-- Rows: one per process and moment at which that is known: the end of each window, the peak of the process, and its end. Between two
--   moments more may have been live, up to the peak. Of a run with one process the highest run_bytes is its peak; of more processes,
--   the highest total at a known moment. A condition WHERE run_id = 3, or = :run, reads that run only.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process
--   what [text]: window, peak or end
--   time_ns [ns since epoch]: the moment
--   at_ns [ns]: the same, from the start of the run
--   live_count [count]: blocks of the process that are live then
--   live_bytes [bytes]: their bytes
--   run_count [count]: blocks of all processes that are live then, as far as their moments up to it say
--   run_bytes [bytes]: their bytes
SELECT
    moment.run_id,
    moment.process_id,
    moment.what,
    moment.time_ns,
    moment.time_ns - runs.started_ns AS at_ns,
    moment.live_count,
    moment.live_bytes,
    sum(moment.count_change) OVER run AS run_count,
    sum(moment.bytes_change) OVER run AS run_bytes
FROM (SELECT *,
             live_count - lag(live_count, 1, 0) OVER process AS count_change,
             live_bytes - lag(live_bytes, 1, 0) OVER process AS bytes_change
      FROM (SELECT run_id, process_id, what, place, time_ns,
                   coalesce(level_count, sum(kept_count) OVER so_far) AS live_count,
                   coalesce(level_bytes, sum(kept_bytes) OVER so_far) AS live_bytes
            -- No window function in here: SQLite asks each part for the rows of one run only without.
            FROM (SELECT profiles.run_id, profiles.process_id, 'window' AS what, 1 AS place, profiles.id, profiles.time_ns,
                         NULL AS level_count, NULL AS level_bytes,
                         (SELECT coalesce(sum(alloc_count - free_count), 0)
                          FROM sites
                          WHERE sites.profile_id = profiles.id) AS kept_count,
                         (SELECT coalesce(sum(alloc_bytes - free_bytes), 0)
                          FROM sites
                          WHERE sites.profile_id = profiles.id) AS kept_bytes
                  FROM profiles
                  WHERE profiles.kind = 'heap' AND profiles.process_id IS NOT NULL
                  UNION ALL
                  SELECT run_id, process_id, 'peak', 0, 0, time_ns, peak_count, peak_bytes, 0, 0
                  FROM peaks
                  UNION ALL
                  SELECT run_id, id, 'end', 2, 0, ended_ns, 0, 0, 0, 0
                  FROM processes
                  WHERE ended_ns IS NOT NULL
                    AND EXISTS (SELECT 1 FROM profiles WHERE process_id = processes.id AND kind = 'heap-peak')) AS level
            WINDOW so_far AS (PARTITION BY run_id, process_id ORDER BY time_ns, id)) AS level
      WINDOW process AS (PARTITION BY run_id, process_id ORDER BY time_ns, place)) AS moment
JOIN runs ON runs.id = moment.run_id
WINDOW run AS (PARTITION BY moment.run_id ORDER BY moment.time_ns, moment.process_id, moment.place);
