-- Why run $3 of project $1 and month $2 is pinned; no row: it is not.
SELECT why
FROM clear.pins
WHERE project = $1 AND month = $2 AND run = $3
