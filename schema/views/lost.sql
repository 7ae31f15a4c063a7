DROP VIEW IF EXISTS lost;
CREATE VIEW lost AS
-- Question: which blocks did nothing point at any more when their process ended?
-- Rows: one per run, process and stack that had live blocks at the end, of processes that were searched (clear profile --leaks). The search
--   takes any word for a pointer that could be one, so a block that is lost may be called reachable, and hardly ever the other way
--   round. A condition WHERE run_id = 3, or = :run, reads that run only.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process; NULL: of a directory, which has all processes together
--   profile_id [id]: its profile of the kind leak
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   lost_count [count]: blocks that no pointer leads to
--   lost_bytes [bytes]: their bytes
--   indirect_count [count]: blocks that only lost blocks point at
--   indirect_bytes [bytes]: their bytes
--   reachable_count [count]: the other live blocks
--   reachable_bytes [bytes]: their bytes
SELECT
    live.run_id,
    live.process_id,
    live.profile_id,
    live.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    coalesce(leaks.lost_count, 0) AS lost_count,
    coalesce(leaks.lost_bytes, 0) AS lost_bytes,
    coalesce(leaks.indirect_count, 0) AS indirect_count,
    coalesce(leaks.indirect_bytes, 0) AS indirect_bytes,
    max(0, live.count - coalesce(leaks.lost_count + leaks.indirect_count, 0)) AS reachable_count,
    max(0, live.bytes - coalesce(leaks.lost_bytes + leaks.indirect_bytes, 0)) AS reachable_bytes
FROM (SELECT searched.run_id, searched.process_id, searched.id AS profile_id, sites.trace_id,
             sum(sites.alloc_count - sites.free_count) AS count, sum(sites.alloc_bytes - sites.free_bytes) AS bytes
      FROM profiles AS searched
      JOIN profiles ON profiles.run_id = searched.run_id AND profiles.kind = 'heap'
                   AND (profiles.process_id = searched.process_id OR profiles.process_id IS NULL AND searched.process_id IS NULL)
      JOIN sites ON sites.profile_id = profiles.id
      WHERE searched.kind = 'leak'
      GROUP BY searched.run_id, searched.process_id, searched.id, sites.trace_id
      HAVING sum(sites.alloc_count - sites.free_count) > 0) AS live
LEFT JOIN leaks ON leaks.profile_id = live.profile_id AND leaks.trace_id = live.trace_id
JOIN places ON places.trace_id = live.trace_id;
