-- The run $3 of project $1 and month $2 is another now: who has a copy of it in a cache fetches it again.
UPDATE clear.run_names
SET changed_at = clock_timestamp()
WHERE project = $1 AND month = $2 AND run = $3
