-- The label of run $3 of project $1 and month $2 is $4; '': it has none.
UPDATE clear.runs
SET label = nullif($4, '')
WHERE project = $1 AND month = $2 AND run = $3
