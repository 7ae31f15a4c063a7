-- The run $3 of project $1 and month $2 is kept from now on ($5: ns since epoch) because of $4; NULL: it is not.
WITH gone AS (
    DELETE FROM clear.pins
    WHERE project = $1 AND month = $2 AND run = $3
    RETURNING 1
)
INSERT INTO clear.pins(project, month, run, place, why, pinned_ns)
SELECT $1, $2, $3, 1, $4::text, $5::bigint
FROM (SELECT count(*) FROM gone) AS done -- the row that was there goes first
WHERE $4::text IS NOT NULL
