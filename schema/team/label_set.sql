-- Label set :id of a file.
SELECT labels
FROM main.label_sets
WHERE id = :id
