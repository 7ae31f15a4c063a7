-- Runs of the months before $1 that have no label and no pin, and are not the newest of their command; of project $2, NULL: of all.
INSERT INTO pg_temp.doomed(project, month, run)
SELECT project, month, run
FROM (SELECT project, month, run, label,
             row_number() OVER (PARTITION BY project, command ORDER BY started_ns DESC, run DESC) AS age
      FROM clear.runs
      WHERE $2::bigint IS NULL OR project = $2::bigint) AS aged
WHERE month < $1::date AND label IS NULL AND age > 1
  AND NOT EXISTS (SELECT 1 FROM clear.pins WHERE (pins.project, pins.month, pins.run) = (aged.project, aged.month, aged.run))
