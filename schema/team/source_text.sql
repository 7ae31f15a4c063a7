-- Source text :id of a file.
SELECT
    hash,
    text
FROM main.source_texts
WHERE id = :id
