-- The runs whose recorder did not store their end: it may go on, or was killed. The last column: whether it wrote since :since, in ns since
-- the epoch.
SELECT
    id,
    uuid,
    started_ns + duration_ns >= :since
FROM runs
WHERE ' ' || flags || ' ' LIKE '% unfinished %'
