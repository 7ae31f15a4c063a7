-- The run here that is the one with :uuid or content :hash, and whether its end is missing.
SELECT
    id,
    ' ' || flags || ' ' LIKE '% unfinished %'
FROM main.runs
WHERE uuid = :uuid OR (:hash IS NOT NULL AND content_hash = :hash)
