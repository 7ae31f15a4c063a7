-- The cell samples of the windows of run :run that end after :from and up to :to, in the columns of `clear export --sql`. Each
-- commit and each retry copies the cell.
SELECT
    cell.trace_id,
    CASE WHEN cell.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    cell.reads AS "reads/count",
    cell.commits AS "commits/count",
    cell.retries AS "retries/count",
    cell.struct_size * (cell.commits + cell.retries) AS "cow_bytes/bytes"
FROM (SELECT coalesce(profiles.process_id, profiles.id) AS place, cells.trace_id, cells.object_id,
             max(cells.struct_size) AS struct_size, sum(cells.reads) AS reads, sum(cells.commits) AS commits,
             sum(cells.retries) AS retries
      FROM cells
      JOIN profiles ON profiles.id = cells.profile_id
      WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
      GROUP BY coalesce(profiles.process_id, -profiles.id), cells.trace_id, cells.object_id, cells.address) AS cell
JOIN objects ON objects.id = cell.object_id
ORDER BY
    cell.place,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = cell.trace_id), cell.trace_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = cell.object_id), cell.object_id);
