DROP VIEW IF EXISTS heap;
CREATE VIEW heap AS
-- Question: which stack allocated how much, and how much of it is still live?
-- Rows: one per run, process, stack and label set, over all windows of the recording; of an ingested file one per profile,
--   stack and label set. heap_windows has the windows one by one. A condition on run_id, also by a join or a subquery, reads
--   the rows of those runs only.
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
    profiles.run_id,
    coalesce(site_rows.profile_id, used.value ->> 1) AS profile_id,
    site_keys.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    coalesce(site_rows.alloc_count, used.value ->> 2) AS alloc_count,
    coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes, used.value ->> 3) AS alloc_bytes,
    coalesce(site_rows.free_count, used.value ->> 4) AS free_count,
    coalesce(site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes, used.value ->> 5) AS free_bytes,
    coalesce(site_rows.alloc_count, used.value ->> 2) - coalesce(site_rows.free_count, used.value ->> 4) AS inuse_count,
    coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes, used.value ->> 3)
        - coalesce(site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes, used.value ->> 5) AS inuse_bytes,
    coalesce((SELECT sum(heap_peaks.peak_count)
              FROM profiles AS peaks
              JOIN heap_peaks ON heap_peaks.profile_id = peaks.id
              WHERE peaks.process_id = profiles.process_id AND peaks.kind = 'heap-peak'
                AND heap_peaks.trace_id = site_keys.trace_id AND site_keys.label_set_id = 0), 0) AS peak_count,
    coalesce((SELECT sum(heap_peaks.peak_bytes)
              FROM profiles AS peaks
              JOIN heap_peaks ON heap_peaks.profile_id = peaks.id
              WHERE peaks.process_id = profiles.process_id AND peaks.kind = 'heap-peak'
                AND heap_peaks.trace_id = site_keys.trace_id AND site_keys.label_set_id = 0), 0) AS peak_bytes
FROM window_roles AS profiles
-- A view without GROUP BY lets every condition through to its rows, also one of a join or a subquery. So the rows of the table are the
-- answer where a process has one window, and where it has more, json_each lists their sums, an array for each site. Only the newest window
-- lists them. No table has these sums: sites are nearly all of a file.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT json_group_array(json_array(site_key_id, profile_id, alloc_count, alloc_bytes, free_count, free_bytes))
             FROM (SELECT site_rows.site_key_id, max(windows.id) AS profile_id, sum(site_rows.alloc_count) AS alloc_count,
                          sum(coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes)) AS alloc_bytes,
                          sum(site_rows.free_count) AS free_count,
                          sum(coalesce(site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes)) AS free_bytes
                   FROM profiles AS windows
                   JOIN site_rows ON site_rows.profile_id = windows.id
                   JOIN site_keys ON site_keys.id = site_rows.site_key_id
                   WHERE windows.process_id = profiles.process_id AND windows.kind = profiles.kind
                     AND windows.run_id = profiles.run_id
                   GROUP BY site_rows.site_key_id))
        ELSE '[]'
    END) AS used
LEFT JOIN site_rows ON site_rows.profile_id = CASE WHEN used.value = 0 THEN profiles.profile_id END
JOIN site_keys ON site_keys.id = coalesce(site_rows.site_key_id, used.value ->> 0)
JOIN places ON places.trace_id = site_keys.trace_id;
