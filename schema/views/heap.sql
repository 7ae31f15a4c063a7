DROP VIEW IF EXISTS heap;
CREATE VIEW heap AS
-- Question: who allocated how much, and what of it is still there? One row a run, process, stack and label set, over all
--   windows of the recording (heap_windows has them one by one); of an ingested artefact one a profile, stack and label set.
-- *_count: blocks. *_bytes: bytes as requested, without the allocator's overhead. A free counts for the stack that
--   allocated. inuse_*: allocated and not freed at the end of the newest window; at the end of a run, what was left at exit.
-- profile_id: the newest profile that has the row. function, file, line, module: as in the view places.
-- WHERE run_id = 3, or = :run, reads that run alone; what no constant stands for (a join, a subquery) reads all of them first.
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
    used.alloc_bytes - used.free_bytes AS inuse_bytes
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, sites.trace_id,
             sum(sites.alloc_count) AS alloc_count, sum(sites.alloc_bytes) AS alloc_bytes,
             sum(sites.free_count) AS free_count, sum(sites.free_bytes) AS free_bytes
      FROM sites
      JOIN profiles ON profiles.id = sites.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, sites.trace_id,
               sites.label_set_id) AS used
JOIN places ON places.trace_id = used.trace_id;
