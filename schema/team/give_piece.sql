-- Those of them that go, of month $5.
INSERT INTO pg_temp.piece(project, month, run)
SELECT runs.project, runs.month, runs.run
FROM clear.runs
WHERE runs.project = $1::bigint AND runs.month = $5::date
  AND ($3::date IS NULL OR runs.month <= $3::date) AND ($4::text IS NULL OR clear.program_of(runs.command) = $4)
  AND NOT EXISTS (SELECT 1 FROM clear.run_names AS there WHERE there.project = $2::bigint AND there.run = runs.run)
