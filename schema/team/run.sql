-- Run :run of a file: what a store knows it by, when it began, whether its end is missing.
SELECT
    uuid,
    content_hash,
    started_ns,
    ' ' || flags || ' ' LIKE '% unfinished %'
FROM main.runs
WHERE id = :run
