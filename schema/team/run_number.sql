-- What the views call the run $3 of project $1 and month $2.
SELECT number
FROM clear.run_names
WHERE project = $1 AND month = $2 AND run = $3
