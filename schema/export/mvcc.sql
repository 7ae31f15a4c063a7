-- The cell samples of profile :profile, in the columns of `clear export --sql`. Each commit and each retry copies the cell.
SELECT
    cells.trace_id,
    CASE WHEN cells.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    cells.reads AS "reads/count",
    cells.commits AS "commits/count",
    cells.retries AS "retries/count",
    cells.struct_size * (cells.commits + cells.retries) AS "cow_bytes/bytes"
FROM cells
JOIN objects ON objects.id = cells.object_id
WHERE cells.profile_id = :profile
ORDER BY cells.trace_id, cells.object_id;
