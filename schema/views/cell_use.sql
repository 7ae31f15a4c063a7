DROP VIEW IF EXISTS cell_use;
CREATE VIEW cell_use AS
-- Question: which versioned cell is read and committed how often, and how much do its copies cost?
-- Rows: one per run, process, cell and caller, over all windows of the recording; of an ingested file one per profile, cell and
--   caller. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that stack_of names; 0: none
--   object_id [id]: the cell, in objects
--   object [text]: its name for people
--   address [address]: of the cell in the process
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   stack_of [text]: caller, allocation or empty, as in the view lock_use
--   struct_size [bytes]: copied by one write; the largest seen
--   reads [count]: reads of a version
--   commits [count]: new versions
--   multi_commits [count]: commits that changed several cells at once
--   retries [count]: copies that were thrown away because another writer was first
--   update_failures [count]: updates that gave up after too many retries
--   cow_bytes [bytes]: bytes copied: struct_size * (commits + retries)
SELECT
    profiles.run_id,
    coalesce(cells.profile_id, CAST(substr(used.value, 61, 20) AS INTEGER)) AS profile_id,
    places.trace_id,
    objects.id AS object_id,
    objects.name AS object,
    coalesce(cells.address, CAST(substr(used.value, 21, 20) AS INTEGER)) AS address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN coalesce(cells.trace_id, CAST(substr(used.value, 41, 20) AS INTEGER)) <> 0 THEN 'caller'
         WHEN objects.trace_id <> 0 THEN 'allocation'
         ELSE '' END AS stack_of,
    coalesce(cells.struct_size, CAST(substr(used.value, 81, 20) AS INTEGER)) AS struct_size,
    coalesce(cells.reads, CAST(substr(used.value, 101, 20) AS INTEGER)) AS reads,
    coalesce(cells.commits, CAST(substr(used.value, 121, 20) AS INTEGER)) AS commits,
    coalesce(cells.multi_commits, CAST(substr(used.value, 141, 20) AS INTEGER)) AS multi_commits,
    coalesce(cells.retries, CAST(substr(used.value, 161, 20) AS INTEGER)) AS retries,
    coalesce(cells.update_failures, CAST(substr(used.value, 181, 20) AS INTEGER)) AS update_failures,
    coalesce(cells.struct_size, CAST(substr(used.value, 81, 20) AS INTEGER))
        * coalesce(cells.commits + cells.retries,
                   CAST(substr(used.value, 121, 20) AS INTEGER) + CAST(substr(used.value, 161, 20) AS INTEGER)) AS cow_bytes
FROM window_roles AS profiles
-- The sums of windows come from json_each, as in the view heap.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT '["' || group_concat(sums, '","') || '"]'
             FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d',
                          cells.object_id, cells.address, cells.trace_id, max(windows.id), max(cells.struct_size),
                          sum(cells.reads), sum(cells.commits), sum(cells.multi_commits), sum(cells.retries),
                          sum(cells.update_failures)) AS sums
                   FROM profiles AS windows
                   JOIN cells ON cells.profile_id = windows.id
                   WHERE windows.process_id = profiles.process_id AND windows.kind = profiles.kind
                     AND windows.run_id = profiles.run_id
                   GROUP BY cells.object_id, cells.address, cells.trace_id))
        ELSE '[]'
    END) AS used
LEFT JOIN cells ON cells.profile_id = iif(used.value = 0, profiles.profile_id, NULL)
JOIN objects ON objects.id = iif(used.value = 0, cells.object_id, CAST(substr(used.value, 1, 20) AS INTEGER))
JOIN places ON places.trace_id = CASE WHEN coalesce(cells.trace_id, CAST(substr(used.value, 41, 20) AS INTEGER)) <> 0 THEN coalesce(cells.trace_id, CAST(substr(used.value, 41, 20) AS INTEGER))
                                      ELSE objects.trace_id END;
