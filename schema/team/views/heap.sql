-- The view heap of a file, written for PostgreSQL; schema/views/heap.sql documents its columns. PostgreSQL takes a condition on run_id through
-- GROUP BY, and the table site_keys of a file would here be made of all runs.
CREATE VIEW heap AS
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
    coalesce(peaks.peak_count, 0) AS peak_count,
    coalesce(peaks.peak_bytes, 0) AS peak_bytes
FROM (
    SELECT profiles.run_id, profiles.process_id, max(profiles.id) AS profile_id, sites.trace_id, sites.label_set_id,
           sum(sites.alloc_count) AS alloc_count, sum(sites.alloc_bytes) AS alloc_bytes,
           sum(sites.free_count) AS free_count, sum(sites.free_bytes) AS free_bytes
    FROM clear_rows.profiles AS profiles
    JOIN clear_rows.sites AS sites ON sites.profile_id = profiles.id AND sites.run_number = profiles.run_number
    -- Windows of a process are added; an ingested profile has none.
    GROUP BY profiles.run_id, profiles.process_id, profiles.kind, CASE WHEN profiles.process_id IS NULL THEN profiles.id END,
             sites.trace_id, sites.label_set_id
) AS used
LEFT JOIN (
    SELECT profiles.run_id, profiles.process_id, heap_peaks.trace_id,
           sum(heap_peaks.peak_count) AS peak_count, sum(heap_peaks.peak_bytes) AS peak_bytes
    FROM clear_rows.profiles AS profiles
    JOIN clear_rows.heap_peaks AS heap_peaks ON heap_peaks.profile_id = profiles.id AND heap_peaks.run_number = profiles.run_number
    WHERE profiles.kind = 'heap-peak'
    GROUP BY profiles.run_id, profiles.process_id, heap_peaks.trace_id
) AS peaks
    ON peaks.run_id = used.run_id AND peaks.process_id = used.process_id AND peaks.trace_id = used.trace_id AND used.label_set_id = 0
JOIN places ON places.trace_id = used.trace_id;
