-- The runs of project $1 that go to project $2: of months up to $3 (NULL: any), of the program $4 (NULL: any). Of a run that is there too, the one
-- that is here stays. By month: how many go, and how many stay for that.
SELECT runs.month, count(*) FILTER (WHERE there.run IS NULL), count(there.run)
FROM clear.runs
LEFT JOIN clear.run_names AS there ON there.project = $2::bigint AND there.run = runs.run
WHERE runs.project = $1::bigint
  AND ($3::date IS NULL OR runs.month <= $3::date) AND ($4::text IS NULL OR clear.program_of(runs.command) = $4)
GROUP BY runs.month
ORDER BY runs.month
