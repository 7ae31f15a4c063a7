-- The runs of a warehouse that is merged.
SELECT
    id,
    uuid,
    content_hash,
    ' ' || flags || ' ' LIKE '% unfinished %'
FROM main.runs
ORDER BY id
