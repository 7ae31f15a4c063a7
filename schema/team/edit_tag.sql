-- The tag $4 of run $3 of project $1 and month $2 is $5; '': the run has none.
WITH gone AS (
    DELETE FROM clear.tags
    WHERE project = $1 AND month = $2 AND run = $3 AND key = $4
    RETURNING place
)
INSERT INTO clear.tags(project, month, run, place, key, value)
SELECT
    $1,
    $2,
    $3,
    coalesce((SELECT min(place) FROM gone),
             (SELECT coalesce(max(place), 0) + 1
              FROM clear.tags
              WHERE project = $1 AND month = $2 AND run = $3)),
    $4::text,
    $5::text
WHERE $5::text <> ''
