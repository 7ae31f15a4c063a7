-- The run :run as a point of a history; its tags as a JSON object.
SELECT
    uuid,
    started_ns,
    label,
    (SELECT json_group_object(key, value) FROM (SELECT key, value FROM tags WHERE run_id = runs.id ORDER BY key)) AS tags
FROM runs
WHERE id = :run
