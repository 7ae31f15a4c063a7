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
    coalesce(maps.profile_id, CAST(substr(used.value, 21, 20) AS INTEGER)) AS profile_id,
    places.trace_id,
    coalesce(maps.use, substr(used.value, 121)) AS use,
    places.function,
    places.file,
    places.line,
    places.module,
    coalesce(maps.map_count, CAST(substr(used.value, 41, 20) AS INTEGER)) AS map_count,
    coalesce(maps.map_bytes, CAST(substr(used.value, 61, 20) AS INTEGER)) AS map_bytes,
    coalesce(maps.unmap_count, CAST(substr(used.value, 81, 20) AS INTEGER)) AS unmap_count,
    coalesce(maps.unmap_bytes, CAST(substr(used.value, 101, 20) AS INTEGER)) AS unmap_bytes,
    coalesce(maps.map_count - maps.unmap_count, CAST(substr(used.value, 41, 20) AS INTEGER) - CAST(substr(used.value, 81, 20) AS INTEGER)) AS inuse_count,
    coalesce(maps.map_bytes - maps.unmap_bytes, CAST(substr(used.value, 61, 20) AS INTEGER) - CAST(substr(used.value, 101, 20) AS INTEGER)) AS inuse_bytes
FROM window_roles AS profiles
-- The sums of windows come from json_each, as in the view heap.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT '["' || group_concat(sums, '","') || '"]'
             FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%s',
                          maps.trace_id, max(windows.id), sum(maps.map_count), sum(maps.map_bytes), sum(maps.unmap_count),
                          sum(maps.unmap_bytes), replace(replace(maps.use, '\', '\\'), '"', '\"')) AS sums
                   FROM profiles AS windows
                   JOIN maps ON maps.profile_id = windows.id
                   WHERE windows.process_id = profiles.process_id AND windows.kind = profiles.kind
                     AND windows.run_id = profiles.run_id
                   GROUP BY maps.trace_id, maps.use))
        ELSE '[]'
    END) AS used
LEFT JOIN maps ON maps.profile_id = iif(used.value = 0, profiles.profile_id, NULL)
JOIN places ON places.trace_id = iif(used.value = 0, maps.trace_id, CAST(substr(used.value, 1, 20) AS INTEGER));
