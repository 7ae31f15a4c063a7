DROP VIEW IF EXISTS heap;
CREATE VIEW heap AS
-- Question: which stack allocated how much, and how much of it is still live?
-- Rows: one per run, process, stack and label set, over all windows of the recording; of an ingested file one per profile, stack
--   and label set. heap_windows has the windows one by one. A condition WHERE run_id = 3, or = :run, reads that run only. A join
--   or a subquery reads all runs first.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   free_count [count]: of those blocks, the freed ones, whoever freed them
--   free_bytes [bytes]: their bytes
--   inuse_count [count]: blocks allocated and not freed when the newest window ended; of a finished run, live at exit
--   inuse_bytes [bytes]: their bytes
--   peak_count [count]: blocks live when the live bytes of the process were highest (view peaks); 0 where that was not recorded
--   peak_bytes [bytes]: their bytes
SELECT
    used.run_id,
    used.profile_id,
    used.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    used.alloc_count,
    used.alloc_bytes,
    used.free_count,
    used.free_bytes,
    used.alloc_count - used.free_count AS inuse_count,
    used.alloc_bytes - used.free_bytes AS inuse_bytes,
    coalesce((SELECT sum(peak_count)
              FROM heap_peaks
              WHERE trace_id = used.trace_id AND profile_id = used.peak_id), 0) AS peak_count,
    coalesce((SELECT sum(peak_bytes)
              FROM heap_peaks
              WHERE trace_id = used.trace_id AND profile_id = used.peak_id), 0) AS peak_bytes
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, sites.trace_id,
             sum(sites.alloc_count) AS alloc_count, sum(sites.alloc_bytes) AS alloc_bytes,
             sum(sites.free_count) AS free_count, sum(sites.free_bytes) AS free_bytes,
             (SELECT peaks.id
              FROM profiles AS peaks
              WHERE peaks.process_id = profiles.process_id AND peaks.kind = 'heap-peak'
                AND sites.label_set_id = 0) AS peak_id
      FROM sites
      JOIN profiles ON profiles.id = sites.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, sites.trace_id,
               sites.label_set_id) AS used
JOIN places ON places.trace_id = used.trace_id;
