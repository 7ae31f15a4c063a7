-- The same runs as runs/list.sql, with all columns of run_summary: `clear runs --json`.
SELECT *
FROM run_summary
WHERE run_id IN (
    SELECT id
    FROM runs
    WHERE :only IS NULL OR id IN (SELECT value FROM json_each(:only))
    ORDER BY started_ns DESC, id DESC
    LIMIT :last
)
ORDER BY started_ns DESC, run_id DESC
