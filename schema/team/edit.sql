-- Changes of runs of a store, by its owner.

-- @begin: Begins to change runs. clear store gc, which may delete them, waits until it is over, and we for it.
BEGIN;
SET LOCAL lock_timeout = '60s';
SELECT pg_advisory_xact_lock_shared(4998189, 4)

-- @label: The label of run $3 of project $1 and month $2 is $4; '': it has none.
UPDATE clear.runs
SET label = nullif($4, '')
WHERE project = $1 AND month = $2 AND run = $3

-- @pin: The run $3 of project $1 and month $2 is kept from now on ($5: ns since epoch) because of $4; NULL: it is not.
WITH gone AS (
    DELETE FROM clear.pins
    WHERE project = $1 AND month = $2 AND run = $3
    RETURNING 1
)
INSERT INTO clear.pins(project, month, run, place, why, pinned_ns)
SELECT $1, $2, $3, 1, $4::text, $5::bigint
FROM (SELECT count(*) FROM gone) AS done -- the row that was there goes first
WHERE $4::text IS NOT NULL

-- @tag: The tag $4 of run $3 of project $1 and month $2 is $5; '': the run has none.
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

-- @pin_of: Why run $3 of project $1 and month $2 is pinned; no row: it is not.
SELECT why
FROM clear.pins
WHERE project = $1 AND month = $2 AND run = $3

-- @touch: The run $3 of project $1 and month $2 is another now: who has a copy of it in a cache fetches it again.
UPDATE clear.run_names
SET changed_at = clock_timestamp()
WHERE project = $1 AND month = $2 AND run = $3
