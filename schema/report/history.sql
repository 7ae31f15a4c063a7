-- The run :run as a point of a history; its tags as a JSON object, and whether figures of the heap are estimates.
SELECT
    uuid,
    started_ns,
    label,
    (SELECT json_group_object(key, value) FROM (SELECT key, value FROM tags WHERE run_id = runs.id ORDER BY key)) AS tags,
    (SELECT sample_n > 1 OR sample_bytes > 1 OR dropped > 0 FROM run_summary WHERE run_id = runs.id) AS is_estimated
FROM runs
WHERE id = :run
