DROP VIEW IF EXISTS map_use;
CREATE VIEW map_use AS
-- Question: which stacks map memory and files by themselves, and how much of it is still mapped?
-- Rows: one per run, process, stack and use, over all windows of the recording. A condition WHERE run_id = 3, or = :run, reads that
--   run only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that mapped
--   use [text]: anonymous, file, shared, stack, reserved, break: as in the table maps
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   map_count [count]: mappings made
--   map_bytes [bytes]: of address space that they took
--   unmap_count [count]: mappings of this stack that were unmapped, moved or replaced
--   unmap_bytes [bytes]: likewise, also of parts of mappings
--   inuse_count [count]: mappings that there were at the end
--   inuse_bytes [bytes]: their bytes
SELECT
    used.run_id,
    used.profile_id,
    used.trace_id,
    used.use,
    places.function,
    places.file,
    places.line,
    places.module,
    used.map_count,
    used.map_bytes,
    used.unmap_count,
    used.unmap_bytes,
    used.map_count - used.unmap_count AS inuse_count,
    used.map_bytes - used.unmap_bytes AS inuse_bytes
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, maps.trace_id, maps.use, sum(map_count) AS map_count,
             sum(map_bytes) AS map_bytes, sum(unmap_count) AS unmap_count, sum(unmap_bytes) AS unmap_bytes
      FROM maps
      JOIN profiles ON profiles.id = maps.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, maps.trace_id, maps.use) AS used
JOIN places ON places.trace_id = used.trace_id;
