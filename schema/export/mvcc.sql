-- The cell samples of run :run, in the columns of `clear export --sql`. Each commit and each retry copies the cell.
SELECT
    cells.trace_id,
    CASE WHEN cells.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    sum(cells.reads) AS "reads/count",
    sum(cells.commits) AS "commits/count",
    sum(cells.retries) AS "retries/count",
    sum(cells.struct_size * (cells.commits + cells.retries)) AS "cow_bytes/bytes"
FROM cells
JOIN profiles ON profiles.id = cells.profile_id
JOIN objects ON objects.id = cells.object_id
WHERE profiles.run_id = :run AND profiles.kind = 'mvcc'
GROUP BY cells.trace_id, cells.object_id
ORDER BY cells.trace_id, cells.object_id;
