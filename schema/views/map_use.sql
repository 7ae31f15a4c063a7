DROP VIEW IF EXISTS map_use;
CREATE VIEW map_use AS
-- Question: which stacks map memory and files by themselves, and how much of it is still mapped?
-- Rows: one per run, process, stack and use, over all windows of the recording. A condition on run_id, also by a join or a
--   subquery, reads the rows of those runs only.
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
    profiles.run_id,
    used.profile_id,
    places.trace_id,
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
FROM profiles
JOIN map_use_facts AS used ON used.profile_id = profiles.id
JOIN places ON places.trace_id = used.trace_id;
